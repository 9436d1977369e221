"""Everything the description allows, and much that it does not, gets an answer that the description knows."""

import copy
import json
import os
import shutil

import httpx2
import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis import GenerationMode

from manyview import Collection
from manyview.web import jobs as jobs_module
from manyview.web.openapi import description
from manyview.workflow.clusters import edits
from manyview.workflow.proposing.audit import answer_question, start_audit
from manyview.workflow.reading.map_layout import make_map

from .conftest import _serve
from .made import ORIGIN, OURS, N
from .test_security import PAGES, ROUTES, check_headers

EXAMPLES = int(os.environ.get("MANYVIEW_SCHEMA_EXAMPLES", "4"))
FEW = dict.fromkeys(("cluster", "clusters", "into", "first", "second", "run", "of", "entry", "job", "audit"), 2)
WORDS = {
    "tag": ["red", "blue", "sea"],
    "words": ["red", "blue"],
    "into": ["red", "green"],
    "q": ["", "tag:red", "-untagged", "confidence<0.5", "cluster:1 beach"],
    "text": ["", "red"],
    "Range": ["bytes=0-3", "bytes=-4", "bytes=5-", "bytes=9999-", "bytes=0-0,2-2", "lines=1"],
    "method": ["rmkmc", "\0"],
    "from": ["none", "1"],
    "to": ["none", "2"],
}


def near(found):
    """The same description with numbers and words that the collection has, so that requests find something."""

    def narrowed(name, node):
        if isinstance(node, list):
            return [narrowed(name, one) for one in node]
        if not isinstance(node, dict):
            return node
        if node.get("type") == "string" and name in WORDS and "enum" not in node:
            return {"type": "string", "enum": WORDS[name]}
        if "properties" in node:
            return {**node, "properties": {key: narrowed(key, one) for key, one in node["properties"].items()}}
        few = {"maximum": FEW.get(name, N)} if node.get("maximum") == 2**53 else {}
        return {key: narrowed(node.get("name", name), one) for key, one in node.items()} | few

    found = copy.deepcopy(found)
    for route in (route for path in found["paths"].values() for route in path.values()):
        route["parameters"] = narrowed("", route.get("parameters", []))
    models = found["components"]["schemas"]
    asked = {name: model for name, model in models.items() if model.get("additionalProperties") is False}
    models.update(narrowed("", asked))
    return found


def read(found, *, positive=False):
    schema = schemathesis.openapi.from_dict(found)
    # Methods that nothing here has are refused at the door, which does not know the routes.
    schema.config.checks.update(excluded_check_names=["allow_header_conformance"])
    # What has the right form can still make no sense: a cluster merged with itself, a part behind the end.
    accepted = schema.config.checks.positive_data_acceptance
    accepted.expected_statuses = [*accepted.expected_statuses, "400", "416"]
    if positive:
        schema.config.generation.update(modes=[GenerationMode.POSITIVE])
    return schema


anything = read(description())
# The run of this collection keeps no levels, and no picture repeats another; test_changes.py goes to the levels of one
# that has some, test_files.py marks the duplicates of one.
sensible = read(near(description()), positive=True)
sensible = sensible.exclude(path="/api/clusters/level").exclude(path="/api/duplicates/mark")
by_examples = settings(
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.filter_too_much],
)


@pytest.fixture(scope="module")
def whole(template, tmp_path_factory):
    """With a map, a batch that was proved, and something to undo."""
    path = shutil.copytree(template, tmp_path_factory.mktemp("described") / "small.manyview")
    with Collection.open(path, write=True) as collection:
        audit = start_audit(collection, 0.7)
        while audit.question is not None:
            audit = answer_question(collection, audit.id, audit.question, True)
        assert (audit.id, audit.now.verdict, audit.n_rest) == (2, "proved", 1)
        edits.pin(collection, 1, True)
        make_map(collection)
    return path


@pytest.fixture
def shared(whole, tmp_path, monkeypatch):
    """A gallery for all requests to one route. Its jobs start as they would, but with a command that does nothing."""
    real = jobs_module.command_of
    monkeypatch.setattr(jobs_module, "command_of", lambda *asked: ["true", *real(*asked)[1:]])
    for browser in _serve(shutil.copytree(whole, tmp_path / "small.manyview")):
        browser.answers = []
        assert browser.post("/api/jobs", json={"kind": "add"}, headers=OURS).status_code == 200
        yield browser
        jobs = browser.gallery.jobs
        assert jobs._thread.is_alive()  # whatever was asked for, the next job is not kept waiting


def send(case, browser):
    """The request of a case, from our own page; None where it is longer than this client sends."""
    sent = case.as_transport_kwargs(base_url=ORIGIN)
    headers = {name: str(value).encode("utf-8", "replace") for name, value in (sent["headers"] or {}).items()}
    if sent["method"] == "POST":
        headers.setdefault("Content-Type", b"application/json")
    body = json.dumps(_whole(sent["json"])).encode() if "json" in sent else sent.get("data")
    try:
        return browser.request(
            sent["method"],
            sent["url"],
            params=sent.get("params") or None,
            headers={**headers, **OURS},
            content=body if body is None or isinstance(body, bytes) else str(body).encode(),
        )
    except httpx2.InvalidURL:
        return None


def _whole(value):
    """JSON has one kind of number, and browsers write whole ones without a point."""
    if isinstance(value, dict):
        return {key: _whole(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_whole(one) for one in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def check(case, browser):
    answer = send(case, browser)
    if answer is None:
        return
    browser.answers.append(answer.status_code)
    check_headers(answer)
    if answer.request.method == "GET" and case.operation.method.upper() == "POST":
        assert answer.status_code in (404, 422)  # what a GET asks for is a page or a list, and here is none
    else:
        case.validate_response(answer)
    if answer.status_code >= 400 and answer.status_code != 416:
        assert set(answer.json()) == {"error", "hint"}


@pytest.mark.slow
def test_every_route_is_asked():
    described = {(operation.ok().method.upper(), operation.ok().path) for operation in anything.get_all_operations()}
    assert len(described) == len(set(ROUTES) - PAGES) >= 35


@pytest.mark.slow
@anything.parametrize()
@settings(by_examples, max_examples=EXAMPLES)
def test_whatever_is_sent_the_answer_is_described(case, shared):
    check(case, shared)


@pytest.fixture
def found(shared):
    yield shared
    assert any(status < 300 for status in shared.answers), sorted(set(shared.answers))


@pytest.mark.slow
@sensible.parametrize()
@settings(by_examples, max_examples=max(EXAMPLES, 8))
def test_what_makes_sense_finds_something(case, found):
    check(case, found)
