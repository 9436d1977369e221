"""Children that open files: limits, crashes, hangs, and the order of what comes back."""

import io
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from manyview.errors import ManyviewError, ParameterError
from manyview.features.opening import decode
from manyview.features.opening.decode import BadFile, Clip, DecodePool, Picture

from .test_decode import PHOTO, encoded


@pytest.fixture
def folder(tmp_path):
    for number in range(6):
        (tmp_path / f"photo{number}.jpg").write_bytes(encoded("JPEG", PHOTO.rotate(30 * number)))
    return tmp_path


PLANTED = """
import os, sys, time
from manyview.features.opening import _decode_child, _opening
real = _opening._answer
def answer(file, name, limits):
    name = os.path.basename(name)
    if name.startswith("abort"): os.abort()
    if name.startswith("hang"): time.sleep(60)
    if name.startswith("spin"):
        while True: pass
    if name.startswith("hungry"): bytearray(8 << 30)
    if name.startswith("chatty"): os.write(1, b"hello from a library")
    if name.startswith("once") and not os.path.exists(os.environ["ONCE"]):
        os.mkdir(os.environ["ONCE"])
        os.abort()
    return real(file, name, limits)
_opening._answer = answer
_decode_child.main()
"""


@pytest.fixture
def planted(monkeypatch, tmp_path):
    """Children in which certain names do harm."""
    monkeypatch.setenv("ONCE", str(tmp_path / "once-was-here"))
    monkeypatch.setattr(decode._Child, "command", (sys.executable, "-P", "-c", PLANTED))


@pytest.fixture(scope="module")
def pool():
    """Two children for the tests that do them no harm."""
    with DecodePool(2) as made:
        yield made


