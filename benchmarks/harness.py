"""Run contenders on the same work, turn by turn, and keep what each of them took.

A *suite* is a module of this folder with a function ``cases(quick, large)``. A *case* is one piece of work
with one thread count; its *contenders* do that work, each in a process of its own and in its own environment.
The processes stay alive and take turns (A B C, B C A, ...), so that whatever else the machine does meanwhile
falls on all of them alike.
"""

from __future__ import annotations

import os
import shutil
import statistics
import sys
import tempfile
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from .environments import BENCH, HERE, NotInstalled, python_of
from .talk import Failed, Talk

REST_S = 0.2
"""Pause between turns: thread pools spin for a moment before they sleep."""


@dataclass(frozen=True)
class Data:
    """``function(folder, **settings)`` of the suite writes view0.npy, view1.npy, ... and maybe y.npy."""

    name: str
    function: str
    settings: dict[str, Any] = field(default_factory=dict)
    environment: str = HERE


@dataclass(frozen=True)
class Contender:
    """``function(views, threads, **settings)`` of the suite returns ``fit(iterations, seed)``.

    ``fit`` returns a dictionary with ``iterations`` (how many it really did; 0 where the peer does not say),
    ``labels`` where it has them, and maybe ``shown``, words for the notes of its row. ``ours`` marks manyview's own
    rows, which get no ratio. ``variables`` are environment variables its process needs beside the thread counts.
    """

    name: str
    function: str
    settings: dict[str, Any] = field(default_factory=dict)
    environment: str = HERE
    ours: bool = False
    variables: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Case:
    """One piece of work for several contenders. Ratios are the first one, ours, over each peer.

    ``iterations``: a pair (few, many) times the difference of two fits from the same start, which leaves only
    iterations; a single number or None times one whole fit.
    """

    name: str
    data: Data
    contenders: tuple[Contender, ...]
    iterations: tuple[int | None, ...] = (None,)
    threads: int = 1
    repeats: int = 5
    memory_map: bool = False

    @property
    def unit(self) -> str:
        return "s/iteration" if len(self.iterations) == 2 else "s/fit"


def run_suite(suite: str, cases: list[Case]) -> list[dict[str, Any]]:
    """Results of all cases of a suite. Data live in a temporary folder on disk and go when it is done."""
    BENCH.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=BENCH, prefix="data-") as scratch:
        return [_run_case(suite, case, Path(scratch)) for case in cases]


def available_cpus() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def blas_kernels() -> dict[str, str]:
    """Makes a process use the BLAS kernels that our own numpy chose for this processor.

    Wheels carry their own OpenBLAS. An old one takes a processor it does not know for a very old one and then
    runs several times slower than it could; that is not what we want to be compared with.
    """
    import numpy as np  # noqa: F401  (its OpenBLAS is the one that is asked)
    from threadpoolctl import threadpool_info

    newer = {"SapphireRapids": "SkylakeX", "Cooperlake": "SkylakeX"}  # names that an old OpenBLAS has not heard
    names = [found["architecture"] for found in threadpool_info() if found["internal_api"] == "openblas"]
    return {"OPENBLAS_CORETYPE": newer.get(names[0], names[0])} if names else {}


def _run_case(suite: str, case: Case, scratch: Path) -> dict[str, Any]:
    print(f"{suite}: {case.name}, {case.threads} thread(s) ...", file=sys.stderr, flush=True)
    rows: dict[str, dict[str, Any]] = {
        contender.name: {**asdict(contender), "turns": []} for contender in case.contenders
    }
    result = {**asdict(case), "unit": case.unit, "contenders": list(rows.values())}
    try:
        if case.threads > (cpus := available_cpus()):
            raise Failed(f"needs {case.threads} CPUs and there are {cpus}")
        folder = _data_folder(suite, case.data, scratch)
    except (Failed, NotInstalled) as error:
        for row in rows.values():
            row["error"] = f"not run: {error}"
        return result
    alive: list[tuple[Contender, Talk]] = []
    try:
        for contender in case.contenders:
            try:
                talk = Talk(python_of(contender.environment), case.threads, contender.variables)
                alive.append((contender, talk))
                ready = talk.ask(_task(suite, case, contender, folder))
                rows[contender.name].update(versions=ready["versions"], blas=ready["blas"])
            except NotInstalled as error:
                rows[contender.name]["error"] = f"not installed: {error}"
            except Failed as error:
                rows[contender.name]["error"] = str(error)
        for repetition in range(case.repeats):
            shift = repetition % len(alive) if alive else 0
            for contender, talk in [*alive[shift:], *alive[:shift]]:
                row = rows[contender.name]
                if "error" in row:
                    continue
                try:
                    turn = talk.ask({"iterations": case.iterations, "seed": repetition})
                    anonymous = max(talk.anonymous, turn["before"].get("RssAnon", 0))
                    row["turns"].append({**turn, "anonymous": anonymous})
                except Failed as error:
                    row["error"] = str(error)
                time.sleep(REST_S)
    finally:
        for _, talk in alive:
            talk.stop()
    for row in rows.values():
        if row["turns"] and "error" not in row:
            try:
                row.update(_summary(row["turns"], case))
            except Failed as error:
                row["error"] = str(error)
    _ratios(list(rows.values()))
    return result


