"""Everything that writes to a collection, as steps that can be interrupted anywhere and done again.

Each step looks first at what is there, as every command does, so doing them again finishes what was stopped.
"""

from pathlib import Path

from scipy.sparse import csr_matrix

from manyview import Collection, RobustMultiviewKMeans
from manyview.ingest import folder as folder_reading

from .samples import looks

folder_reading._BATCH = 8  # many small batches: more moments to die in
_ROWS = 10


def work(path: Path, source: Path, acknowledge) -> None:
    """From a folder to a run with a model, thumbnails, merged views and decisions."""
    complete = False
    if (path / "catalog.sqlite").exists() and (path / "catalog.sqlite").stat().st_size:
        with Collection.open(path, write=True) as collection:
            complete = bool(collection.items.sources()) and collection.items.sources()[0]["complete"]
    if not complete:
        Collection.create(path, source).close()
    with Collection.open(path, write=True) as collection:
        acknowledge("items", len(collection.items))
        for name, version in (("looks", "1"), ("words", "1")):
            while (missing := collection.missing_rows(name, version)[:_ROWS]).size:
                rows = looks(missing)
                collection.add_view(name, version, csr_matrix(rows) if name == "words" else rows, missing)
                acknowledge(name, collection.items.ids.size - collection.missing_rows(name, version).size)
            collection.merge_view(name)
        missing = collection.thumbs.missing()
        for start in range(0, len(missing), _ROWS):
            collection.thumbs.add({item: f"thumb {item}".encode() for item in missing[start : start + _ROWS]})
        for number in range(len(collection.runs), 2):
            model = RobustMultiviewKMeans(n_clusters=3, random_state=number)
            model.labels_ = collection.items.ids % 3
            collection.save_run("rmkmc", model.labels_, model=model, names={0: "zero"}, settings={"seed": number})
            acknowledge("runs", number + 1)
        for number in range(len(collection.history), 5):
            collection.decide([(1, f"word {number}"), (number + 2, "even")], number % 2 == 0, who="test")
            acknowledge("history", number + 1)


def count(path: Path, name: str) -> int:
    """How much of what was acknowledged is there."""
    with Collection.open(path) as collection:
        if name in ("looks", "words"):
            return int(collection.items.ids.size - collection.missing_rows(name, "1").size)
        return len({"items": collection.items, "runs": collection.runs, "history": collection.history}[name])
