from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pathtrace.model.run import Mount
from pathtrace.model.sample import Reading
from pathtrace.observers.mount_statistics import (
    MountObserver,
    parse_cifs_stats,
    parse_mountstats,
    share_of,
)

KEPT = Path(__file__).parent / "kept"


def test_an_nfs_mount_is_read_with_times_in_seconds_added_up_over_operations() -> None:
    found = parse_mountstats((KEPT / "mountstats.txt").read_text())

    assert [*found] == ["/mnt/my documents", "/mnt/old"]
    assert found["/mnt/my documents"] == {
        "read_bytes": 1_048_580_096,
        "write_bytes": 52_428_800,
        "application_read_bytes": 1_048_580_096,
        "server_read_ops": 1000,
        "read_rtt_s": 503.927,
        "server_write_ops": 50,
        "write_rtt_s": 1.83,
        "server_ops": 1 + 1000 + 50 + 26 + 259 + 1005,
        "retransmits": 2,
        "queue_s": pytest.approx(1.716),
        "rtt_s": pytest.approx(506.388),
        "execute_s": pytest.approx(508.19),
    }
    assert set(found["/mnt/old"].values()) == {0.0}


def test_a_share_is_read_as_smb_3_and_as_smb_1_counts() -> None:
    assert parse_cifs_stats((KEPT / "cifs_stats.txt").read_text()) == {
        "//nas.lan/media": {
            "server_ops": 1170,
            "read_bytes": 4_362_862_592,
            "write_bytes": 1_073_741_824,
            "open_ops": 15,
            "server_read_ops": 1042,
            "server_write_ops": 256,
        },
        "//nas.lan/backup": {
            "server_ops": 7,
            "read_bytes": 0,
            "write_bytes": 0,
            "server_read_ops": 0,
            "server_write_ops": 0,
        },
        "//oldnas/scans": {
            "server_ops": 9,
            "read_bytes": 507_904,
            "server_read_ops": 31,
            "write_bytes": 8192,
            "server_write_ops": 2,
        },
    }


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_a_place_has_the_counters_of_its_own_mount(tmp_path: Path) -> None:
    (tmp_path / "self").mkdir()
    (tmp_path / "fs" / "cifs").mkdir(parents=True)
    shutil.copy(KEPT / "mountstats.txt", tmp_path / "self" / "mountstats")
    shutil.copy(KEPT / "cifs_stats.txt", tmp_path / "fs" / "cifs" / "Stats")
    mounts = {
        "papers": Mount("/mnt/my documents", "nas.lan:/pool/documents", "nfs4", None, True),
        "media": Mount("/mnt/media", "//NAS.lan/Media/films", "cifs", None, True),
        "elsewhere": Mount("/mnt/x", "//other/share", "cifs", None, True),
        "local": Mount("/", "/dev/sda", "ext4", "sda", False),
    }

    readings = MountObserver(mounts, str(tmp_path)).observe(5)

    assert {r.subject for r in readings} == {"papers", "media"}
    assert Reading(5, "mount", "media", "server_read_ops", 1042.0) in readings
    assert Reading(5, "mount", "papers", "read_rtt_s", 503.927) in readings


def test_without_the_kernels_files_there_are_no_readings(tmp_path: Path) -> None:
    share = Mount("/mnt/media", "//nas/media", "cifs", None, True)
    assert MountObserver({"media": share}, str(tmp_path)).observe(5) == []


@pytest.mark.parametrize("device", ["//nas/media", "\\\\NAS\\Media", "//nas/media/films/old", "//nas/media/"])
def test_a_share_has_one_name(device: str) -> None:
    assert share_of(device) == "//nas/media"


@given(st.text(alphabet="device mountd onwithfstype nfs4:\t0123456789READ\n\\)", max_size=300))
def test_any_text_is_survived(text: str) -> None:
    parse_mountstats("device a:/b mounted on /c with fstype nfs4 statvers=1.1\n" + text)
    parse_cifs_stats("1) \\\\a\\b\n" + text)
