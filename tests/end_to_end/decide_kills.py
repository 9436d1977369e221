"""Kills `manyview accept`, `reject` and undoing at random moments; run as a program by ``test_decisions``.

Every command runs in a forked child. A command that was killed has happened whole or not at all; given again where it
has not, the end is that of an undisturbed run. Prints one JSON object: how many were killed, and what was wrong.
"""

import json
import os
import random
import shutil
import signal
import sys
import time
from pathlib import Path

from manyview import Collection
from manyview.cli.main import app
from manyview.collection.safety import check
from manyview.workflow.proposing import decide  # noqa: F401  imported before the forks
from manyview.writeback import proposal_files  # noqa: F401  imported before the forks

from .proposed import WORDS, make_proposed, sums_are_right

COMMANDS = (
    ("accept", "--min-probability", "0.95", "--who", "a"),
    ("reject", "--tag", WORDS[3], "--why", "b", "--who", "a"),
    ("undo", 1),
    ("accept", "--all", "--tag", WORDS[5], "--who", "a"),
    ("accept", "--min-probability", "0.7", "--who", "a"),
    ("undo", 2),
    ("reject", "--all", "--who", "a"),
    ("undo", 7),
    ("accept", "--item", "7", "--tag", "another word", "--who", "a"),
    ("accept", "--all", "--who", "a"),
)
"""Each makes one entry of the history, so that entry n is command n."""


def do(command: tuple, path: Path) -> None:
    if command[0] == "undo":
        with Collection.open(path, write=True) as collection:
            collection.history.undo(command[1], who="a")
        return
    try:
        app([command[0], str(path), *command[1:]])
    except SystemExit as ended:
        if ended.code:
            raise


def start(command: tuple, path: Path) -> int:
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        do(command, path)
        code = 0
    finally:
        os._exit(code)


def entries(path: Path) -> int:
    with Collection.open(path) as collection:
        return len(collection.history)


def main() -> None:
    folder, n_kills, seed = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    chance = random.Random(seed)  # noqa: S311  moments, not secrets
    base = make_proposed(folder, 600)
    whole = Path(shutil.copytree(base, folder / "whole.manyview"))
    length = {}
    for command in COMMANDS:
        started = time.monotonic()
        _, status = os.waitpid(start(command, whole), 0)
        length[command] = time.monotonic() - started
        assert status == 0, command
    expected = check.digest(whole)
    wrong: list[str] = []
    killed = round_ = 0
    while killed < n_kills:
        path = Path(shutil.copytree(base, folder / f"{round_}.manyview"))
        for number, command in enumerate(COMMANDS, 1):
            while entries(path) < number:
                child = start(command, path)
                if killed < n_kills and chance.random() < 0.7:
                    time.sleep(chance.uniform(0, length[command]))
                    os.kill(child, signal.SIGKILL)
                _, status = os.waitpid(child, 0)
                done = entries(path)
                if os.WIFSIGNALED(status):
                    killed += 1
                    strange = [p for p in check.problems(path) if "belongs to nothing" not in p]
                    wrong += [f"{round_}: after {command[0]}: {sentence}" for sentence in strange]
                    with Collection.open(path) as collection:
                        if not sums_are_right(collection):
                            wrong.append(f"{round_}: after {command[0]}: open proposals and decisions disagree")
                elif status or done != number:
                    wrong.append(f"{round_}: {command} ended with {status} and {done} entries")
                if done not in (number - 1, number):
                    wrong.append(f"{round_}: {done} entries after {number} commands")
        found = check.digest(path)
        wrong += [f"{round_}: {k} differs" for k in expected | found if expected.get(k) != found.get(k)]
        shutil.rmtree(path)
        round_ += 1
    print(json.dumps({"killed": killed, "wrong": wrong[:20]}))


if __name__ == "__main__":
    main()
