"""What the pages for tags, duplicates and writing to files ask and are told."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from .base import Request, Response
from .clusters import Member
from .runs import Entry


class TagLine(Response):
    tag: str
    n_items: int
    n_accepted: int
    last: str
    path: list[str]
    aliases: list[str]
    is_retired: bool
    is_silent: bool


class TagKin(Response):
    kind: str
    tags: list[str]
    counts: list[int]
    sentence: str


class VocabularyPage(Response):
    total: int
    tags: list[TagLine]
    kin: list[TagKin]
    """Tags that may be one, or belong together; by meaning only where that was asked for."""
    command: str


class TagAction(Request):
    action: Literal["rename", "merge", "alias", "retire", "silence", "restore", "parent"]
    words: Annotated[list[Annotated[str, Field(max_length=1000)]], Field(min_length=1, max_length=1000)]
    into: Annotated[str, Field(max_length=1000)] | None = None


class TagPreview(Response):
    sentence: str
    n_items: int
    n_files: int


class DuplicateCopy(Member):
    is_kept: bool
    is_exact: bool
    width: int | None
    height: int | None
    size: int | None
    n_tags: int
    why: str


class DuplicateGroup(Response):
    kind: Literal["exact", "near"]
    copies: list[DuplicateCopy]


class DuplicatesPage(Response):
    total: int
    n_others: int
    """Items that repeat others."""
    groups: list[DuplicateGroup]
    command: str


class MarkDuplicates(Request):
    tag: Annotated[str, Field(min_length=1, max_length=1000)]
    kind: Literal["exact", "near"] | None = None


class FileWrite(Response):
    path: str
    is_new: bool
    items: list[int]
    before: list[str]
    after: list[str]
    lines: list[str]
    """The change, a word to a line, as ``apply --dry-run`` says it."""


class Program(Response):
    name: str
    sees: str


class WritePreview(Response):
    to: Literal["xmp", "embedded"]
    sentence: str
    total: int
    files: list[FileWrite]
    failed: list[str]
    programs: list[Program]
    last: Entry | None
    """The last writing that was not taken back."""
    command: str
