import pytest

from pathtrace.cli.progress import LineProgress, Watching
from tests.unit.render.example import SCENARIO


class Hand:
    """A clock that is moved by hand."""

    def __init__(self) -> None:
        self.at_s = 100.0

    def __call__(self) -> float:
        return self.at_s


@pytest.fixture
def hand() -> Hand:
    return Hand()


def test_a_stream_shows_hop_operations_rate_and_time_left(hand: Hand) -> None:
    watching = Watching(SCENARIO, hand)
    watching.execution(0, 5, "index", 1200)
    hand.at_s += 10
    watching.advance(0, 300, 300_000_000)
    assert (
        watching.words()
        == "repeat 1 of 5 · 10 s gone, 30 s left · index archive->indexer · 300 of 1,200 · 30 MB/s"
    )
    assert watching.share() == 0.25


def test_requests_count_whole_answers(hand: Hand) -> None:
    watching = Watching(SCENARIO, hand)
    watching.execution(0, 5, "answer", 40)
    hand.at_s += 5
    watching.advance(0, 12, 4000)
    watching.advance(2, 10, 4000)
    assert watching.words() == "repeat 1 of 5 · 5 s gone, 15 s left · answer model->people · 10 of 40 · 2/s"


def test_when_all_is_read_the_stage_still_at_work_is_shown(hand: Hand) -> None:
    watching = Watching(SCENARIO, hand)
    watching.execution(-1, 5, "index", 100)
    hand.at_s += 10
    watching.advance(0, 100, 1000)
    watching.advance(1, 50, 20_000_000)
    assert watching.words() == "warm-up · 10 s gone · index indexer->library · 50 · 2 MB/s"


def test_where_nobody_knows_how_many_repeats_there_will_be_no_number_and_no_time_left_is_shown(
    hand: Hand,
) -> None:
    watching = Watching(SCENARIO, hand)
    for repeat in (0, 1):
        watching.execution(repeat, None, "load", None)
        hand.at_s += 20
    assert watching.words() == "repeat 2 · 40 s gone · load weights->model · 0"


def test_after_a_whole_repeat_the_time_left_is_that_of_the_run(hand: Hand) -> None:
    watching = Watching(SCENARIO, hand)
    for repeat in (0, 1):
        watching.execution(repeat, 5, "load", None)
        hand.at_s += 20
        watching.execution(repeat, 5, "index", 100)
        hand.at_s += 10
    hand.at_s -= 5
    assert (
        watching.words() == "repeat 2 of 5 · 55 s gone, 1 min 35 s left · index archive->indexer · 0 of 100"
    )


def test_without_a_total_nothing_is_claimed(hand: Hand) -> None:
    watching = Watching(SCENARIO, hand)
    assert watching.words() == ""
    watching.execution(0, 1, "load", None)
    hand.at_s += 1
    assert (watching.words(), watching.share()) == (
        "repeat 1 of 1 · 1 s gone · load weights->model · 0",
        None,
    )


def test_lines_come_at_each_execution_and_every_ten_seconds(
    hand: Hand, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = LineProgress(SCENARIO, hand)
    lines.execution(0, 2, "index", 100)
    for _ in range(4):
        hand.at_s += 4
        lines.advance(0, 10, 4_000_000)
    lines.message("stopping")
    assert capsys.readouterr() == (
        "",
        "repeat 1 of 2: index, 100 operations\n"
        "repeat 1 of 2 · 12 s gone, 28 s left · index archive->indexer · 30 of 100 · 1 MB/s · 30 %\n"
        "stopping\n",
    )


def test_lines_come_also_while_no_operation_comes_to_its_end(
    hand: Hand, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = LineProgress(SCENARIO, hand)
    lines.tick()
    lines.execution(0, 2, "index", 100)
    for _ in range(12):
        hand.at_s += 2
        lines.tick()
    assert capsys.readouterr().err.splitlines() == [
        "repeat 1 of 2: index, 100 operations",
        "repeat 1 of 2 · 10 s gone · index archive->indexer · 0 of 100 · 0 %",
        "repeat 1 of 2 · 20 s gone · index archive->indexer · 0 of 100 · 0 %",
    ]


def test_quiet_says_nothing(hand: Hand, capsys: pytest.CaptureFixture[str]) -> None:
    quiet = Watching(SCENARIO, hand)
    quiet.execution(0, 2, "index", 100)
    quiet.advance(0, 10, 10)
    quiet.message("stopping")
    quiet.close()
    assert capsys.readouterr() == ("", "")
