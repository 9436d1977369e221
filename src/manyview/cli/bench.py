"""``manyview bench``: quick figures on the data that ships, next to plain k-means."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from .talk import print_json, print_table, say, spoken


@spoken
def bench(
    seed: Annotated[int, typer.Option(min=0, metavar="N", help="The same seed gives the same figures.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Quality and speed of the methods on the bundled handwritten numerals, beside plain k-means.

    The papers' tables are `manyview papers`; timings beside other packages need a source checkout: `make bench`.
    """
    import time

    from .. import datasets, metrics
    from ..methods.consensus.consensus import ConsensusClustering
    from ..methods.kmeans.baselines import ConcatenatedKMeans
    from ..methods.kmeans.robust_kmeans import RobustMultiviewKMeans

    data = datasets.load_handwritten()
    methods: dict[str, Any] = {
        "k-means on prepared views": ConcatenatedKMeans(10, random_state=seed),
        "rmkmc": RobustMultiviewKMeans(10, random_state=seed),
        "consensus": ConsensusClustering(10, random_state=seed),
    }
    rows = []
    for name, method in methods.items():
        started = time.perf_counter()
        labels = method.fit(data.views).labels_
        seconds = time.perf_counter() - started
        accuracy, nmi = metrics.clustering_accuracy(data.y, labels), metrics.normalized_mutual_info(data.y, labels)
        rows.append({"method": name, "accuracy": accuracy, "nmi": nmi, "seconds": seconds})
    if as_json:
        print_json({"collection": "handwritten numerals", "rows": rows})
        return
    say("handwritten numerals, 2,000 items, six views, ten classes (the first run also compiles)")
    print_table(
        ("method", ">accuracy", ">NMI", ">seconds"),
        [(row["method"], f"{row['accuracy']:.3f}", f"{row['nmi']:.3f}", f"{row['seconds']:.1f}") for row in rows],
    )
