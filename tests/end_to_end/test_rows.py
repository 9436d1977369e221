"""Many feature rows, taken from a file and clustered as they lie there, in little memory."""

import os

import numpy as np
import pytest

from .test_hostile import TWO_GIB, measured

ROWS = int(os.environ.get("MANYVIEW_ROWS", "50000"))
COLUMNS, KINDS = 128, 20


def write_rows(path):
    """Rows of twenty kinds, written a block at a time; how large the file is."""
    made = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=(ROWS, COLUMNS))
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(KINDS, COLUMNS)).astype(np.float32) * 2
    for start in range(0, ROWS, 10_000):
        block = made[start : start + 10_000]
        kinds = np.arange(start, start + len(block)) % KINDS
        block[:] = centres[kinds] + rng.normal(size=block.shape).astype(np.float32)
    made.flush()


@pytest.mark.slow
def test_rows_are_taken_and_clustered_in_little_memory(tmp_path, record_property):
    write_rows(tmp_path / "looks.npy")
    path = tmp_path / "c.manyview"
    code, found, at_init, said = measured("init", tmp_path / "looks.npy", "-o", path, "--json")
    assert code == 0, said
    code, found, at_fit, said = measured("fit", path, "-m", "rmkmc", "-k", KINDS, "--json")
    assert code == 0, said
    assert sum(one["size"] for one in found["clusters"]) == ROWS
    print(f"{ROWS:,} rows of {COLUMNS}: init {at_init / 1024:.0f} MiB, fit {at_fit / 1024:.0f} MiB")
    record_property("peak MiB", round(max(at_init, at_fit) / 1024))
    record_property("count", ROWS)
    assert max(at_init, at_fit) < TWO_GIB
