"""Every parameter of every public estimator is checked in ``fit``; a bad value is refused by the parameter's name."""

import inspect
import warnings

import numpy as np
import pytest

import manyview
from manyview import TagTable
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


def bad_values(default):
    """Values that no parameter of this kind takes."""
    yield object()
    if isinstance(default, bool):
        yield from ("yes", 7)
    elif isinstance(default, (int, float)):
        yield from (-1, float("nan"), "many")
    elif isinstance(default, str):
        yield "nonsense"


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
def test_a_bad_value_is_refused_by_name(name):
    estimator, wrong = getattr(manyview, name), []
    for parameter in inspect.signature(estimator).parameters.values():
        for value in bad_values(parameter.default):
            settings = {**CHEAP.get(name, {}), parameter.name: value}
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    fit(estimator(**settings))
                wrong.append(f"{parameter.name}={value!r} was taken")
            except (ParameterError, ViewError) as error:
                if parameter.name not in str(error):
                    wrong.append(f"{parameter.name}={value!r}: not named in {error}")
            except Exception as error:
                wrong.append(f"{parameter.name}={value!r}: {type(error).__name__}: {error}")
    assert not wrong
