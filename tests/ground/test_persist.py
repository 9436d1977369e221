import copy
import json
import os
import shutil

import numpy as np
import pytest
from scipy import sparse

from manyview import RobustMultiviewKMeans, durable, load, persist, save
from manyview.errors import ParameterError, StoreError
from manyview.testing import separated_views


@pytest.fixture(scope="module")
def fitted():
    return RobustMultiviewKMeans(3, n_init=1, random_state=0, view_weights={"looks": 1, "text": 2, "tags": 3}).fit(
        separated_views()[0]
    )


@pytest.fixture
def model(fitted):
    return copy.deepcopy(fitted)


@pytest.fixture
def folder(model, tmp_path):
    return save(model, tmp_path / "model")


def test_everything_comes_back(model, folder):
    back = load(folder)
    assert back.get_params() == model.get_params()
    for name, value in vars(model).items():
        if isinstance(value, np.ndarray):
            assert np.array_equal(getattr(back, name), value) and getattr(back, name).dtype == value.dtype
    assert back.view_names_ == model.view_names_ and isinstance(back.view_names_, tuple)
    assert back.n_features_per_view_ == model.n_features_per_view_


def test_only_json_and_npy_are_written(folder):
    assert {path.suffix for path in folder.iterdir()} == {".json", ".npy"}
    for path in folder.glob("*.npy"):
        np.load(path, allow_pickle=False)


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        3,
        2.5,
        np.inf,
        -np.inf,
        "größe",
        [1, [2, "x"]],
        (1, (2,)),
        {"a": {1: 2}},
        np.int64(4),
        np.float32(0.5),
    ],
)
def test_plain_values_come_back_as_they_were(value, model, tmp_path):
    model.extra_ = value
    assert load(save(model, tmp_path / "m")).extra_ == value


@pytest.mark.parametrize(
    "array",
    [
        np.zeros((0, 3)),
        np.array(5.0),
        np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        np.array(["a", "ü"]),
        np.arange(6, dtype=">i2"),
        np.arange(10)[::2],
    ],
)
def test_arrays_come_back_as_they_were(array, model, tmp_path):
    model.extra_ = array
    back = load(save(model, tmp_path / "m")).extra_
    assert np.array_equal(back, array) and back.dtype == array.dtype and back.shape == array.shape


def test_sparse_matrices_nan_and_models_inside_models(model, tmp_path):
    outer = RobustMultiviewKMeans(3, n_init=1, random_state=0).fit(separated_views()[0])
    outer.matrix_, outer.inner_, outer.gap_ = sparse.csr_matrix(np.eye(3)), model, float("nan")
    back = load(save(outer, tmp_path / "m"))
    assert (back.matrix_ != outer.matrix_).nnz == 0
    assert np.array_equal(back.inner_.labels_, model.labels_)
    assert np.isnan(back.gap_)


def test_what_would_need_code_is_refused(model, tmp_path):
    model.extra_ = lambda: 1
    with pytest.raises(ParameterError, match="extra_ holds a function"):
        save(model, tmp_path / "m")
    model.extra_ = np.array([object()])
    with pytest.raises(ParameterError, match="Python objects"):
        save(model, tmp_path / "m")
    with pytest.raises(ParameterError, match="is a dict"):
        save({"a": 1}, tmp_path / "m")
    assert list(tmp_path.iterdir()) == []


def test_saving_again_replaces_the_old_one(model, folder):
    model.labels_ = model.labels_ + 1
    (folder / "0123abcd-7.npy").write_bytes(b"left over from a save that was cut off")
    (folder / "0123abcd.tmp").write_bytes(b"{")
    before = len(list(folder.iterdir()))
    save(model, folder)
    assert np.array_equal(load(folder).labels_, model.labels_)
    assert len(list(folder.iterdir())) == before - 2
    assert [path.name for path in folder.parent.iterdir()] == ["model"]


@pytest.mark.parametrize("umask", [0o022, 0o077, 0o002])
def test_the_umask_says_who_may_read(model, tmp_path, umask):
    old = os.umask(umask)
    try:
        folder = save(model, tmp_path / "models" / "model")
    finally:
        os.umask(old)
    for path in (folder.parent, folder, *folder.iterdir()):
        assert path.stat().st_mode & 0o777 == (0o777 if path.is_dir() else 0o666) & ~umask


