"""Numbers on the command line: an option that expects one says so, and what came, in the same words everywhere."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from typing import Annotated, Any, TypeVar, get_args, get_origin

import typer

__all__ = ["in_our_words"]

Command = TypeVar("Command", bound=Callable[..., Any])


def in_our_words(command: Command) -> Command:
    """The command, whose options and arguments that take a number refuse anything else in our words, not in typer's."""
    signature = inspect.signature(command, eval_str=True)
    parameters = [one.replace(annotation=_annotation(one.annotation)) for one in signature.parameters.values()]
    command.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {one.name: one.annotation for one in parameters}
    return command


def _annotation(annotation: Any) -> Any:
    if get_origin(annotation) is not Annotated:
        return annotation
    taken, option = get_args(annotation)
    kind = next((one for one in (int, float) if taken in (one, one | None)), None)
    if kind is None:
        return annotation
    option.parser = _reader(kind, option.min, option.max)
    return Annotated[taken, option]


def _reader(kind: type[int] | type[float], least: float | None, most: float | None) -> Callable[[Any], float]:
    bounds = [f"{which} {bound:g}" for which, bound in (("at least", least), ("at most", most)) if bound is not None]
    expected = ", ".join(["expected a whole number" if kind is int else "expected a number", *bounds])

    def read(given: Any) -> float:
        try:
            number = kind(given)
        except (ValueError, OverflowError):
            number = math.nan  # beyond all bounds
        if math.isnan(number) or (least is not None and number < least) or (most is not None and number > most):
            raise typer.BadParameter(f"{expected}; got {str(given)!r}.")
        return number

    return read
