"""Another round trip to a database on another host: lookups of five trips of 4 ms and own work of 5 ms."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pathtrace.analysis import analyse
from pathtrace.analysis.predicting.prediction import predict
from pathtrace.model.network import Endpoint, PathFacts, Route
from pathtrace.model.prediction import FlowPrediction
from pathtrace.model.run import Ceiling, Run
from tests.unit.analysis.builders import MS, asked, reached, run_of, scenario, steady
from tests.unit.analysis.far import ceiling

TEXT = """
pathtrace: 1
hosts: {db: {address: 10.0.0.3}}
links: {lan: {hosts: [db, workstation], speed: 1 Gbit/s}}
places:
  library: {kind: database, url: "postgresql://db/lab", query: "select text from t"}
  people: {kind: user}
flows: {answer: {path: [library, people], frequency: per-request}}
"""
ALONE = ceiling("query:library", operations=50.0, latency_s=0.020)


def looked_up(*ceilings: Ceiling, own_ms: int = 5, acknowledgements: int = 2) -> Run:
    samples, window = asked(40, [(20 + own_ms) * MS, MS // 50])
    span = (window.start_ns, window.end_ns)
    sent = {"bytes_sent": 40 * 178.0, "segments_out": 40.0 * (5 + acknowledgements)}
    counters = {**sent, "bytes_received": 40 * 2000.0, "busy_s": 40 * (0.020 + own_ms / 1000)}
    readings = steady("tcp", "library", **{name: (*span, value) for name, value in counters.items()})
    place = replace(reached("library"), endpoint=Endpoint("db", "10.0.0.3", 5432))
    made = run_of(
        scenario(TEXT),
        [(samples, window)],
        readings=readings,
        ceilings=ceilings,
        places=(place, reached("people")),
    )
    way = PathFacts("db", "10.0.0.3", (), 1500, 1500, False, 0.004, (), 1.0)
    return replace(made, routes=(Route("db", "10.0.0.3", "eth0", "10.0.0.1", None, 1500),), paths=(way,))


def quicker(run: Run) -> FlowPrediction:
    [flow] = predict(run, analyse(run), ["lan.latency=0.4ms"]).flows
    return flow


def test_a_query_for_nothing_tells_trips_from_the_servers_own_work() -> None:
    assert quicker(looked_up(ALONE)).after_s.expected == pytest.approx(40 * (5 * 0.0004 + 0.005), rel=0.02)


def test_short_statements_are_counted_as_requests_too() -> None:
    """BEGIN takes 11 bytes: 178 bytes are not two requests, but five."""
    run = looked_up(own_ms=1, acknowledgements=1)
    assert quicker(run).after_s.expected == pytest.approx(40 * (5 * 0.0004 + 0.001), rel=0.1)
