"""Whoever steps through the code with NUMBA_DISABLE_JIT=1 gets the same answers, slowly."""

import os
import subprocess
import sys
import textwrap

import pytest

PROGRAM = """
    import numpy as np
    import manyview
    from manyview import *

    rng = np.random.default_rng(0)
    middles = 9 * np.eye(3)[np.arange(60) % 3]
    X = [middles + rng.normal(size=(60, 3)), middles @ rng.normal(size=(3, 5)) + rng.normal(size=(60, 5))]
    from manyview.blocks import workers
    from manyview.methods.plane import lay_out_points

    def _plane(rows):  # after many rounds the last digits decide, so that only where points end together is compared
        with workers(1) as threads:
            found = lay_out_points(rows.astype(np.float32), threads)
        return np.linalg.norm(found[:, None] - found, axis=2).argsort(axis=1)[:, 1:2] % 3

    words = [["abc"[n % 3], "def"[n % 2]] for n in range(60)]
    print(np.asarray({call}).round(6).tolist())
"""
CALLS = {
    "robust": "RobustMultiviewKMeans(3, view_scale='minmax', n_init=2, random_state=0, n_jobs=1).fit(X).labels_",
    "consensus": "ConsensusClustering(3, members=2, random_state=0).fit(X).labels_",
    "number": "suggest_n_clusters(X, random_state=0).n_clusters",
    "accelerated": "AcceleratedKMeans(3, random_state=0).fit(X[0]).labels_",
    "fusion": "FusionART(random_state=0).fit(X).labels_",
    "topics": "PLSA(3, random_state=0).fit(np.abs(X[0])).labels_",
    "forest": "TagForest(3, n_estimators=20, random_state=0).fit(X, words).labels_",
    "plane": "_plane(X[0])",
    "completer": "TagCompleter().fit(X, words).tag_scores()",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", CALLS)
def test_the_same_without_the_compiler(name):
    program = textwrap.dedent(PROGRAM).replace("{call}", CALLS[name])
    said = [
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "NUMBA_DISABLE_JIT": flag},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for flag in ("0", "1")
    ]
    assert said[0] == said[1] and said[0].strip()
