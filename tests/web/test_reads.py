"""Reads while somebody writes: each sees one state."""

import os
import threading

import pytest

from manyview import Collection

READS = int(os.environ.get("MANYVIEW_READS", "1000"))


def test_reads_while_an_update_runs(client, collection, record_property, n_reads=100):
    """Every answer comes from one state, and none is an error."""
    stop, failed, counts = threading.Event(), [], []

    def update():
        n = 0
        while not stop.is_set():
            with Collection.open(collection, write=True) as found, found.transaction():
                number = int(found.items.ids[n % 12])
                found.decide([(number, "extra")], n % 2 == 0)
                found.decide([(number, "twin")], n % 2 == 0)  # always the same answer for both
            n += 1
        counts.append(n)

    writer = threading.Thread(target=update)
    writer.start()
    addresses = tuple(
        f"/api/{page}" for page in ("state", "clusters", "items?q=tag:extra", "facets", "items/3", "proposals")
    )
    try:
        for n in range(n_reads):
            address = addresses[n % len(addresses)]
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
    record_property("count", n_reads)
    assert not failed and counts[0] > 3


@pytest.mark.slow
def test_many_reads_while_an_update_runs(client, collection, record_property):
    test_reads_while_an_update_runs(client, collection, record_property, READS)
