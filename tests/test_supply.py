"""What the gallery's pages are built with: every package by its hash, and no address in the lock file."""

import base64
import json
from pathlib import Path

LOCK = Path(__file__).parents[1] / "frontend" / "package-lock.json"


def packages():
    found = json.loads(LOCK.read_text(encoding="utf-8"))["packages"]
    return {name: facts for name, facts in found.items() if name}  # the nameless one is our own


def test_every_package_is_hashed():
    assert len(packages()) > 50
    for name, facts in packages().items():
        kind, _, value = facts.get("integrity", "").partition("-")
        assert kind == "sha512" and len(base64.b64decode(value)) == 64, name


def test_no_package_says_where_it_comes_from():
    assert [name for name, facts in packages().items() if "resolved" in facts] == []
    for name, facts in packages().items():
        links = {key: value for key, value in facts.items() if key != "funding"}
        assert "http:" not in json.dumps(links) and "https:" not in json.dumps(links), name


def test_what_is_needed_is_there():
    """Also the parts that are for one platform alone: who leaves one out says so in CONTRIBUTING.md."""
    names = {name.rpartition("node_modules/")[2] for name in packages()}
    for name, facts in packages().items():
        needed = {**facts.get("dependencies", {}), **facts.get("optionalDependencies", {})}
        assert set(needed) <= names, name
