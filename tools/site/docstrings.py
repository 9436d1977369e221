"""What Sphinx is told of our docstrings beside numpy's sections: lists of ``name : meaning`` without a heading."""

from __future__ import annotations

import re
from typing import Any

__all__ = ["with_headings"]

_ENTRY = re.compile(r"^\*{0,2}\w+(, \*{0,2}\w+)* : \S")


def with_headings(lines: list[str], heading: str) -> list[str]:
    """The lines with ``heading`` above the paragraph that is a list of ``name : meaning`` and stands in no section."""
    found: list[str] = []
    section = False
    for number, line in enumerate(lines):
        below = lines[number + 1] if number + 1 < len(lines) else ""
        section = section or (set(below) == {"-"} and len(below) == len(line))
        first = number == 0 or not lines[number - 1].strip()
        if not section and first and _ENTRY.match(line) and _is_list(lines[number:]):
            found += [heading, "-" * len(heading)]
            # what follows the list is words again, and needs a section of its own
            rest = _end(lines, number)
            found += lines[number:rest]
            after = lines[rest:]
            return found + (["", "Notes", "-----", *after[1:]] if any(one.strip() for one in after) else after)
        found.append(line)
    return found


def _is_list(lines: list[str]) -> bool:
    paragraph = lines[: _end(lines, 0)]
    return all(line.startswith(" ") or _ENTRY.match(line) for line in paragraph)


def _end(lines: list[str], start: int) -> int:
    return next((number for number in range(start, len(lines)) if not lines[number].strip()), len(lines))


def process(app: Any, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """For Sphinx, before napoleon reads the docstring."""
    lines[:] = with_headings(lines, "Attributes" if what in ("class", "exception") else "Parameters")