class TestPool:
    def test_in_order_and_announced_first(self, folder):
        paths = [*sorted(folder.glob("*.jpg")), folder / "gone.jpg", str(folder / "photo0.jpg")]
        announced = []
        with DecodePool(2, max_side=64, thumbnail_side=32) as pool:
            seen = []
            for path, found in pool.decode(paths, journal=announced.append):
                assert path in announced
                seen.append((path, found))
            assert len(pool._children) == 2
            again = dict(pool.decode(paths[:1]))  # children stay for the next call
        assert [path for path, _ in seen] == paths == announced
        assert isinstance(seen[-2][1], BadFile) and seen[-2][1].reason == "missing"
        for path, found in seen[:6]:
            assert isinstance(found, Picture), path
            assert found.pixels.shape == (48, 64, 3) and found.pixels.dtype == np.uint8
            assert (found.width, found.height, found.format, found.animated) == (160, 120, "JPEG", False)
            assert Image.open(io.BytesIO(found.thumbnail)).size == (32, 24) and len(found.signature) == 192
        np.testing.assert_array_equal(again[paths[0]].pixels, seen[0][1].pixels)
        assert seen[0][1].hash == seen[-1][1].hash != seen[1][1].hash

    def test_names_that_are_no_text(self, folder, pool):
        odd = os.fsencode(folder) + b"/\xff\xfe \n\x1b[31m.jpg"
        Path(os.fsdecode(odd)).write_bytes(encoded("PNG"))
        ((path, found),) = pool.decode([odd])
        assert path == odd and isinstance(found, Picture)

    @pytest.mark.slow
    def test_harm_is_charged_to_its_file(self, folder, planted):
        for name in ("abort.jpg", "hang.jpg", "hungry.jpg", "chatty.jpg", "once.jpg", "abort2.jpg"):
            (folder / name).write_bytes(encoded("JPEG"))
        paths = sorted(folder.glob("*.jpg"))
        with DecodePool(2, wall_seconds=3) as pool:
            found = {path.name: outcome for path, outcome in pool.decode(paths)}
        bad = {name: outcome.reason for name, outcome in found.items() if isinstance(outcome, BadFile)}
        assert bad == {
            "abort.jpg": "crash",
            "abort2.jpg": "crash",
            "hang.jpg": "too slow",
            "hungry.jpg": "out of memory",
        }
        assert list(found) == [path.name for path in paths]
        assert "longer than 3 s" in found["hang.jpg"].sentence

    @pytest.mark.slow
    def test_processor_time_is_limited(self, folder, planted):
        (folder / "spin.jpg").write_bytes(encoded("JPEG"))
        with DecodePool(1, cpu_seconds=1) as pool:
            found = dict(pool.decode([folder / "spin.jpg", folder / "photo1.jpg"]))
        assert found[folder / "spin.jpg"] == BadFile("too slow", "opening it took over 1 s of processor time.")
        assert isinstance(found[folder / "photo1.jpg"], Picture)

    def test_no_process_is_left(self, folder, planted):
        (folder / "hang.jpg").write_bytes(encoded("JPEG"))
        before = threading.active_count()
        pool = DecodePool(1)
        outcomes = pool.decode([folder / "photo0.jpg", folder / "hang.jpg"])
        next(outcomes)
        (child,) = pool._children
        outcomes.close()  # given up in the middle: the child is busy, so it goes
        assert child.process.poll() is not None and not pool._children
        with DecodePool(1) as pool:
            list(pool.decode([folder / "photo0.jpg"]))
            process = pool._children[0].process
        assert process.poll() is not None
        assert threading.active_count() <= before  # one of an earlier test may end meanwhile

    def test_children_die_with_their_parent(self, folder):
        script = (
            "import os, signal, sys, time\n"
            "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # jobs in the background ignore it
            "from manyview.features.opening import decode\n"
            f"decode._Child.command = (sys.executable, '-P', '-c', {PLANTED!r})\n"
            "pool = decode.DecodePool(1)\n"
            "outcomes = pool.decode(sys.argv[1:])\n"
            "next(outcomes)\n"
            "print(pool._children[0].process.pid, flush=True)\n"
            "next(outcomes)\n"
        )
        (folder / "hang.jpg").write_bytes(encoded("JPEG"))
        environment = {**os.environ, "ONCE": str(folder / "x")}
        for way in (signal.SIGKILL, signal.SIGINT):
            parent = subprocess.Popen(
                [sys.executable, "-c", script, str(folder / "photo0.jpg"), str(folder / "hang.jpg")],
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=environment,
            )
            child = int(parent.stdout.readline())
            parent.send_signal(way)
            parent.wait(20)
            parent.stdout.close()
            until = time.monotonic() + 20
            while _is_running(child) and time.monotonic() < until:
                time.sleep(0.02)
            assert not _is_running(child), way

    def test_the_current_folder_is_not_imported(self, folder, monkeypatch):
        (folder / "json.py").write_text("raise SystemExit('imported from the folder of strangers')")
        (folder / "PIL.py").write_text("raise SystemExit('imported from the folder of strangers')")
        monkeypatch.chdir(folder)
        monkeypatch.setenv("PYTHONPATH", os.pathsep)
        with DecodePool(1) as pool:
            ((_, found),) = pool.decode(["photo0.jpg"])
        assert isinstance(found, Picture)

    def test_a_child_that_cannot_start_is_our_trouble(self, folder, monkeypatch):
        monkeypatch.setattr(decode._Child, "command", (sys.executable, "-c", "raise SystemExit('no luck')"))
        with (
            pytest.raises(ManyviewError, match="the process that opens files did not start: no luck"),
            DecodePool(1) as pool,
        ):
            list(pool.decode([folder / "photo0.jpg"]))

    def test_a_child_that_talks_nonsense_is_replaced(self, folder, monkeypatch):
        nonsense = "import sys, struct; sys.stdout.write('x' * 50)"
        monkeypatch.setattr(decode._Child, "command", (sys.executable, "-c", nonsense))
        with pytest.raises(ManyviewError, match="did not start"), DecodePool(1) as pool:
            list(pool.decode([folder / "photo0.jpg"]))

    def test_a_journal_that_fails_stops_the_run(self, folder, pool):
        def journal(path):
            raise OSError("disk full")

        with pytest.raises(OSError, match="disk full"):
            list(pool.decode([folder / "photo0.jpg"], journal=journal))
        assert [type(found) for _, found in pool.decode([folder / "photo0.jpg"])] == [Picture]

    def test_video(self, folder, pool):
        av = pytest.importorskip("av", reason="the video extra is not installed: pip install 'manyview[video]'")
        with av.open(str(folder / "clip.mp4"), "w") as container:
            stream = container.add_stream("mpeg4", rate=10)
            stream.width, stream.height, stream.pix_fmt = 64, 48, "yuv420p"
            for number in range(20):
                frame = np.full((48, 64, 3), 10 * number, dtype=np.uint8)
                container.mux(stream.encode(av.VideoFrame.from_ndarray(frame, format="rgb24")))
            container.mux(stream.encode())
        ((_, found),) = pool.decode([folder / "clip.mp4"])
        assert isinstance(found, Clip) and found.seconds == pytest.approx(2, abs=0.2)
        assert len(found.frames) == 8 and found.frames[0].shape == (48, 64, 3)
        assert found.pairs.shape[1:] == (2, 64, 64) and found.format == "mov" and len(found.thumbnail) > 100

    def test_settings(self):
        for options in ({"max_side": 5}, {"max_pixels": 0}, {"wall_seconds": 0}, {"memory": 1}, {"n_jobs": 0}):
            with pytest.raises(ParameterError):
                DecodePool(**options)


def _is_running(pid):
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"
