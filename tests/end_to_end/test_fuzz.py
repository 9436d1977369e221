"""Mutated files by the thousand: pictures, metadata, tables and feature files are read, or refused in a sentence.

MANYVIEW_FUZZ says how many of each kind: 2,000 by default.
"""

import csv
import io
import json
import os
import time

import numpy as np
import pytest
from scipy.sparse import csr_matrix, save_npz

from manyview import RobustMultiviewKMeans, errors, load, save
from manyview.features.opening.decode import REASONS, BadFile, DecodePool
from manyview.files import sniff
from manyview.ingest.keywords import read_keywords
from manyview.ingest.ready import open_features
from manyview.ingest.rows import table_rows
from tests.features.opening.test_decode import FORMATS, encoded
from tests.ingest.test_keywords import PLACES

pytestmark = pytest.mark.slow

COUNT = int(os.environ.get("MANYVIEW_FUZZ", "2000"))
NUMBERS = [bytes([value] * width) for value in (0x00, 0x7F, 0x80, 0xFF) for width in (1, 2, 4, 8)]


def mutated(rng, whole):
    """The file with a few bytes turned, set to extremes, moved, repeated, cut out or cut off."""
    content = bytearray(whole)
    for _ in range(rng.integers(1, 7)):
        # most of what a parser believes stands at the front
        at = int(rng.integers(len(content)) if rng.random() < 0.5 else rng.integers(min(len(content), 256)))
        end = min(len(content), at + int(rng.integers(1, 64)))
        way = rng.integers(6)
        if way == 0:
            content[at] ^= 1 << int(rng.integers(8))
        elif way == 1:
            number = NUMBERS[rng.integers(len(NUMBERS))]
            content[at : at + len(number)] = number
        elif way == 2:
            content[at:end] = rng.bytes(end - at)
        elif way == 3:
            content[at:at] = content[at:end] * int(rng.integers(1, 9))
        elif way == 4 and len(content) > 64:
            del content[at:end]
        elif way == 5 and len(content) > 64:
            del content[max(32, at) :]
    return bytes(content)


def test_mutated_pictures_never_hurt_the_run(tmp_path, record_property):
    record_property("count", COUNT)
    rng = np.random.default_rng(0)
    wholes = [encoded(kind) for kind in FORMATS.values()]
    wholes += [encoded("GIF", save_all=True, append_images=[], loop=0), encoded("PNG", compress_level=0)]

    def paths():
        for number in range(COUNT):
            path = tmp_path / f"{number}.bin"
            path.write_bytes(mutated(rng, wholes[number % len(wholes)]))
            yield path

    n_good = n_bad = 0
    began = time.monotonic()
    with DecodePool(n_jobs=2, max_side=64, thumbnail_side=64) as pool:
        for path, found in pool.decode(paths()):
            assert time.monotonic() - began < 40, path  # 30 s are a child's limit
            began = time.monotonic()
            if isinstance(found, BadFile):
                assert found.reason in REASONS and found.sentence.strip()
                n_bad += 1
            else:
                n_good += 1
            path.unlink()
    assert n_good + n_bad == COUNT and min(n_good, n_bad) > COUNT / 20


def test_mutated_metadata_is_read_or_noted(record_property):
    record_property("count", COUNT)
    rng = np.random.default_rng(1)
    wholes = sorted(PLACES.items())
    for number in range(COUNT):
        name, whole = wholes[number % len(wholes)]
        found = read_keywords(io.BytesIO(mutated(rng, whole)), sniff(whole[:4096]).format)
        assert all(isinstance(tag, str) and tag for tag in found.tags), name
        assert all(reason and sentence for reason, sentence in found.notes), name


def samples(folder):
    """A small file of every kind a collection can be made of, beside pictures."""
    rng = np.random.default_rng(2)
    rows = [{"id": f"a{row}", "tags": "red, round", "text": 'some "words"', "size": row / 3} for row in range(8)]
    for name, dialect in (("t.csv", "excel"), ("t.tsv", "excel-tab")):
        with (folder / name).open("w", newline="", encoding="utf-8") as file:
            table = csv.DictWriter(file, rows[0], dialect=dialect)
            table.writeheader()
            table.writerows(rows)
    (folder / "t.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    np.save(folder / "f.npy", rng.normal(size=(8, 3)))
    np.savez(folder / "f.npz", looks=rng.normal(size=(8, 3)), ids=np.arange(8))
    save_npz(folder / "s.npz", csr_matrix(rng.integers(0, 2, (8, 5)).astype(float)))
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def test_mutated_tables_and_features_are_read_or_refused(tmp_path, record_property):
    record_property("count", COUNT)
    rng = np.random.default_rng(3)
    (tmp_path / "whole").mkdir()
    wholes = sorted(samples(tmp_path / "whole").items())
    n_refused = 0
    for number in range(COUNT):
        name, whole = wholes[number % len(wholes)]
        path = tmp_path / name
        path.write_bytes(mutated(rng, whole))
        try:
            if name.startswith("t"):
                list(table_rows(str(path))[1])
            else:
                open_features(str(path))
        except errors.ManyviewError as error:
            assert str(path) in str(error)
            n_refused += 1
    assert COUNT / 20 < n_refused < COUNT


def test_mutated_models_are_read_or_refused(tmp_path, record_property):
    """The manifest and the arrays of a saved model."""
    record_property("count", COUNT)
    rng = np.random.default_rng(4)
    X = rng.normal(size=(30, 3))
    model = RobustMultiviewKMeans(n_clusters=2, n_init=1, random_state=0).fit([X, csr_matrix(np.abs(X).round())])
    folder = save(model, tmp_path / "model")
    wholes = sorted(((path, path.read_bytes()) for path in folder.iterdir()), key=lambda one: one[0].suffix)
    n_refused = 0
    for number in range(COUNT):
        path, whole = wholes[0 if number % 2 else number // 2 % len(wholes)]  # the manifest every second time
        path.write_bytes(mutated(rng, whole))
        try:
            load(folder)
        except errors.StoreError as error:
            assert str(folder) in str(error)
            n_refused += 1
        path.write_bytes(whole)
    assert COUNT / 20 < n_refused < COUNT
