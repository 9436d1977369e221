"""``python -m tools.site``: stage the sources, run the examples, render, and read what was made."""

from __future__ import annotations

import argparse
import shutil
import sys
import time
from pathlib import Path

from . import benchmarks, checks, examples, reference, staging
from .sections import ROOT

SOURCES = ROOT / "build" / "site-sources"


def main() -> int:
    """Build into ``site/``; anything that is not right is an error, and says where."""
    parser = argparse.ArgumentParser(prog="python -m tools.site", description=__doc__)
    parser.add_argument("--output", type=Path, default=ROOT / "site")
    parser.add_argument("--examples", nargs="*", metavar="NAME", help="run these only; of the others take the last run")
    settings = parser.parse_args()
    start = time.perf_counter()
    kept = SOURCES.with_name("site-examples")
    shutil.rmtree(SOURCES, ignore_errors=True)
    staging.stage(SOURCES)
    if settings.examples is None:
        shutil.rmtree(kept, ignore_errors=True)
    examples.run_all(kept, settings.examples)
    examples.write_pages(kept, SOURCES)
    reference.write_reference(SOURCES)
    benchmarks.write_plots(SOURCES)
    shutil.rmtree(settings.output, ignore_errors=True)
    failed = render(SOURCES, settings.output)
    found = checks.look_through(settings.output) if not failed else []
    for line in found:
        print(line, file=sys.stderr)
    print(f"{settings.output / 'index.html'}: {time.perf_counter() - start:.0f} s")
    return 1 if failed or found else 0


def render(sources: Path, output: Path) -> int:
    """What Sphinx makes of the sources; a warning is an error."""
    from sphinx.cmd.build import main as sphinx

    where = ["-c", str(Path(__file__).parent), "-d", str(sources.with_name("site-doctrees")), str(sources), str(output)]
    return int(sphinx(["-W", "--keep-going", "-q", "-E", "-b", "html", *where]))


if __name__ == "__main__":
    sys.exit(main())
