"""The Markdown of the repository as sources of the site: the same words, with links bent to where pages are."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

from .sections import ROOT, SECTIONS, Section, pages

__all__ = ["bent", "contents", "stage"]

_LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s#]*)(#[^)\s]*)?\)")
_FENCE = re.compile(r"^(```.*?^```[^\n]*$)", re.DOTALL | re.MULTILINE)


def stage(target: Path) -> None:
    """Write every page of the repository's Markdown below ``target``, and the first page of each section."""
    placed = pages()
    for name, page in placed.items():
        if name != "README.md":
            write(target / page, bent((ROOT / name).read_text(encoding="utf-8"), name, page, placed, target))
    for section in SECTIONS:
        if section.groups:
            write(target / section.name / "index.md", first_page(section, placed))
    start = target / "index.md"
    write(start, start.read_text(encoding="utf-8") + contents([f"{one.name}/index" for one in SECTIONS], hidden=True))


def bent(text: str, name: str, page: str, placed: dict[str, str], target: Path) -> str:
    """The text of file ``name`` as page ``page``: links go to pages, other files come along, folders are only words."""
    here = (ROOT / name).parent

    def bend(match: re.Match[str]) -> str:
        picture, words, link, anchor = match[1], match[2], match[3], match[4] or ""
        if not link or "://" in link or link.startswith("mailto:"):
            return match[0]
        path = (here / link).resolve()
        inside = str(path.relative_to(ROOT))
        if inside in placed:
            return f"[{words}]({_way(page, placed[inside])}{anchor})"
        if inside == "examples" or (Path(inside).suffix in (".py", ".ipynb") and inside.startswith("examples/")):
            shown = path.stem if path.suffix else "index"
            return f"[{words}]({_way(page, f'examples/{shown}.md')})"
        if path.is_dir():
            return words
        inside += ".txt" if inside.endswith(".md") else ""  # no page of ours: as it is written
        shutil.copyfile(path, _made(target / "files" / inside))
        return f"{picture}[{words}]({_way(page, f'files/{inside}')})"

    parts = _FENCE.split(text)
    return "".join(part if part.startswith("```") else _LINK.sub(bend, part) for part in parts)


def first_page(section: Section, placed: dict[str, str]) -> str:
    """The page that a section opens with: its groups as lists of what the pages are about."""
    lines = [f"# {section.title}", "", section.words, ""]
    for caption, names in section.groups:
        if len(section.groups) > 1:
            lines += [f"## {caption}", ""]
        for name in names:
            page = placed.get(name, name)
            lines.append(f"- {about(name, _way(f'{section.name}/index.md', page))}")
        lines.append("")
    end = ""
    for caption, names in section.groups:
        every = [_way(f"{section.name}/index.md", placed.get(name, name))[:-3] for name in names]
        end += contents(every, hidden=True, caption=caption if len(section.groups) > 1 else "")
    return "\n".join(lines) + end


def about(name: str, link: str) -> str:
    """A link with the title of a page, and its first sentence."""
    path = ROOT / name
    if not path.exists():
        return f"[Plots]({link}): what was measured, as pictures."
    text = path.read_text(encoding="utf-8")
    title = re.search(r"^# (.+)$", text, re.MULTILINE)
    blocks = [block.strip() for block in re.split(r"\n\s*\n", _FENCE.sub("", text))]
    words = next(
        (" ".join(block.split()) for block in blocks if block and not block.startswith(("#", "<", "!", "|"))), ""
    )
    sentence = _LINK.sub(r"\2", re.match(r"(?:.*?\.(?=\s|$))|.*", words)[0])  # type: ignore[index]
    return f"[{title[1] if title else path.stem}]({link})" + (f" — {sentence}" if sentence else "")


def contents(names: list[str], *, hidden: bool = False, caption: str = "") -> str:
    """A table of contents in the words of MyST."""
    options = ([":hidden:"] if hidden else []) + ([f":caption: {caption}"] if caption else []) + [":maxdepth: 2"]
    return "\n".join(["", "```{toctree}", *options, "", *names, "```", ""])


def write(path: Path, text: str) -> None:
    _made(path).write_text(text, encoding="utf-8")


def _made(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def _way(page: str, to: str) -> str:
    return os.path.relpath(to, Path(page).parent)
