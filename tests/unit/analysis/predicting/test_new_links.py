"""A direct link between two hosts takes what crosses between them, and nothing else."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pathtrace.analysis import analyse
from pathtrace.analysis.predicting.new_links import with_links
from pathtrace.analysis.predicting.questions import Question, answer
from pathtrace.errors import UsageError
from pathtrace.model.prediction import Changed, Prediction
from tests.unit.analysis import far
from tests.unit.analysis.builders import MB

SHARED = "{lan: {hosts: [nas, workstation, desk], speed: 1 Gbit/s}}"
HOSTS = far.TEXT.replace("hosts: {nas: {address: 10.0.0.2}}", "hosts: {nas: {address: 10.0.0.2}, desk: {}}")
WAY = far.Way(
    took_ms=86,
    repeats=3,
    text=HOSTS,
    links=SHARED,
    ceilings=(*far.line(), far.ceiling("disk:weights", 200 * MB)),
)


def asked(way: far.Way, *links: str, settings: tuple[str, ...] = ()) -> Prediction:
    run = far.run(way)
    return answer(run, analyse(run), Question(settings, links))


def test_what_crosses_between_the_two_hosts_moves_to_it_and_others_stay() -> None:
    prediction = asked(WAY, "workstation,nas=10GbE")
    [change] = prediction.changes
    assert (change.kind, change.resource, change.hosts) == (
        Changed.NEW_LINK,
        "link:nas-workstation",
        ("nas", "workstation"),
    )
    assert (change.before, change.after) == (pytest.approx(far.LINE), 1250 * MB)
    assert prediction.flows[0].after_s is not None
    assert prediction.flows[0].after_s.expected == pytest.approx(2.0, rel=0.1)  # held by the disk
    assert "what desk has on lan stays there" in prediction.unchanged


def test_it_gives_what_the_same_speed_of_the_old_link_gives() -> None:
    new, faster = asked(WAY, "nas,workstation=2.5GbE"), asked(WAY, settings=("lan=2.5GbE",))
    assert new.flows == faster.flows


def test_a_link_between_hosts_that_no_flow_joins_changes_nothing_and_says_so() -> None:
    prediction = asked(WAY, "nas,desk=10GbE")
    [flow] = prediction.flows
    assert flow.after_s is not None
    assert (flow.after_s.expected, flow.seconds_per_day_saved) == (flow.before_s, 0.0)
    assert "no measured flow crosses link:nas-desk" in prediction.unchanged


def test_a_way_without_a_declared_link_can_get_one() -> None:
    undeclared = replace(WAY, links="{}", ceilings=far.line(name="nas-workstation"))
    [flow] = asked(undeclared, "nas,workstation=100Mbit/s").flows
    assert flow.after_s is not None
    assert flow.after_s.expected == pytest.approx(34.4, rel=0.02)


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("nas=10GbE", "'nas=10GbE' is no link between two hosts", "write it as in --add-link"),
        ("nas,workstation", "is no link between two hosts", "write it as in"),
        ("nass,workstation=10GbE", "there is no host called 'nass' in this run", "did you mean 'nas'?"),
        ("nas,zzzz=10GbE", "there is no host called 'zzzz' in this run", "hosts: "),
        ("nas,nas=10GbE", "joins nas with itself", "hosts: "),
        ("nas,workstation=10GB", "'10GB' is not a rate", "for bytes"),
    ],
)
def test_what_is_no_link_between_two_hosts_is_refused(text: str, message: str, hint: str) -> None:
    with pytest.raises(UsageError) as refused:
        asked(WAY, text)
    assert message in refused.value.message
    assert hint in (refused.value.hint or "")


def test_a_link_that_is_there_is_to_be_set() -> None:
    declared = "{nas-workstation: {hosts: [nas, workstation], speed: 1 Gbit/s}}"
    with pytest.raises(UsageError, match="there is a link called nas-workstation already"):
        with_links(far.run(replace(WAY, links=declared)), ("nas,workstation=10GbE",))


@settings(deadline=None, max_examples=6)
@given(speed=st.sampled_from(["100Mbit/s", "1GbE", "2.5GbE", "7 Gbit/s", "10GbE", "40GbE"]))
def test_whatever_its_speed_it_gives_what_the_old_link_would_give_at_that_speed(speed: str) -> None:
    [new], [faster] = (
        asked(WAY, f"nas,workstation={speed}").flows,
        asked(WAY, settings=(f"lan={speed}",)).flows,
    )
    assert (new.after_s, new.seconds_per_day_saved) == (faster.after_s, faster.seconds_per_day_saved)
