"""Whatever matrix comes in, at whatever door: an error of ours or the right answer, and never a dead process.

MANYVIEW_MALFORMED says how many matrices: 30 by default, 500 for a release.
"""

import os

import pytest

from tests.data.malformed import COMPRESSED, DENSE, SPARSE, STRIDED, make
from tests.programs import run_program

COUNT = int(os.environ.get("MANYVIEW_MALFORMED", "30"))


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")  # of NumPy's matrix class
def test_every_kind_comes():
    kinds = {*DENSE, *STRIDED, *COMPRESSED, *SPARSE}
    assert {make(seed).name for seed in range(len(kinds))} == kinds


@pytest.mark.slow
def test_malformed_matrices_at_every_door(record_property):
    record_property("count", COUNT)
    found = run_program("end_to_end.malformed_input", COUNT)
    assert found["matrices"] == COUNT and found["doors"] > 40
