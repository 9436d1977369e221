"""Letters that a terminal or a pipe does not have."""

import json
import os
import subprocess
import sys

import pytest

from manyview import Collection


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "ascii", "utf-8"])
def test_what_an_encoding_lacks_is_named(tmp_path, encoding):
    (tmp_path / "t.csv").write_text("id,text,tags\na,one,Größe;море;日本;😀\n", encoding="utf-8")
    Collection.create(tmp_path / "t.manyview", tmp_path / "t.csv").close()

    def tags(*more):
        command = [sys.executable, "-m", "manyview", "tags", tmp_path / "t.manyview", *more]
        shown = subprocess.run(
            command, env={**os.environ, "PYTHONIOENCODING": encoding}, capture_output=True, timeout=60
        )
        assert shown.returncode == 0, shown.stderr
        return shown.stdout

    names = {one["tag"] for one in json.loads(tags("--json").decode("utf-8"))["tags"]}
    assert names == {"Größe", "море", "日本", "😀"}
    said = tags().decode("utf-8" if encoding == "ascii" else encoding)
    assert "Größe" in said and ("море" in said or r"\u043c\u043e\u0440\u0435" in said)
