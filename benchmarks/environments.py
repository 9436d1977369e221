"""One virtual environment per peer, made on demand under ``.bench/`` and kept for the next run.

A peer that does not install or import is no error: the reason comes back as text and stands in the table.
"""

from __future__ import annotations

import importlib.metadata
import json
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BENCH = ROOT / ".bench"
HERE = "here"
"""The name of the environment the harness itself runs in: manyview, scikit-learn and faiss-cpu."""

INSTALL_LIMIT_S = 900
IMPORT_LIMIT_S = 300


@dataclass(frozen=True)
class Peer:
    """How to install one peer.

    ``module`` is imported to see whether the install works. ``alone`` is installed without what it asks for.
    ``match`` names the packages held at the version we run with ourselves, so that the comparison is not one
    of two BLAS builds.
    """

    module: str
    requirements: tuple[str, ...]
    alone: tuple[str, ...] = ()
    match: tuple[str, ...] = ("numpy", "scipy", "scikit-learn")


PEERS: dict[str, Peer] = {
    # mvlearn asks for matplotlib 3.3.4 or older, which has no wheel for Python 3.11 and is needed only for
    # its plots. All else it does runs on today's numpy, scipy and scikit-learn.
    "mvlearn": Peer("mvlearn.cluster", ("matplotlib", "seaborn", "joblib"), alone=("mvlearn==0.5.0",)),
    "imml": Peer("imml.cluster", ("imml==0.6.0",)),
    "artlib": Peer("artlib", ("artlib==0.1.12",), match=("numpy", "scipy", "scikit-learn", "numba")),
    # enstop uses the name numpy.float, which numpy 1.24 took away.
    "enstop": Peer("enstop", ("enstop==0.2.6", "numpy<1.24"), match=("numba",)),
    "cca-zoo": Peer("cca_zoo.linear", ("cca-zoo==4.0.1",)),
    "dask-ml": Peer(
        "dask_ml.cluster",
        ("dask-ml==2025.1.0", "psutil"),
        match=("numpy", "scipy", "scikit-learn", "dask", "distributed"),
    ),
}


class NotInstalled(Exception):
    """A peer that could not be installed or imported; the text says why."""


def plain(text: str) -> str:
    """The text without addresses and absolute paths, so that it can be kept."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", text)
    text = re.sub(r"\w+://\S+", "(address)", text)
    return re.sub(r"(?<![\w.])(/[\w.+@-]+){2,}/?", lambda found: Path(found.group()).name, text)


def python_of(environment: str) -> str:
    """The interpreter of an environment, which is made first where need be. Raises ``NotInstalled``."""
    if environment == HERE:
        return sys.executable
    found = _python_or_reason(environment)
    if isinstance(found, NotInstalled):
        raise found
    return found


@cache  # so that what does not install is tried once per run, not once per case
def _python_or_reason(environment: str) -> str | NotInstalled:
    try:
        return _install(environment)
    except NotInstalled as reason:
        return reason


def _install(environment: str) -> str:
    peer = PEERS[environment]
    folder = BENCH / environment
    python = folder / "bin" / "python"
    wanted = [*peer.requirements, *_same_versions(peer.match)]
    recipe = {"python": sys.version.split()[0], "with": wanted, "alone": list(peer.alone)}
    note = folder / "recipe.json"
    if not (note.exists() and json.loads(note.read_text()) == recipe and python.exists()):
        print(f"making the environment of {environment} ...", file=sys.stderr, flush=True)
        shutil.rmtree(folder, ignore_errors=True)
        BENCH.mkdir(exist_ok=True)
        uv = _uv()
        _call([uv, "venv", "--python", sys.executable, folder] if uv else [sys.executable, "-m", "venv", folder])
        install = [uv, "pip", "install", "--python", python] if uv else [python, "-m", "pip", "install"]
        _call([*install, *wanted])
        if peer.alone:
            _call([*install, "--no-deps", *peer.alone])
        _call([python, "-c", f"import {peer.module}"], IMPORT_LIMIT_S)
        note.write_text(json.dumps(recipe, indent=1))
    return str(python)


def _same_versions(names: tuple[str, ...]) -> list[str]:
    return [f"{name}=={importlib.metadata.version(name)}" for name in names]


def _uv() -> str | None:
    beside = Path(sys.executable).parent / "uv"
    return str(beside) if beside.exists() else shutil.which("uv")


def _call(command: list[str | Path], limit_s: int = INSTALL_LIMIT_S) -> None:
    words = [str(word) for word in command]
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=limit_s, cwd=ROOT)
    except subprocess.TimeoutExpired as late:
        raise NotInstalled(f"took longer than {limit_s} s to install or import") from late
    if done.returncode:
        raise NotInstalled(_reason(done.stderr))


def _reason(stderr: str) -> str:
    """The one line of an installer's or interpreter's complaint that says most."""
    lines = [re.sub(r"^\W*(cause: )?", "", line) for line in stderr.splitlines()]  # without the frames that uv draws
    lines = [line for line in lines if line]
    why = [line for line in lines if line.startswith("Because")]
    telling = [line for line in lines if re.match(r"(\w*error|Failed)\b", line, re.I)]
    return plain((why or telling or lines or ["no message"])[-1])[:300]
