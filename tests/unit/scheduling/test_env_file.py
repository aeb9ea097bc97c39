from pathlib import Path

import pytest

from pathtrace.errors import UsageError
from pathtrace.scheduling.env_file import open_to_others, read_env_file, require_fit


def read(tmp_path: Path, text: str) -> dict[str, str]:
    path = tmp_path / "variables"
    path.write_bytes(text.encode())
    return read_env_file(path)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("A=b", "b"),
        ("  A = b c  \r\n", "b c"),
        ("A=", ""),
        ("A=$HOME `x` # no remark", "$HOME `x` # no remark"),
        ("A='it is $x \\n'", "it is $x \\n"),
        ('A="a \\"quoted\\" \\$x \\\\ \\n"', 'a "quoted" $x \\ \\n'),
        ("A=back\\\\slash\\ s", "back\\slash s"),
        ("A=a=b", "a=b"),
        ("A=b'c\"d", "b'c\"d"),
        ("A=one\nA=two", "two"),
        ("# remark\n; another\n\nA=b\n", "b"),
        ("A=a\x0bb\u2028c", "a\x0bb\u2028c"),
    ],
)
def test_a_value_is_read_as_systemd_reads_it(tmp_path: Path, text: str, value: str) -> None:
    assert read(tmp_path, text) == {"A": value}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nonsense", "variables:1: not NAME=value"),
        ("\nexport A=hunter2", "variables:2: not NAME=value: leave out 'export'"),
        ("1A=hunter2", "variables:1: not NAME=value"),
        ("A='hunter2", "variables:1: the quotes do not close at the end of the line"),
        ("A='hunter2'x", "variables:1: the quotes do not close at the end of the line"),
        ('A="hunter2\\"', "variables:1: the quotes do not close at the end of the line"),
        ("A=hunter2\\", "variables:1: a value goes on in the next line, which is not read here"),
    ],
)
def test_what_systemd_would_read_otherwise_is_refused_without_its_value(
    tmp_path: Path, text: str, message: str
) -> None:
    with pytest.raises(UsageError) as raised:
        read(tmp_path, text)
    assert str(raised.value).endswith(message)
    assert "hunter2" not in f"{raised.value} {raised.value.hint}"


def test_a_file_that_is_not_there_or_no_text_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot read the file of variables"):
        read_env_file(tmp_path / "gone")
    (tmp_path / "binary").write_bytes(b"A=\xff")
    with pytest.raises(UsageError, match="is not UTF-8"):
        read_env_file(tmp_path / "binary")


@pytest.mark.parametrize("name", ["/a*", "/a?", "/[a]", "/a\\b", "/a ", "/a\nb"])
def test_names_that_systemd_takes_for_patterns_are_refused(name: str) -> None:
    with pytest.raises(UsageError, match="cannot be named as a file of variables"):
        require_fit(name)


def test_plain_names_fit_also_with_blanks_and_per_cent_signs() -> None:
    require_fit("/home/me/my lab's 100 % $x")


def test_whether_others_may_read_it_is_seen(tmp_path: Path) -> None:
    path = tmp_path / "variables"
    path.touch(0o600)
    assert not open_to_others(path)
    path.chmod(0o640)
    assert open_to_others(path)
    assert not open_to_others(tmp_path / "gone")
