from __future__ import annotations

from dataclasses import replace
from typing import get_args

import pytest

from pathtrace.places.remote import Target
from pathtrace.places.smb_faults import INSTALL, operation_error, place_error
from pathtrace.places.smb_session import Fault, Kind

SECRET = "the-password"
TARGET = Target("smb", "nas", 4450, "ann", SECRET, "share/folder")


@pytest.mark.parametrize("kind", get_args(Kind))
def test_every_kind_has_a_sentence_and_no_secret(kind: Kind) -> None:
    place = place_error(Fault(kind, "detail"), TARGET, "ann")
    operation = operation_error(Fault(kind, "detail"), TARGET, "a/b", "ann")
    assert place.message
    assert operation.message.startswith("a/b: ")
    assert SECRET not in f"{place} {place.hint} {operation} {operation.hint}"


def test_a_missing_library_comes_with_the_sentence_how_to_install_one() -> None:
    error = place_error(Fault("no_library"), TARGET, None)
    assert (error.message, error.hint) == ("there is no library for smb://", INSTALL)


def test_names_from_a_server_cannot_steer_a_terminal() -> None:
    message = operation_error(Fault("not_found"), TARGET, "a\x1b[2Jb", "ann").message
    assert message == "a\\x1b[2Jb: no such file or folder"


def test_an_ipv6_address_stands_in_brackets_where_more_follows() -> None:
    target = replace(TARGET, host="fd77::1")
    assert place_error(Fault("refused"), target, "ann").message == "[fd77::1]:4450 refused the connection"
    assert (
        place_error(Fault("not_found"), target, "ann").message == "there is no smb://[fd77::1]/share/folder"
    )


def test_a_target_that_is_a_file_is_called_by_its_own_name() -> None:
    target = replace(TARGET, path="share/folder/llama.gguf")
    assert operation_error(Fault("not_found"), target, "", "ann").message == (
        "llama.gguf: no such file or folder"
    )
