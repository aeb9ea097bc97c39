"""How far a run came that was to go on until its figures are well known: in words, and as JSON."""

from __future__ import annotations

from collections.abc import Mapping

from pathtrace.model.run import FlowWidth, Until
from pathtrace.render.figures import Document, Json
from pathtrace.units import format_count, format_ratio

_ENDED: Mapping[str | None, str] = {
    "bytes": "the bytes budget ended it",
    "time": "the time budget ended it",
    "stop": "it was stopped",
    "store": "the store took no more",
    "repeats": "no run goes on for longer",
    None: "it was cut off",
}


def until_text(until: Until) -> str:
    """``until ±3 %: reached after 8 repeats: answer ±2.4 %``; the widest flow comes first."""
    asked, repeats = f"until ±{format_ratio(until.asked)}:", format_count(until.repeats, "repeat")
    told = ", ".join(_flow(flow) for flow in sorted(until.flows, key=_breadth, reverse=True))
    if not told:
        return f"{asked} not reached: no flow could be measured"
    if until.reached:
        return f"{asked} reached after {repeats}: {told}"
    return f"{asked} not reached: {_ENDED[until.ended_by]} after {repeats} at {told}"


def until_document(until: Until | None) -> Json:
    """null where nothing was asked for. ``half_width`` is that of the widest flow, null if one has none."""
    if until is None:
        return None
    widths = [flow.half_width for flow in until.flows]
    known = [width for width in widths if width is not None]
    return {
        "asked": until.asked,
        "reached": until.reached,
        "half_width": max(known) if known and len(known) == len(widths) else None,
        "repeats": until.repeats,
        "ended_by": until.ended_by,
        "flows": [_width(flow) for flow in until.flows],
    }


def _width(flow: FlowWidth) -> Document:
    return {
        "name": flow.flow,
        "repeats": flow.repeats,
        "half_width": flow.half_width,
        "drifts": flow.drifts,
        "two_kinds": flow.two_kinds,
    }


def _breadth(flow: FlowWidth) -> tuple[bool, float]:
    """A flow that drifts, or has no interval, is farther from being known than any width says."""
    return flow.drifts or flow.half_width is None, flow.half_width or 0.0


def _flow(flow: FlowWidth) -> str:
    if flow.half_width is None:
        return f"{flow.flow} without an interval"
    doubts = [word for word, holds in (("drifts", flow.drifts), ("two kinds", flow.two_kinds)) if holds]
    return f"{flow.flow} ±{format_ratio(flow.half_width)}" + (f" ({', '.join(doubts)})" if doubts else "")
