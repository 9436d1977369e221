"""The catalogue: one SQLite file, opened for one snapshot or for writing, with errors in words."""

from __future__ import annotations

import json
import os
import sqlite3
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from ..durable import PRIVATE_FILE, store_errors
from ..errors import Busy, Damaged, OldFormat, ReadOnly, StoreError
from . import layout

if TYPE_CHECKING:
    from .living import Standing
    from .safety.answers import Answers

__all__ = ["Catalog", "Rows", "as_json", "damaged", "open_read_only", "rows_in"]

Rows = Callable[..., list[Any]]
"""Asks a catalogue, whole or damaged: SQL and values in, rows out."""
_AT_ONCE = 400
"""Values that one statement is asked about."""

_register = threading.Lock()
_open_here: Counter[str] = Counter()
"""Catalogues that this process has connections to, by real path."""

_DAMAGED = (
    "malformed",
    "not a database",
    "no such table",
    "no such column",
    "could not decode",
    "corrupt",
    "unsupported",
)
"""What SQLite says of a file whose bytes are not what it wrote."""
_CACHE_KB = 32 * 1024
"""Pages a writer holds in memory: an index that many rows go into at many places would be read again and again."""
_FULL = ("full", "disk i/o error", "readonly", "unable to open")


def open_read_only(path: Path, more: str = "") -> sqlite3.Connection:
    """A connection through which nothing can be changed."""
    address = f"file:{quote(os.fsencode(path.absolute()))}?mode=ro{more}"
    return sqlite3.connect(address, timeout=60, isolation_level=None, uri=True)


def damaged(root: Path, what: str) -> Damaged:
    """The error for a catalogue that cannot be read, which says the way out."""
    return Damaged(
        f"the catalogue of {root} is damaged ({what}). `manyview doctor {root} --repair` sets it aside and makes a new "
        f"one from the sources and from your answers, which are kept a second time in {layout.ANSWERS}."
    )


