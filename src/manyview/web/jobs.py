"""Long work, each in a process of its own: the command line with progress for machines, watched by a thread."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from ..errors import ParameterError
from ..steps import STEP, seconds_left
from . import models
from .refusals import Absent

__all__ = ["Jobs"]

_LINES = 200
_LONGEST_LINE = 2000
_GRACE = 5.0
"""Seconds a job may take to stop after Ctrl-C."""
_KEPT = 50
_LARGEST_RESULT = 8 * 2**20


@dataclass
class _Job:
    id: int
    asked: models.NewJob
    state: Literal["waiting", "running", "done", "failed", "cancelled"] = "waiting"
    stage: str = ""
    done: int = 0
    of: int = 0
    started: float = 0.0
    stage_started: float = 0.0
    ended: float = 0.0
    log: deque[str] = field(default_factory=lambda: deque(maxlen=_LINES))
    result: dict[str, Any] | None = None
    error: str | None = None
    stop: bool = False
    process: subprocess.Popen[str] | None = None


class Jobs:
    """The jobs of this start of the server, one running at a time, in the order they were asked for."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._jobs: dict[int, _Job] = {}
        self._lock = threading.Lock()
        self._news = threading.Condition(self._lock)
        self._closed = False
        self._next = 1
        self._thread: threading.Thread | None = None

    def start(self, asked: models.NewJob) -> models.Job:
        """Put a job in the queue."""
        command_of(asked, self._path)  # refuses settings that make no sense
        with self._news:
            job = _Job(self._next, asked)
            self._next += 1
            self._jobs[job.id] = job
            for old in [one for one in self._jobs.values() if one.ended][:-_KEPT]:
                del self._jobs[old.id]
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="gallery-jobs", daemon=True)
                self._thread.start()
            self._news.notify_all()
            return _told(job)

    def cancel(self, number: int) -> models.Job:
        """Stop a job: with Ctrl-C first, for good a little later."""
        with self._news:
            job = self._jobs.get(number)
            if job is None:
                raise Absent(f"there is no job {number}.")
            if job.state == "waiting":
                job.state, job.ended = "cancelled", time.monotonic()
            elif job.state == "running":
                job.stop = True
                _interrupt(job)
            return _told(job)

    def all(self) -> list[models.Job]:
        """Every job, oldest first."""
        with self._lock:
            return [_told(job) for job in self._jobs.values()]

    def close(self) -> None:
        """Stop everything; comes back when no process is left."""
        with self._news:
            self._closed = True
            for job in self._jobs.values():
                job.stop = True
                _interrupt(job)
            self._news.notify_all()
        if self._thread is not None:
            self._thread.join()

    def _work(self) -> None:
        while True:
            with self._news:
                while not self._closed and not any(job.state == "waiting" for job in self._jobs.values()):
                    self._news.wait()
                if self._closed:
                    return
                job = next(job for job in self._jobs.values() if job.state == "waiting")
                job.state, job.started = "running", time.monotonic()
                job.stage_started = job.started
            self._run(job)

    def _run(self, job: _Job) -> None:
        environment = {**os.environ, "MANYVIEW_PROGRESS": "json", "MANYVIEW_NO_BROWSER": "1"}
        try:
            process = subprocess.Popen(  # noqa: S603  our own command, settings checked
                command_of(job.asked, self._path),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=environment,
                start_new_session=True,
                text=True,
                encoding="utf-8",
                errors="replace",
            )
        except (OSError, ValueError) as error:  # a value that no command line can hold
            self._end(job, "failed", f"the job could not be started: {error}.")
            return
        job.process = process
        said: list[str] = []
        listener = threading.Thread(target=_collect, args=(process, said), daemon=True)
        listener.start()
        if job.stop:
            _interrupt(job)
        assert process.stderr is not None  # noqa: S101  made above
        for line in process.stderr:
            self._hear(job, line.rstrip("\n")[:_LONGEST_LINE])
        code = process.wait()
        listener.join(5)
        for stream in (process.stdout, process.stderr):
            if stream is not None:
                stream.close()
        if code in (0, 3):
            job.result = _read_result("".join(said))
            self._end(job, "done", None)
        elif job.stop:
            self._end(job, "cancelled", None)
        else:
            self._end(job, "failed", _last_words(job, code))

    def _hear(self, job: _Job, line: str) -> None:
        with self._lock:
            try:
                news = json.loads(line if line.startswith("{") else "{}")
                stage, done, of = str(news["stage"]), int(news["done"]), int(news["of"])
            except (ValueError, KeyError, TypeError):
                if line.strip():
                    job.log.append(line)
                return
            if stage != job.stage:
                job.log.append(stage)
                if stage.partition(STEP)[0] != job.stage.partition(STEP)[0]:  # steps of one work share its clock
                    job.stage_started = time.monotonic()
                job.stage = stage
            job.done, job.of = done, of

    def _end(self, job: _Job, state: Literal["done", "failed", "cancelled"], error: str | None) -> None:
        with self._lock:
            job.state, job.error, job.ended, job.process = state, error, time.monotonic(), None


