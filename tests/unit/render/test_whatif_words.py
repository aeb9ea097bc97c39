"""A change as somebody would say it who buys or sets it."""

from __future__ import annotations

import pytest

from pathtrace.model.prediction import Change, Changed, FlowPrediction, Range, SelfCheck
from pathtrace.render.whatif_words import change_words, gives

INDEX = FlowPrediction("index", 240.0, Range(100.0, 90.0, 120.0), "unknown", SelfCheck(240, 240), None, 140.0)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (Change(Changed.LINK, "link:lan", "lan", 1e8, 1.25e9, "bytes_per_s"), "10GbE on lan"),
        (Change(Changed.LINK, "link:lan", "lan", 1e8, 3.125e8, "bytes_per_s"), "2.5GbE on lan"),
        (Change(Changed.LINK, "link:lan", "lan", 1e8, 5e7, "bytes_per_s"), "400 Mbit/s on lan"),
        (
            Change(
                Changed.NEW_LINK, "link:a-b", "a-b", 1e8, 1.25e9, "bytes_per_s", hosts=("nas", "workstation")
            ),
            "a new 10GbE link nas - workstation",
        ),
        (
            Change(Changed.LATENCY, "link:lan.latency", "lan", None, 0.0002, "s"),
            "a round trip of 200 µs on lan",
        ),
        (
            Change(Changed.DISK, "disk:archive", "archive", None, 5e8, "bytes_per_s"),
            "a disk of 500 MB/s under archive",
        ),
        (
            Change(Changed.COMMIT, "commit:library", "library", 0.02, 0.0005, "s"),
            "commits in 500 µs at library",
        ),
        (Change(Changed.BATCH, "library.batch", "library", 1, 5000, "count"), "batch 5,000 at library"),
        (Change(Changed.LOADED, "model.loaded", "model", None, 1, "flag"), "model loaded"),
        (
            Change(Changed.ACCESS, "w.access", "w", None, 1, "access", words=("mmap", "read")),
            "access read at w",
        ),
    ],
)
def test_each_kind_of_change_has_its_words(change: Change, words: str) -> None:
    assert change_words(change) == words


def test_what_a_flow_takes_before_and_after_with_the_range() -> None:
    assert gives(INDEX) == "index 4 min → 1 min 40 s (1 min 30 s – 2 min)"


def test_of_requests_what_one_takes_is_said_with_its_part_of_the_range() -> None:
    asked = FlowPrediction(
        "answer", 20.0, Range(10.0, 9.0, 11.0), "model:m", SelfCheck(20, 20), (2.0, 1.0), 100.0
    )
    assert gives(asked) == "answer 2 s → 1 s (900 ms – 1.1 s) a request"
