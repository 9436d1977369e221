"""A fit gives its memory back when it ends: nothing large waits in a circle for Python to look through everything."""

import gc

import numpy as np
import pytest
from scipy import sparse

import manyview

RNG = np.random.default_rng(0)
LOOKS = RNG.normal(size=(60, 8)) + 4 * RNG.integers(0, 3, size=60)[:, None]
TAGS = sparse.csr_matrix(RNG.random((60, 12)) < 0.3, dtype=np.float64)
FITS = {
    "ConsensusClustering": lambda: manyview.ConsensusClustering(3).fit({"looks": LOOKS, "tags": TAGS}),
    "RobustMultiviewKMeans": lambda: manyview.RobustMultiviewKMeans(3, n_init=2).fit({"looks": LOOKS, "tags": TAGS}),
    "AcceleratedKMeans": lambda: manyview.AcceleratedKMeans(3).fit(LOOKS),
    "HierarchicalKMeans": lambda: manyview.HierarchicalKMeans().fit(LOOKS),
    "PLSA": lambda: manyview.PLSA(3).fit(TAGS),
    "CrossModalClustering": lambda: manyview.CrossModalClustering(3).fit({"looks": LOOKS, "tags": TAGS}),
    "TagForest": lambda: manyview.TagForest(3, n_estimators=5).fit({"looks": LOOKS, "tags": TAGS}),
    "FusionART": lambda: manyview.FusionART().fit({"looks": LOOKS, "tags": TAGS}),
    "TagCompleter": lambda: manyview.TagCompleter().fit({"looks": LOOKS}, TAGS),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", FITS)
def test_nothing_is_left_for_the_collector(name):
    FITS[name]()  # what is compiled and imported the first time
    gc.collect()
    gc.disable()
    try:
        FITS[name]()
        gc.set_debug(gc.DEBUG_SAVEALL)
        gc.collect()
        left = {type(one).__qualname__ for one in gc.garbage if type(one).__module__.startswith("manyview.")}
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()
    assert not left
