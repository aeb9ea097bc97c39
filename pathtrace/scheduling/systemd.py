"""Our units on disk and in a manager: validated, written whole, enabled where one runs, read and removed.

Touches files named ``pathtrace-scan-…`` that bear our section, and no others.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from pathtrace.errors import PathtraceError, StoreError, UsageError
from pathtrace.model.schedule import SYSTEM, USER, Written
from pathtrace.scheduling import metadata, programs, writing
from pathtrace.scheduling.units import HEAD, TimerSays, Units, read_timer

BOOTED = Path("/run/systemd/system")
"""Is there exactly if the machine was started by systemd (sd_booted(3))."""
_SYSTEM_FOLDER = Path("/etc/systemd/system")
_LINGER = Path("/var/lib/systemd/linger")


@dataclass(frozen=True, slots=True)
class Manager:
    """The host's manager or the caller's. ``runs``: units can be handed to it now."""

    scope: str
    folder: Path
    runs: bool

    def service(self, name: str) -> Path:
        return self.folder / f"{name}.service"

    def timer(self, name: str) -> Path:
        return self.folder / f"{name}.timer"

    def link(self, name: str) -> Path:
        """What ``enable`` makes."""
        return self.folder / "timers.target.wants" / f"{name}.timer"

    def command(self, *words: str) -> tuple[str, ...]:
        """A systemctl command line."""
        return ("systemctl", *(["--user"] if self.scope == USER else []), *words)


def manager(scope: str, environ: Mapping[str, str]) -> Manager:
    """Where its units lie, and whether it answers."""
    if scope == SYSTEM:
        return Manager(SYSTEM, _SYSTEM_FOLDER, BOOTED.is_dir())
    home = environ.get("XDG_CONFIG_HOME") or os.path.join(os.path.expanduser("~"), ".config")
    runtime = environ.get("XDG_RUNTIME_DIR")
    runs = BOOTED.is_dir() and runtime is not None and (Path(runtime) / "systemd" / "private").exists()
    return Manager(USER, Path(home) / "systemd" / "user", runs)


def is_installed() -> bool:
    return shutil.which("systemctl") is not None


def validate(name: str, units: Units, scope: str) -> None:
    """UsageError if systemd itself would not take them; unjudged where it is not installed."""
    if shutil.which("systemd-analyze") is None:
        return
    with tempfile.TemporaryDirectory(prefix="pathtrace-") as folder:
        paths = [os.path.join(folder, f"{name}.{kind}") for kind in Units._fields]
        for path, text in zip(paths, units, strict=True):
            Path(path).write_text(text, encoding="utf-8")
        whose = ["--user"] if scope == USER else []
        verify = ["systemd-analyze", *whose, "verify", "--man=no", *paths]
        ended = programs.run(verify, more={"XDG_RUNTIME_DIR": folder})
    if name in ended.err and ended.code != 0:
        raise UsageError(f"systemd does not take the units: {ended.reason.replace(folder + '/', '')}")


def files(owner: Manager, name: str, units: Units) -> tuple[Written, ...]:
    """What adding writes."""
    return (
        Written(str(owner.service(name)), units.service),
        Written(str(owner.timer(name)), units.timer),
    )


def add(owner: Manager, name: str, units: Units) -> tuple[str, ...]:
    """Write both, have them taken if a manager runs, and say what is left to type. As before on failure."""
    before = {path: writing.read(path) for path in (owner.service(name), owner.timer(name))}
    for path, data in before.items():
        if data is not None and not data.startswith(HEAD.encode()):
            raise UsageError("it is there and not ours: nothing was written", where=str(path))
    reload, enable = owner.command("daemon-reload"), owner.command("enable", f"{name}.timer")
    start = owner.command("restart", f"{name}.timer")
    try:
        writing.write(owner.service(name), units.service.encode())
        writing.write(owner.timer(name), units.timer.encode())
        if owner.runs:
            _ask(reload, enable, start)
            return ()
    except PathtraceError:
        _as_before(owner, name, before)
        raise
    return (" ".join(reload), " ".join(owner.command("enable", "--now", f"{name}.timer")))


def _as_before(owner: Manager, name: str, before: Mapping[Path, bytes | None]) -> None:
    """Both files, and no link to a timer that was not there."""
    for path, data in before.items():
        writing.restore(path, data)
    if before[owner.timer(name)] is None:
        with contextlib.suppress(StoreError):
            writing.take_away(owner.link(name))
    if owner.runs:
        programs.run(owner.command("daemon-reload"))


def remove(owner: Manager, name: str) -> tuple[str, ...]:
    """Stop the timer, take our files and the link away, and say what is left to type. A scan goes on."""
    if owner.runs:
        programs.run(owner.command("disable", "--now", f"{name}.timer"))
    for path in (owner.link(name), *own_files(owner, name)):
        writing.take_away(path)
    reload = owner.command("daemon-reload")
    if owner.runs:
        _ask(reload)
        return ()
    return (" ".join(reload),) if BOOTED.is_dir() else ()


def own_files(owner: Manager, name: str) -> tuple[Path, ...]:
    """What ``remove`` takes away of a timer that was found: a service that others put there stays."""
    service = writing.read(owner.service(name))
    mine = service is not None and service.startswith(HEAD.encode())
    return (owner.service(name), owner.timer(name)) if mine else (owner.timer(name),)


def found(owner: Manager) -> Iterator[tuple[str, TimerSays]]:
    """Names of our timers and what they say, in order."""
    for path in sorted(owner.folder.glob(f"{metadata.PREFIX}*.timer")):
        data = writing.read(path)
        says = read_timer(data.decode("utf-8", "replace")) if data is not None else None
        if says is not None and metadata.NAME.fullmatch(path.stem):
            yield path.stem, says


def is_active(owner: Manager, name: str) -> bool | None:
    """Whether the manager has the timer; None where none answers."""
    if not owner.runs:
        return None
    return programs.run(owner.command("is-active", "--quiet", f"{name}.timer")).code == 0


def lingers(user: str) -> bool:
    """Whether the user's manager, and so the timer, runs while nobody is logged on."""
    return (_LINGER / user).exists()


def _ask(*commands: tuple[str, ...]) -> None:
    for words in commands:
        ended = programs.run(words)
        if ended.code != 0:
            raise UsageError(f"'{' '.join(words)}' failed: {ended.reason}")
