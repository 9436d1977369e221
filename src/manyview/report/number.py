"""How the number of clusters was found, as a section of a report."""

from __future__ import annotations

import base64
from typing import Any

from .markup import Markup, tag

__all__ = ["number_section"]


def number_section(found: Any) -> Markup | None:
    """The reason and the curve behind it; None where the number was given or there was nothing to choose from."""
    if found is None or not len(found.score):
        return None
    svg = base64.b64encode(found.svg().encode()).decode()
    numbers = ", ".join(str(one) for one in (found.coarser, found.n_clusters, found.finer) if one is not None)
    said = f"The score over the number of clusters, with marks at {numbers}."
    image = tag("img", src=f"data:image/svg+xml;base64,{svg}", alt=said, class_="curve")
    reason = tag("p", found.reason, class_="facts")
    return tag("section", tag("h2", "How many clusters"), reason, image, class_="cluster")
