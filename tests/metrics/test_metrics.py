"""The room as a whole: what is public, that examples run, that the door stays light."""

from __future__ import annotations

import doctest
import inspect
import subprocess
import sys

import pytest

from manyview import metrics
from manyview.metrics import clusters, ranking, tags

MODULES = [clusters, ranking, tags]


def test_public_names_are_those_of_the_three_modules() -> None:
    assert sorted(metrics.__all__) == sorted(name for module in MODULES for name in module.__all__)
    for module in MODULES:
        for name in module.__all__:
            assert getattr(metrics, name) is getattr(module, name)


@pytest.mark.parametrize("name", metrics.__all__)
def test_every_measure_is_described(name: str) -> None:
    lines = (inspect.getdoc(getattr(metrics, name)) or "").splitlines()
    assert lines[0].endswith(("?", ".")), "the first line is a sentence"
    text = " ".join(lines)
    assert ">>> " in text
    assert f"``{name}``" in (metrics.__doc__ or ""), "the overview names every measure"
    if name != "cluster_report":
        assert "lower is better" in text or "higher is better" in text
        assert "O(" in text
        assert any(paper in text for paper in ("RMKMC", "GHF-ART", "aPLSA", "HML-RF", "CCA + AHKMC"))


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_examples_in_docstrings_run(module: object) -> None:
    result = doctest.testmod(module)  # type: ignore[arg-type]
    assert result.attempted >= 2
    assert result.failed == 0


def test_importing_the_measures_loads_nothing_heavy() -> None:
    code = (
        "import sys, manyview.metrics;"
        "print([name for name in ('scipy', 'sklearn', 'numba', 'pandas') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
