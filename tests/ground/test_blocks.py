import os
import threading
import time

import pytest
from threadpoolctl import threadpool_info

from manyview import blocks
from manyview.blocks import effective_n_jobs, row_blocks, workers
from manyview.errors import ParameterError


def test_blocks_cover_every_row_once_in_order():
    for n_rows in (0, 1, 6, 7, 100):
        cut = row_blocks(n_rows, bytes_per_row=8, block_bytes=56)
        assert [row for block in cut for row in range(block.start, block.stop)] == list(range(n_rows))
        assert all(block.stop - block.start <= 7 for block in cut)


def test_blocks_are_even_and_the_last_is_the_smallest():
    for n_rows in range(1, 300):
        for most in (1, 3, 7, 50):
            sizes = [block.stop - block.start for block in row_blocks(n_rows, bytes_per_row=1, block_bytes=most)]
            assert len(sizes) <= -(-n_rows // most) and max(sizes) <= most
            assert len(set(sizes[:-1])) <= 1 and 0 <= sizes[0] - sizes[-1] < len(sizes)


def test_a_row_wider_than_a_block_is_a_block():
    assert row_blocks(3, bytes_per_row=1e9) == [slice(0, 1), slice(1, 2), slice(2, 3)]


def test_block_size_is_read_when_cutting(monkeypatch):
    monkeypatch.setattr(blocks, "BLOCK_BYTES", 10)
    assert len(row_blocks(10, bytes_per_row=5)) == 5


@pytest.mark.parametrize("n_jobs", [1, 2, 5])
def test_results_come_in_block_order(n_jobs):
    cut = row_blocks(40, bytes_per_row=1, block_bytes=3)

    def slow_at_first(block: slice) -> int:
        time.sleep(0.01 if block.start == 0 else 0)
        return block.start

    with workers(n_jobs) as threads:
        assert list(threads.map(slow_at_first, cut)) == [block.start for block in cut]


def test_few_results_wait_at_a_time():
    started = []
    with workers(2) as threads:
        results = threads.map(started.append, row_blocks(50, 1, 1))
        next(results)
        assert len(started) <= 5
        list(results)
    assert len(started) == 50


def test_blas_keeps_to_one_thread_inside():
    with workers(2) as threads:

        def blas_threads(block: slice) -> list[int]:
            return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]

        assert all(set(counts) <= {1} for counts in threads.map(blas_threads, [slice(0, 1)] * 3))


def test_an_error_in_a_block_comes_out_and_threads_end():
    before = threading.active_count()

    def fail(block: slice) -> None:
        raise ValueError("block 3 is bad")

    with pytest.raises(ValueError, match="block 3"), workers(2) as threads:
        list(threads.map(fail, [slice(0, 1)] * 8))
    assert threading.active_count() <= before  # one of an earlier test may end meanwhile


def test_how_many_threads(monkeypatch):
    cores = len(os.sched_getaffinity(0))
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    assert effective_n_jobs(None) == cores and effective_n_jobs(-1) == cores
    assert effective_n_jobs(3) == 3 and effective_n_jobs(-1000) == 1
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    assert effective_n_jobs(None) == 1
    for bad in (0, 1.5, True):
        with pytest.raises(ParameterError, match="n_jobs must be"):
            effective_n_jobs(bad)
