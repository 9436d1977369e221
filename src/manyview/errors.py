"""What can go wrong, in words a person can act on.

::

    ManyviewError
    ├── ParameterError  (ValueError)    a setting is out of range or of the wrong kind
    ├── ViewError       (ValueError)    a view has the wrong shape, values or name
    ├── StoreError      (OSError)       a file or folder is damaged, foreign or from a newer version
    │   └── Damaged                     a catalogue that `manyview doctor --repair` makes anew
    └── MissingExtra    (ImportError)   an optional part is not installed; names the command that installs it

    ViewWarning         (UserWarning)   a view or an item was kept but cannot act, and why

Each message says what was expected, what came and what to do.
"""

from __future__ import annotations

__all__ = ["Damaged", "ManyviewError", "MissingExtra", "ParameterError", "StoreError", "ViewError", "ViewWarning"]


class ManyviewError(Exception):
    """The root of every error that manyview raises on purpose."""


class ParameterError(ManyviewError, ValueError):
    """A setting is out of range or of the wrong kind."""


class ViewError(ManyviewError, ValueError):
    """A view has the wrong shape, values or name."""


class StoreError(ManyviewError, OSError):
    """A file or folder is damaged, foreign or from a newer version."""


class Damaged(StoreError):
    """The catalogue of a collection is damaged or gone; ``manyview doctor --repair`` makes it anew."""


class MissingExtra(ManyviewError, ImportError):
    """An optional part is not installed; the message names the command that installs it."""


class ViewWarning(UserWarning):
    """A view or an item was kept but cannot act, and why."""
