"""Messages reach real servers through apprise, once per change; whoever hangs costs only itself."""

from __future__ import annotations

import asyncio
import contextlib
import time
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from pathtrace.app.telling import doubts_of_ways, reached_nobody, tell
from pathtrace.model.report import Caveat
from pathtrace.model.scanning import Message, ScanReport
from pathtrace.model.scenario import Scenario
from pathtrace.telling.message import send, understood
from tests.telling import example
from tests.telling.receivers import dripping_server, free_port, http_receiver, mail_server, mute_server
from tests.unit.scenario.example import read, text_of

MESSAGE = Message(
    "lab on nas: index takes 2.3 times as long", "index: 4 min → 9 min\n\nNext: <look> & see", False
)
SECRET = "s3cr3t-token"


def sent(*urls: str, limit_s: float = 15.0) -> tuple[Caveat, ...]:
    return asyncio.run(send(urls, MESSAGE, limit_s))


def scenario_telling(*urls: str) -> Scenario:
    listed = ", ".join(f'"{url}"' for url in urls)
    return read(text_of(f"tell: {{urls: [{listed}]}}\n"))


def told(report: ScanReport, scenario: Scenario) -> tuple[Caveat, ...]:
    return asyncio.run(tell(report, scenario, {"format": "pathtrace.scan/1"}))


def test_a_message_arrives_by_json_ntfy_and_mail_as_it_is() -> None:
    with http_receiver() as web, http_receiver() as ntfy, mail_server() as mail:
        caveats = sent(
            f"json://127.0.0.1:{web.port}/hook",
            f"ntfy://127.0.0.1:{ntfy.port}/topic",
            f"mailto://127.0.0.1:{mail.port}/?from=lab@example.org&to=owner@example.org",
        )
    assert caveats == ()
    (hook,), (note,), (letter,) = web.requests, ntfy.requests, mail.mails
    assert (hook.path, hook.json["title"], hook.json["message"]) == ("/hook", MESSAGE.title, MESSAGE.body)
    assert hook.json["type"] == "warning"
    assert (note.json["topic"], note.json["title"], note.json["message"]) == (
        "topic",
        MESSAGE.title,
        MESSAGE.body,
    )
    assert letter["Subject"] == MESSAGE.title
    parts = [
        part.get_payload(decode=True) for part in letter.walk()
    ]  # one, or text and HTML beside each other
    assert "4 min → 9 min" in b"".join(part for part in parts if isinstance(part, bytes)).decode()


def test_good_news_is_marked_as_such() -> None:
    with http_receiver() as web:
        asyncio.run(send((f"json://127.0.0.1:{web.port}",), replace(MESSAGE, good=True), 15.0))
    assert web.requests[0].json["type"] == "success"


def test_over_a_series_of_scans_a_change_is_told_once_and_once_when_it_ends() -> None:
    standing = replace(example.STEP, state="standing")
    over = replace(example.STEP, state="ended", ended_with=example.NIGHT)
    nights = [
        example.QUIET,
        example.with_changes(example.STEP),
        example.with_changes(standing),
        example.skipped(),
        example.with_changes(standing),
        example.with_changes(over),
        example.QUIET,
    ]
    with http_receiver() as web, mail_server() as mail:
        scenario = scenario_telling(
            f"json://127.0.0.1:{web.port}",
            f"mailto://127.0.0.1:{mail.port}/?from=lab@example.org&to=owner@example.org",
        )
        for night in nights:
            assert told(night, scenario) == ()
    titles = [
        "household-archive on workstation: archive->indexer of index takes 2.9 times as long",
        "household-archive on workstation: archive->indexer of index takes what it took before",
    ]
    assert [each.json["title"] for each in web.requests] == titles
    assert [" ".join(str(each["Subject"]).split()) for each in mail.mails] == titles


def test_a_receiver_that_hangs_costs_only_itself_and_its_time() -> None:
    begun = time.monotonic()
    with mute_server() as port, dripping_server() as slow, http_receiver() as web:
        caveats = sent(
            f"json://u:{SECRET}@127.0.0.1:{port}/?rto=600&cto=600",
            f"json://127.0.0.1:{web.port}",
            f"mailto://u:{SECRET}@127.0.0.1:{port}/?from=a@example.org&to=b@example.org",
            f"json://127.0.0.1:{slow}/{SECRET}",
            limit_s=4.0,
        )
    assert time.monotonic() - begun < 9
    assert len(web.requests) == 1
    assert [caveat.subject for caveat in caveats] == ["tell.urls.1", "tell.urls.3", "tell.urls.4"]
    assert [caveat.text for caveat in caveats] == [
        "address 1 of 4 to tell: no answer within 4 s",
        "address 3 of 4 to tell: no answer within 4 s",
        "address 4 of 4 to tell: no answer within 4 s",
    ]


