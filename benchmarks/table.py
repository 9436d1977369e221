"""Results as text for people and as JSON for keeping."""

from __future__ import annotations

import json
import os
import platform
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from .harness import available_cpus

RESULTS = Path(__file__).resolve().parent / "results"
COLUMNS = ("contender", "median", "range", "ours/theirs", "(rounds)", "in CPU s", "cores", "memory", "notes")


def machine() -> dict[str, Any]:
    """What the numbers were taken on. Names of people, hosts and folders stay out."""
    return {
        "cpu": _cpu_model(),
        "logical_cpus": available_cpus(),
        "memory_gib": _memory_gib(),
        "system": platform.system(),
        "python": platform.python_version(),
        "load_average_at_start": round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None,
    }


def keep(suite: str, quick: bool, about: dict[str, Any], results: list[dict[str, Any]]) -> Path:
    """Write the results of one suite as JSON, in place of those of the run before."""
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{suite}{'-quick' if quick else ''}.json"
    content = {
        "suite": suite,
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "quick": quick,
        "machine": about,
        "cases": results,
    }
    new = path.with_suffix(".new")
    new.write_text(json.dumps(content, indent=1) + "\n")
    new.replace(path)
    return path


def text(about: dict[str, Any], results: list[dict[str, Any]]) -> str:
    """The table that is printed."""
    load = about["load_average_at_start"]
    lines = [f"{about['cpu']}, {about['logical_cpus']} logical CPUs, load {load} at start"]
    for case in results:
        threads = f"{case['threads']} thread{'s' if case['threads'] > 1 else ''}"
        lines += ["", f"{case['name']}; {threads}; {case['unit']}, median of {case['repeats']}"]
        cells = [COLUMNS, *(_cells(row, case) for row in case["contenders"])]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        for name, *numbers, notes in cells:
            aligned = [cell.rjust(width) for cell, width in zip(numbers, widths[1:], strict=False)]
            lines.append("  ".join(["", name.ljust(widths[0]), *aligned, notes]).rstrip())
    return "\n".join(lines)


def _cells(row: dict[str, Any], case: dict[str, Any]) -> tuple[str, ...]:
    if "median" not in row:
        return (row["name"], "-", *[""] * (len(COLUMNS) - 3), row.get("error", "no result"))
    ratio, cpu_ratio, rounds = "", "", ""
    if "ratio" in row:
        ratio, cpu_ratio = f"{row['ratio']:.2f}", f"{row['cpu_ratio']:.2f}"
        rounds = "{:.2f}-{:.2f}".format(*row["ratio_range"])
    memory = row.get("peak_anonymous_delta_bytes" if case["memory_map"] else "peak_rss_delta_bytes")
    return (
        row["name"],
        f"{row['median']:.4f}",
        f"{min(row['seconds']):.4f}-{max(row['seconds']):.4f}",
        ratio,
        rounds,
        cpu_ratio,
        f"{row['cpu_median'] / row['median']:.1f}" if row["median"] > 0 else "",
        f"+{memory / 2**20:.0f} MiB" if memory is not None else "",
        _notes(row, case),
    )


def _notes(row: dict[str, Any], case: dict[str, Any]) -> str:
    notes = []
    if "acc_mean" in row:
        notes.append(f"ACC {row['acc_mean']:.3f}")
    if "shown" in row:
        notes.append(row["shown"])
    if row["iterations_done"]:
        notes.append(f"{row['iterations_done']:g} iterations in {row['whole_fit_median']:.2f} s")
    if row["stopped_early"]:
        notes.append("STOPPED EARLY in some rounds")
    foreign = _kernels(row) - _kernels(case["contenders"][0])
    if foreign:
        notes.append(f"ITS BLAS RUNS KERNELS FOR {', '.join(sorted(foreign))}, ours does not")
    if case["memory_map"] and "peak_anonymous_delta_bytes" in row:
        notes.append("memory without the pages of the mapped files")
    return ", ".join(notes)


def _kernels(row: dict[str, Any]) -> set[str]:
    return {found["architecture"] for found in row.get("blas", ()) if found["architecture"]}


def _cpu_model() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def _memory_gib() -> float | None:
    if sys.platform != "linux":
        return None
    return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1)
