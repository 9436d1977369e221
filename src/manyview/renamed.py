"""Parameters that have a new name: the old one is understood for one release, with a warning that says so."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from .errors import ParameterError

__all__ = ["renamed", "warn_renamed"]

_Given = ParamSpec("_Given")
_Answer = TypeVar("_Answer")
_Function = Callable[_Given, _Answer]


def renamed(**names: str) -> Callable[[_Function[_Given, _Answer]], _Function[_Given, _Answer]]:
    """Let callers of a function use old keywords: ``@renamed(old="new")``. Its signature shows the new ones only."""

    def decorate(function: _Function[_Given, _Answer]) -> _Function[_Given, _Answer]:
        @functools.wraps(function)
        def call(*args: _Given.args, **options: _Given.kwargs) -> _Answer:
            given: dict[str, Any] = options
            for old, new in names.items():
                if old in given:
                    if given.get(new) is not None:
                        raise ParameterError(f"{old} is the old name of {new}; give {new} alone.")
                    warn_renamed(old, new, stacklevel=3)
                    given[new] = given.pop(old)
            return function(*args, **options)

        return call

    return decorate


def warn_renamed(old: str, new: str, stacklevel: int = 2) -> None:
    """Tell a caller that a parameter has a new name."""
    sentence = f"{old} is called {new} now; the old name goes with the next release."
    warnings.warn(sentence, FutureWarning, stacklevel=stacklevel + 1)
