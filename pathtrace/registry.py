"""Names and the classes behind them, imported on first use: the kinds of place, the observers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import cast

from pathtrace.model.network import Endpoint
from pathtrace.model.run import Mount
from pathtrace.model.scenario import (
    DatabaseSpec,
    FilesSpec,
    InferenceSpec,
    Place,
    PlaceKind,
    ProcessSpec,
    Scenario,
)
from pathtrace.model.work import Clock
from pathtrace.ports import HasWorkers, Observer
from pathtrace.ports import Place as PlacePort


@dataclass(frozen=True, slots=True)
class KindInfo:
    """A kind of place as ``pathtrace places`` shows it. ``target`` is None: not in this version."""

    kind: PlaceKind
    name: str
    summary: str
    needs: str
    target: str | None

    @property
    def available(self) -> bool:
        return self.target is not None


_FILES = "pathtrace.places.files:Files"
_REMOTE = "pathtrace.places.remote_files:RemoteFiles"
_PROCESS = "pathtrace.places.process:Process"
_SERVICE = "pathtrace.places.service:Service"
_INFERENCE = "pathtrace.places.inference:Inference"

KINDS: tuple[KindInfo, ...] = (
    KindInfo(PlaceKind.FILES, "path", "a file or a tree on a local disk or any mount", "", _FILES),
    KindInfo(PlaceKind.FILES, "make", "files made from the seed: a stand-in", "", _FILES),
    KindInfo(PlaceKind.FILES, "smb", "a share, read over SMB", "libsmbclient or smbprotocol", _REMOTE),
    KindInfo(PlaceKind.FILES, "sftp", "files on a host with SSH", "a key or a password", _REMOTE),
    KindInfo(PlaceKind.FILES, "http, https, webdav, s3", "files on a web or object server", "", None),
    KindInfo(PlaceKind.PROCESS, "command", "your own program, once for each document", "", _PROCESS),
    KindInfo(PlaceKind.PROCESS, "run", "chunk: cuts text into pieces, a stand-in", "", _PROCESS),
    KindInfo(PlaceKind.PROCESS, "url", "a service that is given each document", "a server", _SERVICE),
    KindInfo(
        PlaceKind.DATABASE,
        "sqlite",
        "SQLite with full-text search, in a scratch file",
        "FTS5",
        "pathtrace.places.sqlite:Sqlite",
    ),
    KindInfo(
        PlaceKind.DATABASE,
        "postgresql",
        "PostgreSQL with full-text search, in a scratch schema",
        "a role that may create a schema",
        "pathtrace.places.postgres:Postgres",
    ),
    KindInfo(
        PlaceKind.INFERENCE,
        "openai",
        "any OpenAI-compatible server; without url a stand-in that takes weights",
        "a server",
        _INFERENCE,
    ),
    KindInfo(PlaceKind.INFERENCE, "ollama", "Ollama by its own API", "a server", _INFERENCE),
    KindInfo(
        PlaceKind.USER, "user", "people who ask, and wait for the answer", "", "pathtrace.places.user:User"
    ),
)

_CLASSES = {info.kind: info.target for info in reversed(KINDS) if info.target}
"""Of each kind, the first way of being one; ``_target`` knows where another has its own class."""
_DATABASES = {info.name: info.target for info in KINDS if info.target and info.kind is PlaceKind.DATABASE}


def build_places(scenario: Scenario, clock: Clock) -> Mapping[str, PlacePort]:
    """One object for each place that a flow goes through; does no I/O."""
    used = dict.fromkeys(name for flow in scenario.flows for name in flow.path)
    return {name: _build(scenario, scenario.place(name), clock) for name in used}


def _build(scenario: Scenario, place: Place, clock: Clock) -> PlacePort:
    module, name = _target(place).split(":")
    kind = getattr(import_module(module), name)
    if isinstance(place.spec, InferenceSpec):
        model, allow = scenario.workload.model, scenario.control.allow
        made = kind(place, clock, scenario.control.seed, model.output, model.name, allow)
        return cast("PlacePort", made)
    return cast("PlacePort", kind(place, clock, scenario.control.seed))


def _target(place: Place) -> str:
    """Where the class of a place is: of a database, by the scheme of its URL."""
    if isinstance(place.spec, DatabaseSpec):
        return _DATABASES[place.spec.url.partition(":")[0]]
    if isinstance(place.spec, ProcessSpec) and place.spec.url is not None:
        return _SERVICE
    if isinstance(place.spec, FilesSpec) and place.spec.url is not None:
        return _REMOTE
    return _CLASSES[place.kind]


def build_observers(
    servers: Mapping[str, int],
    endpoints: Mapping[str, Endpoint],
    mounts: Mapping[str, Mount],
    workers: Sequence[HasWorkers],
) -> tuple[Observer, ...]:
    """Every observer of this host that has something to see.

    By place: the processes behind it (``servers``), its server on another host, what it lies on here.
    ``workers``: places that have processes of ours work for them.
    """
    from pathtrace.observers.cpu import CpuObserver
    from pathtrace.observers.disk import DiskObserver
    from pathtrace.observers.interface import InterfaceObserver
    from pathtrace.observers.memory import MemoryObserver
    from pathtrace.observers.mount_helpers import HelperObserver
    from pathtrace.observers.mount_statistics import MountObserver
    from pathtrace.observers.own import OwnObserver
    from pathtrace.observers.own_workers import WorkerObserver
    from pathtrace.observers.process import ProcessObserver
    from pathtrace.observers.tcp import TcpObserver

    far = {name: mount for name, mount in mounts.items() if mount.far}
    observers: tuple[Observer, ...] = (
        CpuObserver(),
        DiskObserver(),
        InterfaceObserver(),
        MemoryObserver(),
        OwnObserver(),
        ProcessObserver(servers),
    )
    if workers:
        observers += (WorkerObserver(lambda: [pid for place in workers for pid in place.pids]),)
    if far:
        observers += (HelperObserver(far), MountObserver(far))
    return (*observers, TcpObserver(endpoints)) if endpoints else observers
