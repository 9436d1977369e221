"""What a parameter may be, as data: an estimator has a table of constraints, and one function checks it.

``wanted`` finishes the sentence "NAME must be ...", which is all an error says, with what came instead.
"""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..blocks import effective_n_jobs
from ..errors import ParameterError

__all__ = [
    "RUNNING",
    "SEED",
    "Array",
    "Choice",
    "Constraint",
    "Constraints",
    "Either",
    "Flag",
    "Given",
    "Number",
    "Seed",
    "Threads",
    "check_parameters",
]


class Constraint:
    """What one parameter may be."""

    @property
    def wanted(self) -> str:
        """What comes after "NAME must be"."""
        raise NotImplementedError

    def takes(self, value: Any) -> bool:
        """Is this value allowed?"""
        raise NotImplementedError

    def check(self, name: str, value: Any) -> None:
        """Refuse a value that is not allowed, in our one sentence."""
        if not self.takes(value):
            mark = ";" if "," in self.wanted else ","
            raise ParameterError(f"{name} must be {self.wanted}{mark} got {value!r}.")


Constraints = Mapping[str, Constraint]


@dataclass(frozen=True)
class Number(Constraint):
    """A number in a range; True and False are none."""

    integer: bool = False
    low: float | None = None
    high: float | None = None
    low_open: bool = False

    @property
    def wanted(self) -> str:
        parts = [f"{'above' if self.low_open else 'at least'} {self.low:g}"] if self.low is not None else []
        parts += [f"at most {self.high:g}"] if self.high is not None else []
        return " ".join(["an integer" if self.integer else "a number", " and ".join(parts)]).strip()

    def takes(self, value: Any) -> bool:
        kind: Any = numbers.Integral if self.integer else numbers.Real
        if isinstance(value, (bool, np.bool_)) or not isinstance(value, kind):
            return False
        if np.isnan(float(value)) or (self.high is not None and value > self.high):
            return False
        return self.low is None or bool(value > self.low if self.low_open else value >= self.low)


@dataclass(frozen=True, init=False)
class Choice(Constraint):
    """One of a few words; None can be among them."""

    words: tuple[str | None, ...]

    def __init__(self, *words: str | None) -> None:
        object.__setattr__(self, "words", words)

    @property
    def wanted(self) -> str:
        return f"one of {', '.join(map(repr, self.words))}"

    def takes(self, value: Any) -> bool:
        return (isinstance(value, str) or value is None) and value in self.words


@dataclass(frozen=True)
class Flag(Constraint):
    """True or False, and nothing that only counts as one."""

    @property
    def wanted(self) -> str:
        return "True or False"

    def takes(self, value: Any) -> bool:
        return isinstance(value, (bool, np.bool_))


@dataclass(frozen=True)
class Seed(Constraint):
    """Where random numbers come from."""

    @property
    def wanted(self) -> str:
        return "None, an integer of at least 0, or a numpy Generator"

    def takes(self, value: Any) -> bool:
        is_source = value is None or isinstance(value, (np.random.Generator, np.random.RandomState))
        return is_source or Number(integer=True, low=0).takes(value)


@dataclass(frozen=True)
class Threads(Constraint):
    """A number of threads as scikit-learn counts them."""

    def takes(self, value: Any) -> bool:
        try:
            return bool(effective_n_jobs(value))
        except ParameterError:
            return False

    def check(self, name: str, value: Any) -> None:
        effective_n_jobs(value)


@dataclass(frozen=True)
class Given(Constraint):
    """Something that only the data can judge; ``fit`` does so, and an error names the parameter."""

    said: str

    @property
    def wanted(self) -> str:
        return self.said

    def takes(self, value: Any) -> bool:
        return True


@dataclass(frozen=True)
class Array(Constraint):
    """A sequence of anything but letters; what is in it, ``fit`` sees."""

    said: str

    @property
    def wanted(self) -> str:
        return self.said

    def takes(self, value: Any) -> bool:
        return np.iterable(value) and not isinstance(value, (str, bytes))


@dataclass(frozen=True, init=False)
class Either(Constraint):
    """What any of several constraints takes."""

    parts: tuple[Constraint, ...]

    def __init__(self, *parts: Constraint) -> None:
        object.__setattr__(self, "parts", parts)

    @property
    def wanted(self) -> str:
        each = [
            said
            for part in self.parts
            for said in (map(repr, part.words) if isinstance(part, Choice) else [part.wanted])
        ]
        return " or ".join([", ".join(each[:-1]), each[-1]])

    def takes(self, value: Any) -> bool:
        return any(part.takes(value) for part in self.parts)


SEED = Seed()
RUNNING: Constraints = {
    "random_state": SEED,
    "n_jobs": Threads(),
    "verbose": Either(Number(integer=True, low=0), Flag()),
}


def check_parameters(estimator: Any) -> None:
    """Hold every parameter of an estimator against its class's table, ``_constraints``."""
    for name, constraint in estimator._constraints.items():
        constraint.check(name, getattr(estimator, name))
