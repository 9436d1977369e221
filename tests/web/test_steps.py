"""Answers in a row: each is an entry of its own, taking one back is a step too, and sent twice they are as once."""

from .made import OURS


def steps(client, *asked):
    answer = client.post("/api/decisions/steps", json={"steps": list(asked)}, headers=OURS)
    assert answer.status_code == 200, answer.text
    return answer.json()["steps"]


def waiting(client):
    return [(one["item"], one["tag"]) for one in client.get("/api/proposals?limit=200").json()["proposals"]]


def yes(pair, answer=True):
    return {"pairs": [{"item": pair[0], "tag": pair[1]}], "answer": answer}


def test_each_step_is_an_entry_in_order(client):
    first, second, third, *rest = waiting(client)
    before = len(client.get("/api/history").json()["entries"])
    done = steps(client, yes(first), yes(second, False), yes(third))
    assert [one["error"] for one in done] == [None] * 3
    numbers = [one["entry"] for one in done]
    assert numbers == sorted(set(numbers))
    assert [one["done"][0]["answer"] for one in done] == [True, False, True]
    assert waiting(client) == rest
    assert len(client.get("/api/history").json()["entries"]) == before + 3


def test_the_same_steps_twice_are_one_entry_each(client):
    first, second, *rest = waiting(client)
    made = steps(client, yes(first), yes(second, False))
    again = steps(client, yes(first), yes(second, False))
    assert [one["entry"] for one in again] == [None, None]
    assert [one["already"][0]["entry"] for one in again] == [one["entry"] for one in made]
    assert waiting(client) == rest


def test_taking_back_by_entry_and_by_pair(client):
    first, second, *_ = before = waiting(client)
    made = steps(client, yes(first), yes(second))
    by_entry = {"answer": None, "entry": made[1]["entry"]}
    assert steps(client, by_entry)[0]["entry"] is not None and waiting(client) == before[1:]
    assert steps(client, by_entry)[0]["entry"] is None  # was done already
    assert steps(client, yes(first, None))[0]["entry"] is not None and waiting(client) == before
    assert steps(client, yes(first, None))[0]["entry"] is None
    assert steps(client, {"answer": None})[0]["entry"] is None


def test_a_row_with_a_way_back_inside_sent_twice(client):
    first, second, *rest = waiting(client)
    row = [yes(first), yes(first, None), yes(first, False), yes(second), yes(second, None)]
    for _ in range(3):
        assert [one["error"] for one in steps(client, *row)] == [None] * 5
        assert waiting(client) == [second, *rest]


def test_one_wrong_step_does_not_stop_the_others(client):
    first, second, *rest = waiting(client)
    done = steps(client, yes(first), yes((999_999, "red")), {"answer": None, "entry": 999_999}, yes(second))
    assert [one["error"] is None for one in done] == [True, False, False, True]
    assert waiting(client) == rest


def test_a_collection_has_an_identity(client, seen):
    mine, other = (one.get("/api/state").json()["collection"]["id"] for one in (client, seen))
    assert len(mine) == 32 and mine != other and mine == client.get("/api/state").json()["collection"]["id"]
