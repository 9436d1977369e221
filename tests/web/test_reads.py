"""Reads while somebody writes: each sees one state."""

import os
import threading

import pytest

from manyview import Collection

READS = int(os.environ.get("MANYVIEW_READS", "1000"))


def test_reads_while_an_update_runs(client, collection, record_property, n_reads=100):
    """Every answer comes from one state, and none is an error."""
    stop, often, failed, n = threading.Event(), threading.Event(), [], 0

    def update():
        n = 0
        while not stop.is_set():
            with Collection.open(collection, write=True) as found, found.transaction():
                number = int(found.items.ids[n % 12])
                found.decide([(number, "extra")], n % 2 == 0)
                found.decide([(number, "twin")], n % 2 == 0)  # always the same answer for both
            n += 1
            if n > 3:
                often.set()

    writer = threading.Thread(target=update)
    writer.start()
    addresses = tuple(
        f"/api/{page}" for page in ("state", "clusters", "items?q=tag:extra", "facets", "items/3", "proposals")
    )
    try:
        while n < n_reads or (not often.is_set() and writer.is_alive()):
            address = addresses[n % len(addresses)]
            n += 1
            answer = client.get(address)
            if answer.status_code != 200:
                failed.append((address, answer.status_code, answer.text[:200]))
            elif "facets" in address:
                tags = {one["name"]: one["count"] for one in answer.json()["tags"]}
                if tags.get("extra") != tags.get("twin"):
                    failed.append(("torn", tags))
    finally:
        stop.set()
        writer.join()
    record_property("count", n)
    assert not failed and often.is_set()


@pytest.mark.slow
def test_many_reads_while_an_update_runs(client, collection, record_property):
    test_reads_while_an_update_runs(client, collection, record_property, READS)
