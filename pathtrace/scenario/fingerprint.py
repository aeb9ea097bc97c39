"""Two scenarios compared by what they mean: the same workload, the same set-up?

The workload: what is asked, what the places are and do, the flows. The set-up: hosts, addresses,
links, paths, run control. Written order and formatting do not count, and secrets are never in.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from pathtrace.model.scenario import Flow, Place, Scenario
from pathtrace.redaction import Scrubber

_ADDRESSES = ("path", "url", "there")
_ADDED = ("responder", "iperf3", "there")
"""Where they are not given, older runs' fingerprints stay what they were."""
_LENGTH = 16


def workload_fingerprint(scenario: Scenario) -> str:
    """16 hexadecimal digits: equal for scenarios that ask for the same work."""
    workload = asdict(scenario.workload)
    del workload["stated"]  # a default that is written out is still the same workload
    return _digest(
        {
            "workload": workload,
            "places": {place.name: _work_of(place) for place in scenario.places},
            "flows": {flow.name: _flow(flow) for flow in scenario.flows},
        },
        scenario.secrets,
    )


def setup_fingerprint(scenario: Scenario) -> str:
    """16 hexadecimal digits: equal for scenarios that run in the same surroundings in the same way."""
    return _digest(
        {
            "hosts": {host.name: _given(asdict(host)) for host in scenario.hosts},
            "links": {link.name: {**asdict(link), "hosts": sorted(link.hosts)} for link in scenario.links},
            "places": {place.name: _whereabouts(place) for place in scenario.places},
            "control": {**asdict(scenario.control), "expect": {}},  # judged afterwards, and no part of a run
        },
        scenario.secrets,
    )


def _work_of(place: Place) -> Mapping[str, Any]:
    facts = asdict(place)
    del facts["name"], facts["host"]
    spec = {key: value for key, value in facts.pop("spec").items() if key not in (*_ADDRESSES, "api_key")}
    if "options" in spec:
        spec["options"] = dict(spec["options"])
    return {**facts, "spec": spec, "stand_in": place.stand_in}


def _whereabouts(place: Place) -> Mapping[str, Any]:
    spec = asdict(place.spec)
    return _given({"host": place.host, **{key: spec[key] for key in _ADDRESSES if key in spec}})


def _given(facts: Mapping[str, Any]) -> Mapping[str, Any]:
    return {key: value for key, value in facts.items() if value is not None or key not in _ADDED}


def _flow(flow: Flow) -> Mapping[str, Any]:
    frequency = (flow.frequency.kind, flow.frequency.period_s)
    return {"path": flow.path, "frequency": frequency, "waits": flow.waits}


def _digest(facts: Mapping[str, Any], secrets: tuple[str, ...]) -> str:
    scrub = Scrubber(secrets)
    text = json.dumps(_scrubbed(facts, scrub), sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()[:_LENGTH]


def _scrubbed(value: Any, scrub: Scrubber) -> Any:
    if isinstance(value, str):
        return scrub(value)
    if isinstance(value, Mapping):
        return {key: _scrubbed(child, scrub) for key, child in value.items()}
    if isinstance(value, (list, tuple)):
        return [_scrubbed(child, scrub) for child in value]
    return value
