"""What would be written to the files of items, and which of them are there twice."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Query

from ...data.tags import match_key
from ...workflow.reading.duplicates import find_duplicates, mark_duplicates
from ...workflow.reading.index import Index
from ...writeback.apply import FileChange, apply_tags
from ...writeback.beginnings import keywords_of
from ...writeback.programs import seen_by
from .. import models
from ..members import member_facts, shown
from .common import Here, Offset, command, done, entry_facts

router = APIRouter(prefix="/api", tags=["files"])

Target = Literal["xmp", "embedded"]
Limit = Annotated[int, Query(ge=1, le=200)]


@router.get("/write-back")
async def preview_writing(
    here: Here, to: Annotated[Target, Query()] = "xmp", offset: Offset = 0, limit: Limit = 50
) -> models.WritePreview:
    """What `apply` would change, file by file; the job `apply` does it."""
    return await here.read(write_page, to, offset, limit)


@router.get("/duplicates")
async def list_duplicates(
    here: Here, kind: Literal["exact", "near"] | None = None, offset: Offset = 0, limit: Limit = 50
) -> models.DuplicatesPage:
    """Items that show the same, which would be kept, and why."""
    return await here.read(duplicates_page, kind, offset, limit)


@router.post("/duplicates/mark")
async def mark(here: Here, asked: models.MarkDuplicates) -> models.Done:
    """Give a tag to all copies that would not be kept; nothing is deleted."""
    return await done(here, await here.write(mark_duplicates, asked.tag, asked.kind))


def write_page(index: Index, to: Target = "xmp", offset: int = 0, limit: int = 50) -> models.WritePreview:
    """The answer to ``/api/write-back``."""
    found = apply_tags(index.collection, to, dry_run=True)
    last = index.collection.history.newest_of("apply")
    return models.WritePreview(
        to=to,
        sentence=found.sentence,
        total=len(found.changes),
        files=[_file(change) for change in found.changes[offset : offset + limit]],
        failed=[f"{shown(problem.path)}: {shown(problem.sentence)}" for problem in found.failed[:limit]],
        programs=[models.Program(name=one.name, sees=one.sees) for one in seen_by(to)],
        last=None if last is None else entry_facts(index.collection.history, [last])[0],
        command=command(index, "apply", *(("--to", to) if to != "xmp" else ()), "--dry-run"),
    )


def _file(change: FileChange) -> models.FileWrite:
    """A file with its words as they are and as they will be; a new sidecar begins with those of the picture."""
    held = list(change.kept) if change.is_new else _held(change.path)
    gone = {match_key(word) for word in change.edit.remove}
    after = [word for word in held if match_key(word) not in gone]
    known = {match_key(word) for word in after}
    after += [word for word in change.edit.add if match_key(word) not in known]
    return models.FileWrite(
        path=shown(change.path),
        is_new=change.is_new,
        items=list(change.items),
        before=list(map(shown, held)),
        after=list(map(shown, after)),
        lines=list(map(shown, change.lines())),
    )


def _held(path: str) -> list[str]:
    said = keywords_of(None, [path]) if path.lower().endswith(".xmp") else keywords_of(path, [])
    return [word for one in said for word in one.tags]


def duplicates_page(
    index: Index, kind: Literal["exact", "near"] | None = None, offset: int = 0, limit: int = 50
) -> models.DuplicatesPage:
    """The answer to ``/api/duplicates``."""
    groups = find_duplicates(index.collection, kind)
    chosen = groups[offset : offset + limit]
    facts = member_facts(index, sorted({copy.id for one in chosen for copy in one.copies}))
    return models.DuplicatesPage(
        total=len(groups),
        n_others=sum(len(one.others) for one in groups),
        groups=[
            models.DuplicateGroup(
                kind="exact" if one.kind == "exact" else "near",
                copies=[
                    models.DuplicateCopy(
                        **facts[copy.id],
                        is_kept=copy is one.kept,
                        **{k: v for k, v in copy._asdict().items() if k not in ("id", "key")},
                    )
                    for copy in one.copies
                ],
            )
            for one in chosen
        ],
        command=command(index, "duplicates", *(("--kind", kind) if kind else ())),
    )
