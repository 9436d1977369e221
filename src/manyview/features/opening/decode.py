"""Opening strangers' files safely: in child processes with limits, so that no file can hurt the run.

A child opens files one after another and sends back pixels. A file that crashes it, hangs, or wants too much
memory costs that child, which is replaced, and is reported by name with a reason; every other file comes through.
Nothing but lengths, JSON and raw bytes passes between the processes.
"""

from __future__ import annotations

import os
import queue
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from ...blocks import effective_n_jobs
from ...data.checks import check_number
from ...files import BadFile
from ...sandbox import Child, child_command

__all__ = ["REASONS", "BadFile", "Clip", "DecodePool", "Decoded", "Picture"]

REASONS = (
    "missing",  # not there any more
    "unreadable",  # the system refuses to open or read it
    "not a file",  # a folder, a pipe, a device
    "link",  # one that leads in a circle
    "name too long",  # for this system
    "empty",  # no bytes, or no picture in it
    "unsupported",  # known, and not read yet: a raw photograph
    "unknown format",  # nothing we can open, whatever its name says
    "truncated",  # ends too early
    "damaged",  # begins right, then breaks
    "too large",  # more pixels than allowed
    "out of memory",  # needs more memory than a child may take
    "too slow",  # took longer than a child may take
    "crash",  # the decoder itself fell over
    "missing extra",  # needs an optional part that is not installed
)

_AHEAD = 4
"""Files on their way to one child at a time, so that it never waits for the next."""
_WINDOW = 32
"""Files per child that may be ready before the first of them has been taken."""
_FILES_PER_CHILD = 2000

Path_ = TypeVar("Path_", str, bytes, os.PathLike[str])


@dataclass(frozen=True)
class Picture:
    """A decoded picture: upright, RGB, reduced to ``max_side``, with what is worth keeping of the original."""

    pixels: NDArray[np.uint8]
    width: int
    height: int
    format: str
    hash: int
    signature: bytes
    thumbnail: bytes
    animated: bool = False


@dataclass(frozen=True)
class Clip:
    """A video: key frames as pictures, and frames that follow each other, small and grey, for its motion.

    Pairs are uint8 (n, 2, 64, 64); bursts (n, 6, 64, 64), none unless they are asked for.
    """

    frames: tuple[NDArray[np.uint8], ...]
    pairs: NDArray[np.uint8]
    bursts: NDArray[np.uint8]
    width: int
    height: int
    format: str
    seconds: float
    hash: int
    signature: bytes
    thumbnail: bytes


Decoded: TypeAlias = Picture | Clip | BadFile


@dataclass(frozen=True)
class _Limits:
    max_side: int
    thumbnail_side: int
    max_pixels: int
    memory: int
    cpu_seconds: int
    wall_seconds: float
    bursts: bool


