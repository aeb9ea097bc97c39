"""A scan killed at random moments: nothing of what was whole is lost, and the next one tidies up.

12 moments by default, since each takes a whole scan after it; PATHTRACE_KILLS=100 tries a hundred.
"""

from __future__ import annotations

import os
import random
import time
from pathlib import Path

import pytest

from tests.scanning.nights import assert_sound, assert_tidy, make_lab, scan, start

KILLS = int(os.environ.get("PATHTRACE_KILLS", "12"))


def began(store: Path, until_s: float) -> None:
    """Wait until the scan has taken its locks: what comes before changes nothing."""
    until = time.monotonic() + until_s
    lock = store / ".scan.lock"
    while not (lock.exists() and lock.read_bytes()) and time.monotonic() < until:
        time.sleep(0.005)


@pytest.mark.skipif(os.name != "posix", reason="needs kill -9")
@pytest.mark.timeout(60 + 30 * KILLS)
def test_a_scan_killed_at_any_moment_loses_nothing_and_the_next_one_tidies_up(tmp_path: Path) -> None:
    draw = random.Random(KILLS)
    store = make_lab(tmp_path)
    whole: set[str] = set()
    lasts_s = 1.0
    at_work = 0
    for _ in range(KILLS):
        began_s = time.monotonic()
        process = start(tmp_path)
        began(store, 30)
        set_out_s = time.monotonic() - began_s
        time.sleep(draw.uniform(0, lasts_s))
        process.kill()
        process.communicate()
        at_work += process.returncode != 0
        assert_sound(tmp_path, whole)
        began_s = time.monotonic()
        code, night, err = scan(tmp_path)
        assert (code, night["outcome"]) == (0, "measured"), err
        lasts_s = max(0.1, time.monotonic() - began_s - set_out_s)
        whole.add(night["run"])
        assert_sound(tmp_path, whole)
        assert_tidy(tmp_path)
    assert at_work > KILLS / 2
