"""A question about a stored run as it is asked: settings, new links, ways to read, whose word a value is.

Puts together what ``prediction`` (operations played again), ``new_links`` and ``ways_to_read`` give.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from pathtrace.analysis.evidence import Evidence
from pathtrace.analysis.predicting.change_targets import parse_changes
from pathtrace.analysis.predicting.new_links import NewLink, with_links
from pathtrace.analysis.predicting.prediction import predict
from pathtrace.analysis.predicting.sources import sources_of
from pathtrace.analysis.predicting.ways_to_read import with_access
from pathtrace.model.prediction import Change, Changed, FlowPrediction, Prediction
from pathtrace.model.report import Report
from pathtrace.model.run import Run

_UNTOUCHED = re.compile(r"(?P<flow>[^:]+): (?P<stages>\w+ at [^,]+(?:, \w+ at [^,]+)*) unchanged")
_NOUNS: Mapping[str, str] = {
    "read": "reading",
    "write": "writing",
    "process": "processing",
    "insert": "inserting",
    "embed": "embedding",
    "generate": "generation",
    "deliver": "delivery",
    "load": "loading",
}


@dataclass(frozen=True, slots=True)
class Question:
    """As written behind ``--set``, ``--add-link`` and ``--source``."""

    settings: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()


def answer(run: Run, report: Report, question: Question) -> Prediction:
    """UsageError if something cannot be set; EvidenceError if the run has nothing to predict from."""
    run, added = with_links(run, question.links)
    texts = (*question.settings, *(link.setting for link in added))
    changes = parse_changes(texts, Evidence(run))
    sources = sources_of(question.sources, len(changes))
    access = tuple(each for each in changes if each.kind is Changed.ACCESS)
    played = [text for text, each in zip(texts, changes, strict=True) if each.kind is not Changed.ACCESS]
    prediction = predict(run, report, played)
    if access:
        prediction = with_access(run, report, prediction, access)
    told = {change.resource: source for change, source in zip(changes, sources, strict=True)}
    flows = tuple(_known(flow, prediction, changes, run) for flow in prediction.flows)
    not_known = tuple(f"{flow.name}: " for flow in flows if flow.after_s is None)
    stays = (text for text in prediction.unchanged if not (not_known and text.startswith(not_known)))
    return replace(
        prediction,
        changes=tuple(_described(each, added, told[each.resource]) for each in changes),
        flows=flows,
        unchanged=(
            *(text for each in stays for text in _reworded(each)),
            *(link.others for link in added if link.others),
        ),
        stand_ins=_stand_ins(run, prediction),
    )


def _stand_ins(run: Run, prediction: Prediction) -> tuple[str, ...]:
    places = dict.fromkeys(name for flow in prediction.flows for name in run.scenario.flow(flow.name).path)
    return tuple(name for name in places if run.scenario.place(name).stand_in)


def _described(change: Change, added: Sequence[NewLink], source: str | None) -> Change:
    new = next((link for link in added if f"link:{link.name}" == change.resource), None)
    if new is not None:
        change = replace(change, kind=Changed.NEW_LINK, hosts=new.hosts)
    return replace(change, source=source)


def _known(
    flow: FlowPrediction, prediction: Prediction, changes: Sequence[Change], run: Run
) -> FlowPrediction:
    """A flow that a change reaches, of which nothing is known, is not unchanged."""
    if flow.after_s is None or flow.after_s.low != flow.before_s or flow.after_s.high != flow.before_s:
        return flow
    path = run.scenario.flow(flow.name).path
    unknown = {each.what for each in prediction.unknowns}
    left_out = any(
        f"{flow.name}: {each.resource} is not taken into account" in prediction.unchanged
        or (each.subject in path and f"how long {each.subject} loaded its model" in unknown)
        for each in changes
    )
    return replace(flow, after_s=None) if left_out else flow


def _reworded(text: str) -> list[str]:
    """What is untouched in a flow, as people call it; the model's work by itself, since they ask for that."""
    found = _UNTOUCHED.fullmatch(text)
    if found is None:
        return [text]
    stages = [stage.partition(" at ") for stage in found["stages"].split(", ")]
    generates = any(action == "generate" for action, _, _ in stages)
    named = [
        f"{_NOUNS.get(action, action)} at {place}"
        for action, _, place in stages
        if not (generates and action in ("generate", "deliver"))
    ]
    told = [f"{found['flow']}: {', '.join(named)} unchanged"] if named else []
    return [*told, f"{found['flow']}: generation unchanged"] if generates else told
