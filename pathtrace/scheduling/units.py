"""The text of a service and its timer, and what can be read back from it.

Nothing here uses mount namespaces, private devices or system-call filters: a scan must see the mounts, disks
and processes that are seen by hand, and a filter costs time at every call.
"""

from __future__ import annotations

from typing import NamedTuple

from pathtrace.model.schedule import SYSTEM, Job
from pathtrace.scheduling import metadata
from pathtrace.scheduling.quoting import started, systemd_path, systemd_word
from pathtrace.scheduling.times import Times

SECTION = "[X-Pathtrace]"
HEAD = "# Written by 'pathtrace schedule add'; 'pathtrace schedule remove' takes it away.\n"
_KEY = "Schedule="
_SYSTEM_ONLY = """\
User=root
CapabilityBoundingSet=~CAP_SYS_BOOT CAP_SYS_MODULE CAP_SYS_TIME CAP_MAC_ADMIN CAP_MAC_OVERRIDE
"""
_NETWORK = """\
Wants=network-online.target
After=network-online.target
"""


class Units(NamedTuple):
    service: str
    timer: str


class TimerSays(NamedTuple):
    """``calendar``: the last OnCalendar; ``told``: None where it cannot be read."""

    calendar: str
    told: metadata.Told | None


def units(job: Job, times: Times, scope: str) -> Units:
    """Both texts. UsageError where systemd cannot hold a path."""
    return Units(_service(job, scope), _timer(job, times))


def _service(job: Job, scope: str) -> str:
    """A scan ended by SIGTERM stored what it had, so 143 is no failure; a verdict (1) shows as one."""
    command = " ".join(map(systemd_word, started(job.words)))
    secrets = f"EnvironmentFile={systemd_path(job.env_file, 'EnvironmentFile')}\n" if job.env_file else ""
    return f"""\
{HEAD}[Unit]
Description=pathtrace scan ({job.name})
{_NETWORK if scope == SYSTEM else ""}
[Service]
Type=oneshot
ExecStart=:{command}
WorkingDirectory={systemd_path(job.folder, "WorkingDirectory")}
Environment={systemd_word(f"PATH={job.path}")}
{secrets}KillMode=mixed
TimeoutStopSec=2min
SuccessExitStatus=143
UMask=0077
LimitCORE=0
OOMScoreAdjust=500
{_SYSTEM_ONLY if scope == SYSTEM else ""}"""


def _timer(job: Job, times: Times) -> str:
    return f"""\
{HEAD}[Unit]
Description=pathtrace scan, {times.said} ({job.name})

[Timer]
OnCalendar={times.calendar}
RandomizedDelaySec={times.delay_s}
Persistent=true

[Install]
WantedBy=timers.target

{SECTION}
{_KEY}{metadata.written(job, times)}
"""


def read_timer(text: str) -> TimerSays | None:
    """What a timer of ours says; None if it is not ours."""
    lines = text.splitlines()
    if SECTION not in lines:
        return None
    own = [line.removeprefix(_KEY) for line in lines if line.startswith(_KEY)]
    calendars = [line.partition("=")[2].strip() for line in lines if line.startswith("OnCalendar=")]
    return TimerSays(calendars[-1] if calendars else "", metadata.read(own[-1]) if own else None)
