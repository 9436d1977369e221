"""When and where, as views."""

import numpy as np
import pytest

from manyview.errors import ParameterError
from manyview.features import extractor
from manyview.features.metadata.occasions import great_circle, seconds_of

MUNICH, AUGSBURG, TOKYO = (48.137, 11.575), (48.371, 10.898), (35.68, 139.69)


def test_the_great_circle():
    far = great_circle(np.array([MUNICH, (0, 0), (90, 0)]), np.array([AUGSBURG, (0, 180), (0, 77)]))
    assert far[0, 0] == pytest.approx(56.4, abs=0.5)
    assert far[1, 1] == pytest.approx(np.pi * 6371.0088) and far[2, 2] == pytest.approx(np.pi / 2 * 6371.0088)


def test_days_are_on_a_circle_and_gaps_are_by_their_logarithm():
    days = ["2019-12-31T23:00:00", "2020-01-01T01:00:00", "2020-01-01T01:00:20", "2020-07-01", "2024-07-02"]
    one = extractor("date")
    one.learn(days)
    rows = one.extract([*days, "2019", "", "nonsense-day"])
    assert rows.shape == (8, 3) and rows.dtype == np.float32 and np.isnan(rows[5:]).all()
    around = np.linalg.norm(rows[:5, None, :2] - rows[None, :5, :2], axis=2)
    assert around[0, 1] < 0.01 and around[1, 3] > 1.9 and around[3, 4] < 0.05  # the years do not matter
    gaps = np.diff(rows[:5, 2])
    assert (gaps > 0).all() and gaps[1] < 0.1 * gaps[0] and gaps[3] < 2 * gaps[2]
    again = extractor("date")
    again.restore(one.state())
    np.testing.assert_array_equal(again.extract(days), rows[:5])
    with pytest.raises(ParameterError, match="must hold moments"):
        again.restore({"other": 1})
    assert np.isfinite(extractor("date").extract(["2020-01-01"])).all()


def test_zones():
    assert (
        seconds_of("2019-06-14T12:00:00+02:00")
        == seconds_of("2019-06-14T10:00:00")
        == seconds_of("2019-06-14T10:00:00+00:00")
    )


def test_places_are_near_their_landmarks():
    places = [MUNICH] * 5 + [AUGSBURG] * 2 + [TOKYO]
    one = extractor("place")
    one.learn([*places, (np.nan, 1.0)])
    rows = one.extract([*places, (np.nan, 1.0)])
    assert rows.shape == (9, 3) and np.isnan(rows[8]).all()
    assert (np.argsort(-rows[:8], axis=1)[:, 0] == [0, 0, 0, 0, 0, 2, 2, 1]).all()  # first the most, then the farthest
    assert rows[0, 0] > 0.9 and rows[7, 0] < 0.001
    again = extractor("place")
    again.restore(one.state())
    np.testing.assert_array_equal(again.extract(places), rows[:8])
    with pytest.raises(ParameterError, match="must hold landmarks"):
        again.restore({})
    assert extractor("place").state() == {}
