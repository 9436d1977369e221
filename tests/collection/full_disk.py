"""A collection on a disk that is full; run on a small disk by ``test_system_faults``. Prints how much was refused."""

import sys
from pathlib import Path

import numpy as np

from manyview import Collection, errors
from manyview.collection.safety import check

from .samples import picture_folder

disk = Path(sys.argv[1])
path, filler = disk / "c.manyview", disk / "filler"


def fill():
    with filler.open("wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(65536))
        except OSError:
            pass


def refused(action):
    try:
        action()
    except errors.StoreError as error:
        assert str(path) in str(error) and ("full" in str(error) or "space" in str(error)), error
        return 1
    return 0


def grow():
    with Collection.open(path, write=True) as collection:
        collection.add_view("big", "1", np.ones((20, 200_000)))


def run():
    with Collection.open(path, write=True) as collection:
        collection.save_run("rmkmc", np.zeros(20, dtype=int))


def accept():
    with Collection.open(path, write=True) as collection:
        for number in range(400):
            collection.decide([(i + 1, f"{number} {i}") for i in range(20)], True)


def main():
    source = picture_folder(Path(sys.argv[2]) / "pictures", 20)
    fill()
    n = refused(lambda: Collection.create(path, source))
    filler.unlink()
    Collection.create(path, source).close()
    with Collection.open(path, write=True) as collection:
        collection.add_view("looks", "1", np.ones((20, 8)))
        collection.decide([(1, "kept")], True, who="me")
    before = check.digest(path)
    n += refused(grow)
    fill()
    n += refused(run)
    n += refused(accept)
    filler.unlink()
    assert check.digest(path) == before
    Collection.open(path, write=True).close()
    assert check.problems(path) == []
    run()
    with Collection.open(path) as collection:
        assert collection.tagging.words_of(1)[-1] == "kept"
    print(n, "of 4 refused")


if __name__ == "__main__":
    main()
