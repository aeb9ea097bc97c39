from __future__ import annotations

from pathlib import Path

import pytest

from pathtrace.errors import PlaceError
from pathtrace.places.remote import Target
from pathtrace.places.smb_credentials import Credentials, find, read_file, split_domain

SECRET = " drawn = pass,word "


def target(user: str | None = None, password: str | None = None) -> Target:
    return Target("smb", "nas", None, user, password, "share")


@pytest.fixture(autouse=True)
def keyring(monkeypatch: pytest.MonkeyPatch) -> dict[tuple[str, str], str]:
    """The user's own is not asked: what is kept in this one, the tests say."""
    kept: dict[tuple[str, str], str] = {}

    def get_password(service: str, user: str) -> str | None:
        return kept.get((service, user))

    module = pytest.importorskip("keyring")
    monkeypatch.setattr(module, "get_password", get_password)
    return kept


def written(home: Path, text: str, mode: int = 0o600) -> Path:
    path = home / ".smbcredentials"
    path.write_text(text)
    path.chmod(mode)
    return path


def test_nothing_anywhere_is_a_guest(tmp_path: Path) -> None:
    assert find(target(), {}, tmp_path) == Credentials()


def test_user_and_password_of_the_url_win(tmp_path: Path) -> None:
    written(tmp_path, "username=other\npassword=x\n")
    environment = {"PATHTRACE_SMB_USER": "third", "PATHTRACE_SMB_PASSWORD": "y"}
    assert find(target("WORK;ann", SECRET), environment, tmp_path) == Credentials("WORK", "ann", SECRET)


def test_an_empty_password_in_the_url_is_one(tmp_path: Path) -> None:
    assert find(target("ann", ""), {}, tmp_path) == Credentials(None, "ann", "")


def test_the_environment_gives_user_and_password_or_only_the_password(tmp_path: Path) -> None:
    both = {"PATHTRACE_SMB_USER": "WORK\\ann", "PATHTRACE_SMB_PASSWORD": SECRET}
    only = {"PATHTRACE_SMB_PASSWORD": SECRET}
    assert find(target(), both, tmp_path) == Credentials("WORK", "ann", SECRET)
    assert find(target("bob"), only, tmp_path) == Credentials(None, "bob", SECRET)
    assert find(target(), only, tmp_path) == Credentials()


def test_a_password_is_never_given_to_another_user_than_its_own(tmp_path: Path) -> None:
    written(tmp_path, f"username=carol\npassword={SECRET}\n")
    environment = {"PATHTRACE_SMB_USER": "ann", "PATHTRACE_SMB_PASSWORD": SECRET}
    assert find(target("bob"), environment, tmp_path) == Credentials(None, "bob", None)


def test_a_keyring_keeps_the_password_of_a_user_at_a_host(
    tmp_path: Path, keyring: dict[tuple[str, str], str]
) -> None:
    keyring["pathtrace", "ann@nas"] = SECRET
    assert find(target("WORK;ann"), {}, tmp_path) == Credentials("WORK", "ann", SECRET)
    assert find(target("bob"), {}, tmp_path) == Credentials(None, "bob", None)
    assert find(target(), {"PATHTRACE_SMB_USER": "ann"}, tmp_path) == Credentials(None, "ann", SECRET)


def test_the_file_of_mount_cifs_is_read_with_every_character_of_the_password(tmp_path: Path) -> None:
    path = written(tmp_path, f"# mine\nusername=ann\npassword={SECRET}\ndomain=WORK\n\n")
    assert read_file(path) == Credentials("WORK", "ann", SECRET)
    assert find(target(), {}, tmp_path) == Credentials("WORK", "ann", SECRET)
    assert find(target("ann"), {}, tmp_path) == Credentials("WORK", "ann", SECRET)


def test_the_spaces_of_smbclients_own_files_are_no_part_of_the_values(tmp_path: Path) -> None:
    path = written(tmp_path, "username = ann\npassword = pass\n")
    assert read_file(path) == Credentials(None, "ann", "pass")


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620])
def test_a_file_that_others_may_use_is_refused_without_showing_what_is_in_it(
    tmp_path: Path, mode: int
) -> None:
    path = written(tmp_path, f"username=ann\npassword={SECRET}\n", mode)
    with pytest.raises(PlaceError) as caught:
        find(target(), {}, tmp_path)
    assert caught.value.message == f"{path} holds a password and others may read it"
    assert SECRET not in f"{caught.value} {caught.value.hint}"


def test_the_password_does_not_show_where_credentials_are_printed() -> None:
    assert SECRET not in repr(Credentials("WORK", "ann", SECRET))


@pytest.mark.parametrize(
    ("given", "apart"),
    [
        (None, (None, None)),
        ("", (None, None)),
        ("ann", (None, "ann")),
        ("WORK;ann", ("WORK", "ann")),
        ("WORK\\ann", ("WORK", "ann")),
        (";ann", (None, "ann")),
        ("ann@work.example", (None, "ann@work.example")),
    ],
)
def test_a_domain_stands_before_the_user(given: str | None, apart: tuple[str | None, str | None]) -> None:
    assert split_domain(given) == apart
