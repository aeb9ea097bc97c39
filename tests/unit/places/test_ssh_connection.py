"""How a host is named for SSH."""

from __future__ import annotations

import pytest

from pathtrace.places.ssh_connection import Login, login_of


@pytest.mark.parametrize(
    ("address", "login"),
    [
        ("nas", Login("nas")),
        ("admin@nas.lan", Login("nas.lan", None, "admin")),
        ("admin@nas.lan:2222", Login("nas.lan", 2222, "admin")),
        ("nas.lan:2222", Login("nas.lan", 2222)),
        ("ssh://admin@nas.lan:2222/", Login("nas.lan", 2222, "admin")),
        ("fd00::7", Login("fd00::7")),
        ("[fd00::7]", Login("fd00::7")),
        ("admin@[fd00::7]:2222", Login("fd00::7", 2222, "admin")),
        ("a@b@nas", Login("nas", None, "a@b")),
    ],
)
def test_an_address_is_taken_apart(address: str, login: Login) -> None:
    assert login_of(address) == login


def test_a_password_is_not_shown_with_the_login() -> None:
    assert "geheim" not in repr(Login("nas", 22, "anna", "geheim"))
