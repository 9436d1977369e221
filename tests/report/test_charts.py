"""Charts of the papers' pages: where points lie, what is drawn, what is said to those who cannot see it."""

import re
from itertools import pairwise

import pytest

from manyview.report.charts import dot_chart, line_chart, matrix_chart, network_chart
from manyview.report.papers import _figures, _trace


def numbers(text, name):
    return [float(value) for value in re.findall(rf'{name}="([\d.]+)"', text)]


def line(name, points):
    return {"name": name, "points": points}


def test_points_lie_where_their_values_say():
    drawn = line_chart([line("a", [[0, 0.0, 0.0], [1, 1.0, 0.0], [2, 0.5, 0.0]])], "x", "y")
    x, y = numbers(drawn, "cx"), numbers(drawn, "cy")
    assert x[1] - x[0] == pytest.approx(x[2] - x[1], abs=0.2)
    assert y[2] == pytest.approx((y[0] + y[1]) / 2, abs=0.2) and y[1] < y[0]  # up is more
    assert "a from 0 at 0 to 0.5 at 2" in drawn


def test_a_logarithmic_axis_has_equal_steps_for_equal_ratios():
    drawn = line_chart([line("a", [[1, 1.0, 0.0], [10, 2.0, 0.0], [100, 3.0, 0.0]])], "x", "y", log=True)
    x = numbers(drawn, "cx")
    assert x[1] - x[0] == pytest.approx(x[2] - x[1], abs=0.2)


def test_a_band_only_where_runs_differ_and_a_legend_only_for_several():
    one = line_chart([line("a", [[0, 1.0, 0.0], [1, 2.0, 0.0]])], "x", "y")
    two = line_chart([line("<a>", [[0, 1.0, 0.1], [1, 2.0, 0.1]]), line("b", [[0, 1.0, 0.0], [1, 2.0, 0.0]])], "x", "y")
    assert "polygon" not in one and "legend" not in one
    assert two.count("<polygon") == 1 and "legend" in two and "&lt;a&gt;" in two and "<a>" not in two


def test_nothing_is_drawn_of_one_place_or_of_values_that_never_change_badly():
    assert line_chart([line("a", [[1, 1.0, 0.0]])], "x", "y") is None
    assert line_chart([], "x", "y") is None
    assert "nan" not in line_chart([line("a", [[1, 0.0, 0.0], [2, 0.0, 0.0]])], "x", "y")


def test_rings_only_where_the_data_are_the_same():
    rows = [
        {"name": name, "figures": {"ACC": {"mean": value, "deviation": 0.1, "published": 0.5}}}
        for name, value in (("one", 0.4), ("two", 0.8))
    ]
    assert dot_chart(rows, "ACC", beside=True).count('class="ring"') == 2
    assert "ring" not in dot_chart(rows, "ACC", beside=False)
    assert dot_chart(rows[:1], "ACC", beside=True) is None


def test_a_matrix_is_as_dark_as_its_shares():
    drawn = matrix_chart([[0.75, 0.25, 0.0], [0.0, 1.0, 0.0]], ["a", "b"], ["a", "b", "rest"])
    assert numbers(drawn, "fill-opacity") == [0.75, 0.25, 1.0]
    assert drawn.count("track") == 6 and ">.75<" in drawn and "0.875" in drawn


def test_a_network_names_its_tags():
    nodes = [{"name": "<cat>", "items": 4, "x": 0.0, "y": 0.0}, {"name": "dog", "items": 1, "x": 1.0, "y": 1.0}]
    drawn = network_chart({"nodes": nodes, "links": [[0, 1, 0.5]]})
    assert "&lt;cat&gt;" in drawn and drawn.count("<line") == 1 and numbers(drawn, "r")[0] > numbers(drawn, "r")[1]


def test_the_seventh_line_is_dashed():
    lines = [line(str(i), [[0, i, 0.0], [1, i, 0.0]]) for i in range(7)]
    drawn = line_chart(lines, "x", "y")
    assert drawn.count("line c0 dash") == 1 and drawn.count('"v0 dash"') == 1


@pytest.mark.parametrize(("lower", "left_out"), [(False, {0, 1}), (True, {12, 13})])
def test_of_many_curves_the_best_are_drawn(lower, left_out):
    group = [{"row": f"row {i}", "x": "%", "points": [[0, float(i), 0.0], [1, float(i), 0.0]]} for i in range(14)]
    drawn = str(_trace("NMI", group, lower))
    assert "the best 12 of 14" in drawn
    assert {int(number) for number in re.findall(r"row (\d+)", drawn)} == set(range(14)) - left_out


def test_numbers_below_the_points_do_not_run_into_each_other():
    drawn = line_chart([line("a", [[x, x / 2000, 0.0] for x in range(0, 2000, 20)])], "items", "y")
    texts = [(float(x), shown) for x, shown in re.findall(r'<text x="([\d.]+)" y="244"[^>]*>([^<]+)', drawn)]
    assert texts[0][1] == "0" and any("," in shown for _, shown in texts) and "e+" not in drawn
    for (left, one), (right, other) in pairwise(texts):
        assert right - left >= 4 * (len(one) + len(other)) - 0.2


def test_rows_that_count_something_else_do_not_compete():
    rows = [
        {"name": name, "runs": 1, "seconds": 1.0, "figures": {key: {"mean": v, "deviation": 0} for key, v in f.items()}}
        for name, f in (("precision", {"cats": 0.5, "overall": 0.5}), ("clusters of each class", {"cats": 7.0}))
    ]
    made = {"figures": ["cats", "overall"], "lower_is_better": [], "neutral": [], "same_data": False, "rows": rows}
    page = _figures(made)
    assert page.count('class="best"') == 2 and '<span class="best">0.500</span>' in page and "<span>7</span>" in page


def test_of_many_figures_the_deviation_stands_below():
    row = {"name": "ours", "runs": 3, "seconds": 1.0, "figures": {"a": {"mean": 12.25, "deviation": 0.5}}}
    made = {"figures": list("abcde"), "lower_is_better": [], "neutral": [], "same_data": False, "rows": [row]}
    few, many = _figures(made), _figures({**made, "figures": list("abcdef")})
    assert 'class="figures"' in few and 'class="figures many"' in many
    assert all('12.2<small class="spread"> ± 0.500</small>' in one for one in (few, many))  # counts have one digit
