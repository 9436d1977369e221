import copy
import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from manyview import AcceleratedKMeans, Views
from manyview.errors import ParameterError, ViewError

LOOKS = np.arange(12.0).reshape(4, 3)
TAGS = sparse.csr_matrix(np.array([[1, 0], [0, 0], [0, 1], [1, 1]]))


@pytest.fixture
def X():
    return Views({"looks": LOOKS, "tags": TAGS}, ids=["a", "b", "c", "d"])


def test_is_a_mapping_with_items_as_rows(X):
    assert X.names == ("looks", "tags")
    assert X.shape == (4, 2) and len(X) == X.n_items == 4 and X.n_views == 2
    assert list(X) == ["looks", "tags"] and "tags" in X and "words" not in X
    assert np.array_equal(X["looks"], LOOKS)
    assert X.n_features == {"looks": 3, "tags": 2}
    assert X.mask.all()
    assert repr(X) == "Views(4 items: looks 3, tags 2 sparse)"


def test_names_for_lists_and_single_arrays():
    assert Views([LOOKS, TAGS]).names == ("view0", "view1")
    assert Views((LOOKS,)).names == Views(LOOKS).names == ("view0",)
    assert Views([[1, 2], [3, 4], [5, 6]]).shape == (3, 1)  # a list of rows is one table


@pytest.mark.parametrize("rows", [[2, 0], np.array([2, 0]), (2, 0)])
def test_selects_items_by_number(X, rows):
    rows = list(rows) if isinstance(rows, tuple) else rows
    part = X[rows]
    assert part.ids.tolist() == ["c", "a"]
    assert np.array_equal(part["looks"], LOOKS[[2, 0]])
    assert np.array_equal(part["tags"].toarray(), TAGS.toarray()[[2, 0]])


def test_selects_items_by_slice_and_mask(X):
    assert X[1:3].ids.tolist() == ["b", "c"]
    assert X[np.array([True, False, False, True])].ids.tolist() == ["a", "d"]
    assert X[[1], ...].ids.tolist() == X[[1], :].ids.tolist() == ["b"]
    assert X[[]].n_items == 0


def test_a_slice_is_not_copied():
    big = np.zeros((10, 3))
    assert np.shares_memory(Views(big)[2:5]["view0"], big)


def test_selects_views_by_name(X):
    assert X[["tags"]].names == ("tags",)
    assert X[["tags", "looks"]].names == ("tags", "looks")
    with pytest.raises(ViewError, match="no view 'words'.*'looks', 'tags'"):
        X["words"]
    with pytest.raises(ViewError, match="a view can be taken once"):
        X[[X.names[0], X.names[0]]]


@pytest.mark.parametrize(
    ("rows", "words"), [(1, r"X\[1:2\]"), (np.array([True]), "4 entries, got 1"), ((0, 1), "not by columns")]
)
def test_refuses_odd_selections(X, rows, words):
    with pytest.raises(ViewError, match=words):
        X[rows]


def test_never_changes(X):
    with pytest.raises(ValueError, match="read-only"):
        X["looks"][0, 0] = 5.0
    with pytest.raises(ValueError, match="read-only"):
        X.mask[0, 0] = False
    with pytest.raises(TypeError):
        X["looks"] = LOOKS
    assert LOOKS.flags.writeable


def test_rows_of_nan_are_missing_views():
    looks = LOOKS.copy()
    looks[1] = np.nan
    X = Views({"looks": looks, "tags": TAGS})
    assert X.mask.tolist() == [[True, True], [False, True], [True, True], [True, True]]
    assert X[[1, 2]].mask[:, 0].tolist() == [False, True]
    assert "looks 3 (1 missing)" in repr(X)


