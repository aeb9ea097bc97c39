import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pathtrace.model.report import Report, RequestsReport, Throughput
from pathtrace.model.run import Run
from pathtrace.render.json_document import check_document, run_document
from pathtrace.render.markdown import run_page
from tests.unit.render import example

KEYS = Path(__file__).parent / "golden"
ANY_NAME = {"dataset", "capacity", "hosts", "other_activity", "memory", "room", "observers"}


def keys_of(value: object, path: str = "") -> set[str]:
    """Paths of all keys; names of places, hosts and hops, which vary, become ``*``."""
    if isinstance(value, list):
        return {key for part in value for key in keys_of(part, f"{path}[]")}
    if not isinstance(value, dict):
        return set()
    parent = path.rsplit(".", 1)[-1]
    free = parent in ANY_NAME or path == "repeats[].hops"
    found = set()
    for key, part in value.items():
        here = f"{path}.{'*' if free else key}".lstrip(".")
        found |= {here} | keys_of(part, here)
    return found


@pytest.mark.parametrize(
    ("name", "document"),
    [
        ("run_keys.txt", run_document(example.RUN, example.REPORT)),
        ("check_keys.txt", check_document(example.CHECK)),
    ],
)
def test_the_keys_of_a_document_never_change_unnoticed(name: str, document: dict[str, object]) -> None:
    assert sorted(keys_of(document)) == (KEYS / name).read_text().split()


def test_what_is_infinite_or_not_a_number_becomes_null() -> None:
    strange = Throughput(math.inf, math.nan, -math.inf, 1.0, None)
    hop = replace(example.ARCHIVE_INDEXER, throughput=strange)
    document = run_document(example.RUN, replace(example.REPORT, hops=(hop,)))
    text = json.dumps(document, allow_nan=False)
    assert json.loads(text)["hops"][0]["throughput"] == {
        "bytes_per_s": None,
        "low": None,
        "high": None,
        "active_bytes_per_s": 1.0,
        "operations_per_s": None,
    }


def with_users(users: tuple[int, ...]) -> Run:
    workload = replace(example.SCENARIO.workload, users=users)
    return replace(example.RUN, scenario=replace(example.SCENARIO, workload=workload))


def with_requests(*requests: RequestsReport) -> Report:
    return replace(example.REPORT, requests=requests)


def test_requests_are_null_an_object_or_a_list() -> None:
    [one] = example.REPORT.requests
    assert run_document(with_users((2,)), with_requests())["requests"] is None
    single = run_document(with_users((2,)), with_requests(one))["requests"]
    assert isinstance(single, dict)
    assert single["users"] == 2
    several = run_document(with_users((1, 2)), with_requests(replace(one, users=1), one))["requests"]
    assert isinstance(several, list)
    assert [part["users"] for part in several if isinstance(part, dict)] == [1, 2]
    interrupted = run_document(with_users((1, 2)), with_requests(replace(one, users=1)))["requests"]
    assert isinstance(interrupted, list)


def test_a_workload_key_that_was_not_stated_is_null_though_a_default_applied() -> None:
    workload = run_document(example.RUN, example.REPORT)["workload"]
    assert isinstance(workload, dict)
    assert (workload["requests"], workload["loads_per_day"]) == (40, None)


def test_a_layer_that_differed_between_repeats_is_unknown_and_says_so() -> None:
    first, *rest = example.STARTS
    warmed = [
        replace(
            start, layers=tuple(replace(layer, state="warm", evidence="resident") for layer in start.layers)
        )
        for start in rest
    ]
    document = run_document(replace(example.RUN, starts=(first, *warmed)), example.REPORT)
    condition = document["start_condition"]
    assert isinstance(condition, dict)
    layers = condition["layers"]
    assert isinstance(layers, dict)
    assert layers["database"] == {
        "state": "unknown",
        "evidence": "cold: library: a new file; warm: library: resident",
    }
    assert layers["model"] == {
        "state": "warm",
        "evidence": "model: the server had answered before the first repeat",
    }


def test_a_host_that_nobody_looked_at_has_no_activity_rather_than_none_at_all() -> None:
    activity = run_document(example.RUN, example.REPORT)["other_activity"]
    assert isinstance(activity, dict)
    assert activity["nas"] is None
    assert activity["workstation"] == {
        "cpu_percent": 3.5,
        "disk_bytes_per_s": 120_000.0,
        "network_bytes_per_s": None,
        "notable": ["updatedb 4 % CPU"],
    }


def test_a_host_that_did_not_tell_its_memory_has_none_in_the_document_and_on_the_page() -> None:
    silent = replace(example.ENVIRONMENT.hosts[0], name="nas", memory_bytes=0)
    run = replace(example.RUN, environment=replace(example.ENVIRONMENT, hosts=(silent,)))
    document: Any = run_document(run, example.REPORT)
    assert document["environment"]["hosts"]["nas"]["memory_bytes"] is None
    assert "memory not known" in run_page(run, example.REPORT)


def test_what_measuring_itself_took_is_told_by_observer_with_the_probes_beside_it() -> None:
    document: Any = run_document(example.RUN, example.REPORT)
    assert document["own_cost"] == {
        "recording_ratio": 0.004,
        "observing_ratio": 0.003,
        "sample_s": 6.1e-7,
        "probes_s": 14.2,
        "observers": {"cpu": 0.001, "tcp": 0.002},
    }
    assert run_document(replace(example.RUN, cost=None), example.REPORT)["own_cost"] is None
