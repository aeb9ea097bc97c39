"""What a schedule says of itself beside its command: a line of JSON, in a unit or a crontab's comment."""

from __future__ import annotations

import hashlib
import json
import os
import re
from typing import NamedTuple

from pathtrace.model.schedule import Job
from pathtrace.scheduling.times import Times

PREFIX = "pathtrace-scan-"
NAME = re.compile(rf"{PREFIX}[a-z0-9-]{{1,50}}")


class Told(NamedTuple):
    """What can be told of a schedule that is there; absent in one that was spoiled by hand."""

    scenario: str
    store: str
    folder: str
    env_file: str | None
    options: tuple[str, ...]
    times: Times
    lasts_s: float


def name_of(scenario: str) -> str:
    """The name of a scenario's schedule: the file's name as far as it is plain, and a digest of its path."""
    stem = os.path.splitext(os.path.basename(scenario))[0].lower()
    plain = re.sub(r"[^a-z0-9]+", "-", stem)[:30].strip("-") or "scenario"
    return f"{PREFIX}{plain}-{hashlib.sha256(os.fsencode(scenario)).hexdigest()[:8]}"


def written(job: Job, times: Times) -> str:
    """One line of ASCII."""
    return json.dumps(
        {
            "scenario": job.scenario,
            "store": job.store,
            "folder": job.folder,
            "env_file": job.env_file,
            "options": list(job.options),
            "lasts_s": job.lasts_s,
            "times": [times.every_s, times.hour, times.minute, times.weekday],
        }
    )


def read(text: str) -> Told | None:
    """None if it is not what ``written`` writes."""
    try:
        found = json.loads(text)
        times = Times(*(int(number) for number in found["times"]))
        env_file = found["env_file"]
        return Told(
            str(found["scenario"]),
            str(found["store"]),
            str(found["folder"]),
            None if env_file is None else str(env_file),
            tuple(str(option) for option in found["options"]),
            times,
            float(found["lasts_s"]),
        )
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
