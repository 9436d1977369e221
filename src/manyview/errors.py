"""What can go wrong, in words a person can act on.

::

    ManyviewError
    ├── ParameterError  (ValueError)    a setting is out of range or of the wrong kind
    ├── ViewError       (ValueError)    a view has the wrong shape, values or name
    ├── StoreError      (OSError)       a file or folder is damaged, foreign or from a newer version
    │   ├── Busy                        another process is writing the collection just now
    │   ├── ReadOnly                    it was opened for reading, or may not be written here
    │   ├── OldFormat                   it has to be opened for writing once, to be brought up to date
    │   ├── Conflict                    an undo that something later stands in the way of
    │   └── Damaged                     a catalogue that `manyview doctor --repair` makes anew
    ├── WorkerError     (RuntimeError)  the workers of a cluster were lost, and with them no result
    └── MissingExtra    (ImportError)   an optional part is not installed; names the command that installs it

    ViewWarning         (UserWarning)   a view or an item was kept but cannot act, and why

Each message says what was expected, what came and what to do.
"""

from __future__ import annotations

from pathlib import Path

__all__ = [
    "Busy",
    "Conflict",
    "Damaged",
    "ManyviewError",
    "MissingExtra",
    "OldFormat",
    "ParameterError",
    "ReadOnly",
    "StoreError",
    "ViewError",
    "ViewWarning",
    "WorkerError",
]


class ManyviewError(Exception):
    """The root of every error that manyview raises on purpose."""


class ParameterError(ManyviewError, ValueError):
    """A setting is out of range or of the wrong kind."""


class ViewError(ManyviewError, ValueError):
    """A view has the wrong shape, values or name."""


class StoreError(ManyviewError, OSError):
    """A file or folder is damaged, foreign or from a newer version."""


class Busy(StoreError):
    """Another process is writing the collection just now; the message says which."""


class ReadOnly(StoreError):
    """A collection was opened for reading, or may not be written here."""


class OldFormat(StoreError):
    """A collection of an older format, which has to be opened for writing once."""

    root: Path
    """The collection."""


class Conflict(StoreError):
    """Something later stands in the way of an undo; the message names it."""


class Damaged(StoreError):
    """The catalogue of a collection is damaged or gone; ``manyview doctor --repair`` makes it anew."""


class WorkerError(ManyviewError, RuntimeError):
    """The workers of a cluster were lost; the message says at which rows, and where what was finished is kept."""


class MissingExtra(ManyviewError, ImportError):
    """An optional part is not installed; the message names the command that installs it."""


class ViewWarning(UserWarning):
    """A view or an item was kept but cannot act, and why."""
