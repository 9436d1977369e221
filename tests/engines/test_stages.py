"""Work in stages: what was found is there again, only for the same work, which nobody does twice at once."""

import multiprocessing
import warnings

import numpy as np
import pytest

import manyview
from manyview import AcceleratedKMeans
from manyview.durable import only_one
from manyview.engines import checkpoint
from manyview.engines.stages import Stages, kept_work
from manyview.errors import Busy

from .test_checkpoint import MODELS, data, same


@pytest.fixture(autouse=True)
def keep_all(monkeypatch):
    monkeypatch.setattr(checkpoint, "EVERY", 0.0)


class Stop(Exception):
    pass


def model():
    return AcceleratedKMeans(2, random_state=0).fit(np.arange(12.0).reshape(6, 2))


def test_a_stage_is_done_once(tmp_path):
    n_done = 0

    def work():
        nonlocal n_done
        n_done += 1
        warnings.warn("some items are odd", UserWarning, stacklevel=2)
        return model(), {"why": ["because"], "share": 0.1}

    for _ in range(2):
        with pytest.raises(Stop), kept_work(tmp_path / "work", "fit-a", {"command": "x"}) as stages:
            with pytest.warns(UserWarning, match="some items are odd"):
                found, facts = stages.result("model", work)
            assert facts == {"why": ["because"], "share": 0.1}
            assert np.array_equal(found.labels_, model().labels_)
            raise Stop
    assert n_done == 1
    with kept_work(tmp_path / "work", "fit-a", {"command": "x"}) as stages, pytest.warns(UserWarning, match="odd"):
        stages.result("model", lambda: pytest.fail("it was done before"))
    assert not (tmp_path / "work").exists()


def test_a_model_without_its_end_does_not_count(tmp_path):
    """Killed between the model and the file that says that the stage has ended."""
    with pytest.raises(Stop), kept_work(tmp_path / "work", "fit-a", {}) as stages:
        stages.result("model", lambda: (model(), {}))
        raise Stop
    (tmp_path / "work" / "fit-a" / "model.json").unlink()
    with kept_work(tmp_path / "work", "fit-a", {}) as stages:
        _, facts = stages.result("model", lambda: (None, {"again": True}))
    assert facts == {"again": True}


def test_what_nobody_takes_up_goes_when_other_work_begins(tmp_path):
    home = tmp_path / "work"
    with pytest.raises(Stop), kept_work(home, "fit-a", {}) as stages:
        stages.result("number", lambda: (None, {"n": 3}))
        raise Stop
    assert (home / "fit-a" / "number.json").exists()
    with kept_work(home, "fit-b", {}) as stages:
        assert not (home / "fit-a").exists()
        stages.result("number", lambda: (None, {"n": 4}))
        with kept_work(home, "fit-c", {}):
            assert (home / "fit-b" / "number.json").exists()  # somebody is at it
        with kept_work(home, "fit-b", {}) as beside:  # the same at the same time: nothing is kept, all is done
            assert beside.result("number", lambda: (None, {"n": 5})) == (None, {"n": 5})
        assert (home / "fit-b" / "number.json").exists()
    assert not home.exists()


def test_quick_stages_are_not_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(checkpoint, "EVERY", 5.0)
    with pytest.raises(Stop), kept_work(tmp_path / "work", "fit-a", {}) as stages:
        stages.result("number", lambda: (None, {}))
        raise Stop
    assert not (tmp_path / "work" / "fit-a").exists()
    assert Stages().result("number", lambda: (None, {"n": 1})) == (None, {"n": 1})


def _hold(path, taken, over):
    with only_one(path, "this"):
        taken.set()
        over.wait(60)


def test_one_at_a_time_in_this_process_and_in_others(tmp_path):
    path = tmp_path / "lock"
    with only_one(path, "this"), pytest.raises(Busy, match="this is being done by process"), only_one(path, "this"):
        pass
    assert not path.exists()
    context = multiprocessing.get_context("fork")
    taken, over = context.Event(), context.Event()
    process = context.Process(target=_hold, args=(path, taken, over))
    process.start()
    taken.wait(60)
    with pytest.raises(Busy, match=f"process {process.pid}"), only_one(path, "this"):
        pass
    process.kill()
    process.join()
    assert path.exists()
    with only_one(path, "this"):  # whoever died holds nothing
        pass
    assert not path.exists()


def test_the_same_fit_is_not_done_twice_in_one_folder(tmp_path, monkeypatch):
    views, kept = data(300), tmp_path / "kept"
    make, inner = MODELS["kmeans"], []
    search = AcceleratedKMeans._search

    def and_again(self, *given):
        if not inner:
            inner.append(True)
            with pytest.raises(Busy, match="the same fit of AcceleratedKMeans"):
                make().fit(views)
            make(tol=0.1).fit(views)  # another fit may
        return search(self, *given)

    monkeypatch.setattr(AcceleratedKMeans, "_search", and_again)
    with manyview.on("serial", folder=kept):
        model = make().fit(views)
    monkeypatch.undo()
    same(model, make().fit(views))
    assert inner and not list(kept.iterdir())
