"""Ctrl-C that is obeyed within a second, whatever is being calculated."""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import typer

__all__ = ["INTERRUPTED", "STOPPED", "leave_at_once", "stopped_at_once"]

INTERRUPTED = 130
STOPPED = "\nStopped. What was done so far is kept; the same command continues from there."
_PATIENCE = 0.7
"""Seconds in which work may end by itself."""
_SHOW_CURSOR = "\x1b[?25h"


def leave_at_once() -> None:
    """End the process as it is: taking it apart first would cost half a second of the processor after a fit.

    Files and locks were closed on the way here. Where child processes are left, Python has to end them.
    """
    import multiprocessing  # milliseconds that only whoever is stopped pays

    if multiprocessing.active_children():
        return
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(INTERRUPTED)


@contextmanager
def stopped_at_once() -> Iterator[None]:
    """For work that keeps nothing before it is whole: if it has not ended soon after Ctrl-C, the process ends.

    Python hears of a signal between two of its own steps, and a single step of a large calculation may take a while.
    The byte that the signal writes into a socket is heard by a thread at once.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    ear, mouth = socket.socketpair()
    mouth.setblocking(False)
    over = threading.Event()

    def listen() -> None:
        while heard := ear.recv(1):
            if heard[0] == signal.SIGINT and not over.wait(_PATIENCE):
                typer.echo((_SHOW_CURSOR if sys.stderr.isatty() else "") + STOPPED, err=True)
                os._exit(INTERRUPTED)

    listener = threading.Thread(target=listen, name="manyview-stopping", daemon=True)
    listener.start()
    before = signal.set_wakeup_fd(mouth.fileno(), warn_on_full_buffer=False)
    try:
        yield
    finally:
        over.set()
        signal.set_wakeup_fd(before)
        mouth.close()
        listener.join()
        ear.close()
