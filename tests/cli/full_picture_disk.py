"""Sidecars on a disk that is full, the collection on another; run on a small disk by ``test_write_back_commands``."""

import sys
from pathlib import Path

from manyview import Collection
from tests.collection.samples import picture_folder
from tests.end_to_end.test_command_line import run
from tests.writeback.test_write_back import snapshot, words


def fill(path):
    with path.open("wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(4096))
        except OSError:
            pass


def main():
    disk, path = Path(sys.argv[1]), Path(sys.argv[2]) / "c.manyview"
    source = picture_folder(disk / "pictures", 6)
    with Collection.create(path, source) as collection:
        collection.decide([(n, "dog") for n in range(1, 7)], True)
    before = snapshot(source)
    room = disk / "filled"
    fill(room)
    done = run("apply", path, code=1)
    assert done.stderr.count("\n") == 1 and "the disk is full. Free some space" in done.stderr
    assert snapshot(source) == before
    room.unlink()
    run("apply", path)
    assert all("dog" in words(file) for file in source.glob("*.xmp")) and len(list(source.glob("*.xmp"))) == 6
    fill(room)
    run("undo", path)  # sidecars that go make room for those that come back
    assert snapshot(source) == before
    print("refused once")


if __name__ == "__main__":
    main()
