"""Everything the description allows, and much that it does not, gets an answer that is no 500; reads see one state."""

import json
import os
import threading

import httpx2
import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis.core import NotSet

from manyview import Collection
from manyview.web.app import build_app
from manyview.web.security import HEADERS

from .made import OURS

EXAMPLES = int(os.environ.get("MANYVIEW_SCHEMA_EXAMPLES", "4"))
READS = int(os.environ.get("MANYVIEW_READS", "1000"))

schema = schemathesis.openapi.from_dict(build_app().openapi())


@pytest.fixture(scope="module")
def shared(template, tmp_path_factory):
    import shutil

    from .conftest import _serve

    yield from _serve(shutil.copytree(template, tmp_path_factory.mktemp("abuse") / "small.manyview"))


@pytest.mark.slow
@schema.parametrize()
@settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.filter_too_much],
)
def test_whatever_is_sent_no_500(case, shared):
    if case.path == "/api/jobs":
        return  # those start processes; tests/web/test_jobs.py has them
    try:
        answer = shared.request(
            case.method,
            case.formatted_path,
            params=case.query or None,
            headers={
                **OURS,
                "Content-Type": "application/json",
                **{k: str(v) for k, v in (case.headers or {}).items() if k.lower() == "range"},
            },
            content=_content(case.body),
        )
    except httpx2.InvalidURL:  # longer than this client sends
        return
    assert answer.status_code < 500, (case.method, case.formatted_path, answer.text[:300])
    assert all(name in answer.headers for name in HEADERS)
    if answer.status_code >= 400:
        assert "error" in answer.json()


def _content(body):
    if isinstance(body, NotSet):
        return None
    return body if isinstance(body, bytes) else json.dumps(body, default=repr).encode()


def test_reads_while_an_update_runs(client, collection):
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
        for n in range(READS // 10 if READS <= 1000 else READS):
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
    assert not failed and counts[0] > 3


@pytest.mark.slow
def test_a_thousand_reads_while_an_update_runs(client, collection, monkeypatch):
    monkeypatch.setitem(globals(), "READS", max(READS, 1001))
    test_reads_while_an_update_runs(client, collection)
