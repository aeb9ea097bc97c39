"""No secret survives in what is stored or shown, and nothing else is touched."""

from __future__ import annotations

from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pathtrace.redaction import SECRET_NAME, Scrubber, hide_spans, redact_urls, secret_spans


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("postgresql://lab:s3cret@db.lan/lab", "postgresql://lab:***@db.lan/lab"),
        ("see smb://a:b@nas/x and sftp://c:d@nas/y", "see smb://a:***@nas/x and sftp://c:***@nas/y"),
        ("postgresql://lab:p@ss@db.lan/lab", "postgresql://lab:***@db.lan/lab"),
        ("postgresql://lab:p/ss@db.lan/lab", "postgresql://lab:***@db.lan/lab"),
        ("postgresql://:only@db", "postgresql://:***@db"),
        ("http://h/x?user=a&api_key=abc&n=1", "http://h/x?user=a&api_key=***&n=1"),
        ("http://h/x?X-Amz-Signature=abc#f", "http://h/x?X-Amz-Signature=***#f"),
        ('{"url": "http://u:pw@h"}', '{"url": "http://u:***@h"}'),
    ],
)
def test_secrets_written_in_urls_are_hidden(text: str, expected: str) -> None:
    assert redact_urls(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "http://localhost:8080/v1/models",
        "http://localhost:8080/users/@me",
        "sftp://admin@nas.lan/x",
        "nas:/export and admin@nas.lan",
        "http://h/x?tokens=5&key=1",
        "sqlite:///tmp/a.db",
        "",
    ],
)
def test_what_holds_no_secret_stays_as_it_is(text: str) -> None:
    assert redact_urls(text) == text
    assert secret_spans(text) == ()


def test_spans_that_overlap_are_hidden_once() -> None:
    assert hide_spans("0123456789", [(6, 8), (1, 4), (2, 5), (3, 4)]) == "0***5***89"


@pytest.mark.parametrize("name", ["NAS_PASSWORD", "api_key", "HF_TOKEN", "DB_PASS", "AUTH", "MySecret"])
def test_names_of_secrets_are_known(name: str) -> None:
    assert SECRET_NAME.search(name)


@pytest.mark.parametrize("name", ["HOME", "NAS_HOST", "MODEL_DIR", "MAX_TOKENS"])
def test_other_names_are_not_taken_for_secrets(name: str) -> None:
    assert not SECRET_NAME.search(name)


def test_known_values_are_scrubbed_also_as_a_url_quotes_them() -> None:
    scrub = Scrubber(("p@ss word", ""))
    assert scrub("tried p@ss word, sent p%40ss%20word") == "tried ***, sent ***"


def test_the_longer_of_two_secrets_is_scrubbed_first() -> None:
    assert Scrubber(("abc", "abcdef"))("abcdef abc") == "*** ***"


def test_a_scrubber_without_secrets_still_hides_passwords_in_urls() -> None:
    assert Scrubber()("http://u:pw@h/ and text") == "http://u:***@h/ and text"


SECRETS = st.text(st.characters(codec="ascii", exclude_characters="*\0"), min_size=1)
AROUND = st.text(st.characters(exclude_characters="*\0", exclude_categories=["Cs"]))


@given(st.lists(SECRETS, min_size=1), AROUND)
def test_no_known_secret_survives(secrets: list[str], around: str) -> None:
    text = around.join([*secrets, *(quote(secret, safe="") for secret in secrets)])
    scrubbed = Scrubber(tuple(secrets))(text).replace("***", "\0")
    assert [secret for secret in secrets if secret in scrubbed] == []


@given(st.text())
def test_redacting_twice_changes_nothing_more(text: str) -> None:
    assert redact_urls(redact_urls(text)) == redact_urls(text)


@given(st.text(st.characters(categories=["L", "N"]), min_size=1))
def test_any_password_in_a_url_is_hidden(password: str) -> None:
    assert redact_urls(f"postgresql://lab:{password}@db.lan/lab") == "postgresql://lab:***@db.lan/lab"
