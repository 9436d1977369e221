"""Texts in the cells of a CSV file that a person may open in a spreadsheet."""

from __future__ import annotations

__all__ = ["as_cell", "from_cell"]

_FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""What a spreadsheet would take for the beginning of a formula."""


def as_cell(text: str) -> str:
    """A cell that no spreadsheet takes for a formula: with an apostrophe in front where it might."""
    return f"'{text}" if text.startswith(_FORMULA) else text


def from_cell(text: str) -> str:
    """The text that ``as_cell`` made a cell of."""
    return text[1:] if text.startswith("'") and text[1:].startswith(_FORMULA) else text
