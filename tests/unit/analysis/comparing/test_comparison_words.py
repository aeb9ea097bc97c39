import pytest

from pathtrace.analysis.comparing.comparison_words import change, said_of
from pathtrace.model.comparison import Compared, Ratio
from pathtrace.units import format_change

FLOW = Compared(
    *("index", "index", "nobody", 10.0, 12.0),
    Ratio(1.2, 1.1, 1.3, "slower", 0.08, 7),
    *((5, 5), (0.03, 0.03), (0, 0), (None, None), ("unknown", "unknown")),
)


def with_ratio(ratio: Ratio | None, after_s: float = 12.0) -> Compared:
    return Compared(
        *("index", "index", "nobody", 10.0, after_s, ratio),
        *((5, 5), (0.03, 0.03), (0, 0), (None, None), ("unknown", "unknown")),
    )


@pytest.mark.parametrize(
    ("flow", "text"),
    [
        (FLOW, '"index" is slower, 20 % more time: 10 s → 12 s (+10 % to +30 % time).'),
        (
            with_ratio(Ratio(0.2, 0.18, 0.22, "faster", 0.08, 7), 2.0),
            '"index" is faster, 5 times as fast: 10 s → 2 s (×0.18 to ×0.22 time).',
        ),
        (
            with_ratio(Ratio(1.01, 0.99, 1.03, "same", 0.08, 7), 10.1),
            '"index" takes the same time: 10 s → 10.1 s (-1 % to +3 % time).',
        ),
        (
            with_ratio(Ratio(1.2, 0.9, 1.4, "unclear", 0.41, 64)),
            'Whether "index" changed is unclear: 10 s → 12 s (-10 % to +40 % time); a change of 41 % or '
            "more would have shown, one of 10 % takes 64 repeats of each run at this spread.",
        ),
        (
            with_ratio(Ratio(1.2, 1.2, 1.2, "unclear", None, None)),
            'Whether "index" changed is unclear: 10 s → 12 s (+20 % to +20 % time); too few repeats to say '
            "more.",
        ),
        (
            with_ratio(Ratio(1.2, 0.7, 1.6, "unclear", 0.45, None, 0.43, "other work")),
            'Whether "index" changed is unclear: 10 s → 12 s (-30 % to ×1.6 time); a change of 45 % or more '
            "would have shown, one of 10 % never: other work on the host alone may do 43 %; repeat when it "
            "is quiet.",
        ),
        (
            with_ratio(Ratio(1.2, 0.2, 6.0, "unclear", 5.1, None, 4.9, "other work")),
            'Whether "index" changed is unclear: 10 s → 12 s (×0.2 to ×6 time); a change of ×6.1 or more '
            "would have shown, one of 10 % never: other work on the host alone may do ×5.9; repeat when it "
            "is quiet.",
        ),
        (
            with_ratio(Ratio(1.1, 0.9, 1.3, "unclear", 0.3, None, 0.2, "history")),
            'Whether "index" changed is unclear: 10 s → 12 s (-10 % to +30 % time); a change of 30 % or more '
            "would have shown, one of 10 % never: like runs differ by up to 20 % from day to day.",
        ),
        (with_ratio(None), '"index" was not measured in both runs.'),
    ],
)
def test_a_verdict_is_said_in_words_first(flow: Compared, text: str) -> None:
    assert said_of(flow) == text


@pytest.mark.parametrize(
    ("ratio", "text"),
    [
        (0.25, "4 times as fast"),
        (0.9, "10 % less time"),
        (1.06, "6 % more time"),
        (2.5, "2.5 times the time"),
        (150.0, "150 times the time"),
    ],
)
def test_a_large_change_is_a_factor_and_a_small_one_per_cent(ratio: float, text: str) -> None:
    assert change(ratio) == text


def test_a_bound_has_its_sign() -> None:
    assert [format_change(ratio) for ratio in (0.88, 0.999, 1.0, 1.031, 0.5, 3.0)] == [
        "-12 %",
        "-0.1 %",
        "0 %",
        "+3.1 %",
        "×0.5",
        "×3",
    ]
