import numpy as np
import pytest

from manyview.data.checks import as_generator, check_choice, check_number, check_sample_weight
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
