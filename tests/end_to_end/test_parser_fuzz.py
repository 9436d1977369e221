"""Our own parsers under atheris. It is no dependency of the tests (its wheels are for a few systems only): the part
"parsers" of `make torture` installs it. Where it is missing, ``test_fuzz`` still mutates files for the same parsers."""

import os
import re
import subprocess
import sys

import pytest

from tests.programs import ROOT

pytest.importorskip("atheris", reason="`make torture PART=parsers` installs atheris")
pytestmark = pytest.mark.slow

SECONDS = int(os.environ.get("MANYVIEW_ATHERIS_SECONDS", "3"))


@pytest.mark.parametrize(
    "parser", ["xmp", "iptc", "containers", "sidecar", "documents", "npy", "npz", "csv", "jsonl", "editor"]
)
def test_no_bytes_break_a_parser(parser, tmp_path, record_property):
    command = [
        sys.executable,
        "-W",
        "ignore",
        "-m",
        "tests.end_to_end.parser_fuzz",
        parser,
        str(tmp_path),
        str(SECONDS),
    ]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, errors="replace", check=False)
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
    record_property("count", int(re.search(r"number_of_executed_units:\s*(\d+)", done.stdout + done.stderr)[1]))
