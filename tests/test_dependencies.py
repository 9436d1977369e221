"""What manyview stands on: locked by hash, above the versions whose faults are known, and named by the doctor."""

import re
import tomllib
from pathlib import Path

import pytest
from packaging.version import Version

from manyview.cli import doctor

ROOT = Path(__file__).parents[1]
FLOORS = {"pillow": "13.0", "starlette": "1.3.1", "pillow-heif": "1.8", "distributed": "2026.1.0"}
LOCKS = sorted(path for path in (ROOT / "requirements").glob("*.txt"))


def requirements(path):
    """Name -> version and hashes of every entry of a lock file."""
    text = path.read_text(encoding="utf-8").replace("\\\n", " ")
    lines = [line.split("#")[0].strip() for line in text.splitlines()]
    found = {}
    for line in filter(None, lines):
        name, version = re.match(r"([A-Za-z0-9_.\-]+)(?:\[[^\]]*\])?==([^\s;]+)", line).groups()
        found.setdefault(name.lower(), []).append((version, re.findall(r"--hash=sha256:([0-9a-f]{64})\b", line)))
    return found


@pytest.mark.parametrize("path", LOCKS, ids=lambda path: path.name)
def test_every_entry_of_a_lock_has_its_hashes_and_no_known_fault(path):
    found = requirements(path)
    assert len(found) > 5 or path.name == "bench.txt"
    for name, entries in found.items():
        assert all(hashes for _, hashes in entries), name
        for version, _ in entries:
            assert name not in FLOORS or Version(version) >= Version(FLOORS[name]), (name, version)


def test_what_we_ask_for_is_above_the_floors():
    asked = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    for name, floor in FLOORS.items():
        for version in re.findall(rf'"{name}>=([0-9.]+)', asked):
            assert Version(version) >= Version(floor), name


def test_the_doctor_names_the_libraries_inside():
    codecs = doctor._codecs()
    assert {"libjpeg_turbo", "libtiff", "webp", "zlib"} <= codecs.keys()
    pytest.importorskip("pillow_heif")
    pytest.importorskip("av")
    assert {"libheif", "libde265", "libavcodec"} <= codecs.keys()
    assert all(re.match(r"v?[0-9]+\.[0-9]+", version) for name, version in codecs.items() if name != "jpg")


def test_the_doctor_looks_at_all_that_is_asked_for():
    asked = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

    def names(listed):
        return {re.match(r"[A-Za-z0-9_.-]+", one)[0] for one in listed}

    assert set(doctor._PARTS) == names(asked["dependencies"])
    extras = {
        name: names(listed) for name, listed in asked["optional-dependencies"].items() if listed and name != "all"
    }
    assert doctor._EXTRAS.keys() == extras.keys()
    for name, (package, _) in doctor._EXTRAS.items():
        assert package in extras[name], name