class Catalog:
    """A connection to ``catalog.sqlite``.

    A reader sees the one state that was there when it was opened, however long it looks; ``refresh`` moves it on. The
    writer sees its own changes; ``transaction`` makes several of them one. ``root`` is the collection's folder.
    """

    def __init__(self, root: Path, *, write: bool) -> None:
        self.root = root
        self.path = root / layout.CATALOG
        self.write = write
        self._depth = 0
        self.answers: Answers | None = None
        """The second place for what people say; a writer has one."""
        self.refuse_newer(root)
        self._name = os.path.realpath(self.path)
        with _register:
            _open_here[self._name] += 1
        try:
            with self._errors():
                with store_errors(self.path):
                    self._connection = self._connect()
                try:
                    self._prepare()
                except BaseException:
                    self._connection.close()
                    raise
        except BaseException:
            self._forget()
            raise

    def _connect(self) -> sqlite3.Connection:
        if self.write:
            self._make_private()
            return sqlite3.connect(self.path, timeout=60, isolation_level=None)
        has_log = self.path.with_name(f"{self.path.name}-wal").exists()
        # Where nobody can be writing, SQLite could not make its shared memory either.
        return open_read_only(self.path, "" if has_log or os.access(self.root, os.W_OK) else "&immutable=1")

    def _make_private(self) -> None:
        """A new catalogue is its owner's alone; SQLite gives the files beside it the same mode."""
        try:
            os.close(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, PRIVATE_FILE))
        except FileExistsError:  # and it is not opened: closing it would take away SQLite's locks
            pass

    def _prepare(self) -> None:
        run = self._connection.execute
        run("PRAGMA foreign_keys = ON")
        self._refuse_others()
        if not self.write:
            self.refresh()
            return
        run("PRAGMA journal_mode = WAL")
        run("PRAGMA synchronous = FULL")
        run("PRAGMA fullfsync = ON")
        run("PRAGMA checkpoint_fullfsync = ON")
        run(f"PRAGMA cache_size = -{_CACHE_KB}")
        version = self._number("user_version")
        if version < layout.FORMAT:
            with self.transaction():  # the newest format is there whole, with its number, or not at all
                for number in range(version, layout.FORMAT):
                    for statement in _statements(layout.MIGRATIONS[number]):
                        run(statement)
                run(f"PRAGMA application_id = {layout.APPLICATION}")
                run(f"PRAGMA user_version = {layout.FORMAT}")

    def _refuse_others(self) -> None:
        """Stop before anything is touched where the file is not ours, or from a newer version."""
        # Ours has a log and no rollback journal, but for its first moments: those a reader cannot take back.
        if not self.write and self.path.with_name(f"{self.path.name}-journal").exists():
            raise _never_made(self.root)
        application, version = self._number("application_id"), self._number("user_version")
        empty = self._connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0
        if application == 0 and version == 0 and empty and self.write:
            return
        if application == 0 and version == 0 and empty:
            raise _never_made(self.root)
        if application != layout.APPLICATION:
            raise StoreError(f"{self.path} is not the catalogue of a manyview collection. Nothing was changed.")
        _check_version(self.root, application, version)
        if version < layout.FORMAT and not self.write:
            old = OldFormat(
                f"{self.root} was written by an older manyview (format {version}, now {layout.FORMAT}). Open it once "
                f"for writing, which brings it up to date: `manyview serve {self.root}`, or "
                "Collection.open(path, write=True)."
            )
            old.root = self.root
            raise old

    @staticmethod
    def refuse_newer(root: Path) -> None:
        """Refuse a collection of a newer format by the file's first bytes: SQLite would already touch the folder.

        Not where this process has the catalogue open already: closing a handle of our own would take away the locks
        that SQLite holds on the file, and another process could then remove what our readers stand on.
        """
        path = root / layout.CATALOG
        with _register:
            if _open_here[os.path.realpath(path)]:
                return
            try:
                with path.open("rb") as file:
                    first = file.read(100)
            except FileNotFoundError:
                return
        _check_version(root, int.from_bytes(first[68:72], "big"), int.from_bytes(first[60:64], "big"))

    def _number(self, pragma: str) -> int:
        return int(self._connection.execute(f"PRAGMA {pragma}").fetchone()[0])

    def refresh(self) -> None:
        """Let a reader see the newest state."""
        with self._errors():
            if self._connection.in_transaction:
                self._connection.execute("COMMIT")
            self._connection.execute("BEGIN")
            self._connection.execute("SELECT count(*) FROM sqlite_master").fetchone()  # the snapshot starts here

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Everything inside happens, or nothing. Inside another transaction it is part of that one."""
        if not self.write:
            raise ReadOnly(
                f"{self.root} was opened for reading. Open it with Collection.open(path, write=True) to change it."
            )
        if self._depth:
            yield
            return
        with self._errors():
            self._connection.execute("BEGIN IMMEDIATE")
            self._depth = 1
            try:
                yield
                if self.answers is not None:
                    self.answers.write()
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                if self.answers is not None:
                    self.answers.end(committed=False)
                raise
            finally:
                self._depth = 0
            if self.answers is not None:
                self.answers.end(committed=True)

    def note_entry(self, entry_id: int) -> None:
        """An entry of the history was made: it goes to the second place too when this transaction ends."""
        if self.answers is not None:
            self.answers.note(entry_id)

    def note_standing(self, standing: Standing) -> None:
        """Where every item is after that entry, for the second place, which has to know it."""
        if self.answers is not None:
            self.answers.note_standing(standing)

    def note_sources(self) -> None:
        """The same as for an entry, for the sources."""
        if self.answers is not None:
            self.answers.note_sources()

    def rows(self, sql: str, values: Iterable[Any] = ()) -> list[Any]:
        """Every row of an answer."""
        with self._errors():
            return self._connection.execute(sql, tuple(values)).fetchall()

    def row(self, sql: str, values: Iterable[Any] = ()) -> Any:
        """The first row of an answer, or None."""
        with self._errors():
            return self._connection.execute(sql, tuple(values)).fetchone()

    def value(self, sql: str, values: Iterable[Any] = ()) -> Any:
        """The first value of the first row, or None."""
        found = self.row(sql, values)
        return None if found is None else found[0]

    def run(self, sql: str, values: Iterable[Any] = ()) -> int:
        """Change something; the number of the row that was inserted."""
        with self.transaction(), self._errors():
            return int(self._connection.execute(sql, tuple(values)).lastrowid or 0)

    def run_many(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        """Change many rows in the same way."""
        with self.transaction(), self._errors():
            self._connection.executemany(sql, rows)

    def copy(self, path: Path) -> int:
        """Write the state that this connection sees to another file; how many bytes it has."""
        with self._errors(path), store_errors(path):
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, PRIVATE_FILE))
            target = sqlite3.connect(path)
            try:
                self._connection.backup(target)
            finally:
                target.close()
        return path.stat().st_size

    def close(self) -> None:
        self._connection.close()
        self._forget()

    def _forget(self) -> None:
        with _register:
            if self._name:
                _open_here[self._name] -= 1
                self._name = ""

    @contextmanager
    def _errors(self, into: Path | None = None) -> Iterator[None]:
        """SQLite's errors as sentences that name the file: the catalogue, or the one it is copied into."""
        try:
            yield
        except sqlite3.IntegrityError:
            raise
        except sqlite3.DatabaseError as error:
            words = str(error).lower()
            if any(part in words for part in _DAMAGED):
                raise damaged(self.root, str(error)) from error
            if isinstance(error, sqlite3.OperationalError) and not any(part in words for part in _FULL):
                if "locked" in words or "busy" in words:
                    raise Busy(f"{self.path} was busy for a minute. Run the same command again.") from error
                raise
            raise StoreError(
                f"cannot use {into or self.path}: {error}. Check the free space and the permissions there and run the "
                "same command again. Nothing that was reported as done is lost."
            ) from error


def rows_in(rows: Rows, sql: str, wanted: Sequence[Any], given: Sequence[Any] = ()) -> Iterator[Any]:
    """The rows of a question that ends in ``IN``, about any number of values; ``given`` are those before them."""
    for start in range(0, len(wanted), _AT_ONCE):
        part = wanted[start : start + _AT_ONCE]
        yield from rows(f"{sql} ({', '.join('?' * len(part))})", (*given, *part))


def _never_made(root: Path) -> StoreError:
    return StoreError(
        f"{root} is unfinished: `manyview init` was interrupted. Run it again as before; nothing is lost."
    )


def _check_version(root: Path, application: int, version: int) -> None:
    if application == layout.APPLICATION and version > layout.FORMAT:
        raise StoreError(
            f"{root} was written by format {version}; this version reads up to {layout.FORMAT}. Nothing was changed. "
            "Open it with a newer manyview."
        )


def as_json(value: Any) -> str:
    """JSON in one form, so that equal values give equal text."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def _statements(script: str) -> Iterator[str]:
    """The statements of a script one by one: executescript would commit the open transaction."""
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