def test_a_foreign_folder_is_never_touched(model, tmp_path):
    (tmp_path / "photo.jpg").write_bytes(b"precious")
    with pytest.raises(StoreError, match="not a saved model; nothing was written"):
        save(model, tmp_path)
    with pytest.raises(StoreError, match="not a saved model"):
        save(model, tmp_path / "photo.jpg")
    assert (tmp_path / "photo.jpg").read_bytes() == b"precious" and len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize("fresh", [True, False])
def test_every_failing_step_leaves_the_old_state(model, tmp_path, monkeypatch, fresh):
    """Fail the n-th open, fsync or replace for every n: the old model or none, and nothing stray."""
    folder = tmp_path / "models" / "model"
    if not fresh:
        save(model, folder)
    files = {path.name for path in folder.iterdir()} if not fresh else set()
    changed = RobustMultiviewKMeans(2, n_init=1, random_state=0).fit(separated_views()[0])
    real = {"fsync": os.fsync, "replace": os.replace, "open": open}
    failures = 0
    for n in range(1, 500):
        count = [0]

        def failing(name, count=count, n=n):
            def call(*args, **kwargs):
                count[0] += 1
                if count[0] == n:
                    raise OSError(28, "No space left on device")
                return real[name](*args, **kwargs)

            return call

        with monkeypatch.context() as patch:
            patch.setattr(os, "fsync", failing("fsync"))
            patch.setattr(os, "replace", failing("replace"))
            patch.setattr(durable, "open", failing("open"), raising=False)
            try:
                save(changed, folder)
            except OSError:
                failures += 1
            else:
                break
        if folder.exists() and np.array_equal(load(folder).labels_, changed.labels_):
            continue  # the manifest was in place already; only its fsync failed
        if fresh:
            assert not folder.exists()
        else:
            assert {path.name for path in folder.iterdir()} == files
            assert np.array_equal(load(folder).labels_, model.labels_)
    assert failures > 30
    assert np.array_equal(load(folder).labels_, changed.labels_)


@pytest.mark.slow
def test_a_kill_at_any_moment_leaves_a_whole_model(model, tmp_path):
    """Stop dead at the n-th step (no clean-up runs): the folder loads as the old or the new model."""
    import subprocess
    import sys

    save(model, tmp_path / "m")
    code = """
import os, sys
from manyview import persist, load
model = load(sys.argv[1])
model.labels_ = model.labels_ + 10
count, real = [0], (os.fsync, os.replace)
def dying(call):
    def wrapped(*args):
        count[0] += 1
        if count[0] == int(sys.argv[2]):
            os._exit(9)
        return call(*args)
    return wrapped
os.fsync, os.replace = dying(real[0]), dying(real[1])
persist.save(model, sys.argv[1])
"""
    for n in (1, 15, 17):
        ended = subprocess.run([sys.executable, "-c", code, str(tmp_path / "m"), str(n)]).returncode
        first = load(tmp_path / "m").labels_[0]
        assert ended in (0, 9) and first in (model.labels_[0], model.labels_[0] + 10)
        save(model, tmp_path / "m")
    assert len(list(tmp_path.iterdir())) == 1


def first_array(folder):
    return next(folder.glob("*-0.npy"))


def edit(folder, change):
    path = folder / "manifest.json"
    manifest = json.loads(path.read_text(encoding="utf-8"))
    change(manifest)
    path.write_text(json.dumps(manifest), encoding="utf-8")


