"""The answer in at most three plain sentences: what holds the whole back, the links, what to do first."""

from __future__ import annotations

from collections.abc import Sequence

from pathtrace.analysis.caveats import fault_text, why_not_measured
from pathtrace.analysis.evidence import Evidence
from pathtrace.analysis.frequency.known_documents import READ_AGAIN
from pathtrace.analysis.limiting.limit import SLIGHT
from pathtrace.analysis.limiting.links import crosses, no_hop_crosses, unused_links
from pathtrace.analysis.sampled import share_of_pass
from pathtrace.analysis.stand_ins import stand_ins
from pathtrace.model.report import Finding, FlowReport, HopReport, RankingEntry, ResourceReport, Verdict
from pathtrace.model.scenario import FrequencyKind, Link
from pathtrace.units import format_duration, format_ratio

_FAILED = ("failed", "mostly-failed")
_OF_A_LINK = ("link", "loss", "mtu")
_CURES = {
    "mtu-black-hole": "set one MTU on the whole way",
    "slow-link": "find out why before buying anything: cable, port, negotiated speed",
    "other-interface": "mend the route or name the other address",
    "frequency": "keep the model loaded",
    READ_AGAIN: "keep the list of known documents",
    "client-cache": "repeat with `start: cold`",
}
"""By a finding's code, what ends it; the first of these that was found is said."""


def verdict(
    evidence: Evidence,
    ranking: Sequence[RankingEntry],
    hops: Sequence[HopReport],
    flows: Sequence[FlowReport],
    findings: Sequence[Finding],
    resources: Sequence[ResourceReport],
) -> Verdict:
    """Failure first, then what surprises; what follows says if rank 1 rests on a stand-in."""
    failed = [_failure(finding) for finding in findings if finding.code in _FAILED]
    if not ranking:
        return Verdict(tuple(failed[:3]) or (_nothing(evidence),))
    unheard = _unheard(ranking, flows)
    lines = _missing(evidence, unheard, hops)[:1] + failed[:1]
    at = len(lines)
    lines += [
        _surprise(finding)
        for code in _CURES
        for finding in findings
        if finding.code == code and _matters(finding, hops)
    ][:1]
    lines.append(_limit(ranking[0], _opening(ranking[0], unheard), _part(evidence, ranking[0], flows)))
    if (link := _links(evidence, hops, flows, resources)) is not None:
        lines.append(link)
    lines.append(_first_step(ranking, flows))
    if rests_on := stand_ins(evidence.run.scenario, ranking[0].flow, ranking[0].hop):
        lines[at] = f"{lines[at][:-1]} — but this rests on a stand-in ({', '.join(rests_on)})."
    return Verdict(tuple(lines[:3]))


def _matters(finding: Finding, hops: Sequence[HopReport]) -> bool:
    """A slow link only where a hop is held by it."""
    if finding.code != "slow-link":
        return True
    limits = {limit for hop in hops for limit in (hop.limited_by.resource, *hop.limited_by.also)}
    names = {name for kind, _, name in (limit.partition(":") for limit in limits) if kind in _OF_A_LINK}
    return any(finding.text.startswith(f"{name} carries ") for name in names)


def _surprise(finding: Finding) -> str:
    """What is not as it was thought to be, and what ends that."""
    return f"{finding.text}; {_CURES[finding.code]} (free)."


def _unheard(ranking: Sequence[RankingEntry], flows: Sequence[FlowReport]) -> list[FlowReport]:
    """Flows that people wait for, and of which no time is known."""
    ranked = {entry.flow for entry in ranking}
    return [flow for flow in flows if flow.waits == "people" and flow.name not in ranked]


def _missing(evidence: Evidence, unheard: Sequence[FlowReport], hops: Sequence[HopReport]) -> list[str]:
    """Of those, what never ran: the ranking is silent about what people wait for."""
    ran = {hop.flow for hop in hops if hop.operations}
    names = [flow.name for flow in unheard if flow.name not in ran]
    return [
        f'People wait for "{flow.name}", which was not measured ({why_not_measured(evidence.run, flow)}).'
        for flow in evidence.run.scenario.flows
        if flow.name in names
    ]


def _opening(entry: RankingEntry, unheard: Sequence[FlowReport]) -> str:
    if entry.waits == "people":
        return "People wait longest for"
    return "Of what was measured, most time goes into" if unheard else "Nobody waits, but most time goes into"


