"""Work in steps: what is told of it, with a clock of our own, and that methods tell of theirs."""

import os
import threading

import numpy as np
import pytest

from manyview import ConsensusClustering, HierarchicalKMeans, RobustMultiviewKMeans
from manyview.methods.base import aloud
from manyview.steps import STEP, Work, at_work, each, expect, in_words, is_heard, reach, seconds_left, step, still


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


def test_the_rest_takes_as_long_as_was_expected_at_the_pace_so_far(clock):
    work = Work("fitting", None, clock)
    work.expect({"first": 10.0, "second": 30.0})
    assert work.left() == pytest.approx(40)
    work.begin("first", 1)
    clock.now = 20.0  # twice as slow as expected
    work.end()
    work.begin("second", 2)
    assert work.left() == pytest.approx(60, rel=0.05)
    clock.now = 50.0
    work.tick(1)
    assert work.left() == pytest.approx(30, rel=0.01)  # by its own pace
    clock.now = 80.0
    work.tick(2)
    work.end()
    assert work.left() == 0


def test_a_step_that_says_nothing_and_takes_too_long_slows_down_what_comes_after_it(clock):
    work = Work("fitting", None, clock)
    work.expect({"first": 1.0, "second": 9.0})
    work.begin("first", 1)
    clock.now = 5.0
    assert work.left() == pytest.approx(45.5, rel=0.02)


def test_costs_can_be_corrected_until_a_step_is_over(clock):
    work = Work("fitting", None, clock)
    work.expect({"first": 1.0, "second": 1.0})
    work.begin("first", 1)
    clock.now = 1.0
    work.end()
    work.expect({"first": 50.0, "second": 3.0})
    assert work.left() == pytest.approx(3, rel=0.1)


def test_preparation_says_nothing_about_the_pace_of_the_parts(clock):
    work = Work("fitting", None, clock)
    work.expect({"map": 20.0, "after": 1.0})
    work.begin("map", 100)
    clock.now = 10.0
    work.tick(1)
    assert 15 < work.left() < 40  # not 99 times the ten seconds before the first part
    clock.now = 13.0
    work.tick(31)  # a tenth of a second each
    assert work.left() == pytest.approx(7.0, abs=2.0)
    clock.now = 13.5  # since then nothing was heard: that much less is left
    assert work.left() == pytest.approx(6.5, abs=2.0)
    clock.now = 40.0
    assert work.left() > 2.0  # overdue, and not done


def test_a_step_nobody_expected_goes_by_its_own_pace(clock):
    work = Work("fitting", None, clock)
    work.begin("starts", 10)
    clock.now = 4.0
    work.tick(4)
    assert work.left() == pytest.approx(6)


def test_reports_name_work_and_step_and_count_milliseconds(clock):
    told = []
    work = Work("fitting", lambda *news: told.append(news), clock)
    work.expect({"members": 2.0})
    work.begin("members", 4)
    clock.now = 1.0
    work.tick(2)
    assert told == [("fitting" + STEP + "members", 0, 2000), ("fitting" + STEP + "members", 1000, 2000)]


def test_a_silent_step_is_told_of_again_and_again():
    told, enough = [], threading.Event()

    def report(what, done, of):
        told.append(done)
        if len(told) >= 3:
            enough.set()

    with at_work("fitting", report), step("long"):
        assert enough.wait(20)
    assert told == sorted(told)


def test_a_report_may_stop_the_work():
    def stop(what, done, of):
        raise KeyboardInterrupt

    reached = []
    with pytest.raises(KeyboardInterrupt), at_work("fitting", stop), step("first"):
        reached.append(1)
    assert not reached


def test_nobody_need_listen():
    expect({"members": 1.0})
    reach("members", 0.5)
    with step("members", of=3) as tick:
        tick(1)
    assert list(each("starts", "abc", 3)) == ["a", "b", "c"] and not is_heard()


def test_a_step_ends_with_an_error_and_nobody_listens_any_more():
    with pytest.raises(ZeroDivisionError), at_work("fitting", None) as work, step("first"):
        1 / 0  # noqa: B018
    assert work.name == "" and not is_heard()


def test_what_is_far_below_reaches_only_the_step_it_means():
    with at_work("fitting", None) as work, step("views", of=10):
        reach("views", 0.4)
        assert work._done == 4
        reach("members", 0.9)
        assert work._done == 4


def test_times_in_words():
    assert [in_words(s) for s in (0.2, 7, 44, 200, 7200)] == ["5 s", "5 s", "45 s", "3 minutes", "2.0 hours"]
    assert seconds_left(10.0, 0, 5) is None and seconds_left(10.0, 2, 6) == 20 and seconds_left(10.0, 6, 5) == 0


def test_what_is_left_in_words():
    assert [still(s) for s in (0.0, 1.9, 2.0, 7.4)] == ["", "", "a few seconds left", "a few seconds left"]
    assert [still(s) for s in (7.5, 44, 200)] == ["about 10 s left", "about 45 s left", "about 3 minutes left"]


def test_consensus_tells_of_every_step_it_said_it_would_take():
    rng = np.random.default_rng(0)
    views = {"a": rng.normal(size=(500, 6)), "b": rng.normal(size=(500, 4))}
    told = []
    with at_work("fitting", lambda what, done, of: told.append(what)) as work:
        ConsensusClustering(4, n_jobs=1).fit(views)
    steps = [what.removeprefix("fitting" + STEP) for what in dict.fromkeys(told)]
    assert steps == list(work._costs) == list(work._over)
    assert {"members", "neighbours", "eigenvectors", "last step"} <= set(steps)


@pytest.mark.parametrize("model", [RobustMultiviewKMeans(3, n_init=4), HierarchicalKMeans(3, n_starts=4)])
def test_starts_are_parts_of_a_step(model):
    rng = np.random.default_rng(0)
    shares = []
    with at_work("fitting", None) as work:
        tick = work.tick
        work.tick = lambda done: shares.append(tick(done) or work._done / work.of)
        model.fit(rng.normal(size=(60, 3)))
    assert shares == [0.25, 0.5, 0.75, 1.0]


def test_verbose_says_step_and_time_left(capfd):
    with aloud("Long", 1):
        expect({"members": 600, "rest": 0.1})
        with step("members"):
            pass
        with step("rest"):
            pass
    assert capfd.readouterr().err.split(os.linesep) == [
        "  Long: members; 0.0 s so far, about 10 minutes left",
        "  Long: rest; 0.0 s so far",  # it is as good as done
        "",
    ]
    ConsensusClustering(3, n_jobs=1, verbose=1).fit(np.random.default_rng(0).normal(size=(80, 3)))
    assert "ConsensusClustering: members; " in capfd.readouterr().err
