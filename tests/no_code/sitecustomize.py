"""Makes everything raise that could turn data into code, in each Python that starts with this folder on PYTHONPATH.

Loaded by Python itself at its start, so it reaches the children of children. What is refused:

- pickle in any form (``load``, ``loads``, an ``Unpickler``, and through them joblib.load,
  ``np.load(allow_pickle=True)`` and whatever else ends there), whoever asks, but for ``ALLOWED``: libraries that read
  back what they wrote themselves, in their own cache or pipe, which no user's file reaches;
- ``yaml.load``, ``os.system``, ``os.popen`` and ``subprocess`` with a shell, whoever asks;
- ``eval`` and ``exec`` called by manyview (the standard library makes its own classes by ``exec``).

A refusal is an error there and then, and a line in the file REFUSED_LOG: an ``except`` cannot hide it.
"""

import builtins
import functools
import importlib.util
import os
import pickle
import subprocess
import sys

ALLOWED = ("numba", "multiprocessing", "concurrent", "execnet", "xdist", "_pytest")
"""numba: compiled code in its cache, whose place only the owner can write. The others: pipes between own processes."""


def refuse(what):
    frames, frame = [], sys._getframe(2)
    while frame is not None and len(frames) < 12:
        frames.append(f"{frame.f_globals.get('__name__')}:{frame.f_lineno}")
        frame = frame.f_back
    words = f"{what} was asked for by {' < '.join(frames)}"
    if log := os.environ.get("REFUSED_LOG"):
        with open(log, "a", encoding="utf-8") as file:
            file.write(f"{words}\n")
    raise RuntimeError(words)


def asker(*passing):
    """The module that asked, past those that only pass on."""
    frame = sys._getframe(2)
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] in passing:
        frame = frame.f_back
    return "" if frame is None else frame.f_globals.get("__name__", "")


def guarded(real, what, is_wrong):
    @functools.wraps(real)
    def checked(*args, **kwargs):
        if is_wrong(args, kwargs):
            refuse(what)
        return real(*args, **kwargs)

    return checked


def evaluating(real):
    """``eval`` or ``exec``, in the names of whoever called it, as the real one."""

    @functools.wraps(real)
    def checked(code, *names, **more):
        frame = sys._getframe(1)
        if frame.f_globals.get("__name__", "").startswith("manyview"):
            refuse(real.__name__)
        return real(code, *(names or (frame.f_globals, frame.f_locals)), **more)

    return checked


def not_allowed(*_):
    return asker("pickle", "sitecustomize", "joblib").partition(".")[0] not in ALLOWED


class Unpickler(pickle.Unpickler):
    def load(self):
        if not_allowed():
            refuse("pickle.Unpickler")
        return super().load()


def install():
    pickle.load = guarded(pickle.load, "pickle.load", not_allowed)
    pickle.loads = guarded(pickle.loads, "pickle.loads", not_allowed)
    pickle._Unpickler.load = guarded(pickle._Unpickler.load, "pickle._Unpickler", not_allowed)
    pickle.Unpickler = Unpickler
    builtins.eval, builtins.exec = evaluating(builtins.eval), evaluating(builtins.exec)
    os.system = guarded(os.system, "os.system", lambda *_: True)
    os.popen = guarded(os.popen, "os.popen", lambda *_: True)
    subprocess.Popen.__init__ = guarded(
        subprocess.Popen.__init__,
        "a shell",
        lambda args, kwargs: kwargs.get("shell") or (len(args) > 9 and args[9]),
    )
    if importlib.util.find_spec("yaml") is not None:
        import yaml

        for name in ("load", "load_all", "unsafe_load", "full_load"):
            setattr(yaml, name, guarded(getattr(yaml, name), f"yaml.{name}", lambda *_: True))


install()
