"""The papers and their tables, by name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..errors import ParameterError
from .aplsa import PAPER as APLSA
from .cca_ahkmc import PAPER as CCA_AHKMC
from .ghf_art import PAPER as GHF_ART
from .hml_rf import PAPER as HML_RF
from .incomplete.paper import PAPER as MISSING
from .rmkmc import PAPER as RMKMC
from .sources import Sources
from .tables import Paper, Table

__all__ = ["PAPERS", "asked_for", "listing"]

PAPERS: tuple[Paper, ...] = (RMKMC, GHF_ART, APLSA, HML_RF, CCA_AHKMC, MISSING)


def asked_for(paper: str, numbers: Sequence[tuple[str, str]] = (), on: Sequence[str] = ()) -> list[tuple[Paper, Table]]:
    """The tables of a paper, or of "all"; of these the ("table", "5") and ("figure", "8") that are named.

    on : the collections whose tables are meant; all where empty
    """
    spelled = paper.lower().replace("_", "-")
    papers = [one for one in PAPERS if spelled in (one.name, "all")]
    if not papers:
        names = ", ".join(one.name for one in PAPERS)
        raise ParameterError(f"there is no paper {paper!r}; there are {names}, and all.")
    found = [(one, table) for one in papers for table in one.tables]
    there = list(dict.fromkeys(table.on for _, table in found))
    for name in on:
        if name not in there:
            raise ParameterError(f"no table is on a collection {name!r}; there are {', '.join(there)}.")
    found = [(one, table) for one, table in found if not on or table.on in on]
    if not numbers:
        return found
    asked = {f"{kind} {number}" for kind, number in numbers}
    chosen = [(one, table) for one, table in found if {table.name, *table.also} & asked]
    for kind, number in numbers:
        if not any(f"{kind} {number}" in (table.name, *table.also) for _, table in chosen):
            raise ParameterError(_no_such(papers, kind, number))
    return chosen


def _no_such(papers: Sequence[Paper], kind: str, number: str) -> str:
    for paper in papers:
        for absent in paper.absent:
            if (absent.kind, absent.number) == (kind, number):
                return f"{paper.name} {absent.name} ({absent.title}) cannot be run: {absent.why}."
    there = ", ".join(
        dict.fromkeys(name for paper in papers for table in paper.tables for name in (table.name, *table.also))
    )
    who = f"{papers[0].name} has no" if len(papers) == 1 else "no paper has a"
    return f"{who} {kind} {number} that can be run; there are {there}."


def listing(sources: Sources) -> list[dict[str, Any]]:
    """Every paper with its tables and figures: what can be run with the data at hand, and what is missing."""
    return [
        {
            "name": paper.name,
            "title": paper.title,
            "method": paper.method,
            "tables": [
                {
                    "table": table.name,
                    "also": list(table.also),
                    "on": table.on,
                    "title": table.title,
                    "ready": not (missing := sources.missing(table.needs)),
                    "missing": missing,
                }
                for table in paper.tables
            ],
            "absent": [{"table": one.name, "title": one.title, "why": one.why} for one in paper.absent],
        }
        for paper in PAPERS
    ]
