"""From views and tags to proposed tags, each with a score, a probability and a reason."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .completer import TagCompleter as TagCompleter
    from .evidence import Evidence as Evidence
    from .proposals import Proposal as Proposal
    from .proposals import Proposals as Proposals

_WHERE = {"Evidence": "evidence", "Proposal": "proposals", "Proposals": "proposals", "TagCompleter": "completer"}

__all__ = ["Evidence", "Proposal", "Proposals", "TagCompleter"]


def __getattr__(name: str) -> Any:
    # Loaded on first use: the parts of this room serve others that need no estimator.
    if name in _WHERE:
        return getattr(import_module(f"{__name__}.{_WHERE[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