def test_a_mask_marks_missing_rows_of_any_view():
    mask = np.ones((4, 2), dtype=bool)
    mask[2, 1] = False
    assert Views({"looks": LOOKS, "tags": TAGS}, mask=mask).mask.tolist() == mask.tolist()
    odd = LOOKS.copy()
    odd[2, 0] = np.inf  # never looked at: the mask says the item lacks the view
    mask[2, 0] = False
    assert not Views({"looks": odd, "tags": TAGS}, mask=mask).mask[2].any()
    with pytest.raises(ViewError, match="4 x 2 booleans"):
        Views([LOOKS, TAGS], mask=np.ones((4, 3), dtype=bool))


@pytest.mark.parametrize(("value", "shown"), [(np.nan, "NaN"), (np.inf, "inf"), (-np.inf, "-inf")])
def test_names_the_place_of_a_value_that_is_not_finite(value, shown):
    bad = LOOKS.copy()
    bad[2, 1] = value
    with pytest.raises(ViewError, match=f"view 'looks' contains {shown} in row 2, column 1"):
        Views({"tags": TAGS, "looks": bad})
    with pytest.raises(ViewError, match=f"view 'b' contains {shown} in row 2, column 1"):
        Views({"b": sparse.csr_matrix(bad)})


def test_huge_values_are_not_taken_for_infinite():
    huge = np.full((3, 4), 1e38, dtype=np.float32)
    assert Views(huge).mask.all()


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (np.float32, np.float32),
        (np.float64, np.float64),
        (np.float16, np.float32),
        (np.int8, np.float64),
        (bool, np.float64),
        (">f4", np.float32),
        (object, np.float64),
        (np.longdouble, np.float64),
    ],
)
def test_types_of_numbers(given, kept):
    assert Views(np.ones((2, 2)).astype(given))["view0"].dtype == kept


def test_floats_are_not_copied_and_stay_where_they_are(tmp_path):
    single = LOOKS.astype(np.float32)
    assert np.shares_memory(Views(single)["view0"], single)
    np.save(tmp_path / "x.npy", LOOKS)
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    assert np.shares_memory(Views(mapped)["view0"], mapped)


def test_unsorted_and_doubled_sparse_entries_are_put_in_order():
    matrix = sparse.csr_matrix((np.ones(3), np.array([1, 0, 0]), np.array([0, 3])), shape=(1, 2))
    kept = Views(matrix)["view0"]
    assert kept.toarray().tolist() == [[2.0, 1.0]] and kept.has_canonical_format
    assert matrix.nnz == 3  # the owner's matrix is as it was


@pytest.mark.parametrize(
    ("views", "words"),
    [
        ({"a": LOOKS, "b": LOOKS[:3]}, "view 'b' has 3 rows but view 'a' has 4"),
        ({"a": np.ones(4)}, r"view 'a' must be 2-D.*reshape\(-1, 1\)"),
        ({"a": np.ones((2, 2, 2))}, "view 'a' must be 2-D.*Flatten"),
        ({"a": np.array([["x", "y"]])}, "view 'a' holds <U1, not numbers"),
        ({"a": np.ones((2, 2)) * 1j}, "view 'a' holds complex numbers"),
        ({"a": np.array([["x"]], dtype=object)}, "view 'a' holds something that is not a number"),
        ({"a": [[1, 2], [3]]}, "view 'a' must be a 2-D table"),
        ({"a": np.ma.masked_array(LOOKS)}, "view 'a' is a masked array"),
        ({1: LOOKS}, "names that are strings"),
        ({}, "at least one view"),
    ],
)
def test_what_is_wrong_is_named(views, words):
    with pytest.raises(ViewError, match=words):
        Views(views)


class Tensor:
    """As much of torch's as is asked for: torch itself is no dependency of the tests."""

    __module__ = "torch"
    ndim = 2

    def __init__(self, values, fault=None):
        self.values, self.fault, self.shape = values, fault, values.shape

    def detach(self):
        return self

    cpu = detach

    def numpy(self):
        if self.fault:
            raise TypeError(self.fault)
        return self.values


