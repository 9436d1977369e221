"""Any folder of real files the whole way, with the commands a person types, and by name what was refused and why.

``python -m tests.end_to_end.corpus FOLDER`` (or MANYVIEW_CORPUS=FOLDER) prints one JSON object and ends with 1 if
anything was wrong: a traceback, an exit code other than 0 and 3, a file nobody accounts for, a word about our own
insides, an original that changed. The folder itself is only read.
"""

import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from manyview import Collection
from manyview.files import is_sidecar

FINE = (0, 3)
INSIDES = (
    "Traceback (most",
    "went wrong inside manyview",
    "has no attribute",
    "NoneType",
    "RuntimeWarning",
    "site-packages",
)


def digests(folder: Path) -> dict[str, str]:
    """Every file below a folder, by content; what cannot be read is known by its size."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.is_symlink():
            try:
                found[str(path.relative_to(folder))] = hashlib.sha256(path.read_bytes()).hexdigest()
            except OSError:
                found[str(path.relative_to(folder))] = f"unreadable, {path.stat().st_size} bytes"
    return found


class Way:
    """One corpus on its way through the commands."""

    def __init__(self, folder: Path, work: Path) -> None:
        self.folder, self.collection, self.work = folder, work / "corpus.manyview", work
        self.commands: list[dict[str, Any]] = []
        self.wrong: list[str] = []

    def run(self, command: str, *arguments: object, json_too: bool = True) -> dict[str, Any]:
        """A command as a process of its own; what it printed as JSON."""
        began = time.monotonic()
        done = subprocess.run(
            [sys.executable, "-m", "manyview", command, *map(str, arguments), *(["--json"] if json_too else [])],
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            env={**os.environ, "MANYVIEW_NO_BROWSER": "1"},
        )
        self.commands.append({"command": command, "code": done.returncode, "seconds": time.monotonic() - began})
        for words in INSIDES:
            if words in done.stdout + done.stderr:
                self.wrong.append(f"{command} says {words!r}: {done.stderr[-500:]}")
        if done.returncode not in FINE:
            self.wrong.append(f"{command} ended with {done.returncode}: {done.stderr[-500:]}")
            return {}
        return dict(json.loads(done.stdout)) if json_too else {}

    def all_the_way(self) -> dict[str, Any]:
        """From the files to the report, as far as they go."""
        before = digests(self.folder)
        made = self.run("init", self.folder, "-o", self.collection)
        if made.get("n_items", 0) > 1:
            self.run("features", self.collection)
            self.run("fit", self.collection)
            self.run("show", self.collection, "--items")
            if made["n_tags"]:
                self.run("suggest", self.collection)
            self.run("report", self.collection, "-o", self.work / "corpus.html")
            self.run("doctor", self.collection, json_too=False)
        changed = [path for path, digest in digests(self.folder).items() if before.get(path) != digest]
        changed += [path for path in before if path not in digests(self.folder)]
        self.wrong += [f"{path} was changed" for path in changed]
        refused = self._account(before) if self.collection.exists() else []
        return {
            "folder": str(self.folder),
            "files": len(before),
            "items": made.get("n_items", 0),
            "commands": self.commands,
            "refused": refused,
            "wrong": self.wrong,
        }

    def _account(self, files: dict[str, str]) -> list[dict[str, str]]:
        """Who was refused and why; every file is an item, beside one, hidden, or named."""
        with Collection.open(self.collection) as collection:
            problems = list(collection.items.problems())
            items = {item.key for item in collection.items}
        named = {problem.path for problem in problems}
        for path in files:
            hidden = any(part.startswith(".") for part in Path(path).parts)
            below = any(str(folder) in named for folder in Path(path).parents)
            if not (path in items or path in named or hidden or below or is_sidecar(Path(path).name)):
                self.wrong.append(f"{path} is neither an item nor named among what was refused")
        for problem in problems:
            if not problem.reason or not problem.sentence.rstrip().endswith((".", '"', ")")):
                self.wrong.append(f"{problem.path}: {problem.reason!r} with the sentence {problem.sentence!r}")
            if any(words in problem.sentence for words in INSIDES):
                self.wrong.append(f"{problem.path}: {problem.sentence!r} speaks of our insides")
        return [{"path": p.path, "reason": p.reason, "sentence": p.sentence} for p in problems]


def main(folder: Path) -> dict[str, Any]:
    """Run the corpus; the collection and the report are made elsewhere and thrown away."""
    if not folder.is_dir():
        return {"folder": str(folder), "wrong": ["there is no such folder"]}
    with tempfile.TemporaryDirectory(prefix="corpus-") as work:
        return Way(folder.resolve(), Path(work)).all_the_way()


if __name__ == "__main__":
    result = main(Path(sys.argv[1] if len(sys.argv) > 1 else os.environ["MANYVIEW_CORPUS"]))
    print(json.dumps(result, indent=1, ensure_ascii=True))
    sys.exit(bool(result["wrong"]))
