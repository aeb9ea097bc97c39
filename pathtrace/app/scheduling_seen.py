"""What is known of a schedule: when it starts next, what it collides with, what may keep it from running."""

from __future__ import annotations

import getpass
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from pathtrace.app.scheduling_jobs import Asked
from pathtrace.errors import UsageError
from pathtrace.model.schedule import CRON, SYSTEMD, USER, Job, Scheduled
from pathtrace.scheduling import cron, env_file, metadata, systemd
from pathtrace.scheduling.collisions import collisions, free_time
from pathtrace.scheduling.holders import Found, Holder
from pathtrace.scheduling.other_jobs import LOOKED_AT, OtherJob, other_jobs
from pathtrace.scheduling.timer_files import calendar_moments
from pathtrace.scheduling.times import Times, next_moments

_SHOWN = 3
_MOST_SCANS = 400
_LEFT_BEHIND = ("PATHTRACE_TELL", "PATHTRACE_TOKEN", "PATHTRACE_RUNTIME", "PATHTRACE_SMB",
                "PATHTRACE_SMB_USER", "PATHTRACE_SMB_PASSWORD")  # fmt: skip


def scheduled_as(holder: Holder, found: Found, now: datetime) -> Scheduled:
    """All that is known of one, with its next moments and what it collides with."""
    told = found.told
    times = told.times if told is not None and when_of(holder, told.times) == found.when else None
    moments = _moments(holder, found.when, times, now, _MOST_SCANS)
    scheduled = Scheduled(
        name=found.name,
        kind=holder.kind,
        scope=holder.scope,
        scenario=told.scenario if told else None,
        when=found.when,
        said=times.said if times else None,
        delay_s=times.delay_s if times and holder.kind == SYSTEMD else 0,
        files=found.files,
        active=holder.is_active(found.name),
        next=moments[:_SHOWN],
    )
    if told is None:
        return scheduled
    scheduled = replace(
        scheduled, store=told.store, folder=told.folder, env_file=told.env_file, options=told.options
    )
    lasts_s = told.lasts_s + scheduled.delay_s
    others = other_jobs(Path("/"), now, found.name, systemd.BOOTED.is_dir())
    met = collisions([each for each in moments if each <= now + LOOKED_AT], lasts_s, others)
    return replace(
        scheduled, collisions=met, free=_free(times, lasts_s, others, now) if met and times else None
    )


def _free(times: Times, lasts_s: float, others: Sequence[OtherJob], now: datetime) -> str | None:
    return free_time(times, lasts_s, others, lambda fields: next_moments(fields, now, LOOKED_AT.days))


def _moments(
    holder: Holder, when: str, times: Times | None, now: datetime, count: int
) -> tuple[datetime, ...]:
    """The next moments; none where people wrote a time that nothing here understands."""
    if times is None and holder.kind == SYSTEMD:
        return calendar_moments([when], now)[when] if when else ()
    try:
        return next_moments(times.cron if times else when, now, count)
    except UsageError:
        return ()


def doubts_of(
    asked: Asked, holder: Holder, scheduled: Scheduled, environ: Mapping[str, str]
) -> tuple[str, ...]:
    """What may keep it from running as meant."""
    doubts: list[str] = []
    if holder.kind == CRON and asked.kind is None:
        doubts.append("systemd does not run here, so cron is to start it")
    if holder.kind == CRON and cron.is_running() is False:
        doubts.append(
            "no cron daemon runs here: nothing is started until one does (or use 'pathtrace schedule run')"
        )
    if holder.kind == SYSTEMD and not systemd.BOOTED.is_dir():
        doubts.append("systemd does not run here: the timer counts once it does")
    if holder.kind == SYSTEMD and holder.scope == USER and not systemd.lingers(getpass.getuser()):
        doubts.append("it runs only while you are logged on, unless you type: loginctl enable-linger")
    doubts += _variable_doubts(asked, scheduled, environ)
    return tuple(doubts)


def _variable_doubts(asked: Asked, scheduled: Scheduled, environ: Mapping[str, str]) -> list[str]:
    given = env_file.read_env_file(asked.env_file) if asked.env_file is not None else {}
    doubts = [
        f"{name} is set here, but the scheduled scan does not see it: put it into a file, --env-file FILE"
        for name in _LEFT_BEHIND
        if environ.get(name) and name not in given
    ]
    if asked.env_file is not None and env_file.open_to_others(asked.env_file):
        doubts.append(f"others may read {scheduled.env_file}: chmod 600 keeps them out")
    return doubts


def when_of(holder: Holder, times: Times) -> str:
    return times.calendar if holder.kind == SYSTEMD else times.cron


def told_of(job: Job, times: Times) -> metadata.Told:
    return metadata.Told(job.scenario, job.store, job.folder, job.env_file, job.options, times, job.lasts_s)
