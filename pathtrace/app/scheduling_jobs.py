"""From what was asked for to the job that is to be started: everything a scheduler needs, checked beforehand.

A scheduler has not the variables of a terminal, so the scenario is read as it will be read then.
"""

from __future__ import annotations

import contextlib
import os
import socket
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pathtrace.app import load_scenario
from pathtrace.errors import PathtraceError, ScenarioError, UsageError
from pathtrace.model.scenario import Scenario
from pathtrace.model.schedule import Job
from pathtrace.redaction import secret_spans
from pathtrace.scheduling import env_file, metadata, programs, quoting
from pathtrace.scheduling.times import Times, chosen

_SCHEDULERS_OWN = ("PATH", "HOME", "LOGNAME", "USER")
"""What a timer or cron has of the variables of a terminal (or is given)."""
_TERMINAL_ONLY = (
    "timers and cron do not have your terminal's variables: put it into a file, and give --env-file FILE"
)


@dataclass(frozen=True, slots=True)
class Asked:
    """What is to be scheduled. ``scope`` and ``kind``: None where they are left to us."""

    scenario: Path
    store: Path
    at: str | None = None
    every: str | None = None
    scope: str | None = None
    kind: str | None = None
    env_file: Path | None = None
    options: tuple[str, ...] = ()


def left_to_a_scheduler(environ: Mapping[str, str]) -> dict[str, str]:
    """Those of a terminal's variables that a timer or cron has too."""
    return {name: environ[name] for name in _SCHEDULERS_OWN if name in environ}


def job_of(asked: Asked, environ: Mapping[str, str], variables: Mapping[str, str]) -> tuple[Job, Times]:
    """What to start, and when. ``variables``: what it will have beside those of its file."""
    folder = _folder()
    scenario = os.path.abspath(asked.scenario)
    secrets = os.path.abspath(asked.env_file) if asked.env_file is not None else None
    if secrets is not None:
        env_file.require_fit(secrets)
        variables = {**variables, **env_file.read_env_file(Path(secrets))}
    loaded = _loaded(Path(scenario), variables, {**environ, **variables})
    times = chosen(asked.at, asked.every, _host() + os.fsencode(scenario))
    _refuse_secrets(asked.options)
    job = Job(
        name=metadata.name_of(scenario),
        scenario=scenario,
        store=os.path.abspath(asked.store),
        folder=folder,
        python=os.path.abspath(sys.executable),
        lasts_s=loaded.control.budget_s,
        path=_search_path(environ),
        options=asked.options,
        env_file=secrets,
    )
    for what, text in (("scenario", job.scenario), ("store", job.store), ("folder", job.folder)):
        quoting.require_utf8(text, what)
    return job, times


def _folder() -> str:
    try:
        return os.getcwd()
    except OSError as error:
        raise UsageError("the folder that you are in is there no more", hint="cd to another one") from error


def _loaded(path: Path, variables: Mapping[str, str], all_variables: Mapping[str, str]) -> Scenario:
    """The scenario as the scheduler will have it; where only variables are wanting, how to give them."""
    try:
        return load_scenario(path, variables)
    except ScenarioError as error:
        try:
            load_scenario(path, all_variables)
        except ScenarioError:
            raise error from None
        faults = (
            PathtraceError(each.message, hint=_TERMINAL_ONLY, where=each.where) for each in error.faults
        )
        raise ScenarioError(tuple(faults)) from error


def _host() -> bytes:
    """What tells this host from others."""
    with contextlib.suppress(OSError):
        return Path("/etc/machine-id").read_bytes() + socket.gethostname().encode()
    return socket.gethostname().encode()


def _search_path(environ: Mapping[str, str]) -> str:
    """The folders of PATH that there are, each once."""
    named = dict.fromkeys(environ.get("PATH", os.defpath).split(os.pathsep))
    return os.pathsep.join(each for each in named if os.path.isabs(each) and os.path.isdir(each))


def _refuse_secrets(options: Iterable[str]) -> None:
    if any(secret_spans(option) for option in options):
        raise UsageError(
            "an option holds a password: everybody would see it in the list of processes",
            hint="put it into a file of variables, and give --env-file FILE",
        )


def require_start(job: Job) -> None:
    """UsageError if what a timer would start does not start: installed for this terminal only, say."""
    ended = programs.run((*job.words[:4], "--version"), more={"PYTHONPATH": ""})
    if ended.code != 0:
        raise UsageError(f"a scheduler could not start pathtrace by {job.python}: {ended.reason}")


def start_words(words: Sequence[str]) -> tuple[str, ...]:
    """The command line of a scan by the pathtrace that runs now."""
    return (sys.executable, "-P", "-m", "pathtrace", "scan", *words)


def start_environ(path: Path, environ: Mapping[str, str]) -> dict[str, str]:
    """These variables and those of a file."""
    return {**environ, **env_file.read_env_file(path)}
