"""Runs of an archive on a NAS, to be held against each other: link, mount and times may differ."""

from __future__ import annotations

from dataclasses import replace

from pathtrace.analysis import analyse
from pathtrace.analysis.comparing.comparison import Measured
from pathtrace.model.network import Route
from pathtrace.model.run import CheckResult, HostFacts, Interface, Mount, Reached, Run, StartCondition
from pathtrace.model.work import LayerState, PlaceFacts
from tests.unit.analysis.builders import MB, MS, Desk, host, run_of, scenario, stream

TEXT = """
pathtrace: 1
workload: {model: {name: m, precision: 4-bit, input: 512, output: 256}, requests: 3}
hosts:
  nas: {address: %(address)s}
links:
  lan: {hosts: [nas, workstation], speed: %(speed)s}
places:
  archive: {kind: files, host: nas, path: %(path)s}
  indexer: {kind: process, command: [extract, "{path}"]}
  library: {kind: database, url: "sqlite:///x.db", batch: 100}
flows:
  index: {path: [archive, indexer, library], frequency: every 24 h}
"""
BEFORE_TEXT = TEXT % {"address": "10.0.0.2", "speed": "1 Gbit/s", "path": "/mnt/archive"}
AFTER_TEXT = TEXT % {"address": "10.0.9.2", "speed": "10 Gbit/s", "path": "/mnt/fast"}
DOCUMENTS = 10
SPREAD = (1.0, 1.01, 0.99, 1.005, 0.995)


def facts(interface: str = "eth0", speed: float = 125e6, kernel: str = "Linux 6.12") -> HostFacts:
    card = Interface(interface, speed, 1500, True, "full", "ethernet")
    return replace(host(), kernel=kernel, interfaces=(card,), congestion_control="cubic")


def archive(
    path: str = "/mnt/archive", address: str = "10.0.0.2", fingerprint: str | None = "f1", files: int = 10
) -> Reached:
    mount = Mount(path, f"//{address}/docs", "cifs", None, True, address, "/docs")
    known = PlaceFacts("10 files", files=files, bytes=files * MB, fingerprint=fingerprint)
    return Reached("archive", known, None, mount, None)


def run(
    text: str = BEFORE_TEXT,
    *,
    read_ms: float = 20,
    size: int = MB,
    hosts: tuple[HostFacts, ...] | None = None,
    reached: Reached | None = None,
    address: str = "10.0.0.2",
    interface: str = "eth0",
    start: StartCondition | None = None,
    passed: tuple[bool, ...] = (),
    id: str = "20261130-091412-aaaa",
) -> Run:
    """Five repeats that differ by up to 1 %."""
    executions, at = [], 0
    for repeat, factor in enumerate(SPREAD):
        took = (round(read_ms * factor * MS), MS, MS)
        samples, window = stream(
            (Desk(), Desk(), Desk()),
            lambda stage, k, took=took: took[stage],  # type: ignore[misc]
            DOCUMENTS,
            offset=at,
            repeat=repeat,
            details=lambda sample: {"bytes": size},
        )
        executions.append((samples, window))
        at = window.end_ns + 1000 * MS
    made = run_of(
        scenario(text),
        executions,
        places=(reached or archive(),),
        hosts=hosts or (facts(),),
        starts=(start,) if start else (),
    )
    return replace(
        made,
        id=id,
        routes=(Route("nas", address, interface, None, None, 1500, "ethernet"),),
        checks=tuple(CheckResult("which?", each, ()) for each in passed),
    )


def upgraded(read_ms: float = 4, kernel: str = "Linux 6.12") -> Run:
    """The same with a faster card beside the old one, another address and another mount point."""
    return run(
        AFTER_TEXT,
        read_ms=read_ms,
        hosts=(facts("eth1", 1250e6, kernel),),
        reached=archive("/mnt/fast", "10.0.9.2"),
        address="10.0.9.2",
        interface="eth1",
        id="20261201-091412-bbbb",
    )


def started(word: str, state: str) -> StartCondition:
    return StartCondition(0, word, (LayerState("client_cache", "archive", state, "proved"),))


def measured(made: Run) -> Measured:
    return Measured(made, analyse(made))