def test_tensors_of_torch():
    values = np.random.default_rng(0).normal(size=(20, 3)).astype(np.float32)
    X = Views({"x": Tensor(values), "y": values})
    assert X["x"].dtype == np.float32 and np.shares_memory(X["x"], values) and not X["x"].flags.writeable
    model = AcceleratedKMeans(2, random_state=0)
    labels = model.fit(values).labels_
    for given in (Tensor(values), [Tensor(values)], {"view0": Tensor(values)}):
        assert np.array_equal(model.fit(given).labels_, labels) and np.array_equal(model.predict(given), labels)
    with pytest.raises(
        ViewError, match=r"view 'x' is a torch tensor .*: unsupported ScalarType BFloat16. Pass tensor.f"
    ):
        Views({"x": Tensor(values, "unsupported ScalarType BFloat16")})


@pytest.mark.parametrize("library", ["dask", "cupy", "jax"])
def test_other_libraries_are_answered_in_words(library):
    foreign = type("Tensor", (), {"__module__": f"{library}.array", "ndim": 2, "shape": (2, 2)})()
    with pytest.raises(ViewError, match=f"view 'x' is a {library} Tensor"):
        Views({"x": foreign})


def test_ids_need_one_per_item():
    with pytest.raises(ViewError, match="4 in all"):
        Views(LOOKS, ids=["a"])


class TestFromFrame:
    frame = pd.DataFrame({"name": ["p", "q"], "r": [1, 2], "g": [0.5, np.nan], "b": [1.0, np.nan]}, index=[7, 8])

    def test_columns_become_views(self):
        X = Views.from_frame(self.frame, views={"red": "r", "rest": ["g", "b"]})
        assert X.names == ("red", "rest") and X.ids.tolist() == [7, 8]
        assert X["red"].tolist() == [[1.0], [2.0]]
        assert X.mask.tolist() == [[True, True], [True, False]]
        assert Views.from_frame(self.frame, views={"red": ["r"]}, ids="name").ids.tolist() == ["p", "q"]

    def test_wrong_columns_are_named(self):
        with pytest.raises(ViewError, match="view 'red' names 'x'.*name, r, g, b"):
            Views.from_frame(self.frame, views={"red": ["x"]})
        with pytest.raises(ViewError, match="column 'name' holds .*not numbers"):
            Views.from_frame(self.frame, views={"red": ["name"]})


def test_survives_pickling_for_joblib(X):
    back = pickle.loads(pickle.dumps(X))  # noqa: S301  our own bytes
    assert back.names == X.names and np.array_equal(back.ids, X.ids)
    assert np.array_equal(back["looks"], LOOKS)


def test_a_views_of_a_views_is_the_same(X):
    again = Views(X)
    assert again.ids.tolist() == X.ids.tolist() and again["looks"] is not None
    assert np.shares_memory(again["looks"], X["looks"])


def gappy():
    looks = np.array([[1.0, 2.0], [np.nan, np.nan], [3.0, 6.0], [5.0, 4.0]])
    mask = np.array([[True, True], [True, True], [True, False], [True, True]])
    return Views({"looks": looks, "tags": TAGS}, mask=mask)


def test_present_says_who_has_a_view():
    views = gappy()
    assert views.present("looks").tolist() == [True, False, True, True]
    assert views.present("tags").tolist() == [True, True, False, True]
    with pytest.raises(ViewError, match="there is no view 'words'"):
        views.present("words")


def test_joined_is_one_table_with_gaps_filled_by_means():
    joined = gappy().joined()
    assert joined.tolist() == [[1, 2, 1, 0], [3, 4, 0, 0], [3, 6, 0, 0], [5, 4, 1, 1]]
    assert joined.flags.c_contiguous and not joined.flags.writeable


