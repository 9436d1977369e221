"""Every parameter of every public estimator has a constraint, and ``fit`` refuses what it does not take."""

import inspect
import warnings

import numpy as np
import pytest

import manyview
from manyview import TagTable
from manyview.data.parameters import Array, Choice, Either, Flag, Given, Number, Seed, Threads, check_parameters
from manyview.errors import ParameterError, ViewError
from manyview.testing import separated_views

VIEWS, TRUTH = separated_views()
WORDS = TagTable.from_lists([[f"tag{number}"] for number in TRUTH])
PICTURES = [np.random.default_rng(i).integers(0, 255, (40, 40)).astype(np.uint8) for i in range(4)]
CHEAP = {
    "BagOfWords": {"n_words": 8},
    "LocalityCoding": {"n_words": 8},
    "TagForest": {"n_estimators": 5},
}
ESTIMATORS = [
    name
    for name in sorted(manyview.__all__)
    if inspect.isclass(getattr(manyview, name)) and {"fit", "get_params"} <= set(dir(getattr(manyview, name)))
]


def bad_values(constraint):
    """Values that a parameter of this kind must not take: beside the range, of another type, of no type at all."""
    match constraint:
        case Number(integer, low, high, low_open):
            yield from (float("nan"), "many", True, None)
            if integer:
                yield 2.5
            if low is not None:
                yield low if low_open else low - 1
            if high is not None:
                yield high + 1
        case Choice():
            yield from ("nonsense", 7, None)
        case Flag():
            yield from ("yes", 7, None)
        case Seed():
            yield from (-1, 1.5, "clock", True)
        case Threads():
            yield from (0, 1.5, "all", True)
        case Array():
            yield from ("nonsense", 7, None)
        case Either(parts):
            yield from (value for part in parts for value in bad_values(part))
    yield object()


def fit(model):
    match type(model).__name__:
        case "TagForest" | "TagCompleter":
            model.fit(VIEWS, WORDS)
        case "AnnotatedPLSA":
            model.fit(VIEWS["tags"], annotations=np.ones((4, 9)))
        case "PLSA" | "AssociationNetwork":
            model.fit(VIEWS["tags"])
        case "BagOfWords" | "LocalityCoding":
            model.fit(PICTURES)
        case _:
            model.fit(VIEWS)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_every_parameter_has_a_constraint(name):
    estimator = getattr(manyview, name)
    assert set(estimator._constraints) == set(inspect.signature(estimator).parameters)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_the_defaults_are_allowed(name):
    check_parameters(getattr(manyview, name)())


@pytest.mark.parametrize("name", ESTIMATORS)
def test_a_bad_value_is_refused_with_our_sentence(name):
    estimator, wrong = getattr(manyview, name), []
    for parameter, constraint in estimator._constraints.items():
        for value in bad_values(constraint):
            if not isinstance(constraint, Given) and constraint.takes(value):
                continue  # one part of an Either takes what another refuses
            settings = {**CHEAP.get(name, {}), parameter: value}
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    fit(estimator(**settings))
                wrong.append(f"{parameter}={value!r} was taken")
            except (ParameterError, ViewError) as error:
                said = str(error)
                if isinstance(constraint, (Given, Threads)):
                    is_ours = parameter in said
                else:
                    is_ours = said.startswith(f"{parameter} must be {constraint.wanted}") and repr(value) in said
                if not is_ours:
                    wrong.append(f"{parameter}={value!r}: {said}")
            except Exception as error:
                wrong.append(f"{parameter}={value!r}: {type(error).__name__}: {error}")
    assert not wrong


def test_sentences():
    several = Either(Number(integer=True, low=1), Number(low=0, high=1, low_open=True), Choice("sqrt", None))
    with pytest.raises(ParameterError) as refused:
        several.check("max_features", 1.5)
    assert str(refused.value) == (
        "max_features must be an integer at least 1, a number above 0 and at most 1, 'sqrt' or None; got 1.5."
    )
    assert all(several.takes(value) for value in (1, np.int64(7), 0.5, "sqrt", None))
