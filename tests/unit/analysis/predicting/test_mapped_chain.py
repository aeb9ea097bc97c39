"""What is done for mapped pages at most, and what that leaves of a prediction's range."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pathtrace.analysis import analyse
from pathtrace.analysis.assembly import measured_flows
from pathtrace.analysis.predicting.mapped_chain import mapped_chain
from pathtrace.analysis.predicting.prediction import predict
from pathtrace.model.sample import Reading
from tests.unit.analysis import far
from tests.unit.analysis.builders import MB, steady

TRIP_S = 0.0005
PAGES = far.ceiling("round-trips:weights", 131_072 / TRIP_S, latency_s=TRIP_S)
MAPPED = far.Way(
    took_ms=100,
    repeats=3,
    text=far.TEXT.replace('url: "smb://nas/models/x.bin"', "path: /mnt/nas/x.bin, host: nas, access: mmap"),
    place=far.on_mount("fuse.sshfs"),
    ceilings=(*far.line(), far.ceiling("disk:weights", 4000 * MB), PAGES),
)
"""400 MB in 4 s, of which the link is busy for 3.4 s; 3,052 requests of 128 KiB."""


def seen(*, server: float | None = 0.2, mount: float | None = 0.3, own: float = 0.1) -> far.Way:
    """Cores of the server, of the program under the mount, and of pathtrace itself."""

    def more(start: int, end: int) -> list[Reading]:
        wall_s = (end - start) / 1e9
        readings = steady("self", "process", cpu_s=(start, end, own * wall_s))
        if server is not None:
            readings += far.process(start, end, "sshd[7]", server)
        if mount is not None:
            readings += steady("helper", "weights/ssh[8]", cpu_s=(start, end, mount * wall_s))
        return readings

    return replace(MAPPED, more=more)


def chain(way: far.Way) -> float | None:
    evidence, [study] = measured_flows(far.run(way))
    return mapped_chain(study.stages[0], study, evidence)


def high_s(way: far.Way) -> float:
    run = far.run(way)
    prediction = predict(run, analyse(run), ["lan=10GbE"])
    [unknown] = prediction.unknowns
    assert "mapped pages of weights" in unknown.what
    return prediction.flows[0].after_s.high


def test_it_is_what_all_programs_computed_and_the_round_trips() -> None:
    assert chain(seen()) == pytest.approx(0.6 * 4.0 + 3052 * TRIP_S, rel=0.02)


@pytest.mark.parametrize("way", [seen(server=None), seen(mount=None)], ids=["server", "mount"])
def test_nothing_is_known_where_an_end_did_not_tell(way: far.Way) -> None:
    assert chain(way) is None


def test_a_range_ends_where_all_that_was_seen_comes_one_after_the_other() -> None:
    assert high_s(seen(server=0.1, mount=0.1)) == pytest.approx(0.3 * 4.0 + 3052 * TRIP_S, rel=0.1)
    assert high_s(seen(server=None)) == pytest.approx(4.0, rel=0.01)
