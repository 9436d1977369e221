"""Jobs: started, watched, stopped, and reported when they die."""

import sys
import time

import pytest

from manyview import Collection
from manyview.errors import ParameterError
from manyview.web import jobs as jobs_module
from manyview.web import models
from manyview.web.jobs import Jobs, command_of

from .made import OURS


def wait_for(jobs, states=("done", "failed", "cancelled"), seconds=60):
    deadline = time.monotonic() + seconds
    while (job := jobs.all()[-1]).state not in states:
        assert time.monotonic() < deadline, job
        time.sleep(0.02)
    return job


@pytest.fixture
def scripted(tmp_path, monkeypatch):
    """Jobs that run a script in place of the command line."""
    made = []

    def start(script):
        path = tmp_path / "script.py"
        path.write_text(f"import json, signal, sys, time, os\n{script}", encoding="utf-8")
        monkeypatch.setattr(jobs_module, "command_of", lambda *_: [sys.executable, str(path)])
        made.append(Jobs(tmp_path))
        made[-1].start(models.NewJob(kind="fit"))
        return made[-1]

    yield start
    for jobs in made:
        jobs.close()


def test_progress_result_and_log(scripted):
    jobs = scripted(
        "def say(**w): print(json.dumps(w), file=sys.stderr, flush=True)\n"
        "say(stage='fusing', done=1, of=4)\nprint('note: slow <b>', file=sys.stderr)\n"
        "say(stage='laying', done=3, of=4)\n"
        "print('{not json', file=sys.stderr)\nprint(json.dumps({'run': 7}))"
    )
    job = wait_for(jobs)
    assert job.state == "done" and job.result == {"run": 7} and (job.stage, job.done, job.of) == ("laying", 3, 4)
    assert job.log == ["fusing", "note: slow <b>", "laying", "{not json"] and job.error is None


def test_a_job_that_fails_says_why(scripted):
    job = wait_for(scripted("print('error: no item carries a tag.', file=sys.stderr)\nsys.exit(1)"))
    assert job.state == "failed" and job.error == "no item carries a tag."
    job = wait_for(scripted("os.kill(os.getpid(), signal.SIGKILL)"))
    assert job.state == "failed" and "signal 9" in job.error
    job = wait_for(scripted("sys.exit(5)"))
    assert job.state == "failed" and "code 5" in job.error


def test_a_job_that_no_command_line_can_hold_keeps_nobody_waiting(tmp_path):
    jobs = Jobs(tmp_path)
    try:
        for method in ("\0", "x" * 40):
            jobs.start(models.NewJob(kind="fit", settings=models.JobSettings(method=method)))
            job = wait_for(jobs)
            assert job.state == "failed"
            assert ("could not be started: embedded null byte" in job.error) == (method == "\0")
    finally:
        jobs.close()


@pytest.mark.slow
def test_ctrl_c_first_then_the_end(scripted, monkeypatch):
    jobs = scripted("print('x', file=sys.stderr, flush=True)\ntime.sleep(60)")
    while not jobs.all()[0].log:
        time.sleep(0.02)
    jobs.cancel(1)
    assert wait_for(jobs).state == "cancelled"
    monkeypatch.setattr(jobs_module, "_GRACE", 0.3)
    sleeper = "print('x', file=sys.stderr, flush=True)\ntime.sleep(60)"
    deaf = scripted(f"signal.signal(signal.SIGINT, signal.SIG_IGN)\n{sleeper}")
    while not deaf.all()[0].log:
        time.sleep(0.02)
    deaf.cancel(1)
    assert wait_for(deaf).state == "cancelled"


def test_one_at_a_time_and_waiting_ones_can_be_cancelled(scripted):
    jobs = scripted("time.sleep(60)")
    second = jobs.start(models.NewJob(kind="map"))
    assert jobs.cancel(second.id).state == "cancelled"
    assert [job.state for job in jobs.all()] in (["running", "cancelled"], ["waiting", "cancelled"])
    start = time.monotonic()
    jobs.close()
    assert time.monotonic() - start < 50  # it would sleep for a minute


def test_only_known_settings_become_options(tmp_path):
    asked = models.NewJob(kind="fit", settings=models.JobSettings(method="--help", k=3, views=["a b", "-x"], seed=0))
    assert command_of(asked, tmp_path)[3:] == [
        "manyview",
        "fit",
        str(tmp_path),
        "--json",
        "--method=--help",
        "--clusters=3",
        "--view=a b",
        "--view=-x",
        "--seed=0",
    ]
    with pytest.raises(ParameterError, match="map has no setting 'k'"):
        command_of(models.NewJob(kind="map", settings=models.JobSettings(k=3)), tmp_path)


@pytest.mark.slow
def test_a_job_through_the_gallery(client):
    """The smallest real one: the map of a collection that is too small for more than a plane."""
    answer = client.post("/api/jobs", json={"kind": "map", "settings": {"seed": 1}}, headers=OURS)
    assert answer.status_code == 200 and answer.json()["state"] in ("waiting", "running")
    assert client.post("/api/jobs", json={"kind": "map", "settings": {"k": 1}}, headers=OURS).status_code == 400
    assert client.post("/api/jobs/99/cancel", json={}, headers=OURS).status_code == 404
    job = wait_for(client.gallery.jobs, seconds=120)
    assert job.state == "done", job
    assert job.result["n_items"] == 13
    state = client.get("/api/state").json()
    assert state["jobs"][0]["state"] == "done" and client.get("/api/map").json()["state"] == "ready"
    wrong = client.post("/api/jobs", json={"kind": "fit", "settings": {"method": "nothing"}}, headers=OURS)
    assert wrong.status_code == 200
    job = wait_for(client.gallery.jobs, seconds=120)
    assert job.state == "failed" and "there is no method 'nothing'" in job.error


@pytest.mark.slow
def test_fit_suggest_and_add_through_the_gallery(client):
    fit = {"method": "rmkmc", "k": 2, "views": ["looks"]}
    n_reads = 0
    for kind, settings in (("fit", fit), ("suggest", {"top": 2}), ("add", {})):
        client.post("/api/jobs", json={"kind": kind, "settings": settings}, headers=OURS)
        while client.gallery.jobs.all()[-1].state in ("waiting", "running"):  # looking goes on meanwhile
            for page in ("state", "clusters", "items?q=tag:red", "facets", "items/3", "proposals", "history", "runs"):
                answer = client.get(f"/api/{page}")
                assert answer.status_code == 200, answer.text
                n_reads += 1
            time.sleep(0.1)
        job = wait_for(client.gallery.jobs, seconds=240)
        assert job.state == "done", job
    assert n_reads > 20
    with Collection.open(client.gallery.path) as collection:
        assert collection.runs.get().method == "rmkmc" and collection.runs.get().id > 3
