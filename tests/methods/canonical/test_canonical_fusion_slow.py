"""The promises of CanonicalFusion that take longer to check: memory at the size of NUS-WIDE, digits in float32."""

import json
import subprocess
import sys

import numpy as np
import pytest
from scipy import sparse

from manyview import CanonicalFusion

pytestmark = pytest.mark.slow

MEASURE = """
import json, sys
import numpy as np
from scipy import sparse
from manyview import CanonicalFusion

looks = np.load(sys.argv[1], mmap_mode="r")
tags = sparse.random_array((looks.shape[0], 1000), density=0.006, rng=0, format="csr", dtype=np.float32)
tags.data[:] = 1
model = CanonicalFusion(128).fit({"looks": looks, "tags": tags})
fused = model.transform({"looks": looks, "tags": tags})
with open("/proc/self/status") as file:
    peak = next(int(line.split()[1]) * 1024 for line in file if line.startswith("VmHWM"))
print(json.dumps({"peak": peak, "shape": fused.shape}))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
def test_a_quarter_million_items_in_four_gigabytes(tmp_path):
    n_items, rng = 269_648, np.random.default_rng(0)
    looks = np.lib.format.open_memmap(tmp_path / "looks.npy", "w+", np.float32, (n_items, 1024))
    for start in range(0, n_items, 20_000):
        part = looks[start : start + 20_000]
        part[:] = rng.standard_normal(part.shape, dtype=np.float32)
    looks.flush()
    del looks
    done = subprocess.run(
        [sys.executable, "-c", MEASURE, tmp_path / "looks.npy"], capture_output=True, text=True, check=True
    )
    found = json.loads(done.stdout)
    assert found["shape"] == [n_items, 128]
    assert found["peak"] < 4e9, f"{found['peak'] / 1e9:.2f} GB"


def plain_cca(V, S, n_components):
    """Correlations by the paper's equation (12): three covariances in float64, and eigenvalues."""
    V, S = V - V.mean(axis=0), S - S.mean(axis=0)
    n = len(V) - 1
    Cvv, Css, Cvs = V.T @ V / n, S.T @ S / n, V.T @ S / n
    Cvv, Css = (C + np.trace(C) / len(C) * np.eye(len(C)) for C in (Cvv, Css))
    values = np.linalg.eigvals(np.linalg.solve(Css, Cvs.T) @ np.linalg.solve(Cvv, Cvs)).real
    return np.sqrt(np.sort(values)[::-1][:n_components])


def test_float32_looks_lose_no_digits_that_matter():
    rng = np.random.default_rng(0)
    topic = rng.integers(40, size=20_000)
    looks = (rng.normal(size=(40, 1024))[topic] + 2 * rng.normal(size=(20_000, 1024))).astype(np.float32)
    chance = np.where(np.arange(1000) % 40 == topic[:, None], 0.15, 0.002)
    tags = sparse.csr_matrix(rng.random((20_000, 1000)) < chance, dtype=np.float32)
    model = CanonicalFusion(128).fit([looks, tags])
    correlations = plain_cca(looks.astype(np.float64), tags.toarray().astype(np.float64), 128)
    np.testing.assert_allclose(model.correlations_, correlations, atol=1e-8)
