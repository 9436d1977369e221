"""The disk is really full: one sentence, nothing lost, and it works again when there is room."""

import json

import pytest

from tests.collection.small_disk import WAYS, run_on_small_disk


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_every_command_says_so_and_loses_nothing(way, tmp_path, record_property):
    found = json.loads(run_on_small_disk(way, tmp_path, "tests.end_to_end.full_disk"))
    assert found["wrong"] == [], "\n".join(found["wrong"])
    assert min(found["refused"].values()) > 0 and set(found["refused"]) == {"init", "fit", "apply", "gallery"}
    record_property("count", sum(found["refused"].values()))
