"""What every extractor promises, checked on all of them."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from manyview.errors import ParameterError, ViewError
from manyview.features import base
from manyview.features.base import Extractor, extractor, extractor_names, register_extractor

SIZES = {
    "embedding": 1280,
    "color_moments": 225,
    "color_histogram": 128,
    "color_texture": 48,
    "edges": 73,
    "wavelets": 128,
    "lbp": 256,
    "hog": 1764,
    "gist": 512,
    "centrist": 1302,
}


@pytest.fixture(scope="module")
def pictures():
    rng = np.random.default_rng(0)
    return [np.uint8(np.kron(rng.integers(0, 256, (5, 6, 3)), np.ones((9, 8, 1)))) for _ in range(4)]


@pytest.fixture(scope="module", params=sorted(SIZES))
def made(request, pictures):
    found = extractor(request.param)
    found.learn(pictures)
    return found


class TestEveryExtractorOfPictures:
    def test_one_row_each(self, made, pictures):
        rows = made.extract(pictures)
        assert rows.shape == (4, SIZES[made.name]) and rows.dtype == np.float32
        assert made.n_features == len(made.columns) == len(set(made.columns)) == SIZES[made.name]
        assert np.isfinite(rows).all() and not np.allclose(rows[0], rows[1])
        assert made.extract([]).shape == (0, SIZES[made.name])

    def test_threads_and_iterators_do_not_matter(self, made, pictures):
        np.testing.assert_array_equal(made.extract(pictures, n_jobs=1), made.extract(iter(pictures), n_jobs=3))

    def test_forms_of_one_picture_give_one_row(self, made, pictures):
        first = pictures[0]
        opaque = np.dstack([first, np.full(first.shape[:2], 255, dtype=np.uint8)])
        turned = Image.fromarray(np.ascontiguousarray(first.transpose(1, 0, 2)[:, ::-1]))
        turned.getexif()[0x0112] = 8
        rows = made.extract([first, first / 255, Image.fromarray(first), opaque, turned], n_jobs=1)
        np.testing.assert_array_equal(rows, np.repeat(rows[:1], 5, axis=0))

    def test_size_hardly_matters(self, made, pictures):
        smooth = Image.fromarray(pictures[0]).resize((240, 225), Image.Resampling.BICUBIC)
        larger = smooth.resize((480, 450), Image.Resampling.BICUBIC)
        one, other = made.extract([smooth, larger])
        # patterns of single pixels are the exception
        assert np.corrcoef(one, other)[0, 1] > (0.7 if made.name in ("lbp", "centrist") else 0.95)

    @pytest.mark.parametrize(
        "picture",
        [np.full((1, 1), 77, np.uint8), np.zeros((2, 3)), np.full((40, 50, 3), 200, np.uint8), np.zeros((1, 300, 3))],
        ids=["one pixel", "tiny", "flat", "a line"],
    )
    def test_corners_give_finite_rows(self, made, picture):
        rows = made.extract([picture])
        assert rows.shape == (1, SIZES[made.name]) and np.isfinite(rows).all()

    def test_a_bad_picture_is_numbered(self, made, pictures):
        with pytest.raises(ViewError, match="picture 2: a picture must be"):
            made.extract([*pictures[:2], np.zeros((2, 2, 9))])

    def test_state_goes_back(self, made, pictures):
        again = extractor(made.name)
        again.restore(made.state())
        np.testing.assert_array_equal(again.extract(pictures), made.extract(pictures))


def test_every_public_name_is_described():
    from manyview import features

    listed = (Path(__file__).parents[2] / "docs" / "api.md").read_text(encoding="utf-8")
    assert [name for name in features.__all__ if f"`features.{name}`" not in listed] == []
    assert all(getattr(features, name) is not None for name in features.__all__)
    assert [name for name in base._WHERE if f"``{name}``" not in features.__doc__] == []
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = features.nothing


def test_every_view_is_in_the_pages_for_users():
    docs = Path(__file__).parents[2] / "docs"
    catalogue = (docs / "features.md").read_text(encoding="utf-8")
    assert [name for name in base._WHERE if f"| `{name}` |" not in catalogue] == []
    commands = (docs / "command_line.md").read_text(encoding="utf-8")
    table = commands.split("## `manyview features")[1].split("| view | of |")[1].split("\n\n")[0]
    assert [name for name in base._WHERE if name != "tags" and f"`{name}`" not in table] == []


class TestByName:
    def test_names(self):
        announced = set(base._ANNOUNCED)  # by other rooms, with tests of their own
        assert set(extractor_names("picture")) - announced == set(SIZES)
        assert set(extractor_names("text")) == {"words", "caption", "text"} and set(extractor_names("tags")) == {"tags"}
        assert "motion" in extractor_names()

    def test_unknown(self):
        with pytest.raises(
            ParameterError, match="there is no extractor 'colour'; there are 'embedding', 'color_moments'"
        ):
            extractor("colour")
        with pytest.raises(ParameterError, match="'hog' has no option 'cells'; it has 'side', 'cell'"):
            extractor("hog", cells=3)
        with pytest.raises(ParameterError, match="'gist' has no option 'x'; it has none"):
            extractor("gist", x=1)

    def test_versions_tell_options_apart(self):
        assert extractor("hog").version == "1" and extractor("hog", cell=16).version == "1 cell=16"
        assert extractor("hog", cell=8).version == "1"
        assert repr(extractor("hog", cell=16)) == "<hog 1 cell=16>"

    def test_no_state_where_nothing_is_learned(self):
        assert extractor("hog").state() == {}
        with pytest.raises(ParameterError, match="'hog' keeps no state"):
            extractor("hog").restore({"a": 1})

    def test_one_more(self, monkeypatch):
        from manyview.features import base

        class Sum(Extractor):
            name, reads = "sum", "picture"

        monkeypatch.setattr(base, "_ANNOUNCED", {})
        register_extractor("sum", Sum)
        assert isinstance(extractor("sum"), Sum) and "sum" in extractor_names("picture")
        with pytest.raises(ParameterError, match="there is an extractor 'hog' already"):
            register_extractor("hog", Sum)