def _task(suite: str, case: Case, contender: Contender, folder: Path) -> dict[str, Any]:
    return {
        "task": "contend",
        "suite": suite,
        "function": contender.function,
        "settings": contender.settings,
        "threads": case.threads,
        "memory_map": case.memory_map,
        "folder": str(folder),
    }


def _summary(turns: list[dict[str, Any]], case: Case) -> dict[str, Any]:
    """Medians over the repetitions of one contender."""
    times = [_per_unit(turn["fits"], "seconds") for turn in turns]
    cpu = [_per_unit(turn["fits"], "cpu_seconds") for turn in turns]
    last = [turn["fits"][-1] for turn in turns]
    figures: dict[str, Any] = {
        "seconds": times,
        "median": statistics.median(times),
        "cpu_median": statistics.median(cpu),
        "whole_fit_median": statistics.median(fit["seconds"] for fit in last),
        "iterations_done": statistics.median(fit["iterations"] for fit in last),
        "stopped_early": any(
            asked is not None and fit["iterations"] < asked
            for turn in turns
            for asked, fit in zip(case.iterations, turn["fits"], strict=True)
        ),
    }
    if all(turn["peak"] for turn in turns):
        figures["baseline_rss_bytes"] = int(statistics.median(turn["before"]["VmRSS"] for turn in turns))
        figures["peak_rss_delta_bytes"] = int(
            statistics.median(turn["peak"] - turn["before"]["VmRSS"] for turn in turns)
        )
        figures["peak_anonymous_bytes"] = max(turn["anonymous"] for turn in turns)
        figures["peak_anonymous_delta_bytes"] = max(turn["anonymous"] - turn["before"]["RssAnon"] for turn in turns)
    if all("shown" in fit for fit in last):
        figures["shown"] = last[-1]["shown"]
    if all("acc" in fit for fit in last):
        figures["acc_mean"] = statistics.fmean(fit["acc"] for fit in last)
    return figures


def _per_unit(fits: list[dict[str, Any]], what: str) -> float:
    """Of two fits from the same start: what one more iteration costs. Of one: the whole."""
    if len(fits) == 1:
        return fits[0][what]
    few, many = fits
    more = many["iterations"] - few["iterations"]
    if more <= 0:
        raise Failed(f"stopped after {many['iterations']} iterations: none left to time")
    return (many[what] - few[what]) / more


def _ratios(rows: list[dict[str, Any]]) -> None:
    """Ours over theirs: of the medians, and the range over the rounds in which both took their turn."""
    ours = rows[0]
    for row in rows[1:]:
        if "median" in ours and "median" in row and not row["ours"]:
            row["ratio"] = ours["median"] / row["median"]
            row["cpu_ratio"] = ours["cpu_median"] / row["cpu_median"]
            rounds = [a / b for a, b in zip(ours["seconds"], row["seconds"], strict=True)]
            row["ratio_range"] = [min(rounds), max(rounds)]


def _data_folder(suite: str, data: Data, scratch: Path) -> Path:
    folder = scratch / data.name
    if not folder.exists():
        talk = Talk(python_of(data.environment), available_cpus())
        folder.mkdir()
        work = {"task": "data", "suite": suite, "function": data.function, "settings": data.settings}
        try:
            talk.ask({**work, "folder": str(folder)})
        except Failed:
            shutil.rmtree(folder)
            raise
        finally:
            talk.stop()
    return folder
