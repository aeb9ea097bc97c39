import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pathtrace.errors import UsageError
from pathtrace.model.schedule import Job
from pathtrace.scheduling.quoting import cron_command, require_utf8, systemd_path, systemd_word

WORDS = st.lists(
    st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\0"), max_size=8), max_size=4
)


def job(folder: str = "/") -> Job:
    return Job("pathtrace-scan-x", "/s.yaml", "/store", folder, "/python", 60, "/bin")


def debian_unescapes(command: str) -> str:
    """What Debian's cron makes of a command (do_command.c): the shell's part of it."""
    kept: list[str] = []
    escaped = False
    for sign in command:
        if escaped:
            if sign in "%\\":
                kept.pop()
            escaped = False
        elif sign == "%":
            break
        else:
            escaped = sign == "\\"
        kept.append(sign)
    return "".join(kept)


def plainer_cron_unescapes(command: str) -> str:
    """What cronie makes of it: only per cent signs are unescaped."""
    assert "%" not in command.replace("\\%", "")
    return command.replace("\\%", "%")


@pytest.mark.parametrize("unescape", [debian_unescapes, plainer_cron_unescapes])
@settings(max_examples=40, deadline=None)
@given(words=WORDS)
def test_any_words_come_back_from_cron_and_sh(unescape, words: list[str]) -> None:  # type: ignore[no-untyped-def]
    command = cron_command(job(), ["/usr/bin/printf", "%s\\0", *words, "end"])
    assert "\n" not in command
    shown = unescape(command).removesuffix(" >/dev/null")
    out = subprocess.run(["/bin/sh", "-c", shown], capture_output=True, check=True).stdout
    assert out.decode().split("\0") == [*words, "end", ""]


def test_plain_words_stay_readable() -> None:
    assert (
        cron_command(job("/home/me"), ["/venv/bin/python", "-m", "pathtrace", "scan", "/home/me/my lab.yaml"])
        == "cd /home/me && PATH=/bin /venv/bin/python -m pathtrace scan '/home/me/my lab.yaml' >/dev/null"
    )


def test_a_command_longer_than_cron_takes_is_refused_with_the_remedy() -> None:
    words = ["x" * (998 - len("cd / && PATH=/bin  >/dev/null"))]
    assert len(cron_command(job(), words)) == 998
    with pytest.raises(UsageError, match="would have 999 bytes, and cron takes 998") as raised:
        cron_command(job(), [words[0] + "x"])
    assert raised.value.hint == "PATH takes 9 of them: type PATH=/usr/bin:/bin before the command"


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("/venv/bin/python", "/venv/bin/python"),
        ("a b", '"a b"'),
        ("100%", "100%%"),
        ('"\\$', '"\\"\\\\$"'),
        ("a\n\x1b", '"a\\x0a\\x1b"'),
        ("", '""'),
        (";", '";"'),
    ],
)
def test_words_of_units_are_spelled_as_systemd_reads_them(text: str, word: str) -> None:
    assert systemd_word(text) == word


def test_a_path_that_stands_alone_has_only_its_per_cent_signs_doubled() -> None:
    assert systemd_path("/my lab's/100 %", "WorkingDirectory") == "/my lab's/100 %%"
    for path in ("/a\nb", "/a ", "/a\\"):
        with pytest.raises(UsageError, match="systemd cannot hold"):
            systemd_path(path, "WorkingDirectory")


def test_names_that_are_no_text_are_refused() -> None:
    with pytest.raises(UsageError, match="the scenario has a name that is not UTF-8"):
        require_utf8("/a\udcff", "scenario")


def test_the_double_of_cron_is_right_about_what_sh_gets() -> None:
    assert debian_unescapes("a \\% b \\\\ c \\d % e") == "a % b \\ c \\d "
