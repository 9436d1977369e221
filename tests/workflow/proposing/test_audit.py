"""The guaranteed batch on a collection: kept at once, gone on with later, accepted as one entry, undone."""

import shutil

import pytest

from manyview import Collection, errors
from manyview.completion.audit import CONFIDENCE
from manyview.workflow.proposing.audit import (
    accept_rest,
    answer_question,
    go_on,
    plan_audit,
    read_audit,
    start_audit,
    take_back,
)
from manyview.workflow.proposing.decide import accept, reject
from manyview.workflow.proposing.suggest import open_proposals, suggest_tags

from ..tagged import make_collection, truth


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    with make_collection(tmp_path_factory.mktemp("audit"), n_items=320) as collection:
        suggest_tags(collection, n_jobs=1, completeness=0.5)
    return collection.path


@pytest.fixture
def suggested(made, tmp_path):
    shutil.copytree(made, tmp_path / "items.manyview")
    with Collection.open(tmp_path / "items.manyview", write=True) as collection:
        yield collection


def right(question):
    return question.tag in truth(question.item_id)


def finish(collection, audit, rule=right):
    while audit.question is not None:
        audit = answer_question(collection, audit.id, audit.question, rule(audit.question), who="anna")
    return audit


def test_a_batch_is_asked_proved_accepted_and_undone(suggested):
    told = plan_audit(suggested, 0.8)
    assert told.n >= told.tags > 0 and 0 < told.answers <= told.n and told.reached > 0.5
    before = len(suggested.history)
    audit = start_audit(suggested, 0.8, who="anna")
    assert audit.now.n == told.n and audit.now.asked == 0 and audit.last is None
    audit = finish(suggested, audit)
    assert audit.now.verdict == "proved" and not audit.is_over
    entry = accept_rest(suggested, audit.id, who="anna")
    assert entry.detail["guarantee"] == {
        "share": 0.8,
        "of": audit.now.n,
        "confidence": CONFIDENCE,
        "asked": audit.now.asked,
        "right": audit.now.right,
        "attempt": audit.now.attempt + 1,
        "audit": audit.id,
    }
    assert entry.detail["pairs"] == audit.n_rest == audit.now.rest
    assert f"at least 80 % of {audit.now.n} are right, 95 % sure" in entry.summary
    assert len(suggested.history) == before + 1 + audit.now.asked + 1  # the beginning, each answer, the rest
    assert read_audit(suggested, audit.id).is_over and go_on(suggested) is None
    # what nobody looked at tells nothing about how complete the tags are
    assert len(suggested.decisions.reviewed()) == audit.now.asked
    open_now = len(open_proposals(suggested, reasons=False))
    suggested.undo()
    assert len(open_proposals(suggested, reasons=False)) == open_now + audit.n_rest
    again = go_on(suggested, 0.8)
    assert again is not None and again.now == audit.now  # the proof still stands
    with pytest.raises(errors.Conflict, match="changed nothing"):
        suggested.undo(audit.id)


def test_it_goes_on_where_it_was_and_answers_can_be_taken_back(suggested):
    audit = start_audit(suggested, 0.8)
    first = audit.question
    with pytest.raises(errors.Conflict, match="no answer to take back"):
        take_back(suggested, audit.id)
    audit = answer_question(suggested, audit.id, first, right(first))
    second = audit.question
    assert suggested.decisions.answer(first.item_id, first.tag) is right(first)
    path = suggested.path
    suggested.close()
    with Collection.open(path, write=True) as later:
        assert start_audit(later, 0.8) == audit  # and no second one
        back = take_back(later, audit.id)
        assert back.question == first and back.now.asked == 0
        # answered in the review meanwhile: not asked again, and counted when its turn comes
        accept(later, [(second.item_id, second.tag)])
        audit = answer_question(later, audit.id, first, True)
        assert audit.now.asked == 2 and audit.question not in (first, second)
        # the same answer sent twice stays one
        assert answer_question(later, audit.id, first, False).now == audit.now
        assert start_audit(later, 0.7).id != audit.id  # another question
        assert go_on(later, 0.8) is None  # only the newest is kept open


def test_wrong_proposals_end_it_and_nothing_is_accepted(suggested):
    audit = finish(suggested, start_audit(suggested, 0.8), lambda question: False)
    assert (audit.now.verdict, audit.n_rest, audit.is_over) == ("given up", 0, True)
    with pytest.raises(errors.ParameterError, match="is not an audit"):
        accept_rest(suggested, audit.id + 1)
    with pytest.raises(errors.Conflict, match="nothing to accept"):
        accept_rest(suggested, audit.id)
    assert go_on(suggested) is None
    assert start_audit(suggested, 0.8).id > audit.id


def test_new_proposals_end_it_and_a_tag_has_its_own(suggested):
    audit = start_audit(suggested, 0.8, tag="snow")
    assert audit.question.tag == "snow" and go_on(suggested, 0.8) is None and go_on(suggested, 0.8, tag="snow")
    reject(suggested, [(audit.question.item_id, "snow")])
    suggest_tags(suggested, n_jobs=1)
    assert go_on(suggested) is None


@pytest.mark.parametrize("share", [0.3, 1.0, "much"])
def test_shares_that_make_no_sense(suggested, share):
    with pytest.raises(errors.ParameterError, match="at_least must be a number"):
        plan_audit(suggested, share)


def test_nothing_is_likely_enough(tmp_path):
    with make_collection(tmp_path, n_items=80, recorded=0.3) as collection:
        suggest_tags(collection, n_jobs=1, completeness=0.99)
        with pytest.raises(errors.ParameterError, match="no proposals are likely enough to guarantee 99 %"):
            start_audit(collection, 0.99)
