"""Which upgrades and settings make sense for a run: tried one by one, and ranked by what they save a day.

Only what a measured flow uses is tried, and only what could help it: the next faster link, a faster disk
where a disk holds, quicker commits, larger batches, more at once. What each gives is ``questions``'.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from pathtrace.analysis.assembly import measured_flows
from pathtrace.analysis.evidence import Evidence
from pathtrace.analysis.predicting.change_targets import Target, targets
from pathtrace.analysis.predicting.committing import commits_of
from pathtrace.analysis.predicting.questions import Question, answer
from pathtrace.analysis.predicting.rescaling import MOVES, crossing_stages
from pathtrace.analysis.ranking import TRIVIAL_S
from pathtrace.analysis.study import FlowStudy
from pathtrace.model.prediction import Changed, Price, SelfCheck, Unknown, Upgrade, Upgrades
from pathtrace.model.report import Report
from pathtrace.model.run import Run
from pathtrace.model.sample import SampleTable
from pathtrace.model.scenario import Action, Commit, DatabaseSpec, FrequencyKind
from pathtrace.units import parse_duration, parse_rate

LINKS = ("1GbE", "2.5GbE", "10GbE", "25GbE", "100GbE")
DISKS = ("500MB/s", "3000MB/s")
"""What a SATA and an NVMe solid-state disk do."""
COMMITS = "0.5ms"
"""What a solid-state disk takes to sync."""
BATCHES = (100, 500)
DEPTHS = (4, 16)
STEPS = 2
"""So many of the next faster ones are tried."""
FASTER = 1.5
"""Times what there is now: less is no upgrade."""
ALIKE = 0.05
"""Of a flow's time: less is called the same."""


@dataclass(frozen=True, slots=True)
class Candidate:
    settings: tuple[str, ...]
    free: bool


