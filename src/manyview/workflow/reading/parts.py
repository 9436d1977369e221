"""What was read from a collection, kept part by part between states."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

__all__ = ["Part", "Parts"]

Part = TypeVar("Part")

_STATES = 3
"""States of a part that are kept: readers may be one behind."""


class Parts:
    """What was read from a collection, by part and by state; one for all readers in a process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._locks: dict[str, threading.RLock] = {}
        self._kept: dict[str, OrderedDict[Hashable, Any]] = {}

    def get(self, name: str, state: Hashable, build: Callable[[], Part]) -> Part:
        """The part as it is in that state; built once, however many ask for it, while others are to be had."""
        with self._lock:
            lock = self._locks.setdefault(name, threading.RLock())
            states = self._kept.setdefault(name, OrderedDict())
        with lock:
            if state not in states:
                states[state] = build()
                if len(states) > _STATES:
                    states.popitem(last=False)
            states.move_to_end(state)
            found: Part = states[state]
            return found
