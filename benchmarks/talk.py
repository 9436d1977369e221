"""A worker process as the harness sees it: start it, ask it, watch its memory, stop it."""

from __future__ import annotations

import json
import os
import select
import subprocess
import tempfile
import time
from typing import Any

from .environments import ROOT, plain
from .worker import memory

SAMPLE_S = 0.02
TURN_LIMIT_S = 1800
THREAD_VARIABLES = [f"{library}_NUM_THREADS" for library in ("OMP", "OPENBLAS", "MKL", "BLIS", "NUMBA")]


class Failed(Exception):
    """A contender that could not do its work; the text says why."""


class Talk:
    """A worker process that answers JSON lines."""

    def __init__(self, python: str, threads: int, variables: dict[str, str] | None = None) -> None:
        limits = dict.fromkeys(THREAD_VARIABLES, str(threads))
        environment = {**os.environ, **limits, **(variables or {})}
        self._complaints = tempfile.TemporaryFile(mode="w+")
        self._process = subprocess.Popen(
            [python, "-m", "benchmarks.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._complaints,
            text=True,
            cwd=ROOT,
            env=environment,
        )
        self.anonymous = 0

    def ask(self, message: dict[str, Any]) -> dict[str, Any]:
        """Send one line, wait for one, and meanwhile watch how much anonymous memory the process holds.

        Watching from outside costs the contender nothing and does not wait for its interpreter lock.
        """
        assert self._process.stdin is not None and self._process.stdout is not None
        self.anonymous = 0
        try:
            self._process.stdin.write(json.dumps(message) + "\n")
            self._process.stdin.flush()
        except BrokenPipeError as error:
            raise Failed(self._last_words()) from error
        deadline = time.monotonic() + TURN_LIMIT_S
        while not select.select([self._process.stdout], [], [], SAMPLE_S)[0]:
            self.anonymous = max(self.anonymous, memory(self._process.pid).get("RssAnon", 0))
            if time.monotonic() > deadline:
                self._process.kill()
                raise Failed(f"took longer than {TURN_LIMIT_S} s for one turn")
        line = self._process.stdout.readline()
        if not line:
            raise Failed(self._last_words())
        reply = json.loads(line)
        if "error" in reply:
            raise Failed(reply["error"])
        return reply

    def stop(self) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.close()
            self._process.wait(10)
        except (subprocess.TimeoutExpired, BrokenPipeError):
            self._process.kill()
            self._process.wait()
        self._complaints.close()

    def _last_words(self) -> str:
        code = self._process.wait()
        self._complaints.seek(0)
        lines = self._complaints.read().strip().splitlines()
        return plain(f"ended with status {code}: {lines[-1] if lines else 'no message'}")[:300]
