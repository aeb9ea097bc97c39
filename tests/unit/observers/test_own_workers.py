"""What pathtrace's own worker processes compute is seen, and one that has ended is left out."""

from __future__ import annotations

import subprocess
import sys

import pytest

from pathtrace.observers.own_workers import WorkerObserver

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads Linux's /proc")


def test_each_worker_s_cpu_grows_and_an_ended_one_says_nothing() -> None:
    burn = "sum(range(10**7)); print('done', flush=True); input()"
    argv = [sys.executable, "-c", burn]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as worker:
        assert worker.stdout is not None
        worker.stdout.readline()
        observer = WorkerObserver(lambda: [worker.pid])
        readings = {reading.metric: reading for reading in observer.observe(7)}
        worker.communicate(b"\n")
    assert set(readings) == {"cpu_s", "run_delay_s"}
    assert readings["cpu_s"].value > 0.01
    assert readings["cpu_s"].subject.startswith("thread:python")
    assert readings["cpu_s"].subject.endswith(f"[{worker.pid}]")
    assert observer.observe(8) == []
