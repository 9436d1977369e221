"""Long work in stages: what a stage has found is kept in a folder, and work that was stopped goes on from there.

A piece of work has a folder of its own, named by all that goes into it (``checkpoint.fingerprint``): work on other
data, or with other settings, never finds it. Below it are the stages that ended, each with a model, facts and the
warnings that were given, and the rounds of a fit that did not. Work that ends takes its folder away; the folders of
work that was stopped and never taken up again go when the next piece of work begins.
"""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from ..durable import clear_tree, make_folder, only_one, write_file
from ..errors import Busy
from ..persist import load, save
from . import checkpoint
from .choice import keeping_rounds

__all__ = ["ABOUT", "Stages", "kept_work"]

ABOUT = "about.json"
Found = tuple[Any, dict[str, Any]]
"""A model, or None, and facts that JSON can hold."""


class Stages:
    """The stages of one piece of work; without a folder nothing is kept."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder

    def result(self, name: str, work: Callable[[], Found]) -> Found:
        """What this stage finds, or has found before; kept if it took longer than a point of a fit may."""
        ended = None if self._folder is None else self._folder / f"{name}.json"
        if ended is not None and ended.exists():
            kept = json.loads(ended.read_text(encoding="utf-8"))
            for sentence in kept["warnings"]:
                warnings.warn(sentence, UserWarning, stacklevel=2)
            return load(ended.with_suffix("")) if kept["has_model"] else None, kept["facts"]
        began = time.monotonic()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", UserWarning)
            model, facts = work()
        for one in caught:
            warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)
        if ended is not None and time.monotonic() - began >= checkpoint.EVERY:
            if model is not None:
                save(model, ended.with_suffix(""))
            said = [str(one.message) for one in caught if issubclass(one.category, UserWarning)]
            told = {"facts": facts, "warnings": said, "has_model": model is not None}
            write_file(ended, [json.dumps(told).encode()])  # last: a stage has ended when this is there
        return model, facts

    @contextmanager
    def rounds(self) -> Iterator[None]:
        """Fits inside keep their rounds with this work."""
        with keeping_rounds(None if self._folder is None else self._folder / "rounds"):
            yield


@contextmanager
def kept_work(home: Path, name: str, about: Mapping[str, Any]) -> Iterator[Stages]:
    """The stages of a piece of work; where another process does the very same just now, nothing is kept.

    ``about`` is for whoever finds the folder later.
    """
    folder = home / name
    with ExitStack() as stack:
        make_folder(home)
        try:
            stack.enter_context(only_one(_lock_of(folder), "this work"))
        except Busy:
            yield Stages()
            return
        _clear_others(home, folder)
        make_folder(folder)
        write_file(folder / ABOUT, [json.dumps(dict(about)).encode()])
        is_over = False
        try:
            yield Stages(folder)
            is_over = True
        finally:
            if is_over or not any(path.is_file() and path.name != ABOUT for path in folder.rglob("*")):
                clear_tree(folder)
    try:
        home.rmdir()
    except OSError:  # others work there
        pass


def _lock_of(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}.lock")


def _clear_others(home: Path, own: Path) -> None:
    """Take away what nobody has taken up again."""
    for folder in home.iterdir():
        if folder.is_dir() and folder != own:
            try:
                with only_one(_lock_of(folder), "this work"):
                    clear_tree(folder)
            except Busy:
                pass
