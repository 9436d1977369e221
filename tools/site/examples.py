"""The gallery of examples and the notebooks: each is run, and becomes a page with what it printed and drew."""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
from pathlib import Path
from typing import Any

from .cells import Outcome, read_notebook, read_script, run_cells
from .drawn import Keeper, dark
from .sections import ROOT, SECTIONS
from .staging import contents, write

__all__ = ["EXAMPLES", "NOTEBOOKS", "run_all", "write_pages"]

SCRIPTS, BOOKS = ROOT / "examples", ROOT / "examples" / "notebooks"
# which of its pictures stands for an example in the gallery, counted from 1
EXAMPLES = {
    "For you": {"photographer": 1, "archivist": 2, "data_scientist": 2, "researcher": 1},
    "Methods": {
        "consensus": 1,
        "robust_kmeans": 1,
        "fusion_art_stream": 1,
        "annotated_plsa": 1,
        "tag_forest": 1,
        "cross_modal": 2,
        "tag_completion": 2,
    },
}
NOTEBOOKS = {"first_clusters": 1, "missing_tags": 1, "views_in_scikit_learn": 1}


def run_all(kept: Path, only: list[str] | None = None) -> None:
    """Run every example and notebook in one process, in a folder of its own, and keep what they left below ``kept``."""
    paths = [SCRIPTS / f"{name}.py" for group in EXAMPLES.values() for name in group]
    paths += [BOOKS / f"{name}.ipynb" for name in NOTEBOOKS]
    os.environ |= {"MPLBACKEND": "Agg", "LOGNAME": "you"}  # who decides, in a history that is shown
    import matplotlib

    matplotlib.use("Agg")
    work = kept / "work"
    work.mkdir(parents=True, exist_ok=True)
    sys.path.insert(0, str(SCRIPTS))
    before = Path.cwd()
    os.chdir(work)
    try:
        for path in paths:
            if only is None or path.stem in only:
                _run_one(path.stem, path, kept)
    finally:
        os.chdir(before)
        sys.path.remove(str(SCRIPTS))
    shutil.rmtree(work)


def _run_one(name: str, path: Path, kept: Path) -> None:
    start = time.process_time()
    cells = read_notebook(path) if path.suffix == ".ipynb" else read_script(path)
    done = list(run_cells(cells, str(path), Keeper(kept / "pictures", name)))
    stored = [{"text": one.cell.text, "is_code": one.cell.is_code, **_left(one, kept)} for one in done]
    (kept / f"{name}.json").write_text(json.dumps(stored), encoding="utf-8")
    print(f"{path.relative_to(ROOT)}: {time.process_time() - start:.1f} s of one core")


def _left(one: Outcome, kept: Path) -> dict[str, object]:
    printed = one.printed.replace(f"{kept / 'work'}/", "")  # where the site was built is nobody's business
    return {"printed": printed, "pictures": one.pictures, "value_html": one.value_html}


def write_pages(kept: Path, target: Path) -> None:
    """A page for each, and the gallery with a small picture of every one."""
    shutil.copytree(kept / "pictures", target / "examples" / "pictures")
    section = next(one for one in SECTIONS if one.name == "examples")
    lines = [f"# {section.title}", "", section.words, ""]
    end = ""
    groups = {**EXAMPLES, "Notebooks": NOTEBOOKS}
    for caption, names in groups.items():
        lines += [f"## {caption}", "", ":::::{container} cards"]
        for name, picture in names.items():
            done = json.loads((kept / f"{name}.json").read_text(encoding="utf-8"))
            is_book = caption == "Notebooks"
            write(target / "examples" / f"{name}.md", _page(name, done, is_book, target))
            lines += _card(name, done, picture)
        lines += [":::::", ""]
        end += contents(list(names), hidden=True, caption=caption)
    write(target / "examples" / "index.md", "\n".join(lines) + end)


def _page(name: str, done: list[dict[str, Any]], is_book: bool, target: Path) -> str:
    source = BOOKS / f"{name}.ipynb" if is_book else SCRIPTS / f"{name}.py"
    (target / "examples" / "files").mkdir(exist_ok=True)
    shutil.copyfile(source, target / "examples" / "files" / source.name)
    lines = []
    for one in done:
        if not one["is_code"]:
            lines += [one["text"], ""]
            continue
        lines += ["```python", one["text"].replace("plt.show()", "").rstrip(), "```", ""]
        if one["printed"].strip():
            lines += ["```{code-block} text", ":class: printed", "", one["printed"].rstrip(), "```", ""]
        if one["value_html"]:
            lines += ["```{raw} html", f'<div class="value">{one["value_html"]}</div>', "```", ""]
        for picture in one["pictures"]:
            lines += _picture(f"pictures/{picture}", f"drawn by the code above, picture {picture}")
    lines += [f"Take it along: [{source.name}](files/{source.name})."]
    return "\n".join(lines) + "\n"


def _picture(path: str, words: str, more: str = "") -> list[str]:
    """For light and for dark pages."""
    lines = []
    for file, shown in ((path, "only-light"), (dark(path), "only-dark")):
        lines += [f"```{{image}} {file}", f":class: drawn {shown} {more}".rstrip(), f":alt: {words}", "```", ""]
    return lines


def _card(name: str, done: list[dict[str, Any]], picture: int) -> list[str]:
    title, _, words = done[0]["text"].removeprefix("# ").partition("\n")
    pictures = [one for cell in done for one in cell["pictures"]]
    sentence = " ".join(words.split()).split(". ")[0].rstrip(".") + "."
    lines = ["::::{container} card-of-example"]
    if pictures:
        lines += _picture(f"pictures/{pictures[picture - 1]}", "", "thumb")
    return [*lines, f"[{title.strip()}]({name}.md)", "", sentence, "::::"]
