"""``python -m benchmarks.device [CASE ...] [-o FILE]``: what runs on a graphics processor, beside plain torch.

Needs a CUDA device, torch and Triton. Times are milliseconds an iteration; for the k-means family those of real fits,
from the beginning of one round to that of the next.
"""

from __future__ import annotations

import argparse
import importlib
import json
import time
import warnings
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import torch
from scipy.sparse import csr_matrix
from sklearn.base import clone

import manyview
from manyview import (
    PLSA,
    AcceleratedKMeans,
    CanonicalFusion,
    HierarchicalKMeans,
    RobustMultiviewKMeans,
    Views,
)
from manyview.blocks import workers
from manyview.data import nearest
from manyview.data.nearest import nearest_among
from manyview.engines.choice import working
from manyview.gpu import moments, topics
from manyview.methods.canonical._moments import Pass

from . import fits, plain
from .fits import made

RESULTS = Path(__file__).resolve().parents[1] / "results" / "device.json"


def clock(work: Callable[[], Any], repeats: int = 5) -> float:
    """Milliseconds, median, after one round that does not count."""
    work()
    torch.cuda.synchronize()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        torch.cuda.synchronize()
        times.append(1e3 * (time.perf_counter() - start))
    return sorted(times)[repeats // 2]


def per_iteration(form: str, fit: Callable[[], Any], task: str = "round_leaf") -> float:
    """Milliseconds from the beginning of a round to that of the next, median; the first few do not count."""
    module = importlib.import_module(form)
    real, starts = getattr(module, task), []

    def timed(*given: Any) -> Any:
        torch.cuda.synchronize()
        starts.append(time.perf_counter())
        return real(*given)

    setattr(module, task, timed)
    try:
        fit()
    finally:
        setattr(module, task, real)
    return 1e3 * float(np.median(np.diff(starts)[4:]))


def generator() -> Any:
    return torch.Generator(device="cuda").manual_seed(1)


def robust(n: int = 1_000_000, K: int = 50) -> dict[str, Any]:
    widths, g = (252, 512, 252, 512, 512, 512), generator()
    y = torch.randint(0, K, (n,), device="cuda", generator=g)

    def view(width: int) -> Any:
        means = torch.randn(K, width, device="cuda", generator=g)
        return (means[y] + 2 * torch.randn(n, width, device="cuda", generator=g)) * 0.25

    views = [view(width) for width in widths]
    centroids, lengths = [X[:K].clone() for X in views], [torch.ones(n, device="cuda") for _ in views]
    beside = clock(lambda: plain.robust_round(views, centroids, lengths, [1.0] * 6), 3)
    host = [X.cpu().numpy() for X in views]
    views.clear(), centroids.clear(), lengths.clear()
    torch.cuda.empty_cache()

    def fit() -> Any:
        with manyview.on("cuda"):
            settings = {"init": "partition", "n_init": 1, "tol": 0, "random_state": 0, "view_scale": None}
            return RobustMultiviewKMeans(K, max_iter=24, **settings).fit(host)

    return {"what": f"RobustMultiviewKMeans, {n:,} x {sum(widths):,} in six views, K {K}",
            "ms": per_iteration("manyview.methods.kmeans.device.robust", fit), "plain_torch_ms": beside}  # fmt: skip


def kmeans(K: int, n: int = 10_000_000, d: int = 128) -> dict[str, Any]:
    g = generator()
    means = torch.randn(2000, d, device="cuda", generator=g)
    X = torch.empty(n, d, device="cuda")
    for part in X.split(1_000_000):
        which = torch.randint(0, 2000, (part.shape[0],), device="cuda", generator=g)
        part[:] = means[which] + 0.7 * torch.randn(part.shape, device="cuda", generator=g)
    C = X[torch.randperm(n, device="cuda", generator=g)[:K]].clone()
    beside = clock(lambda: plain.kmeans_round(X, C), 3)
    host, start = X.cpu().numpy(), C.double().cpu().numpy()
    X.set_()  # lets go of the memory
    torch.cuda.empty_cache()

    def fit() -> Any:
        with manyview.on("cuda"):
            return AcceleratedKMeans(K, init=start, max_iter=14, tol=0).fit(host)

    return {
        "what": f"AcceleratedKMeans, {n:,} x {d}, K {K:,}",
        "ms": per_iteration("manyview.methods.kmeans.device.accelerated", fit),
        "plain_torch_ms": beside,
    }


def plsa(n: int = 10_000_000, per_row: int = 20, n_words: int = 5000, K: int = 64) -> dict[str, Any]:
    g = generator()
    indptr = torch.arange(0, n * per_row + 1, per_row, device="cuda")
    words = (n_words * torch.rand(n * per_row, device="cuda", generator=g) ** 3).int().clamp(max=n_words - 1)
    ones = torch.ones(n * per_row, device="cuda")
    weight = torch.ones(n, device="cuda", dtype=torch.float64)
    inverse = weight / per_row
    state = {"theta": torch.full((n, K), 1 / K, device="cuda")}
    state["counts"] = topics.make_counts(indptr, words, ones, inverse, weight, n_words)
    phi = torch.empty(n_words, K, device="cuda").exponential_(generator=g)
    state["phi"] = phi / phi.sum(0)

    def step() -> None:
        G, _ = topics.em_step(state["counts"], state["theta"], state["phi"], 1e-30, 1e-18, out=state["theta"])
        new = state["phi"] * G
        state["phi"] = (new / new.sum(0)).float()

    step_ms = clock(step, 5)
    state["words"] = words.reshape(n, per_row)
    beside = clock(lambda: plain.plsa_step(state["words"], 1 / per_row, state["theta"], state["phi"]), 2)
    parts = (ones.cpu().numpy(), words.cpu().numpy(), indptr.int().cpu().numpy())
    del words, ones, indptr
    state.clear()
    torch.cuda.empty_cache()
    table = csr_matrix(parts, shape=(n, n_words))
    table.sum_duplicates()

    def fit() -> Any:
        with manyview.on("cuda"):
            return PLSA(K, n_init=1, max_iter=14, tol=0, random_state=0).fit(table)

    return {"what": f"PLSA, {n:,} rows, {table.nnz:,} numbers, {n_words:,} words, K {K}",
            "ms": per_iteration("manyview.methods.topics.device", fit, "sweep_leaf"),
            "step_ms": step_ms, "plain_torch_ms": beside}  # fmt: skip


def cca(n: int = 269_648) -> dict[str, Any]:
    g = generator()
    looks = torch.randn(n, 4096, device="cuda", generator=g) @ (
        torch.randn(4096, 4096, device="cuda", generator=g) / 64
    )
    tags = torch.rand(n, 1000, device="cuda", generator=g)
    tags -= tags.mean(0)
    exact = sum(
        looks[i : i + 2**14, :512].double().T @ looks[i : i + 2**14, 512:1024].double() for i in range(0, n, 2**14)
    )
    found = moments.products([looks, tags])[0, 0][:512, 512:1024]
    host = Views([looks.cpu().numpy(), tags.cpu().numpy()])

    def whole() -> Any:
        with manyview.on("cuda"), working(None) as engine:
            over = Pass.over(host, engine)
            return over.covariances(over.reduced_sides(host, [0, 1], 6144, 512, np.random.default_rng(0)))

    return {
        "what": f"CCA, products of {n:,} x (4,096 + 1,000)",
        "ms": clock(lambda: moments.products([looks, tags]), 3),
        "from_memory_ms": clock(whole, 1),
        "plain_torch_ms": clock(lambda: (looks.T @ looks, looks.T @ tags, tags.T @ tags), 3),
        "relative_error": float((found - exact).norm() / exact.norm()),
    }


def neighbours(n: int = 1_000_000, n_among: int = 100_000, d: int = 128, k: int = 15) -> dict[str, Any]:
    """From memory to memory, and by threads for every fiftieth: how many differ, of ours and of plain torch."""
    g = generator()
    means = torch.randn(2000, d, device="cuda", generator=g)
    which = torch.randint(0, 2000, (n,), device="cuda", generator=g)
    X = means[which] + 0.7 * torch.randn(n, d, device="cuda", generator=g)
    among = X[torch.randperm(n, device="cuda", generator=g)[:n_among]].clone()
    beside = clock(lambda: plain.neighbours(X, among, k), 3)
    by_products = plain.neighbours(X, among, k).cpu().numpy()
    queries, rows = X.cpu().numpy(), among.cpu().numpy()
    X.set_()  # lets go of the memory
    torch.cuda.empty_cache()
    with workers(None) as threads:
        nearest_among(queries[:10], rows, k, threads)  # compiles
        start = time.perf_counter()
        expected = nearest_among(queries[::50], rows, k, threads)
        by_threads = 50e3 * (time.perf_counter() - start)
        again, real = [], nearest._by_distance

        def counted(points: Any, *of: Any) -> Any:
            again.append(len(points))
            return real(points, *of)

        nearest._by_distance = counted
        try:
            with manyview.on("cuda"):
                found = nearest_among(queries, rows, k, threads)
                n_again = sum(again)
                ms = clock(lambda: nearest_among(queries, rows, k, threads), 3)
        finally:
            nearest._by_distance = real
    differ = {"differ": found[::50], "plain_torch_differ": by_products[::50]}
    return {
        "what": f"the {k} neighbours of {n:,} x {d} among {n_among:,}",
        "ms": ms,
        "plain_torch_ms": beside,
        "threads_ms_reckoned": by_threads,
        "n_threads": threads.n_threads,
        "compared": expected.size,
        "looked_at_again": n_again,
        **{name: int((other != expected).sum()) for name, other in differ.items()},
    }


def identity(n: int = 50_000) -> dict[str, Any]:
    """Labels that differ between threads and the device."""
    models = {
        "robust": lambda: RobustMultiviewKMeans(50, n_init=1, max_iter=40, random_state=0, view_scale=None),
        "k-means": lambda: AcceleratedKMeans(200, max_iter=40, random_state=0, tol=0),
        "hierarchical": lambda: HierarchicalKMeans(50, n_starts=3, max_iter=40, random_state=0),
    }
    rows = []
    for kind in ("groups", "uniform", "grid"):
        for dtype in ("float32", "float64"):
            for missing in (0.0, 0.3):
                views = [view.astype(dtype) for view in made(kind, n)]
                if missing:
                    lot = np.random.default_rng(1).random(n)
                    views[0][lot < missing / 2], views[1][lot > 1 - missing / 2] = np.nan, np.nan
                for name, make in models.items():
                    labels = []
                    for where in ("threads", "cuda"):
                        with manyview.on(where):
                            labels.append(make().fit(views).labels_)
                    differ = int((labels[0] != labels[1]).sum())
                    rows.append({"data": kind, "type": dtype, "missing": missing, "model": name, "differ": differ})
                    print(
                        f"  {name}, {kind}, {dtype}, {missing:.0%} missing: {differ} of {n:,} labels differ", flush=True
                    )
    return {"what": f"labels that differ between threads and the device, of {n:,}", "rows": rows}


def agreement(n: int = 20_000) -> dict[str, Any]:
    """How far apart PLSA and CCA of threads and of the device are."""
    rows = []
    for kind in ("groups", "uniform", "grid"):
        for dtype in ("float32", "float64"):
            for missing in (0.0, 0.3):
                lot = np.random.default_rng(1).random(n)
                mask = np.column_stack([lot >= missing / 2, lot <= 1 - missing / 2])
                for form in ("dense", "sparse"):
                    case = f"{kind}, {dtype}, {missing:.0%} missing, {form}"
                    for model, views in (
                        (PLSA(20, n_init=1, max_iter=60, random_state=0), counted(kind, n)),
                        (
                            CanonicalFusion(8),
                            made(kind, n) if form == "dense" else [few(view) for view in made(kind, n)],
                        ),
                    ):
                        views = [view.astype(dtype) for view in views]
                        views = [csr_matrix(view) for view in views] if form == "sparse" else views
                        rows.append(compared(case, model, Views(views, mask=mask)))
    return {"what": f"largest differences between threads and the device, {n:,} items", "rows": rows}


def few(view: Any) -> Any:
    """The largest fortieth of a view."""
    return np.where(np.abs(view) > np.quantile(np.abs(view), 0.975), view, 0.0)


def counted(kind: str, n: int) -> list[Any]:
    """Two views of counts: twenty groups, no structure, or few different rows."""
    rng = np.random.default_rng(3)
    if kind == "uniform":
        return [rng.poisson(0.4, (n, 120)), rng.poisson(0.4, (n, 60))]
    topics = [rng.dirichlet(np.full(width, 0.05), 20) for width in (120, 60)]
    which = rng.integers(20, size=n)
    if kind == "grid":
        few = [np.round(20 * one).clip(0, 4) for one in topics]
        return [one[which] + (np.arange(one.shape[1]) == 0) for one in few]
    return [np.array([rng.multinomial(20, one[k]) for k in which]) for one in topics]


def compared(case: str, model: Any, views: Views) -> dict[str, Any]:
    """One model, fitted here and there: largest differences, those of log-likelihoods over the largest of them."""
    here, there = (_fitted(model, where, views) for where in ("threads", "cuda"))
    row = {"case": case, "model": type(model).__name__}
    for name in ("log_likelihood_", "topic_features_", "item_topics_", "correlations_"):
        if hasattr(here, name):
            one, other = getattr(here, name), getattr(there, name)
            by = np.abs(one).max() if name == "log_likelihood_" else 1.0
            row[name] = float(np.abs(one - other).max() / by) if one.shape == other.shape else None
    if isinstance(here, PLSA):
        row["labels"] = int((here.labels_ != there.labels_).sum())
    print("  " + ", ".join(f"{key} {value}" for key, value in row.items()), flush=True)
    return row


def _fitted(model: Any, where: str, views: Views) -> Any:
    with manyview.on(where):
        return clone(model).fit(views)


CASES: dict[str, Callable[[], dict[str, Any]]] = {
    "robust": robust,
    "kmeans-1000": lambda: kmeans(1_000),
    "kmeans-10000": lambda: kmeans(10_000),
    "plsa": plsa,
    "cca": cca,
    "neighbours": neighbours,
    "completer": fits.completer,
    "consensus": fits.consensus,
    "consensus-identity": fits.consensus_identity,
    "identity": identity,
    "agreement": agreement,
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.device", description=__doc__)
    parser.add_argument("cases", nargs="*", choices=[*CASES, []], help="all, unless some are named")
    parser.add_argument("-o", "--output", type=Path, default=RESULTS)
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    for name in asked.cases or CASES:
        found = {"case": name, "date": datetime.now(UTC).isoformat(timespec="seconds"), **CASES[name]()}
        torch.cuda.empty_cache()
        if "ms" in found:
            more = f", error {found['relative_error']:.1e}" if "relative_error" in found else ""
            if "differ" in found:
                more = f", {found['differ']} of {found['compared']:,} differ from those of threads"
                more += f" (plain torch: {found['plain_torch_differ']}), {found['looked_at_again']:,} looked at again"
                more += f"; {found['n_threads']} threads: {found['threads_ms_reckoned']:.0f} ms"
            print(
                f"{found['what']}: {found['ms']:.1f} ms, plain torch {found['plain_torch_ms']:.1f} ms{more}", flush=True
            )
        keep(asked.output, found)  # one by one: a run that is cut off leaves what it has
    print(f"kept in {asked.output.name}")


def keep(path: Path, found: dict[str, Any]) -> None:
    """Write a case's figures in place of those it had; the other cases stay."""
    about = {"device": torch.cuda.get_device_name(), "torch": torch.__version__, "manyview": manyview.__version__}
    before = json.loads(path.read_text())["cases"] if path.exists() else []
    cases = [found if one["case"] == found["case"] else one for one in before]
    if found["case"] not in [one["case"] for one in before]:
        cases.append(found)
    path.write_text(json.dumps({"suite": "device", "machine": about, "cases": cases}, indent=1) + "\n")


if __name__ == "__main__":
    main()
