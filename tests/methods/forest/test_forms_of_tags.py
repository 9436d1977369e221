"""Tags and labels of a ``TagForest`` in the forms in which people have them."""

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from manyview import TagForest, name_clusters
from manyview.data.tags import as_tag_table

pd = pytest.importorskip("pandas")
X = np.random.default_rng(0).normal(size=(60, 6))
LABELS = np.array(["a", "b", "c"])[np.arange(60) % 3]


def forest():
    return TagForest(3, n_estimators=20, random_state=0)


@pytest.mark.parametrize(
    "form",
    [list, tuple, pd.Series, pd.Categorical, pd.Index, lambda labels: pd.Series(labels, dtype=object),
     lambda labels: pd.Series(labels, dtype="string"), lambda labels: pd.Series([[one] for one in labels])],
)  # fmt: skip
def test_a_column_of_labels_is_an_array_of_labels(form):
    expected = forest().fit(X, LABELS)
    assert np.array_equal(forest().fit(X, form(LABELS)).labels_, expected.labels_)


def test_numbers_are_labels_and_what_is_missing_is_none():
    numbers = np.arange(60) % 3
    expected = forest().fit(X, numbers).labels_
    assert np.array_equal(forest().fit(X, pd.Series(numbers)).labels_, expected)
    some = pd.Series(numbers).astype("Int64").mask(numbers == 2)
    words = [[] if number == 2 else [str(number)] for number in numbers]
    assert np.array_equal(forest().fit(X, some).labels_, forest().fit(X, words).labels_)


def test_texts_come_as_columns_too():
    texts = ["dog on beach", "cat at home", "bird in tree"] * 20
    assert name_clusters(np.arange(60) % 3, words=pd.Series(texts)) == name_clusters(np.arange(60) % 3, words=texts)
    rows = pd.Series([["a", "b"], ["b"], []])
    assert [as_tag_table(rows).words_of(item) for item in range(3)] == [["a", "b"], ["b"], []]


def test_a_pipeline_hands_tags_on_as_y():
    scaled = StandardScaler().fit_transform(X)
    found = make_pipeline(StandardScaler(), forest()).fit(X, LABELS)[-1]
    assert np.array_equal(found.labels_, forest().fit(scaled, LABELS).labels_)
    assert not hasattr(found, "set_fit_request")  # it could not be kept: pipelines give y in its place
