"""Every byte of an original arrives, over a real socket, whoever else reads and however slowly."""

import io
import mmap
import os
import random
import socket
import threading
import time
from contextlib import contextmanager
from http.client import HTTPConnection

import numpy as np
import pytest
from PIL import Image

from manyview import Collection
from manyview.collection.items import NewItem
from manyview.files import FileFacts
from manyview.web import media, server

from ..features.opening.test_raw_previews import raw
from .test_server import check_at_once, serving

N_ORIGINALS = int(os.environ.get("MANYVIEW_ORIGINALS", "10"))
N_RANGES = int(os.environ.get("MANYVIEW_RANGES", "50"))
LARGEST = 50_000_000
PIECE = media._PIECE
EDGES = (0, 1, PIECE - 1, PIECE, PIECE + 1, 2 * PIECE, 5 * PIECE + 17)
"""Sizes where a piece just fits, or just does not."""


def make_originals(folder, sizes):
    """A collection with files of those sizes, of bytes that no decoder has to like; number of the item -> file."""
    pictures = folder / "pictures"
    pictures.mkdir()
    Image.new("RGB", (4, 4)).save(pictures / "first.png")
    with Collection.create(folder / "large.manyview", pictures) as made:
        new = []
        for number, size in enumerate(sizes):
            path = pictures / f"{number}.bin"
            path.write_bytes(np.random.default_rng(number).bytes(size))
            new.append(NewItem(path.name, "picture", path.name, FileFacts.of(path.stat())))
        numbers = made.put_items(made.items.sources()[0]["id"], new)
        return made.path, {number: pictures / item.path for number, item in zip(numbers, new, strict=True)}


@pytest.fixture(scope="module")
def edges(tmp_path_factory):
    path, files = make_originals(tmp_path_factory.mktemp("originals"), (*EDGES, 20_000_000))
    with serving(path) as live:
        yield live, files


def secret(live):
    return {"Cookie": f"{live.access.cookie_name}={live.access.cookie}"}


class Reader:
    """One kept connection, as a browser has it."""

    def __init__(self, live):
        self.headers, self.connection = secret(live), HTTPConnection("127.0.0.1", live.port, timeout=60)

    def get(self, item, part=None):
        """Status, headers and the bytes; fewer than promised is an error."""
        wanted = self.headers | ({"Range": f"bytes={part}"} if part else {})
        self.connection.request("GET", f"/media/{item}/original", headers=wanted)
        with self.connection.getresponse() as answer:
            return answer.status, dict(answer.getheaders()), answer.read()

    def close(self):
        self.connection.close()


@contextmanager
def slow_request(live, item):
    """A request whose answer waits in small buffers until somebody reads it."""
    with socket.socket() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 16 * 1024)
        connection.settimeout(60)
        connection.connect(("127.0.0.1", live.port))
        lines = [f"GET /media/{item}/original HTTP/1.1", f"Host: 127.0.0.1:{live.port}", "Connection: close"]
        lines += [f"{name}: {value}" for name, value in secret(live).items()]
        connection.sendall("\r\n".join([*lines, "", ""]).encode())
        yield connection


def read_slowly(live, item, seconds):
    """The whole answer's body, read over that time."""
    with slow_request(live, item) as connection:
        parts, start, n_read = [], time.monotonic(), 0
        size = float("inf")
        while part := connection.recv(64 * 1024):
            if not parts:
                head = part.partition(b"\r\n\r\n")[0].lower()
                size = int(head.partition(b"content-length: ")[2].split(b"\r\n")[0])
            parts.append(part)
            n_read += len(part)
            time.sleep(max(0.0, start + seconds * min(1, n_read / size) - time.monotonic()))
        return b"".join(parts).partition(b"\r\n\r\n")[2]


def handles(path):
    """How often this process, in which the server runs, has the file open."""
    found = 0
    for handle in os.listdir("/proc/self/fd"):
        try:
            found += os.readlink(f"/proc/self/fd/{handle}") == str(path)
        except OSError:
            pass  # closed meanwhile
    return found


def comes_to_be(check):
    until = time.monotonic() + 20
    while not check() and time.monotonic() < until:
        time.sleep(0.02)
    return check()


def test_files_of_many_pieces_arrive_whole(edges):
    live, files = edges
    reader = Reader(live)
    for item, path in files.items():
        status, headers, body = reader.get(item)
        assert status == 200 and body == path.read_bytes(), path.stat().st_size
        assert headers["accept-ranges"] == "bytes" and "content-range" not in headers
    reader.close()


