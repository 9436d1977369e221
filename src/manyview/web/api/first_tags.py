"""From nothing to tags: clusters that nobody has tagged, their words, and the yes to these."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import numpy as np
from fastapi import APIRouter, Query

from ...errors import ParameterError
from ...workflow.clusters.living import LiveCluster
from ...workflow.looks import VIEW, Looks, has_looks
from ...workflow.proposing.first_tags import ClusterTag, name_and_tag, tag_for_cluster
from ...workflow.reading.first_questions import first_questions
from ...workflow.reading.index import Index
from .. import models
from ..members import member_facts
from ..refusals import Absent
from .common import Here, Number, Word, done

router = APIRouter(prefix="/api", tags=["first tags"])

_SHOWN, _DOUBTFUL_SHOWN = 240, 120
"""Pictures of a question that a person can look at."""


@router.get("/first-tags")
async def list_first_questions(
    here: Here, limit: Annotated[int, Query(ge=1, le=1000)] = 200
) -> models.FirstQuestionsPage:
    """Clusters whose members have no tags, with the word each might get; clear ones first."""
    return await here.read(first_questions_page, limit)


@router.get("/clusters/{cluster}/tag")
async def ask_about_cluster(here: Here, cluster: Number, word: Word = None) -> models.TagQuestion:
    """Which members of a cluster a word, by default of its name, could be given to; doubtful ones apart."""
    return await here.read(tag_question, cluster, word)


@router.post("/clusters/{cluster}/tag")
async def tag_cluster(here: Here, cluster: Number, asked: models.NameAndTag) -> models.Done:
    """Give a cluster a name, members of it a tag, or both: one entry of the history."""
    return await done(here, await here.write(name_and_tag, cluster, name=asked.name, word=asked.tag, items=asked.items))


def first_questions_page(index: Index, limit: int = 200) -> models.FirstQuestionsPage:
    """The answer to ``/api/first-tags``."""
    found = first_questions(index, index.run())
    return models.FirstQuestionsPage(
        total=len(found), questions=[_question(one.cluster, one.word, one.hint) for one in found[:limit]]
    )


def _question(one: LiveCluster, word: str | None, hint: Sequence[str]) -> models.FirstQuestion:
    return models.FirstQuestion(
        cluster=one.id, name=one.name, is_guess=one.is_guess, size=one.size, word=word, hint=list(hint)
    )


def tag_question(index: Index, cluster: int, word: str | None = None) -> models.TagQuestion:
    """The answer to ``/api/clusters/{cluster}/tag``. Where nothing is clear and no word is given, all are ticked."""
    run = index.run()
    one = next((one for one in index.clusters(run) if one.id == cluster), None)
    if run is None or one is None:
        raise Absent(f"there is no cluster {cluster} in this run.")
    known = {asked.cluster.id: asked for asked in first_questions(index, run)}.get(cluster)
    named = one.is_named or one.is_guess or one.profile.get("name", {}).get("source") == "tags"
    try:
        asked = tag_for_cluster(index.collection, cluster, word or (None if named else one.name), looks=_looks(index))
    except ParameterError as error:
        raise Absent(str(error)) from error
    return _filled(index, one, asked, asked.word if word or named else None, known.hint if known else ())


def _filled(
    index: Index, one: LiveCluster, asked: ClusterTag, word: str | None, hint: Sequence[str]
) -> models.TagQuestion:
    shown, doubtful = asked.items[:_SHOWN], asked.doubtful[:_DOUBTFUL_SHOWN]
    facts = member_facts(index, [*shown, *doubtful])

    def candidates(items: Sequence[int]) -> list[models.Candidate]:
        return [models.Candidate(**facts[item], probability=asked.probability.get(item)) for item in items]

    return models.TagQuestion(
        **_question(one, word, hint).model_dump(),
        items=candidates(shown),
        doubtful=candidates(doubtful),
        unshown=list(asked.items[_SHOWN:]),
        n_doubtful=len(asked.doubtful),
    )


def _looks(index: Index) -> Looks | None:
    """What the pictures show, read once for a state of the items."""
    run = index.run()
    if run is None or not has_looks(index.collection):
        return None
    language = run.figures.get("language")

    def read() -> Looks:
        found = Looks(index.collection, language)
        np.shape(found.seen.rows)  # here and now: later the collection may be another one, or be closed
        return found

    return index.part("looks", "items", read, language, index.collection.segments.info(VIEW).version)