def test_a_receiver_that_refuses_or_is_not_there_costs_only_itself() -> None:
    with http_receiver(status=403) as refusing, http_receiver() as web:
        caveats = sent(
            f"ntfy://{SECRET}@127.0.0.1:{refusing.port}/topic",
            f"json://127.0.0.1:{web.port}",
            f"json://127.0.0.1:{free_port()}/{SECRET}",
        )
    assert len(web.requests) == 1
    assert [caveat.text for caveat in caveats] == [
        "address 1 of 3 to tell (ntfy): the message was refused: the service answered 403",
        "address 3 of 3 to tell (JSON): the message did not go out: "
        "the service could not be reached, or refused it",
    ]


def test_a_url_that_is_not_understood_is_said_without_showing_it() -> None:
    caveats = asyncio.run(
        understood(
            ("json://127.0.0.1", f"nope://{SECRET}", f"tgram://{SECRET}", f"dbus://{SECRET}", "mailto://"),
            15.0,
        )
    )
    assert [(caveat.text, caveat.subject) for caveat in caveats[:2]] == [
        ("address 2 of 5 to tell: the URL is not understood: apprise knows no such service", "tell.urls.2"),
        (
            "address 3 of 5 to tell (Telegram): the URL is not understood: "
            "something is missing or wrong for Telegram",
            "tell.urls.3",
        ),
    ]
    assert SECRET not in repr(caveats)


def test_a_service_whose_library_is_missing_says_which(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "paho"
    package.mkdir()
    (package / "__init__.py").write_text("raise ImportError\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    ((caveat),) = asyncio.run(understood((f"mqtt://u:{SECRET}@127.0.0.1/topic",), 15.0))
    assert (
        caveat.text
        == "the address to tell (MQTT Notification): MQTT Notification needs a library that is not installed"
    )
    assert caveat.remedy is not None
    assert caveat.remedy.startswith("pip install paho-mqtt")


def test_a_folder_that_a_scan_starts_in_lends_no_modules(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "apprise.py").write_text("raise SystemExit\n")
    (tmp_path / "json.py").write_text("raise SystemExit\n")
    monkeypatch.chdir(tmp_path)
    with http_receiver() as web:
        assert sent(f"json://127.0.0.1:{web.port}") == ()
    assert len(web.requests) == 1


def test_check_asks_without_sending_anything() -> None:
    with http_receiver() as web:
        scenario = scenario_telling(f"json://127.0.0.1:{web.port}", f"nope://{SECRET}")
        (caveat,) = asyncio.run(doubts_of_ways(scenario))
    assert caveat.subject == "tell.urls.2"
    assert web.requests == []


def test_that_nobody_was_reached_is_known_and_one_is_enough() -> None:
    with http_receiver() as web:
        nobody = scenario_telling(f"json://127.0.0.1:{free_port()}", f"nope://{SECRET}")
        one = scenario_telling(f"json://127.0.0.1:{web.port}", f"nope://{SECRET}")
        report = example.with_changes(example.STEP)
        assert reached_nobody(nobody, told(report, nobody))
        assert not reached_nobody(one, told(report, one))
    assert not reached_nobody(read(text_of()), ())


def test_secrets_show_neither_in_words_nor_in_the_list_of_processes_nor_on_the_terminal(
    capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(0)

    async def watched(port: int) -> tuple[tuple[Caveat, ...], str]:
        urls = (f"json://user:{SECRET}@127.0.0.1:{port}/{SECRET}?+X={SECRET}", f"nope://{SECRET}")
        task = asyncio.create_task(send(urls, MESSAGE, 3.0))
        seen = ""
        while not task.done():
            seen += await asyncio.to_thread(command_lines)
            await asyncio.sleep(0.1)
        return task.result(), seen

    with mute_server() as port:
        caveats, seen = asyncio.run(watched(port))
    assert len(caveats) == 2
    assert "pathtrace.telling.messenger" in seen
    captured = capfd.readouterr()
    assert SECRET not in repr(caveats) + seen + captured.out + captured.err + caplog.text


def command_lines() -> str:
    """Of this process's children."""
    found = ""
    for child in psutil.Process().children():
        with contextlib.suppress(psutil.Error):
            found += " ".join(child.cmdline())
    return found
