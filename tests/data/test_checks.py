import numpy as np
import pandas as pd
import pytest

from manyview.data.checks import as_generator, check_choice, check_number, check_sample_weight, per_view_numbers
from manyview.errors import ParameterError


@pytest.mark.parametrize("value", [2, 2.5, np.float32(3), np.int64(4)])
def test_numbers_in_range_pass(value):
    assert check_number("gamma", value, low=1, low_open=True) == float(value)


@pytest.mark.parametrize("value", [1, 0, -3, float("nan"), "2", None, True])
def test_numbers_out_of_range_are_told_the_range(value):
    with pytest.raises(ParameterError, match="gamma must be a number above 1"):
        check_number("gamma", value, low=1, low_open=True)


def test_integers_and_upper_ends():
    assert check_number("n", 3, integer=True, low=1, high=3) == 3
    with pytest.raises(ParameterError, match=r"n must be an integer at least 1 and at most 3, got 3\.5"):
        check_number("n", 3.5, integer=True, low=1, high=3)
    with pytest.raises(ParameterError, match="at most 3, got 4"):
        check_number("n", 4, low=1, high=3)


def test_choices_are_listed():
    assert check_choice("init", "random", ("random", "partition")) == "random"
    with pytest.raises(ParameterError, match="init must be one of 'random', 'partition'; got 'rand'"):
        check_choice("init", "rand", ("random", "partition"))


@pytest.mark.parametrize(
    ("weight", "words"),
    [
        ([1, 2], "one number per item"),
        ([1, -1, 1], "item 1"),
        ([1, np.nan, 1], "item 1"),
        ([0, 0, 0], "zero for every"),
        ([1e303, 1, 1e303], "adds up to 2e\\+303"),
        ([1.7e308] * 3, "adds up to inf"),
    ],
)
def test_bad_weights(weight, words):
    with pytest.raises(ParameterError, match=words):
        check_sample_weight(weight, 3)


def test_good_weights():
    assert check_sample_weight(None, 3) is None
    assert check_sample_weight(2, 3).tolist() == [2, 2, 2]


def test_random_sources():
    assert as_generator(3).random() == np.random.default_rng(3).random()
    rng = np.random.default_rng(0)
    assert as_generator(rng) is rng
    assert as_generator(np.random.RandomState(1)).random() == as_generator(np.random.RandomState(1)).random()
    assert as_generator(None).random() != as_generator(None).random()
    for bad in (-1, 1.5, "x", True):
        with pytest.raises(ParameterError, match="random_state must be"):
            as_generator(bad)


@pytest.mark.parametrize("value", [2, 2.0, [2, 2], (2.0, 2), np.array([2, 2]), {"b": 2, "a": 2}])
def test_one_number_per_view_from_one_a_list_or_a_dict(value):
    assert per_view_numbers("weights", value, ("a", "b")).tolist() == [2.0, 2.0]


def test_a_series_with_names_goes_by_them():
    names, values = ("a", "b"), [1.0, 2.0]
    assert per_view_numbers("weights", pd.Series(values, index=["b", "a"]), names).tolist() == [2.0, 1.0]
    assert per_view_numbers("weights", pd.Series(values), names).tolist() == values
    with pytest.raises(ParameterError, match="'c' is not a view"):
        per_view_numbers("weights", pd.Series(values, index=["a", "c"]), names)


@pytest.mark.parametrize(
    ("value", "fault"),
    [
        ({"a": 1, "b": 1, "c": 1}, "'c' is not a view"),
        ({"a": 1}, "there is no number for 'b'"),
        ([1, 2, 3], "got [1, 2, 3]"),
        ([1, -2], "got -2 for view 'b'"),
        ([1, float("nan")], "got nan for view 'b'"),
        ([1, float("inf")], "got inf for view 'b'"),
        ([1, 7], "got 7 for view 'b'"),
        (True, "got True for view 'a'"),
        ([[1], [2]], "got [1] for view 'a'"),
        ("ab", "got 'ab'"),
        ([0, 0], "got [0, 0]"),
    ],
)
def test_the_same_mistake_has_the_same_sentence(value, fault):
    with pytest.raises(ParameterError) as caught:
        per_view_numbers("weights", value, ("a", "b"), high=5, some_above_zero=True, instead="'equal' or ")
    assert str(caught.value) == (
        "weights must be 'equal' or 2 finite number(s) of at least 0 and at most 5, not all 0, one for each view "
        f"(a, b); {fault}."
    )


def test_a_weight_for_a_view_that_is_not_there_is_refused_alike_everywhere():
    from manyview import CanonicalFusion, FusionART, RobustMultiviewKMeans

    X = {"a": np.eye(4), "b": np.eye(4)[::-1]}
    for call in (
        lambda given: RobustMultiviewKMeans(2, view_weights=given).fit(X),
        lambda given: FusionART(contributions=given).fit(X),
        lambda given: FusionART(vigilance=given).fit(X),
        lambda given: CanonicalFusion(1, weights=given).fit(X),
    ):
        with pytest.raises(ParameterError, match=r"one for each view \(a, b\); 'c' is not a view\."):
            call({"a": 0.5, "b": 0.5, "c": 0.5})
