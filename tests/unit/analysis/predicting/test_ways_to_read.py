"""Another way to read: a range where round trips explain today's time, else not known."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pathtrace.analysis import analyse
from pathtrace.analysis.predicting.questions import Question, answer
from pathtrace.errors import UsageError
from pathtrace.model.prediction import Prediction
from tests.unit.analysis import far
from tests.unit.analysis.builders import MB

MAPPED = far.Way(
    took_ms=200,
    text=far.TEXT.replace('url: "smb://nas/models/x.bin"', "path: /mnt/nas/x.bin, host: nas, access: mmap"),
    place=far.on_mount(),
    ceilings=(*far.line(), far.ceiling("round-trips:weights", 131_072 / 0.0025, latency_s=0.0025)),
    requests=80,
)
"""40 blocks of 10 MB, page by page: 8 s; the link would carry them in 3.4 s."""
MEASURE = "pathtrace run SCENARIO, with `access: read` at weights"


def asked(way: far.Way, *settings: str) -> Prediction:
    run = far.run(way)
    return answer(run, analyse(run), Question(settings))


def test_mapped_pages_read_in_calls_take_from_what_the_link_takes_to_what_they_take_now() -> None:
    prediction = asked(MAPPED, "weights.access=read")
    [flow] = prediction.flows
    assert flow.after_s is not None
    assert flow.after_s.low == pytest.approx(400 * MB / far.LINE, rel=0.02)
    assert flow.after_s.high == pytest.approx(8.0, rel=0.01)
    assert flow.after_s.low < flow.after_s.expected < flow.after_s.high
    assert flow.bottleneck_after == "unknown"
    assert flow.seconds_per_day_saved == pytest.approx(100 * (8.0 - flow.after_s.expected), rel=0.02)
    assert [each.measure for each in prediction.unknowns] == [MEASURE]


def test_a_disk_that_was_measured_holds_the_shortest() -> None:
    known = replace(MAPPED, ceilings=(*MAPPED.ceilings, far.ceiling("disk:weights", 80 * MB)))
    [flow] = asked(known, "weights.access=read").flows
    assert flow.after_s is not None
    assert flow.after_s.low == pytest.approx(5.0, rel=0.02)


def test_with_a_faster_link_the_shortest_is_what_that_takes() -> None:
    [flow] = asked(MAPPED, "weights.access=read", "lan=10GbE").flows
    assert flow.after_s is not None
    assert flow.after_s.low == pytest.approx(400 / 1177, rel=0.1)


@pytest.mark.parametrize(
    "way", [replace(MAPPED, ceilings=far.line()), far.Way(took_ms=86)], ids=["nothing measured", "not mapped"]
)
def test_where_nothing_tells_the_answer_is_that_it_is_not_known_and_what_would_tell(way: far.Way) -> None:
    word = "read" if way.place else "direct"
    prediction = asked(way, f"weights.access={word}")
    [flow] = prediction.flows
    assert (flow.after_s, flow.speedup, flow.bottleneck_after) == (None, None, "unknown")
    assert [each.measure for each in prediction.unknowns] == [MEASURE.replace("read", word)]
    assert prediction.unchanged == ()


def test_the_way_it_is_read_already_changes_nothing() -> None:
    prediction = asked(MAPPED, "weights.access=mmap")
    [flow] = prediction.flows
    assert flow.after_s is not None
    assert flow.after_s.expected == flow.before_s
    assert "load: weights is read by mmap already" in prediction.unchanged


def test_it_is_not_predicted_together_with_what_would_change_the_same_operations() -> None:
    with pytest.raises(UsageError, match=r"cannot be predicted together with weights\.depth"):
        asked(MAPPED, "weights.access=read", "weights.depth=4")


def test_what_is_set_beside_it_and_touches_nothing_does_not_stand_in_the_way() -> None:
    """As many workers at the model as it has already."""
    [flow] = asked(MAPPED, "weights.access=read", "model.workers=1").flows
    assert flow.after_s is not None
    assert flow.after_s.low < flow.after_s.high
