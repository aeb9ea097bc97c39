"""What can be changed in a run, and ``--set`` as people write it: ``lan=10GbE``, ``archive.depth=16``.

Knows names and units. What a change does is for ``rescaling`` and ``resetting``.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from pathtrace.analysis.evidence import Evidence
from pathtrace.analysis.limiting.link_use import link_ceiling
from pathtrace.analysis.limiting.links import link_name
from pathtrace.analysis.limiting.round_trips import is_mapped, trip_time
from pathtrace.errors import UsageError
from pathtrace.model.prediction import Change, Changed
from pathtrace.model.scenario import Access, Action, DatabaseSpec, FilesSpec, InferenceSpec, Place, UserSpec
from pathtrace.units import parse_duration, parse_rate

MOST = 4096
"""Nobody has more workers, a deeper queue of requests or larger batches than a few thousand."""
MOST_BATCH = 1_000_000


@dataclass(frozen=True, slots=True)
class Target:
    """Something that can be set, and what it is now (None: not known)."""

    kind: Changed
    resource: str
    subject: str
    before: float | None
    word: str | None = None
    """What it is now, where that is no number."""


def parse_changes(texts: Sequence[str], evidence: Evidence) -> tuple[Change, ...]:
    """UsageError for what cannot be set, a value without its unit, or the same thing set twice."""
    known = targets(evidence)
    changes = tuple(_change(text, known) for text in texts)
    names = [change.resource for change in changes]
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f"{name} is set {names.count(name)} times", hint="give each once")
    return changes


def targets(evidence: Evidence) -> Mapping[str, Target]:
    """By every spelling that is taken: a link also without its prefix."""
    found: dict[str, Target] = {}
    for name, place in _links(evidence).items():
        rate = _rate(evidence, name, place)
        trip_s = trip_time(evidence, place, None) if place else None
        found[name] = found[f"link:{name}"] = Target(Changed.LINK, f"link:{name}", name, rate)
        latency = Target(Changed.LATENCY, f"link:{name}.latency", name, trip_s)
        found[f"{name}.latency"] = found[f"link:{name}.latency"] = latency
    for each in _used(evidence):
        for target in (*_of_place(each, evidence), *_commit(each, evidence)):
            found[target.resource] = target
    return found


def _used(evidence: Evidence) -> list[Place]:
    scenario = evidence.run.scenario
    names = dict.fromkeys(name for flow in scenario.flows for name in flow.path)
    return [scenario.place(name) for name in names]


def _links(evidence: Evidence) -> dict[str, str | None]:
    """Every link that is declared or led to a place, with one such place."""
    found: dict[str, str | None] = {link.name: None for link in evidence.run.scenario.links}
    for place in _used(evidence):
        if evidence.is_far(place.name):
            found[link_name(evidence, place.name).partition(":")[2]] = place.name
    return found


def _rate(evidence: Evidence, name: str, place: str | None) -> float | None:
    """What it carries of payload, towards this host."""
    if place is None:
        return next(
            (link.speed_bytes_per_s for link in evidence.run.scenario.links if link.name == name), None
        )
    here = evidence.run.scenario.here.name
    ceiling = link_ceiling(evidence, place, f"{evidence.place(place).host}->{here}")
    return ceiling.bytes_per_s if ceiling else None


def _of_place(place: Place, evidence: Evidence) -> list[Target]:
    name, workers = place.name, Target(Changed.WORKERS, f"{place.name}.workers", place.name, place.workers)
    alone = evidence.ceiling(f"disk:{name}")
    disk = Target(Changed.DISK, f"disk:{name}", name, alone.bytes_per_s if alone else None)
    match place.spec:
        case FilesSpec(depth=depth):
            access = Target(
                Changed.ACCESS, f"{name}.access", name, None, _access(place, place.spec, evidence)
            )
            return [disk, workers, Target(Changed.DEPTH, f"{name}.depth", name, depth), access]
        case DatabaseSpec(batch=batch):
            return [disk, workers, Target(Changed.BATCH, f"{name}.batch", name, batch)]
        case InferenceSpec(url=url):
            return [workers, Target(Changed.LOADED, f"{name}.loaded", name, None)] if url else [workers]
        case UserSpec():
            return []
        case _:
            return [workers]


def _commit(place: Place, evidence: Evidence) -> Iterator[Target]:
    """Of places that something is stored in; now: what a sync takes alone."""
    stages = [stage for flow in evidence.run.scenario.flows for stage in flow.stages]
    if any(each.place == place.name and each.action in (Action.INSERT, Action.WRITE) for each in stages):
        alone = evidence.ceiling(f"commit:{place.name}")
        latency_s = alone.latency_s if alone else None
        yield Target(Changed.COMMIT, f"commit:{place.name}", place.name, latency_s)


def _access(place: Place, spec: FilesSpec, evidence: Evidence) -> str:
    """How the files are read now, as stated or as their loaders do; those behind a URL are never mapped."""
    seen = evidence.reached(place.name)
    tensors = seen is not None and seen.facts is not None and seen.facts.weights is not None
    mapped = is_mapped(spec) or (tensors and not spec.access_stated)
    return str(Access.MMAP if mapped and spec.url is None else spec.access)


def _change(text: str, known: Mapping[str, Target]) -> Change:
    name, equals, value = (part.strip() for part in text.partition("="))
    if not equals or not name or not value:
        raise UsageError(f"{text!r} is no change", hint="write it as in lan=10GbE or archive.depth=16")
    target = known.get(name)
    if target is None:
        raise UsageError(f"there is nothing called {name!r} to set in this run", hint=_hint(name, known))
    read, unit = _VALUES[target.kind]
    try:
        after = read(value)
    except UsageError as error:
        raise UsageError(error.message, hint=error.hint, where=f"--set {name}") from None
    if after <= 0:
        raise UsageError(f"{value!r} must be more than nothing", where=f"--set {name}")
    words = None if target.word is None else (target.word, value)
    return Change(target.kind, target.resource, target.subject, target.before, after, unit, words=words)


def _hint(name: str, known: Mapping[str, Target]) -> str:
    """What is nearly the same; else what can be set of the thing that is named, else of all."""
    if near := difflib.get_close_matches(name, known, n=1, cutoff=0.8):
        return f"did you mean {near[0]!r}?"
    subject = name.rpartition(":")[2].partition(".")[0]
    mine = dict.fromkeys(target.resource for target in known.values() if target.subject == subject)
    if mine:
        return f"of {subject} can be set: {', '.join(mine)}"
    if near := difflib.get_close_matches(name, known, n=1, cutoff=0.5):
        return f"did you mean {near[0]!r}?"
    listed = dict.fromkeys(target.resource for target in known.values())
    return f"can be set: {', '.join(listed) or 'nothing'}"


def _count(most: int) -> Callable[[str], float]:
    def read(text: str) -> float:
        if not text.isascii() or not text.isdigit() or not 0 < int(text[:9]) <= most:
            raise UsageError(f"{text!r} is not a whole number from 1 to {most:,}")
        return float(text)

    return read


def _true(text: str) -> float:
    if text != "true":
        raise UsageError(
            f"{text!r} is not 'true'", hint="what a model that is not loaded costs is in the run"
        )
    return 1.0


def _way(text: str) -> float:
    """One of the ways to read files; the word itself is kept beside."""
    known = [str(access) for access in Access]
    if text not in known:
        near = difflib.get_close_matches(text, known, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"one of {', '.join(known)}"
        raise UsageError(f"{text!r} is no way to read files", hint=hint)
    return 1.0


_VALUES: Mapping[Changed, tuple[Callable[[str], float], str]] = {
    Changed.LINK: (parse_rate, "bytes_per_s"),
    Changed.LATENCY: (parse_duration, "s"),
    Changed.DISK: (parse_rate, "bytes_per_s"),
    Changed.COMMIT: (parse_duration, "s"),
    Changed.BATCH: (_count(MOST_BATCH), "count"),
    Changed.DEPTH: (_count(MOST), "count"),
    Changed.WORKERS: (_count(MOST), "count"),
    Changed.LOADED: (_true, "flag"),
    Changed.ACCESS: (_way, "access"),
}
