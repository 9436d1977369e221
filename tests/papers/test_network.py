"""A network of tags laid out: the strongest links, inside the square, the same every time."""

import numpy as np
from scipy.sparse import csr_matrix

from manyview.papers.network import drawn_network


def test_linked_tags_lie_near_and_lonely_ones_are_left_out():
    weights = np.zeros((7, 7))
    for first, second in ((0, 1), (1, 2), (0, 2), (3, 4), (4, 5), (3, 5)):
        weights[first, second] = weights[second, first] = 0.9
    names = [*"abcdef", "lonely"]
    found = drawn_network(csr_matrix(weights), names, np.arange(7, 0, -1))
    assert [node["name"] for node in found["nodes"]] == [*"abcdef"] and len(found["links"]) == 6
    places = np.array([[node["x"], node["y"]] for node in found["nodes"]])
    assert places.min() >= 0 and places.max() <= 1

    def apart(i, j):
        return np.linalg.norm(places[i] - places[j])

    inside = max(apart(0, 1), apart(1, 2), apart(3, 4), apart(4, 5))
    assert inside < min(apart(i, j) for i in (0, 1, 2) for j in (3, 4, 5))
    assert found == drawn_network(csr_matrix(weights), names, np.arange(7, 0, -1))


def test_no_links_no_picture():
    assert drawn_network(csr_matrix((3, 3)), ["a", "b", "c"], [3, 2, 1]) == {"nodes": [], "links": []}
