"""One of our own parsers under atheris, which looks for inputs that reach new code; a program for
``test_parser_fuzz``: ``python -m tests.end_to_end.parser_fuzz PARSER FOLDER SECONDS``.

Whatever the bytes, a parser answers or refuses in its own words; anything else ends the program with the input kept.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["manyview.ingest", "manyview.writeback"], enable_loader_override=False):
    from manyview.files import BadFile
    from manyview.ingest import containers, iptc, ready, sidecar, table, xmp
    from manyview.ingest.documents import pages, plain
    from manyview.ingest.keywords import read_keywords
    from manyview.writeback.document import Refused
    from manyview.writeback.editor import Edit, edit_document, read_words

from manyview.errors import ManyviewError
from tests.end_to_end.test_fuzz import samples
from tests.ingest.makers import iim, resources
from tests.ingest.makers import xmp as packet
from tests.ingest.test_keywords import PLACES
from tests.writeback.documents import PROGRAMS, other_program

FOLDER = Path(sys.argv[2])
KINDS = ("jpeg", "png", "webp", "tiff", "mp4", "gif")
EDIT = Edit(("dog",), ("red",), ("a|dog",), ("a|red",))


def in_file(name: str, parse: Callable[[str], object]) -> Callable[[bytes], object]:
    """A parser that wants a file by its name."""
    path = FOLDER / name

    def with_file(content: bytes) -> object:
        path.write_bytes(content)
        return parse(str(path))

    return with_file


def edit(content: bytes) -> None:
    """What was edited can be read, and holds what was put in."""
    edited, _ = edit_document(content, EDIT)
    assert any(word.casefold() == "dog" for word in read_words(edited)[0])


def containers_of_every_kind(content: bytes) -> None:
    for kind in KINDS:
        read_keywords(io.BytesIO(content), kind)
    list(containers.tiff_blocks(content))


PARSERS: dict[str, tuple[Callable[[bytes], object], Callable[[], list[bytes]]]] = {
    "xmp": (xmp.read_packet, lambda: [packet("red", paths=("a|red",))]),
    "iptc": (lambda c: (iptc.keywords(c), iptc.iim_from_resources(c)), lambda: [iim(b"red"), resources(iim(b"red"))]),
    "containers": (containers_of_every_kind, lambda: list(PLACES.values())),
    "sidecar": (in_file("one.xmp", sidecar.read_sidecar), lambda: [packet("red"), *_programs()]),
    "documents": (
        lambda c: (pages.html_to_text(plain.decode_text(c)), plain.front_matter(plain.decode_text(c))),
        lambda: [b"<p>words &amp; <b>more</b>", "w\u00f6rter".encode("utf-16"), b"<script>x</script>"],
    ),
    "npy": (in_file("one.npy", ready.open_features), lambda: _features(".npy")),
    "npz": (in_file("one.npz", ready.open_features), lambda: _features(".npz")),
    "csv": (in_file("one.csv", lambda p: list(table.table_rows(p)[1])), lambda: _features(".csv")),
    "jsonl": (in_file("one.jsonl", lambda p: list(table.table_rows(p)[1])), lambda: _features(".jsonl")),
    "editor": (edit, lambda: [packet("red"), *_programs()]),
}


def _programs() -> list[bytes]:
    return [other_program(program, seed)[0] for program in PROGRAMS for seed in range(2)]


def _features(ending: str) -> list[bytes]:
    (FOLDER / "whole").mkdir()
    return [content for name, content in samples(FOLDER / "whole").items() if name.endswith(ending)]


def main() -> None:
    name, seconds = sys.argv[1], int(sys.argv[3])
    parse, seeds = PARSERS[name]
    corpus = FOLDER / "corpus"
    corpus.mkdir()
    for number, content in enumerate(seeds()):
        (corpus / str(number)).write_bytes(content)

    def tried(content: bytes) -> None:
        try:
            parse(content)
        except (iptc.Damaged, BadFile, Refused, ManyviewError) as error:
            assert str(error).strip()

    limits = ("-max_len=16384", "-timeout=30", "-rss_limit_mb=2048", "-print_final_stats=1")
    atheris.Setup(
        [sys.argv[0], f"-max_total_time={seconds}", f"-artifact_prefix={FOLDER}/", *limits, str(corpus)], tried
    )
    atheris.Fuzz()


if __name__ == "__main__":
    main()
