import errno
import os

import numpy as np
import pytest

from manyview import durable, errors


def test_a_file_is_synced_before_it_is_renamed_and_its_folder_after(tmp_path, monkeypatch):
    steps = []
    real_fsync, real_replace = os.fsync, os.replace

    def fsync(handle):
        steps.append(("sync", os.readlink(f"/proc/self/fd/{handle}")))
        real_fsync(handle)

    def replace(old, new):
        steps.append(("rename", str(new)))
        real_replace(old, new)

    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(os, "replace", replace)
    path = tmp_path / "a.npy"
    durable.write_array(path, np.eye(3))
    assert steps == [("sync", f"{path}.tmp"), ("rename", str(path)), ("sync", str(tmp_path))]
    assert np.array_equal(np.load(path), np.eye(3))
    durable.make_folder(tmp_path / "b")
    assert steps[3:] == [("sync", str(tmp_path))]


@pytest.mark.parametrize(
    "array", [np.zeros((0, 3)), np.arange(5), np.eye(4, dtype=">f4"), np.asfortranarray(np.eye(3))]
)
def test_arrays_come_back(tmp_path, array):
    durable.write_array(tmp_path / "a.npy", array)
    held = np.load(tmp_path / "a.npy", allow_pickle=False)
    assert held.dtype == array.dtype and np.array_equal(held, array) and held.flags.c_contiguous


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (errno.ENOSPC, "the disk is full. Free some space"),
        (errno.EACCES, "permission denied"),
        (errno.EROFS, "read-only"),
        (errno.EIO, "Input/output error"),
    ],
)
def test_an_error_names_the_path_and_leaves_nothing(tmp_path, monkeypatch, code, words):
    def fail(handle):
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(errors.StoreError, match=words) as raised:
        durable.write_file(tmp_path / "a", [b"x"])
    assert str(tmp_path / "a") in str(raised.value) and list(tmp_path.iterdir()) == []


def test_removing_a_tree_does_not_follow_links(tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "kept").write_text("x")
    tree = tmp_path / "tree"
    (tree / "deep").mkdir(parents=True)
    (tree / "deep" / "link").symlink_to(outside)
    durable.remove_tree(tree)
    assert not tree.exists() and (outside / "kept").exists()
    durable.remove(tmp_path / "never was")
