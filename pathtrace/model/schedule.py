"""What is scheduled and what adding, listing and removing found: plain values, no system touched.

Times of day are local ones of the host; moments carry their zone.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

SYSTEMD, CRON = "systemd", "cron"
"""Kinds of scheduler."""

SYSTEM, USER = "system", "user"
"""Whose: the host's or the caller's."""


@dataclass(frozen=True, slots=True)
class Job:
    """One scenario's scan as it is to be started: all paths absolute."""

    name: str
    scenario: str
    store: str
    folder: str
    """Where it is started: relative paths and commands of the scenario count from there."""
    python: str
    """The interpreter that has pathtrace."""
    lasts_s: float
    """At most so long: the scenario's budget."""
    path: str
    """PATH, so that commands of the scenario are found as they were by hand."""
    options: tuple[str, ...] = ()
    env_file: str | None = None

    @property
    def words(self) -> tuple[str, ...]:
        """The command line. ``-P``: nothing is imported from the folder that it is started in."""
        scan = (self.python, "-P", "-m", "pathtrace", "scan", self.scenario, "--store", self.store)
        return (*scan, *self.options)


@dataclass(frozen=True, slots=True)
class Collision:
    """Another job that is at work when the scan is, the first time that they meet."""

    job: str
    source: str
    """The file, timer or crontab that says so."""
    known: str | None
    """What kind of job it is, where that is known."""
    starts: datetime
    scan_starts: datetime
    times: int
    """How often they meet in the days looked at."""


@dataclass(frozen=True, slots=True)
class Scheduled:
    """A scan that is, or is to be, started by itself."""

    name: str
    kind: str
    scope: str
    scenario: str | None
    """None where what was written of it cannot be read any more."""
    when: str
    """As the scheduler spells it: OnCalendar, or five fields."""
    said: str | None = None
    """``every day at 03:17``; None of times that people wrote themselves."""
    delay_s: float = 0
    """At most so much later than ``when``."""
    store: str | None = None
    folder: str | None = None
    env_file: str | None = None
    options: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    active: bool | None = None
    """Whether its scheduler has it: None where that cannot be seen."""
    next: tuple[datetime, ...] = ()
    collisions: tuple[Collision, ...] = ()
    free: str | None = None
    """A time of day at which nothing collides; None where nothing does or none was found."""


@dataclass(frozen=True, slots=True)
class Written:
    """A file or crontab as it was written or would be; ``text``: None where it is taken away."""

    path: str
    text: str | None


@dataclass(frozen=True, slots=True)
class ScheduleReport:
    """``action``: add, list or remove. ``to_type``: commands that are left to the reader."""

    action: str
    dry_run: bool
    schedules: tuple[Scheduled, ...]
    written: tuple[Written, ...] = ()
    to_type: tuple[str, ...] = ()
    caveats: tuple[str, ...] = ()
