"""No command, and nothing of the gallery, unpickles, evaluates or asks a shell; see tests/no_code/sitecustomize.py."""

import os
import subprocess
import sys

import pytest

from tests.programs import ROOT

SUITES = ("tests/cli", "tests/end_to_end", "tests/web", "tests/workflow", "tests/collection", "tests/ingest")


def guarded(tmp_path, *arguments):
    """Python with the guard, in itself and all its children; how it ended, what it said, and what was refused."""
    log = tmp_path / "refused"
    paths = os.pathsep.join((str(ROOT / "tests" / "no_code"), str(ROOT / "src")))
    env = {**os.environ, "PYTHONPATH": paths, "REFUSED_LOG": str(log)}
    env |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, *map(str, arguments)], cwd=ROOT, env=env, capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout + done.stderr, log.read_text(encoding="utf-8") if log.exists() else ""


PLANTED = {
    "pickle.loads": "import pickle; pickle.loads(pickle.dumps(1))",
    "pickle.load": "import io, pickle; pickle.load(io.BytesIO(pickle.dumps(1)))",
    "an unpickler": "import io, pickle; pickle.Unpickler(io.BytesIO(pickle.dumps(1))).load()",
    "numpy": "import io, numpy as np; f = io.BytesIO(); np.save(f, np.array([{}])); f.seek(0); np.load(f, None, True)",
    "joblib": "import io, joblib; f = io.BytesIO(); joblib.dump([1], f); f.seek(0); joblib.load(f)",
    "a shell": "import subprocess; subprocess.run('true', shell=True)",
    "os.system": "import os; os.system('true')",
    "eval": "exec(compile('eval(\"1\")', 'x', 'exec'), {'__name__': 'manyview.x', 'eval': eval})",
    "a child": "import subprocess, sys; subprocess.run([sys.executable, '-c', "
    "'import pickle; pickle.loads(pickle.dumps(1))'], check=True)",
}


@pytest.mark.parametrize("way", PLANTED)
def test_the_guard_sees(tmp_path, way):
    code, said, refused = guarded(tmp_path, "-c", PLANTED[way])
    assert code != 0 and refused, said


@pytest.mark.slow
def test_every_command(tmp_path):
    (tmp_path / "work").mkdir()
    code, said, refused = guarded(tmp_path, "-m", "tests.end_to_end.every_command", tmp_path / "work")
    assert (code, refused) == (0, ""), said


@pytest.mark.slow
def test_the_suites(tmp_path, record_property):
    """One of them at a change, all that run commands or the gallery before a release."""
    suites = SUITES[: int(os.environ.get("MANYVIEW_GUARDED_SUITES", "1"))]
    chosen = ["not slow", "--deselect", "tests/end_to_end/test_no_code.py"]
    code, said, refused = guarded(tmp_path, "-m", "pytest", "-q", "-m", *chosen, *suites)
    assert (code, refused) == (0, ""), said[-3000:]
    record_property("count", int(said.split(" passed")[0].split()[-1]))