class TestHostileFolders:
    def test_no_manifest(self, tmp_path):
        with pytest.raises(StoreError, match=r"holds no manifest\.json"):
            load(tmp_path)

    @pytest.mark.parametrize("text", [b"", b"{", b"\xff\xfe", b"[]", b"null", b'{"format": 1}', b"[" * 100000])
    def test_damaged_manifest(self, folder, text):
        (folder / "manifest.json").write_bytes(text)
        with pytest.raises(StoreError, match="damaged"):
            load(folder)

    def test_a_newer_format_is_refused_untouched(self, folder):
        edit(folder, lambda m: m.update(format=99))
        before = (folder / "manifest.json").read_bytes()
        with pytest.raises(StoreError, match="format 99; this version reads 1. Nothing was changed"):
            load(folder)
        assert (folder / "manifest.json").read_bytes() == before

    @pytest.mark.parametrize("name", ["os.system", "Views", "save", "PCA", "__class__"])
    def test_unknown_classes(self, folder, name):
        edit(folder, lambda m: m["model"].update({"class": name}))
        with pytest.raises(StoreError, match="does not know"):
            load(folder)

    @pytest.mark.parametrize("name", ["fit", "__class__", "predict", "n_clusters", "__dict__", "_private_"])
    def test_attributes_that_are_not_results(self, folder, name):
        edit(folder, lambda m: m["model"]["fitted"].update({name: 1}))
        with pytest.raises(StoreError, match="not the name of a fitted attribute"):
            load(folder)

    def test_unknown_parameters(self, folder):
        edit(folder, lambda m: m["model"]["params"].update({"command": "x"}))
        with pytest.raises(StoreError, match="no parameter 'command'"):
            load(folder)

    @pytest.mark.parametrize("file", ["../secret.npy", "/etc/passwd", "01234567-0.npy/../x", "a.npy", 3, None])
    def test_array_names_stay_inside(self, folder, file):
        edit(folder, lambda m: m["model"]["fitted"].update({"labels_": {"$": "array", "file": file}}))
        with pytest.raises(StoreError, match="not a file that save would have written"):
            load(folder)

    @pytest.mark.parametrize(
        "value",
        [
            {"$": "dict", "items": [["alone"]]},
            {"$": "dict", "items": [[[1], 2]]},
            {"$": "dict", "items": 3},
            {"$": "float", "value": "often"},
            {"$": "tuple"},
            {"$": "csr", "shape": [1]},
        ],
    )
    def test_values_that_were_cut_or_mixed_up(self, folder, value):
        edit(folder, lambda m: m["model"]["fitted"].update({"x_": value}))
        with pytest.raises(StoreError, match="manifest.json is damaged"):
            load(folder)

    def test_values_of_unknown_kind(self, folder):
        edit(folder, lambda m: m["model"]["fitted"].update({"x_": {"$": "call", "f": "os.system"}}))
        with pytest.raises(StoreError, match="unknown kind 'call'"):
            load(folder)
        edit(folder, lambda m: m["model"]["fitted"].update({"x_": {"no": "kind"}}))
        with pytest.raises(StoreError, match="damaged"):
            load(folder)

    def test_a_forged_size_is_refused_before_memory_is_taken(self, folder):
        header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (4294967296,), }"
        header = header.ljust(117) + b"\n"
        first_array(folder).write_bytes(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header)
        with pytest.raises(StoreError, match="promises 4294967296 values"):
            load(folder)

    def test_pickled_arrays_are_refused(self, folder):
        with first_array(folder).open("wb") as file:
            np.save(file, np.array([{"a": 1}], dtype=object), allow_pickle=True)
        with pytest.raises(StoreError):
            load(folder)

    @pytest.mark.parametrize("cut", [0, 4, 40, -1])
    def test_truncated_arrays(self, folder, cut):
        data = first_array(folder).read_bytes()
        first_array(folder).write_bytes(data[:cut])
        with pytest.raises(StoreError):
            load(folder)

    def test_sparse_parts_that_do_not_fit(self, model, tmp_path):
        model.matrix_ = sparse.csr_matrix(np.eye(3))
        folder = save(model, tmp_path / "m")
        edit(folder, lambda m: m["model"]["fitted"]["matrix_"].update(shape=[3, 1]))
        with pytest.raises(StoreError, match="do not fit"):
            load(folder)

    def test_deep_nesting(self, folder):
        deep = 1
        for _ in range(60):
            deep = [deep]
        edit(folder, lambda m: m["model"]["fitted"].update({"x_": deep}))
        with pytest.raises(StoreError, match="nested"):
            load(folder)


def test_nothing_on_the_way_can_unpickle(model, folder, monkeypatch):
    import pickle

    def refuse(*args, **kwargs):
        raise AssertionError("pickle was used")

    for name in ("load", "loads", "Unpickler"):
        monkeypatch.setattr(pickle, name, refuse)
    load(folder)


def test_only_public_estimators_can_be_named():
    assert persist._estimator_class("RobustMultiviewKMeans") is RobustMultiviewKMeans
    for name in ("Views", "save", "errors", "os", "MultiviewEstimator", 3, None):
        assert persist._estimator_class(name) is None


def test_a_vanished_array(folder):
    first_array(folder).unlink()
    with pytest.raises(StoreError, match="cannot be read"):
        load(folder)
    shutil.rmtree(folder)
