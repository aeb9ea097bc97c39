"""What can hold a schedule: systemd's managers and crontabs, all asked in the same way."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import NamedTuple, Protocol

from pathtrace.errors import UsageError
from pathtrace.model.schedule import CRON, SYSTEM, SYSTEMD, USER, Job, Written
from pathtrace.scheduling import cron, cron_blocks, metadata, systemd, units
from pathtrace.scheduling.times import Times


class Found(NamedTuple):
    """A schedule that is there. ``when``: OnCalendar or five fields, as they stand there now."""

    name: str
    when: str
    told: metadata.Told | None
    files: tuple[str, ...]


class Holder(Protocol):
    @property
    def kind(self) -> str:
        """systemd or cron."""

    @property
    def scope(self) -> str:
        """system or user."""

    def found(self) -> tuple[Found, ...]:
        """Our schedules in it. UsageError if it cannot be read."""

    def plan(self, job: Job, times: Times) -> tuple[Written, ...]:
        """What ``add`` would write, validated. UsageError if its scheduler would not take it."""

    def add(self, job: Job, times: Times) -> tuple[str, ...]:
        """Put it in, in place of one of the same name; what is left to type."""

    def removal(self, name: str) -> tuple[Written, ...]:
        """What ``remove`` would take away."""

    def remove(self, name: str) -> tuple[str, ...]:
        """Take it out; what is left to type."""

    def is_active(self, name: str) -> bool | None:
        """Whether its scheduler runs and has it; None where that cannot be seen."""


class SystemdHolder:
    kind = SYSTEMD

    def __init__(self, manager: systemd.Manager) -> None:
        self._manager = manager
        self.scope = manager.scope

    def found(self) -> tuple[Found, ...]:
        return tuple(
            Found(name, says.calendar, says.told, self._files(name))
            for name, says in systemd.found(self._manager)
        )

    def plan(self, job: Job, times: Times) -> tuple[Written, ...]:
        texts = units.units(job, times, self.scope)
        systemd.validate(job.name, texts, self.scope)
        return systemd.files(self._manager, job.name, texts)

    def add(self, job: Job, times: Times) -> tuple[str, ...]:
        return systemd.add(self._manager, job.name, units.units(job, times, self.scope))

    def removal(self, name: str) -> tuple[Written, ...]:
        return tuple(Written(str(path), None) for path in systemd.own_files(self._manager, name))

    def remove(self, name: str) -> tuple[str, ...]:
        return systemd.remove(self._manager, name)

    def is_active(self, name: str) -> bool | None:
        return systemd.is_active(self._manager, name)

    def _files(self, name: str) -> tuple[str, ...]:
        return str(self._manager.service(name)), str(self._manager.timer(name))


class CronHolder:
    kind = CRON

    def __init__(self, scope: str, table: cron.Table) -> None:
        self.scope = scope
        self._table = table

    def found(self) -> tuple[Found, ...]:
        return tuple(
            Found(
                each.name,
                cron.fields_of(each.line),
                metadata.read(each.told),
                (self._table.where,),
            )
            for each in cron.found(self._table)
        )

    def plan(self, job: Job, times: Times) -> tuple[Written, ...]:
        """Our lines only: what else stands in the crontab is nobody's business."""
        block = cron.block(job, times, self._table.user_field)
        cron_blocks.with_block(self._table.read(), block)
        return (Written(self._table.where, block.to_bytes().decode()),)

    def add(self, job: Job, times: Times) -> tuple[str, ...]:
        block = cron.block(job, times, self._table.user_field)
        self._table.write(cron_blocks.with_block(self._table.read(), block))
        return ()

    def removal(self, name: str) -> tuple[Written, ...]:
        return (Written(self._table.where, None),)

    def remove(self, name: str) -> tuple[str, ...]:
        self._table.write(cron_blocks.without_block(self._table.read(), name))
        return ()

    def is_active(self, name: str) -> bool | None:
        return cron.is_running()


def is_root() -> bool:
    """Whether the host's own schedules may be changed; nobody is it on Windows."""
    return hasattr(os, "geteuid") and os.geteuid() == 0


def holders(environ: Mapping[str, str]) -> tuple[Holder, ...]:
    """All that there are on this machine, the caller's own and the host's."""
    found: list[Holder] = []
    if systemd.is_installed():
        found += [SystemdHolder(systemd.manager(scope, environ)) for scope in (USER, SYSTEM)]
    if cron.is_installed():
        found.append(CronHolder(USER, cron.UserTable()))
    if cron.FOLDER.is_dir():
        found.append(CronHolder(SYSTEM, cron.FileTable()))
    return tuple(found)


def _cron_holder(scope: str) -> CronHolder:
    """The host's where cron has such a folder (BusyBox has none), else the caller's own."""
    if scope == SYSTEM and cron.FOLDER.is_dir():
        return CronHolder(SYSTEM, cron.FileTable())
    return CronHolder(USER, cron.UserTable())


def holder_for(scope: str, kind: str | None, environ: Mapping[str, str]) -> Holder:
    """Where a new schedule goes: systemd where it runs, else cron, else units for when systemd will run.

    ``kind``: the one that was asked for. UsageError if there is none, or not this one.
    """
    if scope == SYSTEM and not is_root():
        raise UsageError("a schedule of the system needs root", hint="try it with sudo, or with --user")
    chosen = kind or (SYSTEMD if systemd.is_installed() and systemd.BOOTED.is_dir() else None)
    if chosen is None and (cron.is_installed() or cron.FOLDER.is_dir()):
        chosen = CRON
    if chosen in (SYSTEMD, None) and systemd.is_installed():
        return SystemdHolder(systemd.manager(scope, environ))
    if chosen == CRON and (cron.is_installed() or (scope == SYSTEM and cron.FOLDER.is_dir())):
        return _cron_holder(scope)
    raise UsageError(
        f"{chosen or 'neither systemd nor cron'} is not installed here",
        hint="'pathtrace schedule run' needs neither: it stays up and starts the scans itself",
    )