def test_joined_fills_with_a_number_or_with_given_rows():
    assert gappy().joined(-1).tolist() == [[1, 2, 1, 0], [-1, -1, 0, 0], [3, 6, -1, -1], [5, 4, 1, 1]]
    rows = {"looks": [7, 8], "tags": [0, 9]}
    assert gappy().joined(rows).tolist() == [[1, 2, 1, 0], [7, 8, 0, 0], [3, 6, 0, 9], [5, 4, 1, 1]]


@pytest.mark.parametrize("fill", ["median", None, {"looks": [1, 2]}, {"looks": [1, 2], "tags": [1, 2, 3]}])
def test_joined_refuses_other_fillings(fill):
    with pytest.raises(ParameterError, match="fill must be 'mean', a number, or a dict"):
        gappy().joined(fill)


def test_joined_stays_sparse_where_every_view_is():
    views = Views({"a": TAGS, "b": TAGS}, mask=np.array([[True, True], [True, True], [True, True], [True, False]]))
    for fill, last in (("mean", [1, 1, 0, 0]), (0, [1, 1, 0, 0]), (2, [1, 1, 2, 2])):
        joined = views.joined(fill)
        assert sparse.issparse(joined)
        assert joined.toarray().tolist() == [[1, 0, 1, 0], [0, 0, 0, 0], [0, 1, 0, 1], last]


def test_joined_leaves_one_whole_view_where_it_lies(tmp_path):
    np.save(tmp_path / "looks.npy", LOOKS)
    looks = np.load(tmp_path / "looks.npy", mmap_mode="r")
    assert np.shares_memory(Views(looks).joined(), looks)


def test_joined_keeps_float32_unless_mixed():
    thin = LOOKS.astype(np.float32)
    assert Views([thin, thin]).joined().dtype == np.float32
    assert Views([thin, LOOKS]).joined().dtype == np.float64


def test_means_of_clusters_are_over_the_items_that_have_the_view():
    means = gappy().means([0, 1, 0, -1])
    assert means["looks"].tolist() == [[2, 4], [2, 4]]  # the second cluster has no looks: the mean of all
    assert means["tags"].tolist() == [[1, 0], [0, 0]]
    assert all(mean.dtype == np.float64 for mean in means.values())


def test_means_of_a_view_that_nobody_has_are_zero():
    views = Views({"a": LOOKS, "b": np.full((4, 2), np.nan)})
    assert views.means([0, 0, 1, 1])["b"].tolist() == [[0, 0], [0, 0]]


def test_means_do_not_depend_on_the_blocks(monkeypatch):
    labels = np.arange(50) % 3
    views = Views({"a": np.random.default_rng(0).normal(size=(50, 4)), "s": sparse.random(50, 6, 0.3, rng=0)})
    whole = views.means(labels)
    monkeypatch.setattr("manyview.blocks.BLOCK_BYTES", 200)
    for name, mean in views.means(labels).items():
        assert np.allclose(mean, whole[name], rtol=1e-14, atol=1e-15)


@pytest.mark.parametrize("labels", [[0, 1], [0.0, 1.0, 0.0, 1.0], "abcd"])
def test_means_refuses_what_is_no_label_for_each_item(labels):
    with pytest.raises(ParameterError, match="labels must be 4 whole numbers"):
        gappy().means(labels)


def test_means_takes_more_clusters_than_are_used():
    assert gappy().means([0, 0, 0, 0], 3)["looks"].tolist() == [[3, 4]] * 3
    with pytest.raises(ParameterError, match="labels go up to 5, but n_clusters is 3"):
        gappy().means([0, 0, 0, 5], 3)


