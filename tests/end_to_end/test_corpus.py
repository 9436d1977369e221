"""Strangers' files the whole way: the pictures that ship inside installed packages, and any folder of yours.

MANYVIEW_CORPUS names a folder of real files to run as well.
"""

import importlib.util
import os
import shutil
from pathlib import Path

import pytest

from tests.ingest.makers import xmp

from .corpus import digests, main

pytestmark = pytest.mark.slow


def shipped() -> list[Path]:
    """The folders of pictures inside scikit-image, scikit-learn and, where it brings any, Pillow."""
    found = []
    for package, parts in (("skimage", ("data",)), ("sklearn", ("datasets", "images")), ("PIL", ("Tests", "images"))):
        spec = importlib.util.find_spec(package)
        folder = Path(spec.origin).parent.joinpath(*parts) if spec and spec.origin else None
        if folder is not None and folder.is_dir():
            found.append(folder)
    return found


def test_the_pictures_inside_installed_packages(tmp_path):
    sources = shipped()
    assert len(sources) >= 2
    corpus = tmp_path / "corpus"
    before = [digests(folder) for folder in sources]
    for number, folder in enumerate(sources):
        shutil.copytree(folder, corpus / str(number), ignore=shutil.ignore_patterns("__pycache__"))
    pictures = [path for path in sorted(corpus.rglob("*")) if path.suffix in (".png", ".jpg")]
    for number, path in enumerate(pictures):  # tags, so that there is something to suggest
        if number % 3:
            words = ("animal", "near") if number % 2 else ("thing", "near", "still")
            path.with_suffix(".xmp").write_bytes(xmp(*words))
    found = main(corpus)
    assert found["wrong"] == []
    assert found["items"] >= 25
    assert [one["command"] for one in found["commands"]] == [
        *("init", "features", "fit", "show", "suggest", "report", "doctor"),
    ]
    assert all(one["reason"] and one["sentence"] for one in found["refused"])
    assert any(one["path"].endswith("__init__.py") for one in found["refused"])  # by name, not passed over
    assert before == [digests(folder) for folder in sources]


def test_a_folder_of_nothing_that_can_be_read(tmp_path):
    (tmp_path / "a.jpg").write_text("just words")
    (tmp_path / "b.xyz").write_bytes(bytes(100))
    found = main(tmp_path)
    assert found["wrong"] == [] and found["items"] == 0
    assert {one["path"] for one in found["refused"]} == {"a.jpg", "b.xyz"}


if "MANYVIEW_CORPUS" in os.environ:

    def test_a_corpus_of_your_own():
        assert main(Path(os.environ["MANYVIEW_CORPUS"]))["wrong"] == []
