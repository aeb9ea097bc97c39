"""``pathtrace respond`` as somebody on the other host would use it."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from pathtrace.errors import OperationError
from pathtrace.probes.responder_client import ResponderClient, Way
from tests.cli.command import Result, command, environment, pathtrace

TOKEN = "a token from the environment"


class Running:
    """The command while it listens; its standard error so far is in ``said``."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        assert process.stderr is not None
        self.process = process
        self.said: list[str] = []
        while not self.said or not self.said[-1].startswith("listening on "):
            line = process.stderr.readline()
            assert line, self.said
            self.said.append(line.rstrip("\n"))
        self.address = self.said[-1].removeprefix("listening on ")

    def client(self, token: str) -> ResponderClient:
        return ResponderClient(self.address, token, time.perf_counter_ns, busy_s=0)

    def end(self) -> Result:
        out, err = self.process.communicate(timeout=30)
        return Result(self.process.returncode, out, err)


@contextmanager
def responding(store: Path, *arguments: str, **more: str) -> Iterator[Running]:
    with subprocess.Popen(
        command("respond", "--listen", "127.0.0.1:0", *arguments),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(store, **more),
    ) as process:
        try:
            yield Running(process)
        finally:
            process.kill()


def test_a_token_is_drawn_and_shown_with_what_to_type_on_the_other_side(tmp_path: Path) -> None:
    with responding(tmp_path) as running:
        assert running.said[0] == "on the host that probes, type"
        match = re.fullmatch(r"  export PATHTRACE_TOKEN=([\w-]{32})", running.said[1])
        assert match is not None
        assert running.said[3] == f'  hosts: {{nas: {{responder: "{running.address}"}}}}'
        client = running.client(match[1])
        assert client.transfer(Way.TO_HERE, 1, 0.1, 0.0).bytes_per_s > 0
        client.close()
        result = running.end()
    assert result.code == 0
    assert re.fullmatch(r"served 1 session: \S+ \wiB sent, 0 B received\n", result.out)
    assert match[1] not in result.out + result.err


def test_a_token_from_the_environment_is_never_shown(tmp_path: Path) -> None:
    with responding(tmp_path, "--json", PATHTRACE_TOKEN=TOKEN) as running:
        with pytest.raises(OperationError):
            running.client("not that token, though").congestion_control()
        client = running.client(TOKEN)
        moved = client.transfer(Way.TO_THERE, 2, 0.1, 0.0)
        client.close()
        result = running.end()
    said = "\n".join(running.said) + result.err
    assert TOKEN not in said + result.out
    assert "turned away: wrong token" in said
    document = json.loads(result.out)
    (session,) = document.pop("sessions")
    assert document == {"format": "pathtrace.respond/1", "listen": running.address, "refused": 1}
    assert session.pop("duration_s") > 0
    assert session == {
        "peer": "127.0.0.1",
        "sent_bytes": 0,
        "received_bytes": sum(stream.bytes for stream in moved.received),
        "ended": "done",
    }


def test_two_sessions_may_be_asked_for(tmp_path: Path) -> None:
    with responding(tmp_path, "--sessions", "2", PATHTRACE_TOKEN=TOKEN) as running:
        for _ in range(2):
            client = ResponderClient(running.address, TOKEN, time.perf_counter_ns)
            client.congestion_control()
            client.close()
        assert running.end().out == "served 2 sessions: 0 B sent, 0 B received\n"


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_it_and_the_session_with_what_was_done(
    tmp_path: Path, number: signal.Signals, code: int
) -> None:
    with responding(tmp_path, "--json", PATHTRACE_TOKEN=TOKEN) as running:
        client = running.client(TOKEN)
        client.congestion_control()
        running.process.send_signal(number)
        result = running.end()
        with pytest.raises(OperationError):
            client.transfer(Way.TO_HERE, 1, 0.1, 0)
    assert result.code == code
    assert [session["ended"] for session in json.loads(result.out)["sessions"]] == [
        "the responder was stopped"
    ]
    assert "Traceback" not in result.err


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["--listen", "nas:port"], 2, "error: 'nas:port' is not an address with a port"),
        (["--listen", "192.0.2.1:7411"], 3, "error: cannot listen on 192.0.2.1:7411: "),
        (["--bytes", "many"], 2, "error: 'many' is not a size"),
        (["--time", "10 parsecs"], 2, "error: '10 parsecs' is not a duration"),
        (["--sessions", "0"], 2, "error: invalid value for '--sessions'"),
    ],
)
def test_what_cannot_be_is_said_in_a_line(tmp_path: Path, arguments: list[str], code: int, said: str) -> None:
    result = pathtrace(tmp_path, "respond", *arguments)
    assert (result.code, result.out) == (code, "")
    assert result.err.startswith(said)


def test_a_token_that_is_too_short_is_refused(tmp_path: Path) -> None:
    result = pathtrace(tmp_path, "respond", PATHTRACE_TOKEN="1234")
    assert (result.code, result.out) == (2, "")
    assert result.err.splitlines()[0] == "error: PATHTRACE_TOKEN has only 4 characters"
