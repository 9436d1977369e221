"""Propose the tags that items lack, in the owner's own words."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.metadata_routing import UNUSED

from ..blocks import workers
from ..data.checks import as_generator, check_number
from ..data.hierarchy import TagHierarchy
from ..data.parameters import RUNNING, Choice, Constraints, Either, Flag, Given, Number, check_parameters
from ..data.tags import TagTable, as_tag_table, match_key
from ..data.views import Views
from ..data.vocabulary import tags_in_vocabulary
from ..errors import ParameterError
from ..methods.base import MultiviewEstimator, say
from ..renamed import warn_renamed
from ..types import Ints, Singles
from .asked import Asked, asked_in_fit, asked_of_new
from .batch import Batch
from .families import check_hierarchy, settled
from .items import Items, fit_items, warn_silent_views
from .models import (
    OF_FOREST,
    answers_in_fit,
    answers_on_new,
    answers_to_learn_from,
    check_model,
)
from .probability import (
    check_decisions,
    completeness_from_answers,
    estimated_completeness,
    expected_scale,
    is_trusted,
    probability_true,
    share_asked_as_new,
    share_new,
    untouched_scale,
)
from .proposals import Picked, Proposals
from .reasons import Told
from .recipe import (
    COMBINED,
    RIDGES,
    OfEach,
    Recipe,
    doubtful_tags,
    fit_recipe,
    fit_without_copies,
    pack,
    source_names,
    unpack,
)
from .sources import prior_of
from .stacking import COLD, WARM, Judged

__all__ = ["TagCompleter"]


_ALONE = ("joint", "view_ridge", "neighbours", "naive_bayes", "cooccurrence", "frequency")
_METHODS = ("combined", *_ALONE, "cluster", *OF_FOREST)
_FEW_ITEMS = 100


class TagCompleter(MultiviewEstimator):
    """Propose the tags that items lack, each with a score, a probability and a reason.

    Absent means unknown. The default learns from all tags and all views at once: a ridge regression of every tag on
    all other tags and the views (joint), one on the views alone, the tags of similar items, naive Bayes on the item's
    tags, plain frequency and, of sparse views, a ridge on their columns as they are. Each leaves the item itself out;
    how far to trust each, and how often a score was right, is learned by leaving out every known tag in turn. No
    labels, no tuning; items may lack tags, views or both.

    Parameters
    ----------
    model : None, a fitted TagForest or any fitted clusterer, default=None
        Who is asked: by "cluster" the labels of a clusterer or forest (the paper's GC), by "neighbourhood", "affinity"
        and "leaf_frequency" a forest. With "combined" its opinion joins the others as one more source.
    method : str, default="combined"
        "combined" as above, or one of its sources alone: "joint", "view_ridge", "neighbours", "naive_bayes",
        "frequency"; "cooccurrence" for the sum over the item's tags of how often the tag goes with each; "cluster",
        "neighbourhood", "affinity" and "leaf_frequency" ask the model.
    completeness : None or float in (0, 1], default=None
        The share of their true tags that items with tags have on record, if you know it. It scales the probabilities
        of further tags for such items, and of tags for items without any, and never changes an order. None estimates
        it, which is right only where some missing tags are certain: until ``learn_completeness`` has seen answers,
        trust the order, not the number.
    n_landmarks : int, default=1000
        Items that stand for all in the kernel of each view. Fewer are faster and less exact.
    n_neighbors : int, default=30
        Similar items asked in each view.
    rare_words : bool, default=False
        Propose rare words more often: tags of an item are ranked by score over the root of how frequent each is. More
        different words are then proposed, and fewer of the first proposals are right.
    random_state : None, int or numpy Generator, default=0
    n_jobs : None or int
        Threads; None takes all cores. The result does not depend on it.
    verbose : int, default=0
        1 tells of progress, on stderr.

    Attributes
    ----------
    tag_names_ : list of str, the vocabulary: what columns of scores stand for
    tags_, refused_ : CSR (n_items, n_tags), what was known in ``fit``: yes and no
    sources_ : list of str, what the score is made of
    weights_ : ndarray (2, n_sources), the weight of each for items with tags (first row) and without (second)
    penalties_ : dict, the ridge penalties found for the tags and for each view; empty where no ridge is used
    completeness_ : float, the share of the tags of items with tags that is recorded; ``completeness_source_`` says
        whether it was "given", "estimated" or came from "decisions"
    untouched_share_ : float, the share of the items without tags taken to be not looked at yet
    asked_as_new_ : float, how far items without tags are promised what such items are: those that lost all their tags
        are too, as far as items with tags have one, until it is known how complete tags are
    untouched_scale_ : float, how many more are right on such items than known items have on record: one over
        ``completeness`` where that is given, and what answers on such items have taught
    n_unlike_ : float, about how many items without tags are something that no tagged item is; little is promised there
    n_distinct_ : int, how many tagged items speak for those without tags: fewer than there are where most have near
        copies (pictures of one moment), one of which then stands for the others
    item_ids_ : ndarray (n_items,)
    fitted_ : dict, all that was learned

    Notes
    -----
    With n items, m tags, V views of d columns, M = ``n_landmarks`` and D = min(m, 4000) + V M: O(n M (d + M + m)) for
    features and scores, twice O(D^3) and 10 to 20 times the same with at most 1,000 tags for the penalties, half of
    n^2 d for neighbours up to 50,000 items and O(n^1.5 d) beyond; what weights and probabilities are learned from does
    not grow with n. Memory is n x d single floats per dense view (its unit rows), about 2.5 D x D doubles, m x M
    doubles, features of at most 64 MB, which stay at hand and are not saved, and a block of rows per thread; items x
    tags is made only by ``tag_scores`` and ``tag_probabilities``, never by ``fit`` or ``propose`` (but a forest, where
    one is asked, answers for all items at once). Beyond 4,000 tags, the rarer ones are no inputs of the ridges and
    keep 200 coefficients each.

    Seconds of one core for ``fit`` and ``propose``, and memory beside one dense view of so many columns:

    .. kept: quality-completion_growth; *; {fit:.0f} s and {propose:.0f} s, {MB:.0f} MB

    - 10,000 items x 1,280, 500 tags: 5 s and 0 s, 242 MB
    - 100,000 items x 128, 500 tags: 17 s and 6 s, 229 MB
    - 10,000 items x 128, 20,000 tags: 27 s and 18 s, 699 MB

    Examples
    --------
    >>> from manyview import TagCompleter
    >>> tags = [["snow", "ski"], ["snow", "ski"], ["snow"], ["sea", "sand"], ["sea", "sand"], ["sea"]] * 5
    >>> completer = TagCompleter().fit(None, tags)
    >>> best = completer.propose(top=1)
    >>> [(p.item, p.tag) for p in best[:6] if p.item in (2, 5)]
    [(2, 'ski'), (5, 'sand')]
    """

    __metadata_request__fit: ClassVar[dict[str, str]] = {"tags": UNUSED}  # pipelines give it as y
    _constraints: ClassVar[Constraints] = {
        "model": Given("a fitted forest or clusterer"),
        "method": Choice(*_METHODS),
        "completeness": Either(Number(low=0, low_open=True, high=1), Choice(None)),
        "n_landmarks": Number(integer=True, low=1),
        "n_neighbors": Number(integer=True, low=1),
        "rare_words": Flag(),
        **RUNNING,
    }

    def __init__(
        self,
        model: Any = None,
        method: str = "combined",
        *,
        completeness: float | None = None,
        n_landmarks: int = 1000,
        n_neighbors: int = 30,
        rare_words: bool = False,
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.model = model
        self.method = method
        self.completeness = completeness
        self.n_landmarks = n_landmarks
        self.n_neighbors = n_neighbors
        self.rare_words = rare_words
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def __sklearn_clone__(self) -> TagCompleter:
        """A copy with the same settings; the model stays the fitted one, which is what makes it of use."""
        return type(self)(**self.get_params(deep=False))

    def fit(self, X: Any, tags: Any) -> TagCompleter:
        """Learn from the views and the tags of a collection.

        ``X``: a ``Views``, a list or dict of matrices, one 2-D array, or None where there are only tags. ``tags``: a
        ``TagTable``, a 0/1 matrix, or a list of words per item.
        """
        self._check_parameters()
        views, table = self._fit_data(X, tags)
        names = source_names(self.method, self.model)
        if self.model is not None:
            check_model(self.model, names[-1], table)
        rng = as_generator(self.random_state)
        tell: Callable[[str], None] = say if self.verbose else _quietly
        with workers(self.n_jobs) as threads:
            needs_views = bool(RIDGES.union({"neighbours"}).intersection(names))
            n_landmarks = int(self.n_landmarks) if RIDGES.intersection(names) else 0
            has_tags = np.diff(table.yes.indptr) > 0
            items = fit_items(
                views if needs_views else None,
                table.n_items,
                n_landmarks,
                int(self.n_neighbors),
                rng,
                threads,
                tell,
                has_tags,
            )
            warn_silent_views(items)
            if self.method == "combined" and any(items.word_widths):
                names = (*COMBINED, "words", *names[len(COMBINED) :])
            extras = answers_to_learn_from(self.model, names[-1], X, table, rng)
            given = (names, items, table.yes, extras, rng, threads, tell)
            recipe, judged = fit_recipe(*given)
            of_each, once = fit_without_copies(*given) or (None, judged)
            self._keep(table, items, recipe, of_each)
            self._set_completeness(recipe if of_each is None else of_each.recipe, once)
        return self

    def tag_scores(self, X: Any = None, tags: Any = None) -> Singles:
        """The score of every tag for every item, ``n_items x n_tags``; columns as ``tag_names_``. Higher is likelier.

        For the items of ``fit`` when ``X`` and ``tags`` are None, each item itself left out. New items are described by
        their views, their tags, or both; words that ``fit`` did not know are left aside. Scores rank the tags of an
        item; to compare items, take ``tag_probabilities``. Where a tag is known, the score is what the rest says of it.
        """
        asked = self._asked(X, tags)
        scores = np.empty((asked.n_asked, asked.n_tags), dtype=np.float32)
        with workers(self.n_jobs) as threads:
            for rows, _, part in asked.blocks(threads):
                scores[rows] = part / asked.divisor
        return scores

    def tag_probabilities(self, X: Any = None, tags: Any = None) -> Singles:
        """How likely each tag holds where it is not known, ``n_items x n_tags``; arguments as in ``tag_scores``."""
        asked = self._asked(X, tags)
        found = np.empty((asked.n_asked, asked.n_tags), dtype=np.float32)
        with workers(self.n_jobs) as threads:
            for rows, batch, scores in asked.blocks(threads):
                record = asked.record(batch, np.arange(len(scores))[:, None], scores)
                found[rows] = self._probability(record, self._new_share(batch)[:, None])
        return found

    def propose(
        self,
        top: int = 5,
        X: Any = None,
        tags: Any = None,
        min_probability: float | None = None,
        *,
        without: Iterable[str] = (),
        hierarchy: TagHierarchy | None = None,
        min_score: float | None = None,
    ) -> Proposals:
        """The best tags that each item does not carry, with score, probability and reason.

        At most ``top`` per item, each at least as likely as ``min_probability`` (0 to 1). Never a tag the item has, one
        that was answered with no, one of ``without``, or one that no item of ``fit`` carries. ``X`` and ``tags`` as in
        ``tag_scores``. With a ``hierarchy`` never a tag and one above it: the more general one where those below it
        disagree, else the more special one.

        Works through blocks of items; only what is proposed is kept. ``min_score``, a line through the raw scores, goes
        with the next release.
        """
        check_number("top", top, integer=True, low=1)
        check_hierarchy(hierarchy)
        likely = 0.0 if min_probability is None else check_number("min_probability", min_probability, low=0, high=1)
        least = -np.inf
        if min_score is not None:
            warn_renamed("min_score, a raw score,", "min_probability, from 0 to 1,")
            least = check_number("min_score", min_score)
        asked = self._asked(X, tags)
        never = np.asarray(self.tags_.sum(axis=0)).ravel() == 0
        if isinstance(without, str):
            raise ParameterError(f"without must be a list of words; got {without!r}. Write without=[{without!r}].")
        unwanted = set(map(match_key, without))
        never |= np.array([match_key(name) in unwanted for name in self.tag_names_], dtype=bool)
        parts: list[Any] = [(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.float32), *np.zeros((2, 0)))]
        carried = []
        with workers(self.n_jobs) as threads:
            for batch, row, item, column, score in asked.best(int(top), least, never, threads):
                carried += [] if hierarchy is None else [batch.tags]
                record = asked.record(batch, row, score)
                parts.append((item, column, score, record, self._new_share(batch)[row]))
        items, columns, scores, records, new = (np.concatenate(part) for part in zip(*parts, strict=True))
        del parts  # of a million items 180 MB
        scores /= asked.divisor[columns]
        picked = Picked(items, columns, scores, records, new, self._probability(records, new))
        if hierarchy is not None and carried:
            picked = settled(picked, hierarchy, never, carried, asked, self.tag_names_)
        picked = picked.only(picked.probabilities >= likely)
        return self._proposals(asked, picked, is_trusted(picked.new, self.completeness_source_))

    def doubtful(self, top: int = 100) -> Proposals:
        """Known tags that may not belong where they are, the most doubtful first, each with what speaks for it.

        A tag is judged as if it had been hidden. ``probability`` is how likely it belongs, were one tag in twenty on a
        wrong item: an order, and no promise. At most ``top``; tags on a single item are left out.
        """
        check_number("top", top, integer=True, low=1)
        asked = self._asked(None, None)
        tagged = np.flatnonzero(np.diff(self.tags_.indptr)).astype(np.int64)
        counts = np.asarray(self.tags_.sum(axis=0), dtype=np.float64).ravel()
        with workers(self.n_jobs) as threads:
            batches = [lambda part=part: asked.make(part)[0] for part in asked.parts(tagged)]
            rows, columns, scores, records, doubt = doubtful_tags(asked.recipe, batches, counts, tagged.size, threads)
        first = np.lexsort((columns, rows, -doubt))[: int(top)]
        first = first[doubt[first] > 0]
        picked = Picked(rows, columns, scores, records, np.zeros(rows.size), 1.0 - doubt).only(first)
        return self._proposals(asked, picked, np.zeros(first.size, dtype=bool))

    def _proposals(self, asked: Asked, picked: Picked, trusted: NDArray[np.bool_]) -> Proposals:
        known, names = self.tags_, self.tag_names_

        def explain(rows: Ints, chosen: Ints) -> Told:
            return asked.explain(rows, chosen, known, names)

        return Proposals(picked, trusted, names, asked.ids, explain, self.item_ids_)

    def learn_completeness(self, proposals: Proposals, accepted: Any) -> float:
        """Learn from decisions how complete the record is: ``accepted`` holds yes or no for each of ``proposals``.

        Answers on items with tags set ``completeness_``, which is given back, where they tell it to a tenth; thirty on
        likely proposals do. Answers on items without tags set ``untouched_scale_``. Decisions on fewer than 30
        proposals are too few, and an error.
        """
        if not isinstance(proposals, Proposals):
            raise ParameterError(
                f"proposals must be what propose() gave, or proposals.only(...) of it; got {type(proposals).__name__}."
            )
        answers = check_decisions(accepted, len(proposals))
        untouched = proposals.new >= 0.5
        if untouched.any():
            before = expected_scale(self.completeness)
            self.untouched_scale_ = untouched_scale(proposals.records[untouched], answers[untouched], before)
        learned = completeness_from_answers(proposals.records[~untouched], answers[~untouched])
        if learned is not None:
            self.completeness_, self.completeness_source_ = learned, "decisions"
            self._set_untouched(learned)
        return self.completeness_

    # -- the way in

    def _check_parameters(self) -> None:
        check_parameters(self)
        if self.model is None and self.method in ("cluster", *OF_FOREST):
            raise ParameterError(f"method {self.method!r} needs a fitted model: TagCompleter(model=...).")
        if self.model is not None and self.method in _ALONE:
            raise ParameterError(f"method {self.method!r} uses no model; leave model out, or choose another method.")

    def _fit_data(self, X: Any, tags: Any) -> tuple[Views | None, TagTable]:
        views = None
        if X is None:
            self.view_names_, self.n_features_per_view_, self.n_features_in_ = (), {}, 0
        else:
            views = self._fit_views(X)
        table = as_tag_table(tags, None if views is None else views.n_items)
        if not table.yes.nnz:
            raise ParameterError("no item carries any tag, so there is nothing to learn from. Tag a few items first.")
        ids = np.arange(table.n_items) if views is None else views.ids
        self.item_ids_ = ids.astype(str) if ids.dtype.hasobject else ids
        return views, table

    def _keep(self, table: TagTable, items: Items, recipe: Recipe, of_each: OfEach | None) -> None:
        self.tag_names_, self.tags_, self.refused_ = list(table.names), table.yes, table.no
        self.sources_, self.weights_ = list(recipe.sources), recipe.weights
        self.penalties_ = {} if recipe.penalties is None else pack(recipe.penalties)
        self.penalties_.pop("kind", None)
        # Neighbours look the tags up in tags_; they are not kept twice.
        self.fitted_ = {"items": pack(items.forgetting()), "recipe": pack(recipe.with_neighbours_tags(None))}
        self.n_distinct_, like = int(np.count_nonzero(items.searched)), items.like
        if of_each is not None:
            self.fitted_["of_each"] = pack(of_each)
            self.weights_ = np.stack([recipe.weights[WARM], of_each.recipe.weights[COLD]])
            self.n_distinct_ = int(np.count_nonzero(of_each.searched))
            like = of_each.on(items, None)[0].like
        self._at_hand = items  # with the features of few items; not saved
        self.n_unlike_ = float(np.sum(1.0 - like[~items.searched]))

    def _set_completeness(self, recipe: Recipe, judged: Judged) -> None:
        self._set_untouched(self.completeness)
        self.untouched_scale_ = expected_scale(self.completeness)
        if self.completeness is not None:
            self.completeness_, self.completeness_source_ = float(self.completeness), "given"
            return
        surest = judged.surest
        self.completeness_ = estimated_completeness(recipe.record(surest, np.zeros(surest.size, dtype=bool)))
        self.completeness_source_ = "estimated"

    def _set_untouched(self, completeness: float | None) -> None:
        n_tags = np.diff(self.tags_.indptr)
        self.untouched_share_ = self.asked_as_new_ = share_new(n_tags, completeness)
        if completeness is None:
            self.asked_as_new_ = share_asked_as_new(n_tags, self.untouched_share_)

    # -- what was learned, and who is asked about

    def _items(self) -> Items:
        at_hand: Items | None = getattr(self, "_at_hand", None)
        return unpack(self.fitted_["items"]) if at_hand is None else at_hand

    def _recipe(self) -> Recipe:
        return unpack(self.fitted_["recipe"]).with_neighbours_tags(self.tags_)

    def _asked(self, X: Any, tags: Any) -> Asked:
        """The items of ``fit`` where neither views nor tags are given, new ones otherwise."""
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(self, "fitted_")
        items, recipe, source = self._items(), self._recipe(), self.sources_[-1]
        counts = np.asarray(self.tags_.sum(axis=0)).ravel()
        prior = prior_of(counts, items.n_items) if self.rare_words else np.ones(counts.size)
        divisor = np.sqrt(prior).astype(np.float32)
        of_each: OfEach | None = unpack(self.fitted_.get("of_each"))
        cold = None if of_each is None else of_each.on(items, self.tags_)
        if X is None and tags is None:
            answers = answers_in_fit(self.model, source)
            return asked_in_fit((items, recipe), divisor, self.item_ids_, self.tags_, self.refused_, answers, cold)
        views = self._new_views(X) if X is not None else None
        table = tags_in_vocabulary(tags, self.tag_names_, None if views is None else views.n_items)
        return asked_of_new((items, recipe), divisor, views, table, answers_on_new(self.model, source, views), cold)

    # -- probabilities

    def _new_share(self, batch: Batch) -> NDArray[np.float64]:
        """How far each item is asked about as one that nobody has looked at yet."""
        # models of earlier editions know only how many are such
        share = 1.0 if batch.rows is None else getattr(self, "asked_as_new_", self.untouched_share_)
        return np.where(batch.is_cold, share, 0.0)

    def _probability(self, record: NDArray[Any], new: NDArray[Any]) -> NDArray[np.float64]:
        found = probability_true(record, new, self.completeness_, self.untouched_scale_)
        tagged = int((np.diff(self.tags_.indptr) > 0).sum())
        # From few items probabilities are rough, and should look it.
        return np.round(found * 20.0) / 20.0 if tagged < _FEW_ITEMS else found


def _quietly(text: str) -> None:
    """Say nothing."""