class TestFrames:
    frame = pd.DataFrame({"r": [0.0, 1.0, 5.0], "g": [2.0, 3.0, 9.0]}, index=["p", "q", "s"])

    def test_the_same_items_in_another_order_are_refused(self):
        shuffled = self.frame.loc[["p", "s", "q"]]
        with pytest.raises(ViewError, match=r"'a' and 'b' hold the same items in another order \(row 1 is 'q'"):
            Views({"a": self.frame, "b": shuffled})
        both = Views({"a": self.frame, "b": shuffled.to_numpy()})
        assert np.array_equal(both["b"][1], [5.0, 9.0])
        assert Views({"a": self.frame, "b": self.frame.reset_index(drop=True)}).n_items == 3  # rows that have no names
        nameless = self.frame.set_axis(["p", np.nan, "s"])
        assert Views({"a": nameless, "b": nameless}, mask=(nameless > 0).set_axis(["a", "b"], axis=1)).n_items == 3

    def test_a_mask_goes_by_the_names_of_its_columns(self):
        views = {"a": self.frame, "b": self.frame.to_numpy()}
        mask = pd.DataFrame({"b": [True, True, False], "a": [True, False, True]}, index=self.frame.index)
        expected = [[True, True], [False, True], [True, False]]
        assert Views(views, mask=mask).mask.tolist() == expected
        assert Views(views, mask=mask.reset_index(drop=True)).mask.tolist() == expected  # rows that have no names
        assert Views(views, mask=pd.DataFrame(np.array(expected))).mask.tolist() == expected  # nor columns
        with pytest.raises(ViewError, match=r"called like the views, 'a', 'b'; got 'b', 'looks'. Rename"):
            Views(views, mask=mask.rename(columns={"a": "looks"}))
        for given, ids in ((views, None), ([self.frame.to_numpy()] * 2, ["p", "q", "s"])):
            shuffled = mask.loc[["p", "s", "q"]].set_axis([0, 1] if ids else ["b", "a"], axis=1)
            with pytest.raises(
                ViewError, match=r"items in another order than the views \(row 1 is 'q' there and 's' in"
            ):
                Views(given, ids=ids, mask=shuffled)

    def test_names_of_columns_are_kept(self):
        X = Views({"a": self.frame, "b": self.frame.to_numpy()})
        assert {name: columns.tolist() for name, columns in X.columns.items()} == {"a": ["r", "g"]}
        for other in (X[1:], X[["a"]], Views(X), copy.deepcopy(X)):
            assert other.columns["a"].tolist() == ["r", "g"]
        assert Views({"a": self.frame.set_axis([0, 1], axis=1)}).columns == {}

    def test_what_is_no_number_is_named(self):
        for more in (["x", "y", "z"], pd.Categorical(["x", "y", "x"]), pd.to_datetime(["2020-01-01"] * 3)):
            frame = self.frame.assign(odd=more)
            for given in (frame, {"a": frame}):
                with pytest.raises(ViewError, match="column 'odd' holds .*, not numbers"):
                    Views(given)

    def test_gaps_and_sparse_columns(self):
        X = Views({"a": pd.DataFrame({"n": pd.array([1, None, 3], dtype="Int64")})})
        assert X.mask[:, 0].tolist() == [True, False, True]
        tags = pd.DataFrame.sparse.from_spmatrix(TAGS)
        assert sparse.issparse(Views({"tags": tags})["tags"])
        assert sparse.issparse(Views.from_frame(tags, views={"tags": [0, 1]})["tags"])
        assert Views({"a": self.frame.astype(np.float32)})["a"].dtype == np.float32


def test_is_no_array(X):
    with pytest.raises(ViewError, match=r"X\['looks'\].*X.joined\(\)"):
        np.asarray(X)


@pytest.mark.parametrize(("value", "what"), [(None, "NoneType"), ("abc", "str"), ((m for m in [LOOKS]), "generator")])
def test_says_what_is_no_matrix(value, what):
    with pytest.raises(ViewError, match=f"got {what}"):
        Views(value)


def test_says_how_the_last_item_is_taken(X):
    with pytest.raises(ViewError, match=r"write X\[-1:\]"):
        X[-1]
    with pytest.raises(ViewError, match=r"write X\[-2:-1\]"):
        X[-2]
