from dataclasses import replace
from pathlib import Path

import pytest
from rich.cells import cell_len

from pathtrace.model.scenario import DatabaseSpec, Scenario
from pathtrace.render.diagram import ASCII, UNICODE, describe, text_map
from tests.golden import assert_golden
from tests.unit.render import example

GOLDEN = Path(__file__).parent / "golden"


@pytest.mark.parametrize("width", [40, 80])
def test_a_scenario_is_drawn(width: int) -> None:
    text = text_map(example.SCENARIO, None, UNICODE, width)
    assert max(map(cell_len, text.splitlines())) <= width
    assert_golden(GOLDEN / f"map_scenario_{width}.txt", text + "\n")


def test_a_run_is_drawn_with_its_figures() -> None:
    assert_golden(GOLDEN / "map_run_80.txt", text_map(example.SCENARIO, example.REPORT, UNICODE, 80) + "\n")


def test_a_terminal_without_unicode_gets_letters_only() -> None:
    text = text_map(example.SCENARIO, example.REPORT, ASCII, 80)
    assert text.isascii()
    assert_golden(GOLDEN / "map_run_ascii_80.txt", text + "\n")


def arrows(scenario: Scenario, flow: str) -> set[str]:
    """The signs that the arrows of one flow are drawn with."""
    text = text_map(scenario, None, UNICODE, 80)
    [section] = [part for part in text.split("\n\n") if part.startswith(f"{flow} ·")]
    return {sign for sign in "┃┆" if sign in section}


def test_what_happens_at_every_request_is_drawn_otherwise_than_what_does_not() -> None:
    assert (arrows(example.SCENARIO, "answer"), arrows(example.SCENARIO, "load")) == ({"┃"}, {"┆"})


def test_a_load_that_was_observed_at_every_request_is_drawn_as_one() -> None:
    text = text_map(example.SCENARIO, example.REPORT, UNICODE, 80)
    [load] = [part for part in text.split("\n\n") if part.startswith("load ·")]
    assert "┃  observed per-request, declared per-load" in load
    assert "┆" not in load


def test_a_hop_that_was_not_measured_has_no_figures() -> None:
    text = text_map(example.SCENARIO, example.PARTIAL_REPORT, UNICODE, 80)
    assert "not measured · limited by unknown" in text


def test_a_password_in_a_url_is_never_drawn() -> None:
    spec = DatabaseSpec("postgresql://me:hunter2@db/lab", 100, example.Commit.BATCH, None, None, keep=False)
    place = replace(example.SCENARIO.place("library"), spec=spec)
    assert describe(place) == "database postgresql://me:***@db/lab"


def test_long_and_wide_names_stay_within_the_frame() -> None:
    long = "資料" * 30
    places = tuple(replace(place, host=long) for place in example.SCENARIO.places)
    hosts = tuple(replace(host, name=long) for host in example.SCENARIO.hosts[1:])
    text = text_map(replace(example.SCENARIO, places=places, hosts=hosts), None, UNICODE, 60)
    assert max(map(cell_len, text.splitlines())) <= 60