def upgrades(
    run: Run, report: Report, prices: Mapping[str, Price], candidates: Sequence[Candidate], most: int
) -> Upgrades:
    """``most``: so many operations are played again, candidates and repeats together; beyond that only those
    of the median repeats, then fewer candidates. EvidenceError if the run has nothing to predict from."""
    whole, played = run, len(run.samples) * (len(candidates) + 1)
    if played > most:
        run = median_repeats(run)
    fitting = candidates[: max(0, most // max(1, len(run.samples)) - 1)]
    base = answer(run, report, Question())
    asking = _Asking(run, report, prices)
    tried = [found for each in fitting if (found := asking.upgrade(each)) is not None]
    tried += [found for each in _both(tried) if (found := asking.upgrade(each)) is not None]
    gained = [each for each in tried if _is_gain(each)]
    return Upgrades(
        run=run.id,
        self_check=base.self_check,
        flows=base.flows,
        ranked=tuple(sorted(_worth_naming(gained), key=_by_money if prices else _by_saving)),
        without_gain=tuple(each for each in tried if not _is_gain(each)),
        content=tuple(flow.name for flow in report.flows if flow.within_acceptable_wait),
        stand_ins=base.stand_ins,
        median_only=run is not whole,
        left_out=len(candidates) - len(fitting),
        unsaid=(*base.unknowns, *asking.unsaid),
    )


def not_tried(run: Run) -> Upgrades:
    """Of a run that is too large for what little time there is: nothing was played again."""
    return Upgrades(run.id, SelfCheck(0.0, 0.0), (), (), (), ())


class _Asking:
    """One run with the candidates that are tried on it."""

    def __init__(self, run: Run, report: Report, prices: Mapping[str, Price]) -> None:
        self._run, self._report, self._prices = run, report, prices
        self._waiting = frozenset(
            flow.name for flow in report.flows if flow.waits == "people" and not flow.within_acceptable_wait
        )
        self.unsaid: list[Unknown] = []
        """What would have to be known of candidates of which nothing can be said."""

    def upgrade(self, candidate: Candidate) -> Upgrade | None:
        """None where nothing can be said of it."""
        found = answer(self._run, self._report, Question(candidate.settings))
        if any(flow.after_s is None for flow in found.flows):
            self.unsaid += found.unknowns
            return None
        people_s = sum(flow.seconds_per_day_saved for flow in found.flows if flow.name in self._waiting)
        price = _price(candidate, self._prices)
        return Upgrade(candidate.settings, candidate.free, found, people_s, price)


def median_repeats(run: Run) -> Run:
    """The run with the samples of each flow's median repeat alone."""
    _, studies = measured_flows(run)
    rows, kept = run.samples.rows, np.zeros(len(run.samples), dtype=np.bool_)
    for study in studies:
        chosen = study.chosen
        same = (rows["repeat"] == chosen.repeat) & (rows["flow"] == study.index)
        kept |= same & (rows["execution"] == chosen.number)
    return replace(run, samples=SampleTable(rows[kept]))


def candidates_of(run: Run, report: Report) -> tuple[Candidate, ...]:
    """What makes sense to be tried, free ones first."""
    evidence, studies = measured_flows(run)
    known = targets(evidence)
    found = [Candidate((text,), True) for text in _free(evidence, studies, known)]
    found += [Candidate((text,), False) for text in _bought(evidence, studies, known)]
    return tuple(dict.fromkeys(found))


def purchasable(candidates: Sequence[Candidate]) -> tuple[str, ...]:
    """Names that a price may be given for: the thing (a link also without its prefix), or with its value."""
    names = []
    for text in (text for each in candidates if not each.free for text in each.settings):
        name = text.partition("=")[0]
        names += [name.removeprefix("link:"), name, text.removeprefix("link:"), text]
    return tuple(dict.fromkeys(names))


def _price(candidate: Candidate, prices: Mapping[str, Price]) -> Price | None:
    """Of all that it takes; None if any of it has no price."""
    found = [_price_of(text, prices) for text in candidate.settings if not candidate.free]
    known = [price for price in found if price is not None]
    if not known or len(known) < len(found):
        return None
    return Price(sum(price.amount for price in known), known[0].currency)


def _price_of(text: str, prices: Mapping[str, Price]) -> Price | None:
    """That of this very value before that of the thing whatever its value."""
    name = text.partition("=")[0]
    spellings = (text, text.removeprefix("link:"), name, name.removeprefix("link:"))
    return next((prices[each] for each in spellings if each in prices), None)


def _by_saving(each: Upgrade) -> tuple[bool, float, float]:
    """People's waiting first."""
    people = each.people_seconds_per_day_saved >= TRIVIAL_S
    return (not people, -each.people_seconds_per_day_saved if people else -_saved(each), -_saved(each))


def _by_money(each: Upgrade) -> tuple[bool, int, float]:
    """The same for each unit of money: what is free before what has a price, that before what has none."""
    waits, saved, _ = _by_saving(each)
    if each.price is None:
        return (waits, 0 if each.free else 2, saved)
    return (waits, 1, saved / each.price.amount)


def _both(tried: Sequence[Upgrade]) -> Iterator[Candidate]:
    """A faster link together with a faster disk, where the disk holds once the link does not."""
    for each in tried:
        held = {flow.bottleneck_after for flow in each.prediction.flows}
        for disk in (text for other in tried for text in other.settings if text.startswith("disk:")):
            if each.settings[0].startswith("link:") and disk.partition("=")[0] in held:
                yield Candidate((*each.settings, disk), False)


def _worth_naming(found: Sequence[Upgrade]) -> list[Upgrade]:
    """Of several values of the same thing those that save more than a smaller one does; of what is free only
    the best, since nobody would pay less for the next."""
    kept: list[Upgrade] = []
    for each in found:
        smaller = [other for other in kept if _things(other) == _things(each)]
        if any(_no_faster(each, other) for other in smaller):
            continue
        kept = [other for other in kept if not (each.free and other in smaller)]
        kept.append(each)
    return kept


def _no_faster(each: Upgrade, other: Upgrade) -> bool:
    """True if no flow takes less than with the other, or so little less that it would be called the same."""
    pairs = zip(each.prediction.flows, other.prediction.flows, strict=True)
    return all((mine.speedup or 1.0) * (1 - ALIKE) <= (its.speedup or 1.0) for mine, its in pairs)


def _is_gain(each: Upgrade) -> bool:
    """What a comparison would call the same is none, and neither is a moment a day."""
    faster = any((flow.speedup or 1.0) * (1.0 - ALIKE) >= 1.0 for flow in each.prediction.flows)
    return faster and _saved(each) >= TRIVIAL_S


def _things(each: Upgrade) -> tuple[str, ...]:
    return tuple(text.partition("=")[0] for text in each.settings)


def _saved(each: Upgrade) -> float:
    return each.prediction.seconds_per_day_saved


def _free(evidence: Evidence, studies: Sequence[FlowStudy], known: Mapping[str, Target]) -> Iterator[str]:
    """Settings of the places that streams lead through; a loaded model for requests."""
    for study in studies:
        asks = study.flow.frequency.kind is FrequencyKind.PER_REQUEST
        for judged in study.stages.values():
            place, action = judged.figures.stage.place, judged.figures.stage.action
            spec = evidence.place(place).spec
            if isinstance(spec, DatabaseSpec) and action is Action.INSERT and spec.commit is Commit.BATCH:
                yield from (f"{place}.batch={count}" for count in BATCHES if count > spec.batch)
            if asks and action is Action.GENERATE and f"{place}.loaded" in known:
                yield f"{place}.loaded=true"
            if asks:
                continue
            if action is Action.READ:
                yield from _of_reading(place, judged.limit.resource, known)
            elif action is Action.PROCESS and _has_idle_cores(place, evidence):
                yield f"{place}.workers={evidence.cores}"


def _has_idle_cores(place: str, evidence: Evidence) -> bool:
    return not evidence.is_far(place) and evidence.place(place).workers < evidence.cores


def _of_reading(place: str, limit: str, known: Mapping[str, Target]) -> Iterator[str]:
    depth = known.get(f"{place}.depth")
    if depth is not None and depth.before is not None:
        yield from (f"{place}.depth={count}" for count in DEPTHS if count > depth.before)
    access = known.get(f"{place}.access")
    if access is not None and access.word == "mmap" and limit.startswith("round-trips:"):
        yield f"{place}.access=read"


def _bought(evidence: Evidence, studies: Sequence[FlowStudy], known: Mapping[str, Target]) -> Iterator[str]:
    """Links that a measured flow crosses, and disks that hold one."""
    for target in known.values():
        if target.kind is Changed.LINK and target.before is not None:
            crossed = any(crossing_stages(study, evidence, target.subject) for study in studies)
            faster = _next(LINKS, target.before)
            if crossed and not _is_tunnel(evidence, target.subject):
                yield from (f"{target.resource}={speed}" for speed in faster)
    for study in studies:
        yield from _quicker_commits(study, evidence)
        for judged in study.stages.values():
            place, limit = judged.figures.stage.place, judged.limit.resource
            disk = known.get(f"disk:{place}")
            holds = limit == f"disk:{place}" or (
                disk is not None and disk.before and limit.startswith("link:")
            )
            if judged.figures.stage.action in MOVES and disk is not None and holds:
                yield from (
                    f"disk:{place}={speed}" for speed in _next(DISKS, disk.before or judged.figures.rate)
                )


def _quicker_commits(study: FlowStudy, evidence: Evidence) -> Iterator[str]:
    """Of places on this host's own disks: over a network mount another disk leaves the way to it."""
    for judged in study.stages.values():
        place = judged.figures.stage.place
        commits = commits_of(judged, study, evidence) if judged.limit.resource == f"commit:{place}" else None
        mount = evidence.mount(place)
        if commits is None or evidence.is_far(place) or (mount is not None and mount.network):
            continue
        if (commits.sync_s or commits.each_s) >= FASTER * parse_duration(COMMITS):
            yield f"commit:{place}={COMMITS}"


def _next(speeds: Sequence[str], now_bytes_per_s: float) -> list[str]:
    return [speed for speed in speeds if parse_rate(speed) >= FASTER * now_bytes_per_s][:STEPS]


def _is_tunnel(evidence: Evidence, link: str) -> bool:
    return any(each.kind == "tunnel" for each in evidence.run.scenario.links if each.name == link)
