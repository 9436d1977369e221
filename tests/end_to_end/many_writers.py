"""Eight processes that accept, reject and undo in one collection; run as a program by ``test_decisions``.

Each opens the collection for every answer, as commands do, and writes down what was acknowledged. Prints one JSON
object: how many answers there were, and everything that was wrong.
"""

import json
import os
import random
import sys
import time
from pathlib import Path

from manyview import Collection, errors
from manyview.collection.safety import check
from manyview.workflow.proposing.decide import accept, reject
from manyview.workflow.proposing.suggest import open_proposals

from .proposed import WORDS, make_proposed, sums_are_right

WRITERS = 8
WAIT = 120.0


def once(path: Path, chance: random.Random, mine: list[int]) -> dict | None:
    """One answer, or one answer taken back; what was acknowledged."""
    with Collection.open(path, write=True, wait=WAIT) as collection:
        if mine and chance.random() < 0.25:
            target = mine.pop(chance.randrange(len(mine)))
            try:
                entry = collection.history.undo(target)
            except errors.StoreError as error:
                if "changed the same thing since" in str(error):
                    return None  # another process has had the last word
                raise
            return {"entry": entry.id, "undoes": target}
        verb, answer = chance.choice([(accept, True), (reject, False)])
        if chance.random() < 0.1:
            found = open_proposals(collection, tag=chance.choice(WORDS), top=200, reasons=False)
            pairs = [(one.item_id, one.tag) for one in found]
        else:
            n_items = len(collection.items)
            pairs = [(chance.randint(1, n_items), chance.choice(WORDS)) for _ in range(chance.randint(1, 20))]
        if not pairs:
            return None
        entry = verb(collection, pairs, who=str(os.getpid()))
        mine.append(entry.id)
        return {"entry": entry.id, "pairs": sorted(set(pairs)), "answer": answer}


def write(path: Path, log: Path, until: float, seed: int) -> None:
    chance, mine = random.Random(seed), []  # noqa: S311  moments, not secrets
    with log.open("a", encoding="utf-8") as told:
        while time.monotonic() < until:
            if (done := once(path, chance, mine)) is not None:
                told.write(json.dumps(done) + "\n")
                told.flush()


def main() -> None:
    folder, seconds = Path(sys.argv[1]), float(sys.argv[2])
    path = make_proposed(folder, 300)
    until = time.monotonic() + seconds
    logs = [folder / f"writer-{number}.jsonl" for number in range(WRITERS)]
    children = []
    for number, log in enumerate(logs):
        child = os.fork()
        if not child:
            code = 1
            try:
                write(path, log, until, number)
                code = 0
            except BaseException as error:
                log.with_suffix(".error").write_text(f"{type(error).__name__}: {error}", encoding="utf-8")
            finally:
                os._exit(code)
        children.append(child)
    codes = [os.waitpid(child, 0)[1] for child in children]
    wrong = [f.read_text(encoding="utf-8") for f in folder.glob("*.error")]
    wrong += [f"writer {n} ended with {code}" for n, code in enumerate(codes) if code]
    told = [json.loads(line) for log in logs for line in log.read_text(encoding="utf-8").splitlines()]
    numbers = [one["entry"] for one in told]
    if len(set(numbers)) != len(numbers):
        wrong.append("two answers were given the same entry")
    with Collection.open(path) as collection:
        there = {entry.id: entry for entry in collection.history}
        wrong += [f"entry {n} was acknowledged and is not there" for n in set(numbers) - set(there)]
        wrong += [f"entry {n} is there and nobody made it" for n in set(there) - set(numbers)]
        rows = collection._catalog.rows(
            "SELECT item_id, name, answer FROM decisions JOIN tags ON tags.id = tag_id ORDER BY item_id, name"
        )
        if rows != expected_decisions(told):
            wrong.append("the decisions are not what the entries, one after the other, say")
        if not sums_are_right(collection):
            wrong.append("open proposals and decisions disagree")
    wrong += check.problems(path)
    print(json.dumps({"answers": len(told), "by": [len(log.read_text().splitlines()) for log in logs], "wrong": wrong}))


def expected_decisions(told: list[dict]) -> list[tuple[int, str, int]]:
    """What is decided when the acknowledged entries are done one after the other."""
    state: dict[tuple[int, str], int | None] = {}
    before: dict[int, dict[tuple[int, str], int | None]] = {}
    for one in sorted(told, key=lambda each: each["entry"]):
        if "undoes" in one:
            state.update(before[one["undoes"]])
            continue
        pairs = [(item, word) for item, word in one["pairs"]]
        before[one["entry"]] = {pair: state.get(pair) for pair in pairs}
        state.update(dict.fromkeys(pairs, int(one["answer"])))
    return sorted((item, word, answer) for (item, word), answer in state.items() if answer is not None)


if __name__ == "__main__":
    main()
