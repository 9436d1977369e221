"""Does the work of ``steps`` with the n-th system call failing, for every n; a program for ``test_system_faults``.

Prints one JSON object: how many calls there are, how many were made to fail, and everything that was wrong afterwards.
"""

import ctypes
import json
import os
import shutil
import sys
from pathlib import Path

from manyview import errors
from manyview.collection.safety import check

from . import steps


def attempt(shim, path: Path, source: Path, n: int, code: int, forever: bool) -> tuple[int, str, int]:
    """Do the work in a child whose n-th call fails.

    Its status (0 done, 3 refused with a sentence, else wrong), the sentence, and how many calls it made.
    """
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        status, words = 1, ""
        try:
            os.close(reading)
            shim.fault_arm(os.fsencode(path), n, code, int(forever))
            steps.work(path, source, lambda *_: None)
            status = 0
        except errors.StoreError as error:
            status, words = 3, str(error)
        except BaseException as error:
            words = repr(error)
        finally:
            os.write(writing, json.dumps([words, shim.fault_steps()]).encode())
            os._exit(status)
    os.close(writing)
    with os.fdopen(reading, "rb") as said:
        words, n_calls = json.loads(said.read() or '["no answer", 0]')
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status), words, n_calls


def main() -> None:
    shim = ctypes.CDLL(sys.argv[1])
    shim.fault_steps.restype = ctypes.c_long
    shim.fault_arm.argtypes = [ctypes.c_char_p, ctypes.c_long, ctypes.c_int, ctypes.c_int]
    folder, source = Path(sys.argv[2]), Path(sys.argv[3])
    first, stride, *codes = map(int, sys.argv[4:])
    steps.work(folder / "whole.manyview", source, lambda *_: None)
    expected = check.digest(folder / "whole.manyview")
    wrong: list[str] = []
    n_failed = n_calls = 0
    path = folder / "copy.manyview"
    for code in codes:
        for forever in (False, True):
            n = first
            while True:
                where = f"call {n}, {os.strerror(code)}{', from then on' if forever else ''}"
                status, words, calls = attempt(shim, path, source, n, code, forever)
                if status == 0 and calls < n:
                    n_calls = calls
                    shutil.rmtree(path)
                    break
                n_failed += 1
                if status not in (0, 3) or (status == 3 and str(path) not in words):
                    wrong.append(f"{where}: {words}")
                steps.work(path, source, lambda *_: None)  # the same again, on a disk that works
                found = check.digest(path)
                names = sorted(expected | found)
                wrong += [f"{where}: {name} differs" for name in names if expected.get(name) != found.get(name)]
                wrong += [f"{where}: {sentence}" for sentence in check.problems(path)]
                shutil.rmtree(path)
                n += stride
    print(json.dumps({"calls": n_calls, "failed": n_failed, "wrong": wrong[:20]}))


if __name__ == "__main__":
    main()
