"""``--source`` and ``--price`` as people write them."""

from __future__ import annotations

import pytest

from pathtrace.analysis.predicting.sources import prices_of, sources_of
from pathtrace.errors import UsageError
from pathtrace.model.prediction import Price

NAMES = ("lan", "link:lan", "lan=10GbE", "disk:archive")


def test_one_source_is_that_of_all_changes_or_each_has_its_own() -> None:
    sheet, mine = "data sheet; 2026-03; vendor", "fio on the same disk; 2026-03-14; own"
    assert sources_of((), 2) == [None, None]
    assert sources_of((sheet,), 2) == [sheet, sheet]
    assert sources_of((f" {mine} ", sheet), 2) == [mine, sheet]


def test_a_text_may_have_semicolons_and_keeps_no_password() -> None:
    [source] = sources_of(("https://me:word@shop/x; page 2; 2026; independent",), 1)
    assert source == "https://me:***@shop/x; page 2; 2026; independent"


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("data sheet", "'data sheet' is no source", "write text, date and whose word"),
        ("; 2026; own", "is no source", "write text, date and whose word"),
        ("sheet; 2026-13; vendor", "'2026-13' is no date", "2026-03"),
        ("sheet; 2026-03; vender", "'vender' does not say whose word it is", "did you mean 'vendor'?"),
        ("sheet; 2026-03; me", "'me' does not say whose word it is", "one of vendor, independent, own"),
    ],
)
def test_a_source_says_text_date_and_whose_word_it_is(text: str, message: str, hint: str) -> None:
    with pytest.raises(UsageError) as refused:
        sources_of((text,), 1)
    assert message in refused.value.message
    assert hint in (refused.value.hint or "")


def test_sources_that_fit_no_change_are_refused() -> None:
    with pytest.raises(UsageError, match="2 sources are given for 3 changes"):
        sources_of(("a; 2026; own", "b; 2026; own"), 3)


def test_a_price_is_a_number_with_or_without_a_currency() -> None:
    assert prices_of(("lan=120", "disk:archive=89.90"), NAMES) == {
        "lan": Price(120.0, None),
        "disk:archive": Price(89.9, None),
    }
    assert prices_of(("lan=10GbE=320 EUR", "lan=120EUR"), NAMES) == {
        "lan=10GbE": Price(320.0, "EUR"),
        "lan": Price(120.0, "EUR"),
    }


@pytest.mark.parametrize(
    ("texts", "message", "hint"),
    [
        (("lan",), "'lan' is no price", "write it as in --price lan=120"),
        (("lan=much",), "'lan=much' is no price", "write it as in"),
        (("lan=0",), "'lan=0' is no price", "write it as in"),
        (("lan=-3",), "'lan=-3' is no price", "write it as in"),
        (("lam=3",), "nothing called 'lam' is to be bought for this run", "did you mean 'lan'?"),
        (("zzz=3",), "nothing called 'zzz' is to be bought for this run", "known: lan, link:lan"),
        (("lan=3 EUR", "disk:archive=3 USD"), "prices in several currencies cannot be ranked", "the same"),
    ],
)
def test_a_price_of_nothing_or_of_no_amount_is_refused(
    texts: tuple[str, ...], message: str, hint: str
) -> None:
    with pytest.raises(UsageError) as refused:
        prices_of(texts, NAMES)
    assert message in refused.value.message
    assert hint in (refused.value.hint or "")
