"""What is said of a collection before anything is computed."""

import pytest

from manyview import Collection
from manyview.errors import ParameterError
from manyview.workflow.reading.inventory import take_inventory


@pytest.mark.parametrize(
    ("rows", "said", "refused"),
    [
        (["a,", "b,"], "nothing to group by yet", "tags on 0 % of the items"),
        (["a,x;y", "b,x;y", "c,"], "nothing to group by yet", "all items that have tags have the same"),
        (["a,x;y", "b,x", "c,y"], "none but the tags", None),
    ],
)
def test_no_time_is_promised_for_a_fit_that_cannot_be(tmp_path, rows, said, refused):
    (tmp_path / "t.csv").write_text("\n".join(["id,tags", *rows]), encoding="utf-8")
    with Collection.create(tmp_path / "t.manyview", tmp_path / "t.csv") as collection:
        found = take_inventory(collection)
        sentences = "\n".join(found.sentences())
        assert said in sentences and ("a first fit takes" in sentences) == found.can_fit == (refused is None)
        if refused:
            with pytest.raises(ParameterError, match=refused):
                collection.fit(n_clusters=2)
