"""``tell`` and ``keep``: who hears of a scan, wrong values with their line, and no URL shown anywhere."""

from __future__ import annotations

import pytest

from pathtrace.model.scenario import Ways
from tests.unit.scenario.example import faults_of, read, text_of

URL = "ntfy://tk_s3cret@ntfy.sh/my-topic"
PING = "https://hc-ping.com/0f8b-uuid"
WHOLE = f"""\
tell:
  urls: ["${{NTFY_URL}}", "tgram://123:abc/456"]
  metrics: /var/lib/node_exporter/pathtrace.prom
  log: ~/pathtrace.log
  ping: {PING}
keep: 30 d
"""


def test_every_way_is_read() -> None:
    scenario = read(text_of(WHOLE), {"NTFY_URL": URL})
    assert scenario.tell == Ways(
        urls=(URL, "tgram://123:abc/456"),
        metrics="/var/lib/node_exporter/pathtrace.prom",
        log="~/pathtrace.log",
        ping=PING,
    )
    assert scenario.keep_s == 30 * 86_400


def test_without_the_keys_nobody_is_told_and_samples_stay_ninety_days() -> None:
    scenario = read(text_of())
    assert (scenario.tell, scenario.keep_s) == (Ways(), 90 * 86_400)


def test_one_url_needs_no_list() -> None:
    assert read(text_of(f"tell: {{urls: '{URL}'}}\n")).tell.urls == (URL,)


def test_neither_key_belongs_to_the_work_or_the_set_up() -> None:
    plain, told = read(text_of()), read(text_of(WHOLE), {"NTFY_URL": URL})
    assert (told.workload_fingerprint, told.setup_fingerprint) == (
        plain.workload_fingerprint,
        plain.setup_fingerprint,
    )


def test_every_url_is_a_secret_as_a_whole_and_hidden_in_the_text() -> None:
    scenario = read(text_of(WHOLE), {"NTFY_URL": URL})
    assert {URL, "tgram://123:abc/456", PING} <= set(scenario.secrets)
    assert not {"/var/lib/node_exporter/pathtrace.prom", "~/pathtrace.log"} & set(scenario.secrets)
    assert '  urls: ["${NTFY_URL}", ***]\n' in scenario.text
    assert "  ping: ***\n" in scenario.text
    assert "  metrics: /var/lib/node_exporter/pathtrace.prom\n" in scenario.text
    assert URL not in repr(scenario.tell)
    assert PING not in repr(scenario.tell)


@pytest.mark.parametrize("written", ["ntfy://${TOPIC}", "${TELL:-ntfy://topic1}", "ntfy:\\x2f/topic1"])
def test_a_url_that_is_only_partly_a_variable_is_hidden_whole(written: str) -> None:
    scenario = read(text_of(f'tell: {{urls: ["{written}"]}}\n'), {"TOPIC": "topic1"})
    assert scenario.tell.urls == ("ntfy://topic1",)
    assert "topic1" not in scenario.text
    assert "urls: [***]" in scenario.text


@pytest.mark.parametrize(
    ("written", "message", "hint"),
    [
        (
            "{urls: [hunter2-topic]}",
            "lab.yaml:3:15: tell.urls.1: this is not a URL",
            "as apprise writes them: ntfy://…, mailto://…, tgram://…",
        ),
        (
            '{urls: "ntfy://hunter2 topic"}',
            "lab.yaml:3:14: tell.urls.1: a URL has no spaces",
            "write %20 for a space; give several as a list",
        ),
        (
            "{urls: [hunter2]}",
            "lab.yaml:3:15: tell.urls.1: this is not a URL",
            "as apprise writes them: ntfy://…, mailto://…, tgram://…",
        ),
        (
            "ntfy://hunter2",
            "lab.yaml:3:7: tell: '***' stands here where a mapping of keys to values is wanted",
            "write its keys below it, indented",
        ),
        (
            "{url: ntfy://hunter2}",
            "lab.yaml:3:8: unknown key 'url' in tell",
            "allowed: urls, metrics, log, ping; did you mean 'urls'?",
        ),
        (
            "{ping: ftp://host/hunter2}",
            "lab.yaml:3:14: tell.ping: this is not the URL of a healthcheck",
            "write https://host/…, without spaces",
        ),
        (
            "{metrics: pathtrace.prom}",
            "lab.yaml:3:17: tell.metrics: 'pathtrace.prom' is no whole path",
            "a timer starts elsewhere: begin with / or ~/",
        ),
        (
            "{log: ntfy://hunter2}",
            "lab.yaml:3:13: tell.log: '***' is no whole path",
            "a timer starts elsewhere: begin with / or ~/",
        ),
        (
            "{log: /var/log/}",
            "lab.yaml:3:13: tell.log: '/var/log/' is a folder",
            "name the file in it",
        ),
    ],
)
def test_a_wrong_value_is_told_with_its_place_and_without_a_url(
    written: str, message: str, hint: str
) -> None:
    assert faults_of(text_of(f"tell: {written}\n")) == [(message, hint)]


@pytest.mark.parametrize("written", ["90", "23 h"])
def test_samples_are_kept_for_a_day_at_least(written: str) -> None:
    assert faults_of(text_of(f"keep: {written}\n")) == [
        (
            f"lab.yaml:3:7: keep: '{written}' is less than a day",
            "samples are needed the next morning: keep: 90 d",
        )
    ]


def test_a_variable_with_an_empty_default_is_for_scans_only() -> None:
    text = text_of('tell: {urls: ["${TOPIC:-}", "ntfy://b"], ping: "${CHECK:-}"}\n')
    assert read(text).tell == Ways(urls=("ntfy://b",))
    assert read(text, {"TOPIC": "ntfy://a"}).tell == Ways(urls=("ntfy://a", "ntfy://b"))