def test_parts_across_pieces(edges):
    live, files = edges
    reader = Reader(live)
    for item, path in files.items():
        content = path.read_bytes()
        size = len(content)
        tail = max(0, size - PIECE - 1)
        for first, last in ((0, 0), (0, size), (size // 3, size // 3 * 2), (tail, size), (size, size)):
            status, headers, body = reader.get(item, f"{first}-{last}")
            if content[first : last + 1]:
                assert status == 206 and body == content[first : last + 1], (size, first, last)
                assert headers["content-range"] == f"bytes {first}-{min(last, size - 1)}/{size}"
            else:
                assert status == 416 and body == b"" and headers["content-range"] == f"bytes */{size}"
        status, _, body = reader.get(item, f"-{PIECE + 5}")
        assert body == content[-PIECE - 5 :] and status == (206 if content else 416)
        status, _, body = reader.get(item, f"{size // 2}-")
        assert body == content[size // 2 :] and status == (206 if content else 416)
    reader.close()


def test_a_slow_reader_gets_everything_and_holds_nobody_up(edges):
    live, files = edges
    item, path = max(files.items(), key=lambda one: one[1].stat().st_size)
    found = []
    thread = threading.Thread(target=lambda: found.append(read_slowly(live, item, 2)))
    thread.start()
    while thread.is_alive():
        check_at_once(live)
        time.sleep(0.05)
    assert found == [path.read_bytes()]


def test_a_reader_that_goes_away_leaves_nothing_open(edges):
    live, files = edges
    item, path = max(files.items(), key=lambda one: one[1].stat().st_size)
    before = len(os.listdir("/proc/self/fd"))
    for n_bytes in (0, 1, PIECE, 3 * PIECE):
        with slow_request(live, item) as connection:
            while n_bytes > 0:
                n_bytes -= len(connection.recv(min(n_bytes, 65536)))
            assert comes_to_be(lambda: handles(path) == 1)
        assert comes_to_be(lambda: handles(path) == 0)
    assert comes_to_be(lambda: len(os.listdir("/proc/self/fd")) <= before)
    check_at_once(live)


def test_a_reader_that_stops_is_let_go(edges, monkeypatch):
    monkeypatch.setattr(server, "_READER_SECONDS", 0.5)
    live, files = edges
    item, path = max(files.items(), key=lambda one: one[1].stat().st_size)
    before = len(os.listdir("/proc/self/fd"))
    with slow_request(live, item):
        assert comes_to_be(lambda: handles(path) == 1)
        assert comes_to_be(lambda: handles(path) == 0)
        assert comes_to_be(lambda: len(os.listdir("/proc/self/fd")) == before + 1)  # our own side of it
    check_at_once(live)


@pytest.mark.slow  # files of up to 50 MB; MANYVIEW_ORIGINALS and MANYVIEW_RANGES say how many
def test_every_byte_arrives(tmp_path, seed, record_property):
    record_property("count", N_ORIGINALS + N_RANGES)
    draw = random.Random(seed)  # noqa: S311  not a secret
    drawn = [int(LARGEST * draw.random() ** 3) for _ in range(max(0, N_ORIGINALS - len(EDGES) - 1))]
    path, files = make_originals(tmp_path, [*EDGES, LARGEST, *drawn][: max(N_ORIGINALS, 8)])
    wrong, done = [], threading.Event()

    def read_slowly_beside(item):
        while not done.is_set():
            if read_slowly(live, item, 5) != files[item].read_bytes():
                wrong.append(f"slow reader of {item}")

    with serving(path) as live:
        some = sorted((item for item in files if 0 < files[item].stat().st_size < 4_000_000), reverse=True)[:2]
        beside = [threading.Thread(target=read_slowly_beside, args=(item,)) for item in some]
        for thread in beside:
            thread.start()
        try:
            reader = Reader(live)
            for item, file in files.items():
                status, _, body = reader.get(item)
                if status != 200 or body != file.read_bytes():
                    wrong.append(f"{item}: {status}, {len(body)} of {file.stat().st_size} bytes")
            filled = [item for item in files if files[item].stat().st_size]
            for _ in range(N_RANGES):
                item = draw.choice(filled)
                size = files[item].stat().st_size
                first, last = sorted(draw.randrange(size) for _ in range(2))
                status, _, body = reader.get(item, f"{first}-{last}")
                with files[item].open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
                    if status != 206 or body != content[first : last + 1]:
                        wrong.append(f"{item}, {first}-{last} of {size}: {status}, {len(body)} bytes")
            reader.close()
        finally:
            done.set()
            for thread in beside:
                thread.join()
    assert len(some) == 2 and not wrong, wrong


def test_a_raw_photograph_is_shown_by_its_preview_and_not_by_the_stamp_in_front(tmp_path):
    (tmp_path / "pictures").mkdir()
    (tmp_path / "pictures" / "a.dng").write_bytes(raw()[0])
    with Collection.create(tmp_path / "c.manyview", tmp_path / "pictures"):
        pass
    with serving(tmp_path / "c.manyview") as live:
        connection = HTTPConnection("127.0.0.1", live.port, timeout=60)
        connection.request("GET", "/media/1/preview", headers=secret(live))
        with connection.getresponse() as answer:
            shown = Image.open(io.BytesIO(answer.read()))
        connection.close()
    assert shown.size == (64, 96)