def _part(evidence: Evidence, entry: RankingEntry, flows: Sequence[FlowReport]) -> str:
    """What of a pass the seconds are of, where that is not the whole."""
    ended = any(flow.duration_s is not None for flow in flows if flow.name == entry.flow)
    if not ended and entry.frequency not in ("per-request", "per-document"):
        return ", as far as it came"
    flow = next(each for each in evidence.run.scenario.flows if each.name == entry.flow)
    share = share_of_pass(evidence, flow)
    return "" if share is None else f" for a sample of {format_ratio(share)}"


def _limit(entry: RankingEntry, opening: str, part: str) -> str:
    each = {"per-request": "a request", "per-document": "a document", "per-load": "a load"}
    per = each.get(entry.frequency, "a pass")
    return (
        f'{opening} {entry.stage} in {entry.hop} ("{entry.flow}"): '
        f"{format_duration(entry.seconds_per_execution)} {per}, {format_ratio(entry.share)} of its time, "
        f"{format_duration(entry.seconds_per_day)} a day{part}, {_resource(entry.resource)}."
    )


def _resource(resource: str) -> str:
    return "limited by what is not known yet" if resource == "unknown" else f"limited by {resource}"


def _links(
    evidence: Evidence,
    hops: Sequence[HopReport],
    flows: Sequence[FlowReport],
    resources: Sequence[ResourceReport],
) -> str | None:
    """Whether each declared link takes part at all; how much lies on the hops that cross it."""
    links = evidence.run.scenario.links
    measured = [hop for hop in hops if hop.duration_s is not None]
    idle = [link.name for link in unused_links(evidence, hops)]
    used = [link for link in links if link.name not in idle]
    if not links:
        return None
    if not used:
        return no_hop_crosses(idle)
    return " ".join(_share(evidence, link, measured, flows, resources) for link in used)


def _share(
    evidence: Evidence,
    link: Link,
    hops: Sequence[HopReport],
    flows: Sequence[FlowReport],
    resources: Sequence[ResourceReport],
) -> str:
    crossing = [hop for hop in hops if crosses(evidence, hop, link)]
    names = {(hop.flow, hop.name) for hop in crossing}
    spent = sum(
        part.seconds for flow in flows for part in flow.critical_path if (flow.name, part.hop) in names
    )
    touched = {hop.flow for hop in crossing}
    whole = sum(part.seconds for flow in flows for part in flow.critical_path if flow.name in touched)
    share = format_ratio(spent / whole) if whole else "none"
    limits = ", ".join(dict.fromkeys(hop.limited_by.resource for hop in crossing))
    carried, whose = ", ".join(hop.name for hop in crossing), ", ".join(sorted(touched))
    return (
        f"{link.name} carries {carried}: {share} of the time of {whose}, limited by {limits}; "
        f"{_fullness(link, resources, limits)}."
    )


def _fullness(link: Link, resources: Sequence[ResourceReport], limits: str) -> str:
    """How full it was at most, and whether a faster one would help."""
    mine = [each for each in resources if each.name == f"link:{link.name}"]
    full = max((each.utilisation for each in mine if each.utilisation is not None), default=None)
    if full is None or all(each.ceiling_source not in ("measured", "computed") for each in mine):
        return "what the link itself can do was not measured"
    share = format_ratio(min(1.0, full))
    if f":{link.name}" in limits:
        return f"the link was {share} full"
    if full <= SLIGHT:
        return f"the link was at most {share} full: a faster one would change next to nothing"
    return f"the link was at most {share} full"


def _first_step(ranking: Sequence[RankingEntry], flows: Sequence[FlowReport]) -> str:
    first = ranking[0]
    content = {flow.name for flow in flows if flow.within_acceptable_wait}
    if first.flow in content and first.frequency != str(FrequencyKind.PER_LOAD):
        return f'"{first.flow}" comes within the acceptable wait: nothing needs buying for it.'
    if first.advice.startswith("nothing "):
        return f"{first.advice[0].upper()}{first.advice[1:]}."
    return f"First: {first.advice}{' (free)' if first.free else ''}."


def _failure(finding: Finding) -> str:
    return f"{finding.text} ({finding.evidence[0]})."


def _nothing(evidence: Evidence) -> str:
    faults = [fault_text(reached) for reached in evidence.run.reached if reached.fault]
    return f"Nothing was measured ({faults[0] if faults else evidence.run.status})."
