"""Every bomb of the hostile set alone, through reading and through decoding; a program for ``test_hostile``.

Prints one JSON object: seconds of processor time by name (of this program and its children: the clock would count what
else the machine does), and how much memory it and its children took at most beyond what they take for a small picture.
"""

import json
import resource
import sys
from pathlib import Path

from manyview import Collection
from manyview.features.opening.decode import DecodePool

from .hostile import hostile_set
from .makers import encoded


def seconds() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def memory() -> tuple[int, int]:
    """The most so far, here and in a child, in MB."""
    return tuple(resource.getrusage(who).ru_maxrss // 1024 for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


def take(folder: Path, name: str, content: bytes) -> float:
    """Read and decode one file; how long that took."""
    (folder / "source").mkdir(parents=True)
    path = folder / "source" / Path(name).name
    path.write_bytes(content)
    began = seconds()
    Collection.create(folder / "c.manyview", folder / "source").close()
    with DecodePool(1) as pool:
        list(pool.decode([str(path)]))
    return seconds() - began


def main() -> None:
    folder = Path(sys.argv[1])
    small = take(folder / "small", "small.png", encoded("PNG"))
    before = memory()
    bombs = [entry for entry in hostile_set() if entry.name.startswith("bombs/")]
    took = {one.name: round(take(folder / str(n), one.name, one.content) - small, 2) for n, one in enumerate(bombs)}
    extra = [now - then for now, then in zip(memory(), before, strict=True)]
    print(json.dumps({"seconds": took, "extra": extra}))


if __name__ == "__main__":
    main()
