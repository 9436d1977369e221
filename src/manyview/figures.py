"""Figures and moments as people read them, the same in the terminal, in the gallery's sentences and in reports."""

from __future__ import annotations

from datetime import datetime

__all__ = ["counted", "percent", "when"]


def percent(share: float, digits: int = 0) -> str:
    """A share of one as a percentage.

    >>> percent(0.894), percent(0.894, 1), percent(1)
    ('89 %', '89.4 %', '100 %')
    """
    return f"{100 * share:.{digits}f} %"


def counted(n: int, one: str, many: str | None = None) -> str:
    """So many of a thing.

    >>> counted(1, "item"), counted(0, "item"), counted(2, "copy", "copies")
    ('1 item', '0 items', '2 copies')
    """
    return f"{n} {one if n == 1 else many or one + 's'}"


def when(stamp: str) -> str:
    """A moment that we wrote down, as the clock on this machine's wall showed it."""
    return datetime.fromisoformat(stamp).astimezone().strftime("%Y-%m-%d %H:%M")
