"""Figures as people read them, the same in the terminal, in the gallery's sentences and in reports."""

from __future__ import annotations

__all__ = ["percent"]


def percent(share: float, digits: int = 0) -> str:
    """A share of one as a percentage.

    >>> percent(0.894), percent(0.894, 1), percent(1)
    ('89 %', '89.4 %', '100 %')
    """
    return f"{100 * share:.{digits}f} %"