def command_of(asked: models.NewJob, path: Path) -> list[str]:
    """The command line of a job; a setting that the command does not take is refused."""
    settings = asked.settings.model_dump(exclude_none=True)
    options = _OPTIONS[asked.kind]
    strange = [name for name in settings if name not in options]
    if strange:
        raise ParameterError(f"{asked.kind} has no setting {strange[0]!r}; it has {', '.join(options) or 'none'}.")
    words = [sys.executable, "-P", "-m", "manyview", asked.kind, str(path), "--json"]
    for name, value in settings.items():
        for one in value if isinstance(value, list) else [value]:
            words.append(f"{options[name]}={one}")
    return words


_OPTIONS: dict[str, dict[str, str]] = {
    "fit": {"method": "--method", "k": "--clusters", "views": "--view", "seed": "--seed"},
    "suggest": {"top": "--top", "seed": "--seed"},
    "add": {},
    "map": {"seed": "--seed"},
    "apply": {"to": "--to"},
}


def _collect(process: subprocess.Popen[str], said: list[str]) -> None:
    """Read what the job prints, as much of it as is kept."""
    assert process.stdout is not None  # noqa: S101  made by Popen with a pipe
    length = 0
    while piece := process.stdout.read(65536):
        length += len(piece)
        if length <= _LARGEST_RESULT:
            said.append(piece)


def _read_result(text: str) -> dict[str, Any] | None:
    try:
        found = json.loads(text)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def _last_words(job: _Job, code: int) -> str:
    errors = [line.removeprefix("error: ") for line in job.log if line.startswith("error: ")]
    if errors:
        return errors[-1]
    if code < 0:
        return f"the job was ended by signal {-code}; the machine may have been short of memory."
    return f"the job ended with code {code}. {job.log[-1] if job.log else ''}".strip()


def _interrupt(job: _Job) -> None:
    """Ctrl-C for a job and all its children, and the end a little later."""
    process = job.process
    if process is None or process.poll() is not None:
        return
    _signal(process, signal.SIGINT)
    later = threading.Timer(_GRACE, _signal, (process, signal.SIGKILL))
    later.daemon = True
    later.start()


def _signal(process: subprocess.Popen[str], number: signal.Signals) -> None:
    if process.poll() is None:
        try:
            os.killpg(process.pid, number)  # it leads a session of its own
        except ProcessLookupError:
            pass


def _told(job: _Job) -> models.Job:
    now = job.ended or time.monotonic()
    left = None
    if job.state == "running":
        left = seconds_left(now - job.stage_started, job.done, job.of)
    return models.Job(
        id=job.id,
        kind=job.asked.kind,
        settings=job.asked.settings.model_dump(exclude_none=True),
        state=job.state,
        stage=job.stage,
        done=job.done,
        of=job.of,
        seconds=round(now - job.started, 1) if job.started else 0.0,
        left=None if left is None else round(left, 1),
        log=list(job.log),
        result=job.result,
        error=job.error,
    )
