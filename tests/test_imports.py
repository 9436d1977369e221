"""Who may import whom, and how light ``import manyview`` stays."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import manyview

SOURCE = Path(manyview.__file__).parent
GROUND = {"errors", "arrays", "blocks", "boxes", "durable", "figures", "files", "kernel", "persist"}
GROUND |= {"raw_previews", "renamed", "sandbox", "steps", "tiff", "types", "_version"}
# What each room may import besides the ground and itself. `features` and `methods` do not know the disk.
MAY_IMPORT = {
    **{name: set() for name in GROUND},
    "data": set(),
    "gpu": set(),
    "engines": {"data", "gpu"},
    "collection": {"data"},
    "ingest": {"data", "collection"},
    "datasets": {"data"},
    "methods": {"data", "engines", "gpu"},
    "features": {"data", "methods"},
    "writeback": {"data", "collection", "ingest", "features"},
    "metrics": {"data"},
    "completion": {"data", "methods"},
    "meaning": {"data", "methods", "features"},
    "describe": {"data", "methods", "completion", "meaning"},
    "papers": {"data", "methods", "metrics", "completion", "datasets", "features"},
    "evaluation": {"data", "methods", "metrics", "completion", "papers"},
    "testing": {"data"},
    "workflow": {"data", "engines", "collection", "ingest", "features", "methods", "metrics", "completion", "datasets"}
    | {"describe", "evaluation", "meaning", "writeback"},
    "report": {"data", "collection", "describe", "workflow"},
    "cli": {"data", "collection", "ingest", "features", "methods", "metrics", "completion", "datasets", "evaluation"}
    | {"describe", "meaning", "papers", "writeback", "workflow", "report", "cli", "web"},
    "web": {"data", "collection", "features", "describe", "meaning", "writeback", "workflow"},
    "__main__": {"cli"},
}
# What it may import besides, inside the call that needs it (or for type checkers only).
INSIDE_CALLS = {"methods": {"completion", "features", "metrics"}, "papers": {"evaluation"}}
HEAVY = ("sklearn", "scipy", "numba", "pandas", "PIL")


def room(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def imports(path: Path):
    """Rooms of manyview that a file imports, with the line, and whether inside a call or for type checkers only."""
    package = ("manyview", *path.relative_to(SOURCE).parent.parts)
    tree = ast.parse(path.read_text(encoding="utf-8"))
    later = {
        id(node)
        for outer in ast.walk(tree)
        if isinstance(outer, ast.FunctionDef) or (isinstance(outer, ast.If) and "TYPE_CHECKING" in ast.dump(outer.test))
        for node in ast.walk(outer)
    }
    for node in ast.walk(tree):
        names = []
        if isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            full = (*base, *(node.module.split(".") if node.module else ()))
            names = [(*full, alias.name) for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [tuple(alias.name.split(".")) for alias in node.names]
        for name in names:
            if name[0] == "manyview" and len(name) > 1:
                yield name[1], node.lineno, id(node) in later


FILES = sorted(path for path in SOURCE.rglob("*.py") if path.name != "__init__.py" or path.parent != SOURCE)


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_rooms_import_only_what_lies_below(path):
    here = room(path)
    allowed = GROUND | {here} | MAY_IMPORT[here]
    for name, line, is_later in imports(path):
        also = INSIDE_CALLS.get(here, set()) if is_later else set()
        assert name in allowed | also, f"{here} imports {name} at line {line}"


# digiKam's database is another program's
OUTSIDE = sorted(path for path in FILES if room(path) != "collection" and path.name != "digikam.py")


@pytest.mark.parametrize("path", OUTSIDE, ids=lambda path: str(path.relative_to(SOURCE)))
def test_only_the_collection_speaks_sql(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        is_sql = isinstance(node, ast.Attribute) and node.attr in ("_catalog", "execute")
        assert not is_sql, f"SQL at line {node.lineno}"


def test_the_text_of_an_error_decides_nothing():
    for path in FILES:
        assert "in str(error)" not in path.read_text(encoding="utf-8") or path.name in ("pdf.py", "testing.py")


@pytest.mark.parametrize(("words", "home"), [("argpartition", "nearest.py"), ("names.index(", "views.py")])
def test_a_law_has_one_home(words, home):
    """The nearest rows are in ``data/nearest.py``, the place of a view in ``data/views.py``, and in no other file."""
    assert [path.name for path in FILES if words in path.read_text(encoding="utf-8")] == [home]


FLATS = sorted(path.name for path in (SOURCE / "methods").iterdir() if path.is_dir() and path.name[0] != "_")


def test_flats_import_only_the_public_files_of_each_other():
    for path in (SOURCE / "methods").rglob("*.py"):
        here = path.relative_to(SOURCE / "methods").parts[0]
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.ImportFrom) or not node.module or not node.level:
                continue
            base = ("manyview", *path.relative_to(SOURCE).parent.parts)[: 3 + len(path.relative_to(SOURCE).parts)]
            full = (*base[: len(base) - node.level + 1], *node.module.split("."))
            if full[:2] == ("manyview", "methods") and len(full) > 3 and full[2] in FLATS and full[2] != here:
                assert not full[3].startswith("_"), f"{path.relative_to(SOURCE)} imports {'.'.join(full)}"


def loaded_after(code: str) -> set[str]:
    shown = subprocess.run(
        [sys.executable, "-c", f"import sys\n{code}\nprint(*sys.modules)"], capture_output=True, text=True, check=True
    )
    return {name.split(".")[0] for name in shown.stdout.split()}


def test_importing_the_package_loads_nothing_heavy():
    loaded = loaded_after("import manyview; manyview.errors; dir(manyview)")
    assert not loaded.intersection((*HEAVY, "numpy"))


def test_views_and_metrics_load_without_scikit_learn():
    loaded = loaded_after("from manyview import Views, metrics\nimport numpy\nViews(numpy.eye(3))[:2]")
    assert not loaded.intersection(HEAVY)


def test_every_public_name_exists_and_the_rest_does_not():
    for name in manyview.__all__:
        assert getattr(manyview, name) is not None
        assert name in dir(manyview)
    for name in ("load", "save"):  # there, but not by `from manyview import *`: notebooks have their own
        assert callable(getattr(manyview, name)) and name in dir(manyview) and name not in manyview.__all__
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = manyview.nothing
