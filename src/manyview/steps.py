"""Long work in steps: which one goes on, how far it is, and how long all of it will take still.

Whoever wants to know listens with ``at_work``. Methods name their steps with ``step`` and say beforehand, with
``expect``, what each will cost; they need not know whether anybody listens.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:  # the terminal knows steps and has no need of NumPy
    from .types import Progress

__all__ = [
    "STEP",
    "Work",
    "at_work",
    "each",
    "expect",
    "in_words",
    "is_heard",
    "reach",
    "seconds_left",
    "step",
    "still",
]

T = TypeVar("T")

STEP = ": "
"""Between the name of the work and that of its step, in a report."""
_EVERY = 0.5
"""Seconds between two reports from a step that says nothing itself."""
_BELIEF = 0.02
"""The share of the expected work after which what was measured counts more than what was expected."""
_SURE = 0.25
"""The share of a step, from its first report on, after which its own pace says how long it takes."""
_OVERDUE = 1.1


class Work:
    """Steps that were expected, those that are done, and the time both took or will take.

    Costs are seconds on some machine: only their ratios matter once a few per cent are done.
    """

    def __init__(self, what: str, report: Progress | None, clock: Callable[[], float] = time.monotonic) -> None:
        self.what, self._report, self._clock = what, report, clock
        self._lock = threading.RLock()
        self._costs: dict[str, float] = {}
        self._over: dict[str, float] = {}
        self._started = self._step_started = clock()
        self.name, self._done, self.of = "", 0.0, 1.0
        self._prepared = self._told = (0.0, 0.0)  # share and seconds of the step, at its first report and at its last

    def expect(self, costs: Mapping[str, float]) -> None:
        """Costs of steps, in the order they come; those known already are corrected."""
        with self._lock:
            self._costs |= {name: float(cost) for name, cost in costs.items() if name not in self._over}

    def begin(self, name: str, of: float) -> None:
        """Start a step of ``of`` equal parts."""
        with self._lock:
            self.name, self._done, self.of, self._step_started = name, 0.0, max(of, 1e-9), self._clock()
            self._prepared = self._told = (0.0, 0.0)
            self.tell()

    def tick(self, done: float) -> None:
        """So many parts of the step are done."""
        with self._lock:
            done = min(done, self.of)
            if done != self._done:
                self._told = (done / self.of, self._clock() - self._step_started)
                self._prepared = self._prepared if self._done else self._told
            self._done = done
            self.tell()

    def end(self) -> float:
        """Close the step; the seconds it took."""
        with self._lock:
            took = self._clock() - self._step_started
            self._over[self.name] = self._over.get(self.name, 0.0) + took
            self.name = ""
            return took

    @property
    def seconds(self) -> float:
        """Since the beginning."""
        return self._clock() - self._started

    def left(self) -> float:
        """Seconds still to go, by the pace so far."""
        with self._lock:
            here = self._clock() - self._step_started if self.name else 0.0
            cost = self._costs.get(self.name, 0.0)
            trust, own = self._by_its_own_pace() if self.name else (0.0, 0.0)
            pace = self._pace(trust, own, cost)
            reached, told = self._told
            if reached and self.name:
                own = own if not cost else trust * own + (1.0 - trust) * (1.0 - reached) * pace * cost
                since = here - told
                here_left = max(own - since, (_OVERDUE - 1.0) * since)
            else:
                pace = max(pace, here / cost) if cost else pace  # it takes longer than expected, so will the rest
                here_left = pace * cost - here if here < pace * cost else (_OVERDUE - 1.0) * here
            later = sum(cost for name, cost in self._costs.items() if name not in self._over and name != self.name)
            return here_left + pace * later

    def _by_its_own_pace(self) -> tuple[float, float]:
        """How much the step's own reports are to be believed, from 0 to 1, and the seconds left by them.

        What comes before the first report may be preparation, and weighs little unless much of the step was done by
        then; the pace of the parts is that of the reports after it.
        """
        (first, ready), (reached, told) = self._prepared, self._told
        if not reached:
            return 0.0, 0.0
        if reached > first:
            return min(1.0, (reached - first) / _SURE), (told - ready) / (reached - first) * (1.0 - reached)
        return min(1.0, reached / max(1.0 - reached, 1e-9)), told / reached * (1.0 - reached)

    def _pace(self, trust: float, own: float, cost: float) -> float:
        """Seconds for each that was expected: of the steps that are over, and of this one as far as it is known."""
        known = [name for name in self._over if self._costs.get(name)]
        doubt = _BELIEF * sum(self._costs.values())
        told = self._told[1] if cost else 0.0
        took = sum(self._over[name] for name in known) + trust * told
        planned = sum(self._costs[name] for name in known) + (trust * cost * told / (told + own) if told else 0.0)
        return (took + doubt) / (planned + doubt) if planned + doubt else 1.0

    def tell(self) -> None:
        """Report the step, and in milliseconds what is done and what there is in all."""
        if self._report is None or not self.name:
            return
        with self._lock:
            done = int(1000 * self.seconds)
            self._report(f"{self.what}{STEP}{self.name}", done, max(1, done + int(1000 * self.left())))


_HEARD: ContextVar[Work | None] = ContextVar("manyview_work", default=None)


@contextmanager
def at_work(what: str, report: Progress | None, costs: Mapping[str, float] | None = None) -> Iterator[Work]:
    """Listen to the steps inside: ``report("what: step", milliseconds done, milliseconds in all)``, twice a second."""
    work = Work(what, report)
    work.expect(costs or {})
    token, ended = _HEARD.set(work), threading.Event()

    def repeat() -> None:
        while not ended.wait(_EVERY):
            try:
                work.tell()
            except BaseException:  # a report may raise to stop the work: that is for the thread that does it
                return

    teller = threading.Thread(target=repeat, name="manyview-steps", daemon=True)
    if report is not None:
        teller.start()
    try:
        yield work
    finally:
        ended.set()
        if report is not None:
            teller.join()
        _HEARD.reset(token)


def is_heard() -> bool:
    """Does anybody listen?"""
    return _HEARD.get() is not None


def expect(costs: Mapping[str, float]) -> None:
    """Say what steps will cost, in seconds of one core, to whoever listens."""
    if (work := _HEARD.get()) is not None:
        work.expect(costs)


def reach(name: str, share: float) -> None:
    """So much of the step of this name is done, if it is the one that goes on: for loops far below it."""
    work = _HEARD.get()
    if work is not None and work.name == name:
        work.tick(share * work.of)


@contextmanager
def step(name: str, of: float = 1.0) -> Iterator[Callable[[float], None]]:
    """A step of ``of`` parts; what it gives is called with the number of parts that are done."""
    work = _HEARD.get()
    if work is None:
        yield _nobody
        return
    work.begin(name, of)
    try:
        yield work.tick
    finally:
        work.end()


def each(name: str, things: Iterable[T], of: int) -> Iterator[T]:
    """The things one after another, each of them a part of a step."""
    with step(name, of=of) as tick:
        for done, thing in enumerate(things, 1):
            yield thing
            tick(done)


def _nobody(done: float) -> None:
    pass


def seconds_left(passed: float, done: int, of: int) -> float | None:
    """By the pace so far; None where nothing is done yet."""
    return passed * max(0, of - done) / done if done and of else None


def in_words(seconds: float) -> str:
    """A time as people say it, to five seconds at best: what will take less takes about five."""
    if seconds < 90:
        return f"{max(5, round(seconds / 5) * 5)} s"
    return f"{seconds / 60:.0f} minutes" if seconds < 5400 else f"{seconds / 3600:.1f} hours"


def still(seconds: float) -> str:
    """What is left, as people say it; nothing where it is not worth saying."""
    if seconds < _AT_ONCE:
        return ""
    return "a few seconds left" if seconds < _A_FEW else f"about {in_words(seconds)} left"


_AT_ONCE, _A_FEW = 2.0, 7.5
