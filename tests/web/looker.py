"""Somebody else on this machine who looks for the gallery's secret: ``python looker.py SECONDS FOLDER...``.

Run by root it becomes nobody first. Says in JSON which words that could be a secret it saw, and where.
"""

import json
import os
import pwd
import re
import sys
import time
from pathlib import Path

COULD_BE = re.compile(rb"(?<![0-9a-f])[0-9a-f]{32}(?![0-9a-f])")
LARGEST = 2 * 2**20


def main():
    seconds, folders = float(sys.argv[1]), sys.argv[2:]
    if os.getuid() == 0:
        nobody = pwd.getpwnam("nobody")
        os.setgroups([])
        os.setgid(nobody.pw_gid)
        os.setuid(nobody.pw_uid)
    seen, n_looks, until = {}, 0, time.monotonic() + seconds
    print("looking", flush=True)
    while time.monotonic() < until or not n_looks:
        for path in [*processes(), *files(folders)]:
            for word in COULD_BE.findall(content(path)):
                seen.setdefault(word.decode(), str(path))
        n_looks += 1
        time.sleep(0.02)
    print(json.dumps({"seen": seen, "n_looks": n_looks, "user": os.getuid()}))


def processes():
    for process in os.listdir("/proc"):
        if process.isdecimal() and int(process) != os.getpid():
            yield from (Path("/proc", process, part) for part in ("cmdline", "environ", "comm", "status"))


def files(folders):
    for top in folders:
        for folder, _, names in os.walk(top):
            for name in names:
                yield Path(folder, name)


def content(path):
    try:
        with path.open("rb") as file:
            return path.name.encode() + b" " + file.read(LARGEST)
    except OSError:
        return path.name.encode()


if __name__ == "__main__":
    main()
