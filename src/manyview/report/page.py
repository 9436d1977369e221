"""Cluster profiles as one self-contained HTML page, and as a cell of a notebook."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from .._version import __version__
from ..data.checks import check_number
from ..describe.profiles import ClusterProfiles
from ..errors import ParameterError
from .cards import Cards, front
from .evaluation import evaluation_section
from .frame import save_page, style, whole_page
from .markup import Markup, joined, tag
from .number import number_section
from .pictures import data_addresses, picture_source

__all__ = ["ClusterReport", "write_report"]

PICTURE_BUDGET = 7_000_000
"""Characters of pictures in one page; beyond it items are shown by name."""


class ClusterReport:
    """The clusters of a run as one HTML page: pictures, tags, views, borderline items, settings.

    The page holds everything it shows. It has no script, asks for nothing from outside (a content security policy
    forbids it), follows the reader's light or dark setting, fits a phone and prints. In a notebook the object shows
    itself.

    Parameters
    ----------
    profiles : ClusterProfiles, from ``cluster_profiles``
    title : str
    thumbnails : function from item to picture, dict, or list with one per item
        A picture is the bytes of a PNG, JPEG, WebP or GIF file, a Pillow image or a uint8 array; None where an item has
        none. Larger ones are made small; bytes that are no such file are left out.
    captions : one text per item, shown where there is no picture
    settings : dict of what to say about the run: method, seed, time, ...
    evaluation : what ``Collection.runs.evaluation()`` gives: figures of ``manyview eval``, or None
    number : what ``suggest_n_clusters(X)`` gives: how the number of clusters was found, or None
    n_pictures : int, default=12
        Typical items shown per cluster, as far as the profiles list them; borderline items are half as many. Pictures
        together stay below 7 MB, so that a page of a hundred clusters stays below 10 MB; the first of each cluster come
        first.

    >>> import numpy as np
    >>> from manyview import cluster_profiles
    >>> report = ClusterReport(cluster_profiles(np.eye(4), [0, 0, 1, 1], [["dog"], ["dog"], ["<b>"], ["<b>"]]))
    >>> "&lt;b&gt;" in report.html(), "<b>" in report.html()
    (True, False)
    """

    def __init__(
        self,
        profiles: ClusterProfiles,
        *,
        title: str = "Clusters",
        thumbnails: Any = None,
        captions: Sequence[str] | None = None,
        settings: Mapping[str, Any] | None = None,
        evaluation: Mapping[str, Any] | None = None,
        number: Any = None,
        n_pictures: int = 12,
    ) -> None:
        if captions is not None and len(captions) != profiles.n_items:
            raise ParameterError(f"captions has {len(captions)} entries but there are {profiles.n_items} items.")
        self.profiles = profiles
        self.title = title
        self.captions = captions
        self.settings = dict(settings or {})
        self.evaluation = evaluation
        self.number = number
        self.n_pictures = int(check_number("n_pictures", n_pictures, integer=True, low=0))
        self._source = picture_source(thumbnails)

    @cached_property
    def _body(self) -> Markup:
        shown = {one.label: self._shown(one) for one in self.profiles}
        # first the best of every cluster, then the second best, so that a spent budget is spent evenly
        turns = max((len(items) for items in shown.values()), default=0)
        order = [items[turn] for turn in range(turns) for items in shown.values() if turn < len(items)]
        cards = Cards(
            profiles=self.profiles,
            pictures=data_addresses(order, self._source, PICTURE_BUDGET),
            captions=self.captions,
            n_pictures=self.n_pictures,
            anchor=self._anchor(),
        )
        return joined(
            [
                front(cards, self.title, self.settings),
                tag(
                    "main",
                    evaluation_section(self.evaluation),
                    number_section(self.number),
                    *[cards.card(one) for one in self.profiles],
                    cards.outside(),
                ),
                tag(
                    "footer",
                    f"Made by manyview {__version__}. This page is one file: it runs no script and asks nothing of the "
                    "network. Closeness is 1 at the centre of a cluster and 0 as far from it as items on average are "
                    "from the middle of the collection; cohesion is 1 where all members are equal and 0 where they are "
                    "no more alike than a member and an outsider.",
                ),
            ]
        )

    def _shown(self, one: Any) -> list[int]:
        borderline = [other.item for other in one.borderline[: self.n_pictures // 2]]
        return [*one.exemplars[: self.n_pictures], *borderline]

    def _anchor(self) -> str:
        """Links of two reports in one notebook must not meet."""
        told = repr((self.title, self.settings, [(one.label, one.name.name, one.size) for one in self.profiles]))
        return "mv" + hashlib.sha256(told.encode("utf-8", "replace")).hexdigest()[:8]

    def html(self) -> str:
        """The whole page."""
        return whole_page(self.title, self._body, _style())

    def _repr_html_(self) -> str:
        return tag("div", tag("style", _style()), self._body, class_="mvr")

    def save(self, path: str | os.PathLike[str], *, public: bool = False) -> Path:
        """Write the page to a file; the file holds the old page or the whole new one, never a part.

        Nobody else on the machine can read it, unless it is ``public``.
        """
        return save_page(path, self.html(), public=public)


def write_report(path: str | os.PathLike[str], profiles: ClusterProfiles, **options: Any) -> Path:
    """Write cluster profiles as one self-contained HTML file. Options are those of ``ClusterReport``."""
    return ClusterReport(profiles, **options).save(path)


def _style() -> Markup:
    return style("page.css")
