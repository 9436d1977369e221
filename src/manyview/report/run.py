"""A run of a collection as a page."""

from __future__ import annotations

import os
from pathlib import Path

from ..figures import when
from ..workflow.collection import Collection
from ..workflow.reading.explain import number_of_run, profiles_of_run
from .frame import is_page
from .page import ClusterReport

__all__ = ["publish_run", "report_of_run"]


def report_of_run(collection: Collection, run_id: int | None = None) -> ClusterReport:
    """The report of a run, the newest when none is named; shows itself in a notebook."""
    run = collection.runs.get_fit(run_id)
    items = list(collection.items)
    return ClusterReport(
        profiles_of_run(collection, run),
        title=collection.path.stem,
        thumbnails=lambda row: collection.thumbs.get(items[row].id),
        captions=[text or "" for text in collection.items.texts()],
        evaluation=collection.runs.evaluation(),
        number=number_of_run(run),
        settings={
            "run": run.id,
            "method": run.method,
            "views": ", ".join(run.views),
            **({"notes": " ".join(run.figures["said"])} if run.figures.get("said") else {}),
            "seed": run.settings.get("seed"),
            "made": when(run.made_at),
        },
    )


def publish_run(
    collection: Collection, path: str | os.PathLike[str], run_id: int | None = None, *, public: bool = False
) -> Path:
    """Write the report of a run to a file, for its owner alone or for everybody on the machine."""
    collection.check_output(path, is_page)
    return report_of_run(collection, run_id).save(path, public=public)
