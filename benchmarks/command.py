"""What the commands of this folder share: which files to run, asked for by name."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path


def chosen(prog: str, about: str, folder: Path, machinery: set[str], flags: dict[str, str]) -> argparse.Namespace:
    """Read the command line. ``names`` are the files asked for, all of the folder but its machinery by default."""
    names = sorted(path.stem for path in folder.glob("*.py") if path.stem not in machinery)
    parser = argparse.ArgumentParser(prog=prog, description=about)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"all by default: {', '.join(names)}")
    for flag, meaning in flags.items():
        parser.add_argument(f"--{flag}", action="store_true", help=meaning)
    arguments = parser.parse_args()
    unknown = sorted(set(arguments.names) - set(names))
    if unknown:
        parser.error(f"nothing is named {', '.join(unknown)}; there are: {', '.join(names)}")
    arguments.names = arguments.names or names
    return arguments


def end(main: Callable[[], None]) -> None:
    """Run a command; Ctrl-C ends it without a traceback."""
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
