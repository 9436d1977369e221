"""Pictures that the workers of a cluster look at give what this process would have found, to the last bit."""

import os

import numpy as np
import pytest
from PIL import Image

from manyview import Collection
from manyview.errors import ParameterError, WorkerError
from manyview.features.opening.decode import BadFile, DecodePool
from manyview.workflow import compute
from manyview.workflow.compute import compute_views
from manyview.workflow.looking import elsewhere

pytest.importorskip("distributed")
from distributed import Client, LocalCluster

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning")
VIEWS = ("edges", "embedding", "visual_words")


@pytest.fixture(scope="module")
def pictures(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pictures")
    rng = np.random.default_rng(0)
    for number in range(11):
        pixels = rng.integers(0, 255, size=(6, 6, 3), dtype=np.uint8).repeat(16, 0).repeat(16, 1)
        Image.fromarray(pixels).save(folder / f"{number}.png")
    (folder / "broken.png").write_bytes(b"\x89PNG\r\n\x1a\n and no more")
    return folder


@pytest.fixture(scope="module")
def client():
    """Workers that are threads: cheap, and what is sent is pickled all the same."""
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None) as here,
        Client(here) as client,
    ):
        yield client


def collected(path, pictures, views=("edges",), **more):
    with Collection.create(path, pictures) as collection:
        done = compute_views(collection, views, n_jobs=1, **more)
        rows = {name: collection.segments.matrix(name) for name in views}
        thumbs = [collection.thumbs.get(number) for number in collection.items.ids]
        return done, rows, thumbs


def as_array(matrix):
    return matrix.toarray() if hasattr(matrix, "toarray") else np.asarray(matrix)


@pytest.mark.parametrize("views", [("edges",), pytest.param(VIEWS, marks=pytest.mark.slow)])
def test_workers_find_what_this_process_finds(views, pictures, client, tmp_path, monkeypatch):
    monkeypatch.setattr(compute, "_BATCH", 4)
    here, rows, thumbs = collected(tmp_path / "here.manyview", pictures, views)
    there, same_rows, same_thumbs = collected(tmp_path / "there.manyview", pictures, views, cluster=client)
    for name in views:
        (one, has), (two, also_has) = rows[name], same_rows[name]
        assert np.array_equal(as_array(one), as_array(two)) and np.array_equal(has, also_has), name
    assert thumbs == same_thumbs and here.rows == there.rows and here.bad == there.bad and len(there.bad) == 1


def test_a_file_that_a_worker_cannot_see_is_named(pictures, client, tmp_path, monkeypatch):
    class Blind(DecodePool):
        def decode(self, paths, journal=None):
            return ((path, BadFile("missing", "it is not there.")) for path in paths)

    monkeypatch.setattr(elsewhere, "DecodePool", Blind)
    with pytest.raises(WorkerError, match=r"the worker at inproc://.* cannot open .*0\.png \(missing\), though this"):
        collected(tmp_path / "blind.manyview", pictures, cluster=client)
    monkeypatch.setattr(os, "access", lambda *_: False)  # where nobody sees it, it is the file that is gone
    done, *_ = collected_problems(tmp_path / "gone.manyview", pictures, client)
    assert {problem.reason for problem in done.bad} == {"missing"}


def collected_problems(path, pictures, client):
    with Collection.create(path, pictures) as collection:
        return (compute_views(collection, ["edges"], n_jobs=1, cluster=client),)


def test_another_version_is_refused(pictures, client, tmp_path, monkeypatch):
    from manyview.features.edges import EdgeDirections

    dumped = elsewhere.pickle.dumps
    monkeypatch.setattr(
        elsewhere.pickle, "dumps", lambda made, **how: dumped([(one, "older") for one, _ in made], **how)
    )
    assert EdgeDirections().version != "older"
    with pytest.raises(ParameterError, match="a worker would make the view 'edges' as version .* here it is 'older'"):
        collected_problems(tmp_path / "old.manyview", pictures, client)


def test_lines_that_others_can_read_are_refused(pictures, tmp_path):
    with Collection.create(tmp_path / "x.manyview", pictures) as collection:
        with pytest.raises(ParameterError, match="on another machine, and the line to it is not encrypted"):
            compute_views(collection, ["edges"], cluster="tcp://10.0.0.7:8786")
