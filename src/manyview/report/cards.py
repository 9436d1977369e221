"""The parts of a page: its front, a card per cluster, bars."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..describe.profiles import BorderlineItem, ClusterProfile, ClusterProfiles
from ..describe.tag_shares import TagShare
from .markup import Markup, clipped, joined, tag

__all__ = ["Cards", "front"]

_N_COLOURS = 6
_NAME = 80  # characters of a name that are shown
_NOTES = 1500  # what a fit says of itself is whole
_TAGS = 8
_ABSENT = 6


@dataclass(frozen=True)
class Cards:
    """What all cards of a page draw from."""

    profiles: ClusterProfiles
    pictures: Mapping[int, Markup]
    captions: Sequence[str] | None
    n_pictures: int
    anchor: str

    def card(self, one: ClusterProfile) -> Markup:
        """Everything about one cluster."""
        return tag(
            "section",
            tag("h2", _word(one.name.name)),
            self._facts(one),
            self._pictures(one),
            tag(
                "div",
                self._tags(one),
                tag("div", _views(one), _absent(one), self._nearest(one), class_="aside"),
                class_="columns",
            ),
            self._borderline(one),
            class_="cluster",
            id=self._id(one.label),
        )

    def link(self, label: int) -> Markup:
        """A cluster's name, leading to its card."""
        return tag("a", _word(self.profiles[label].name.name), href=f"#{self._id(label)}")

    def outside(self) -> Markup | None:
        """Items in no cluster."""
        rows = self.profiles.outside
        if not rows:
            return None
        listed = [_word(self.profiles.item_name(item)) for item in rows[:30]]
        more = f" and {_number(len(rows) - 30)} more" if len(rows) > 30 else ""
        verb = "belongs" if len(rows) == 1 else "belong"
        return tag(
            "section",
            tag("h2", "In no cluster"),
            tag("p", f"{_counted(len(rows))} {verb} to no cluster: ", joined(listed, ", "), more, "."),
            class_="cluster",
        )

    def _id(self, label: int) -> str:
        return f"{self.anchor}-{int(label)}"

    def _facts(self, one: ClusterProfile) -> Markup:
        share = 100 * one.size / max(1, self.profiles.n_items)
        facts = [tag("span", f"{_counted(one.size)} · {_percent(share / 100)} of all")]
        if one.n_tagged:
            facts.append(tag("span", f"{_percent(one.n_tagged / one.size)} tagged"))
        if one.cohesion is not None:
            facts.append(tag("span", "cohesion ", _meter(one.cohesion), f" {one.cohesion:.2f}", class_="cohesion"))
        return tag("p", *facts, class_="facts")

    def _tile(self, item: int, note: Any = None) -> Markup:
        name = clipped(self.profiles.item_name(item), _NAME)
        said = name
        if self.captions is not None and str(self.captions[item]).strip():
            said = clipped(self.captions[item], 2 * _NAME)
        if item in self.pictures:
            shown = tag("img", src=self.pictures[item], alt=name, title=name, width=96, height=96, loading="lazy")
        else:
            shown = tag("span", tag("bdi", said), class_="words", title=name)
        return tag("li", shown, note)

    def _pictures(self, one: ClusterProfile) -> Markup | None:
        items = one.exemplars[: self.n_pictures]
        return tag("ul", *[self._tile(item) for item in items], class_=f"tiles{self._wide(items)}") if items else None

    def _borderline(self, one: ClusterProfile) -> Markup | None:
        items = one.borderline[: self.n_pictures // 2]
        if not items:
            return None
        tiles = [self._tile(other.item, self._towards(other)) for other in items]
        wide = self._wide([other.item for other in items])
        return tag("div", tag("h3", "Borderline"), tag("ul", *tiles, class_=f"tiles{wide or ' small'}"))

    def _wide(self, items: Sequence[int]) -> str:
        """Texts need more room than pictures."""
        return "" if any(item in self.pictures for item in items) else " wide"

    def _towards(self, other: BorderlineItem) -> Markup:
        words = f"how much closer to this cluster: {other.margin:.2f}"
        return tag("span", "→ ", self.link(other.other), class_="towards", title=words)

    def _tags(self, one: ClusterProfile) -> Markup | None:
        if self.profiles.tags is None:
            return None
        if not one.over:
            said = "No tag stands out." if one.n_tagged else "No tags are known here."
            return tag("div", tag("h3", "Tags"), tag("p", said, class_="quiet"))
        rows = [_tag_row(share) for share in one.over[:_TAGS]]
        return tag("div", tag("h3", "Tags"), tag("table", tag("tbody", *rows), class_="tags"))

    def _nearest(self, one: ClusterProfile) -> Markup | None:
        if not one.nearest:
            return None
        links = [self.link(near.label) for near in one.nearest[:3]]
        return tag("div", tag("h3", "Nearest clusters"), tag("p", joined(links, " · ")))


def front(cards: Cards, title: str, settings: Mapping[str, Any]) -> Markup:
    """The head of the page: counts, the say of each view, the run, and a list of all clusters."""
    profiles = cards.profiles
    counts = (
        f"{_number(len(profiles))} {'cluster' if len(profiles) == 1 else 'clusters'} · {_counted(profiles.n_items)}"
    )
    if profiles.outside:
        counts += f" · {_number(len(profiles.outside))} in no cluster"
    return tag(
        "header",
        tag("h1", _word(title)),
        tag("p", counts, class_="facts"),
        tag("div", _weights(profiles), _settings(settings), class_="columns"),
        _contents(cards),
    )


def _weights(profiles: ClusterProfiles) -> Markup | None:
    if not profiles.view_weights:
        return None
    rows = [
        tag(
            "tr",
            tag("th", _word(name), scope="row"),
            tag("td", _bar(weight, colour=v), class_="wide"),
            tag("td", _percent(weight), class_="figure"),
        )
        for v, (name, weight) in enumerate(profiles.view_weights.items())
    ]
    return tag("div", tag("h3", "View weights"), tag("table", tag("tbody", *rows), class_="tags"))


def _settings(settings: Mapping[str, Any]) -> Markup | None:
    if not settings:
        return None
    rows = [
        tag("div", tag("dt", _word(name)), tag("dd", tag("bdi", clipped(_said(value), _NOTES))))
        for name, value in settings.items()
    ]
    return tag("div", tag("h3", "Run"), tag("dl", *rows))


def _said(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_said(part)}" for key, part in value.items())
    if isinstance(value, (list, tuple)):
        return ", ".join(map(_said, value))
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _contents(cards: Cards) -> Markup | None:
    if len(cards.profiles) < 2:
        return None
    largest = max(one.size for one in cards.profiles)
    rows = [
        tag("li", cards.link(one.label), _bar(one.size / largest), tag("span", _number(one.size), class_="figure"))
        for one in cards.profiles
    ]
    return tag("nav", tag("h3", "Clusters"), tag("ul", *rows, class_="contents"), aria_label="Clusters")


def _tag_row(share: TagShare) -> Markup:
    told = f"{_percent(share.share)} here, {_percent(share.share_elsewhere)} elsewhere; {share.expected:.1f} expected"
    lift = f"{share.lift:.1f}" if share.lift < 10 else f"{share.lift:.0f}"
    return tag(
        "tr",
        tag("th", _word(share.tag), scope="row"),
        tag("td", _bar(share.share, mark=share.share_elsewhere, told=told), class_="wide"),
        tag("td", f"{_number(share.count)} of {_number(share.looked_at)}", class_="figure"),
        tag("td", f"{lift}\N{MULTIPLICATION SIGN}", class_="figure", title="times as often as in the whole collection"),
    )


def _absent(one: ClusterProfile) -> Markup | None:
    if not one.under:
        return None
    chips = [
        tag(
            "li",
            _word(share.tag),
            tag("span", f" {_number(share.count)} / {share.expected:.0f}", class_="figure"),
            title=f"on {share.count} members, {share.expected:.1f} expected",
        )
        for share in one.under[:_ABSENT]
    ]
    return tag("div", tag("h3", "Rarer than elsewhere (here / expected)"), tag("ul", *chips, class_="chips"))


def _views(one: ClusterProfile) -> Markup | None:
    if not any(view.contribution for view in one.views):
        return None
    at, bars, legend = 0.0, [], []
    for v, view in enumerate(one.views):
        width = 100 * view.contribution
        bars.append(tag("rect", class_=_colour(v), x=f"{at:.2f}", y=0, width=f"{width:.2f}", height=8))
        at += width
        cohesion = "" if view.cohesion is None else f", cohesion {view.cohesion:.2f}"
        key = tag("i", class_=_colour(v))
        legend.append(tag("li", key, _word(view.view), f" {_percent(view.contribution)}{cohesion}"))
    svg = tag("svg", *bars, class_="bar", viewBox="0 0 100 8", preserveAspectRatio="none", aria_hidden="true")
    return tag("div", tag("h3", "What sets it apart"), svg, tag("ul", *legend, class_="legend"))


def _bar(share: float, *, mark: float | None = None, told: str | None = None, colour: int = 0) -> Markup:
    """A share of 1 as a bar, with a mark where something else stands."""
    parts = [
        tag("title", told) if told else None,
        tag("rect", class_="track", width=100, height=8),
        tag("rect", class_=_colour(colour), width=f"{100 * min(1.0, max(0.0, share)):.2f}", height=8),
    ]
    if mark is not None and mark >= 0.005:
        parts.append(tag("rect", class_="mark", x=f"{min(99.0, 100 * mark):.2f}", width=1, height=8))
    shown = {"role": "img", "aria_label": told} if told else {"aria_hidden": "true"}
    return tag("svg", *parts, class_="bar", viewBox="0 0 100 8", preserveAspectRatio="none", **shown)


def _meter(value: float) -> Markup:
    return tag("span", _bar(value), class_="meter")


def _colour(view: int) -> str:
    return f"v{view % _N_COLOURS}"


def _word(text: Any) -> Markup:
    """A stranger's word, isolated so that its direction does not turn the line around it."""
    return tag("bdi", clipped(text, _NAME))


def _number(value: int) -> str:
    return f"{value:,}"


def _counted(n_items: int) -> str:
    return "1 item" if n_items == 1 else f"{_number(n_items)} items"


def _percent(share: float) -> str:
    percent = 100 * share
    return f"{percent:.0f} %" if percent >= 1 or percent == 0 else "< 1 %" if percent < 0.95 else "1 %"