class DecodePool:
    """Child processes that open pictures and clips.

    Parameters
    ----------
    n_jobs : None or int
        Children; None takes all cores. They start when they are needed.
    max_side : int, default=512
        Pictures are reduced so that their longer side is at most this.
    thumbnail_side : int, default=256
        Of the JPEG thumbnail, which carries no metadata of the original.
    max_pixels : int, default=250_000_000
        A picture that claims more in its header is not decoded: cameras and telephones make up to 200 million.
    memory : int, default=1_610_612_736
        Bytes that a child may take for one file: 1.5 GiB.
    cpu_seconds : int, default=20
        Of processor time for one file.
    wall_seconds : float, default=30.0
    bursts : bool, default=False
        Read also six frames in a row at every moment of a clip, for ``motion_words``.

    Examples
    --------
    >>> with DecodePool(n_jobs=1) as pool:                                          # doctest: +SKIP
    ...     for path, found in pool.decode(["a.jpg", "b.png"]):
    ...         print(path, found.sentence if isinstance(found, BadFile) else found.pixels.shape)
    """

    def __init__(
        self,
        n_jobs: int | None = None,
        *,
        max_side: int = 512,
        thumbnail_side: int = 256,
        max_pixels: int = 250_000_000,
        memory: int = 1536 * 2**20,
        cpu_seconds: int = 20,
        wall_seconds: float = 30.0,
        bursts: bool = False,
    ) -> None:
        self.n_jobs = effective_n_jobs(n_jobs)
        self.limits = _Limits(
            check_number("max_side", max_side, integer=True, low=16, high=4096),
            check_number("thumbnail_side", thumbnail_side, integer=True, low=16, high=4096),
            check_number("max_pixels", max_pixels, integer=True, low=1),
            check_number("memory", memory, integer=True, low=256 * 2**20),
            check_number("cpu_seconds", cpu_seconds, integer=True, low=1),
            check_number("wall_seconds", wall_seconds, low=0, low_open=True),
            bool(bursts),
        )
        self._children: list[_Child] = []
        self._answers: queue.SimpleQueue[tuple[_Child, Any]] = queue.SimpleQueue()

    def __enter__(self) -> DecodePool:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End every child, whatever it is doing."""
        for child in self._children:
            child.end()
        self._children.clear()

    def __del__(self) -> None:
        if hasattr(self, "_children"):
            self.close()

    def decode(
        self, paths: Iterable[Path_], journal: Callable[[Path_], object] | None = None
    ) -> Iterator[tuple[Path_, Decoded]]:
        """Yield every path with what was found there, in the order given; never raises for a file.

        ``journal`` is called with each path before a child may open it, so that a record exists even if the machine
        stops (a path whose child fell over is tried once more, and announced again). A few paths per child are under
        way at once.
        """
        source, again = iter(enumerate(paths)), deque[tuple[int, Path_]]()
        given: dict[int, Path_] = {}
        ready: dict[int, Decoded] = {}
        crashed: set[int] = set()
        wanted, exhausted = 0, False
        try:
            while True:
                while not exhausted or again:
                    child = self._free_child()
                    if child is None or (not again and len(given) >= _WINDOW * self.n_jobs):
                        break
                    number, path = again.popleft() if again else next(source, (-1, None))
                    if path is None:
                        exhausted = True
                        break
                    given[number] = path
                    if journal is not None:
                        journal(path)
                    child.send(number, path)
                while wanted in ready:
                    yield given.pop(wanted), ready.pop(wanted)
                    wanted += 1
                if not given:
                    if exhausted:
                        return
                    continue
                for number, found, left in self._next_answers():
                    if found is not None or number in crashed:
                        ready[number] = found or BadFile("crash", _CRASH)
                    elif number >= 0:  # once more, first in a new child: it may be innocent
                        crashed.add(number)
                        again.append((number, given[number]))
                    again.extend((index, given[index]) for index in left)
        finally:
            for child in [child for child in self._children if child.under_way]:
                self._drop(child)

    def _free_child(self) -> _Child | None:
        """A child that can take one more file; a new one only where the others are full."""
        free = [child for child in self._children if len(child.under_way) < _AHEAD and not child.tired]
        for child in [child for child in self._children if child.tired and not child.under_way]:
            self._drop(child)
        if not free and len(self._children) < self.n_jobs:
            free = [_Child(self.limits, self._answers)]
            self._children += free
        return min(free, key=lambda child: len(child.under_way), default=None)

    def _drop(self, child: _Child) -> None:
        child.end()
        self._children.remove(child)

    def _next_answers(self) -> Iterator[tuple[int, Decoded | None, list[int]]]:
        """Wait for one answer, or for a child to fall over or run out of time.

        Gives the number of the file, what was found (None: the child fell over) and files that were behind it.
        """
        overdue = min(child.deadline for child in self._children if child.under_way)
        try:
            child, answer = self._answers.get(timeout=max(0.0, overdue - time.monotonic()))
        except queue.Empty:
            for child in [c for c in self._children if c.under_way and c.deadline <= time.monotonic()]:
                self._drop(child)
                number, *left = child.under_way
                sentence = f"opening it took longer than {self.limits.wall_seconds:g} s."
                yield number, BadFile("too slow", sentence), left
            return
        if child not in self._children:
            return  # the last words of one that was dropped
        if answer is not None:
            yield child.under_way.popleft(), answer, []
            return
        child.check_it_started()
        self._drop(child)
        if child.process.returncode == 0:  # it asked to be replaced; no file is to blame
            yield -1, None, list(child.under_way)
        elif child.under_way:
            number, *left = child.under_way
            found = None
            if child.ran_out_of_time:
                found = BadFile("too slow", f"opening it took over {self.limits.cpu_seconds} s of processor time.")
            yield number, found, left


_CRASH = "the decoder fell over it, twice; the file is damaged or made to do harm."


class _Child(Child):
    """A child, and the files that it was given."""

    command = child_command(f"{__package__}._decode_child")

    def __init__(self, limits: _Limits, answers: queue.SimpleQueue[tuple[_Child, Any]]) -> None:
        self.under_way: deque[int] = deque()
        self._sent = 0
        self._wall_seconds = limits.wall_seconds
        super().__init__(asdict(limits), answers, lambda header, blobs: _decoded(header, blobs, limits))

    @property
    def tired(self) -> bool:
        return self._sent >= _FILES_PER_CHILD

    @property
    def deadline(self) -> float:
        """When the file that it works on has taken too long. Starting up does not count against the file."""
        return self.since + self._wall_seconds + (0 if self.started else 60)

    def send(self, number: int, path: Any) -> None:
        if not self.under_way:
            self.since = time.monotonic()
        self.under_way.append(number)
        self._sent += 1
        self.ask(os.fsencode(path))


def _decoded(header: dict[str, Any], blobs: list[bytes], limits: _Limits) -> Decoded:
    """What a child said, checked: it has touched strangers' bytes, so it is not trusted either."""
    kind = header.pop("kind")
    if kind == "bad":
        if header["reason"] not in REASONS:
            raise ValueError(header["reason"])
        return BadFile(header["reason"], str(header["sentence"])[:500])
    shapes = [tuple(map(int, shape)) for shape in header.pop("shapes")]
    if any(max(shape[:2]) > limits.max_side or shape[2] != 3 for shape in shapes):
        raise ValueError(f"{shapes}")
    frames = [
        np.frombuffer(blob, dtype=np.uint8).reshape(shape) for blob, shape in zip(blobs[2:], shapes, strict=False)
    ]
    common: dict[str, Any] = {
        "width": int(header["width"]),
        "height": int(header["height"]),
        "format": str(header["format"]),
        "hash": int(header["hash"]) & (2**64 - 1),
        "signature": bytes(blobs[0]),
        "thumbnail": bytes(blobs[1]),
    }
    if kind == "picture":
        return Picture(pixels=frames[0], animated=bool(header["animated"]), **common)
    pairs, bursts = (
        np.frombuffer(blob, dtype=np.uint8).reshape([int(length) for length in header[name]])
        for blob, name in zip(blobs[-2:], ("pairs", "bursts"), strict=True)
    )
    return Clip(frames=tuple(frames), pairs=pairs, bursts=bursts, seconds=float(header["seconds"]), **common)
