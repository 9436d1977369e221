"""The process that opens pictures and clips: the child of ``decode``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...sandbox import Answer, serve

__all__ = ["main"]


def main() -> None:
    """Answer files until the parent is gone."""
    serve(_opener)


def _opener(limits: dict[str, Any]) -> Callable[[bytes], Answer]:
    from . import _opening as opening

    return lambda path: opening.open_file(path, limits)


if __name__ == "__main__":
    main()
