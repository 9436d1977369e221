"""Seeds for tests that draw numbers: one by default, as many as MANYVIEW_SEEDS says for a wider search."""

import os

import pytest


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "seed" in metafunc.fixturenames:
        metafunc.parametrize("seed", range(int(os.environ.get("MANYVIEW_SEEDS", "1"))))
