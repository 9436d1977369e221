"""Lines to a Dask cluster: open on this machine, behind TLS to any other."""

import shutil
import subprocess

import pytest

import manyview
from manyview.engines import cluster
from manyview.errors import ParameterError

pytest.importorskip("distributed")
from distributed import Client, LocalCluster, Security

from .test_cluster import data, kmeans, same

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning")


def test_lines_that_others_can_read_are_refused(monkeypatch):
    monkeypatch.setattr(cluster, "_ANSWER", 0.5)
    with pytest.raises(
        ParameterError, match="10.0.0.7:8786 is on another machine, and the line to it is not encrypted"
    ):
        with manyview.on("tcp://10.0.0.7:8786"):
            pass
    with pytest.raises(ParameterError, match="no Dask scheduler answers"):
        with manyview.on("tcp://127.0.0.1:9"):
            pass
    with pytest.raises(ParameterError, match="manyview.on takes 'threads', 'serial'"):
        with manyview.on("cloud"):
            pass
    with pytest.raises(ParameterError, match="n_jobs must be"):
        with manyview.on("threads", n_jobs=0):
            pass


class Told:
    """A client that says who is there."""

    asynchronous = False

    def __init__(self, scheduler, *workers):
        self._scheduler, self._workers = scheduler, workers

    def scheduler_info(self):
        """As the client itself keeps it: without the workers."""
        return {"address": self._scheduler, "workers": {}}

    def nthreads(self):
        return dict.fromkeys(self._workers, 1)


@pytest.mark.parametrize("here", ["tcp://127.0.0.1:1", "tcp://localhost:1", "tcp://[::1]:1", "inproc://10.0.0.7/1/1"])
def test_lines_on_this_machine_may_be_open(here):
    cluster.refuse_open_lines(Told(here, here, "tls://10.0.0.9:1"))


@pytest.mark.parametrize(
    "there", ["tcp://10.0.0.7:1", "tcp://[fe80::1]:1", "ws://10.0.0.7:1", "tcp://node7:1", "node7:1"]
)
def test_every_worker_of_a_cluster_must_be_near_or_behind_tls(there):
    cluster.refuse_open_lines(Told("tls://10.0.0.7:1", "tls://10.0.0.7:2"))
    with pytest.raises(ParameterError, match="the Dask worker at .* is on another machine, and the line to it is not"):
        cluster.refuse_open_lines(Told("tcp://127.0.0.1:1", "tcp://127.0.0.1:2", there))
    with pytest.raises(ParameterError, match="the Dask scheduler at .* is on another machine"):
        cluster.refuse_open_lines(Told(there, "tcp://127.0.0.1:2"))
    with pytest.raises(ParameterError, match="has no workers"):
        cluster.refuse_open_lines(Told("tls://10.0.0.7:1"))


@pytest.mark.slow
def test_a_cluster_behind_tls(tmp_path):
    """Certificates as `openssl req` makes them."""
    if shutil.which("openssl") is None:
        pytest.skip("this test needs openssl to make a certificate")
    key, certificate = str(tmp_path / "key.pem"), str(tmp_path / "certificate.pem")
    subject = ["-subj", "/CN=manyview", "-days", "1", "-nodes"]
    made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-keyout", key, "-out", certificate, *subject]
    subprocess.run(made, check=True, capture_output=True)
    given = {"tls_ca_file": certificate, "require_encryption": True}
    for who in ("client", "scheduler", "worker"):
        given |= {f"tls_{who}_cert": certificate, f"tls_{who}_key": key}
    security = Security(**given)
    views = {"looks": data()["looks"]}
    with (
        LocalCluster(
            n_workers=1,
            threads_per_worker=1,
            security=security,
            protocol="tls",
            dashboard_address=None,
            silence_logs=50,
        ) as here,
        Client(here, security=security) as client,
        manyview.on(client),
    ):
        assert client.scheduler_info()["address"].startswith("tls://")
        there = kmeans(max_iter=3).fit(views)
    same(there, kmeans(max_iter=3).fit(views))
