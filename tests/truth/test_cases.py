"""What went wrong for real people, built again with real servers: pathtrace must say what it was.

Sizes, times and rates are drawn for each round and printed with it; ``PATHTRACE_LAB_SEED`` repeats one.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import lab_commands
import lab_far_mount
import lab_llama
import lab_model_server
import lab_slow_disk
import pytest
from lab_documents import write_documents, write_weights
from lab_pathtrace import flow, hop, measured, pathtrace
from lab_random_model import write_random_model
from lab_server_process import Server

pytestmark = [pytest.mark.truth, pytest.mark.timeout(300)]

MB = 10**6
REQUESTS_PER_DAY = 200
Described = Mapping[str, Any]


def _scenario(room: Path, *, places: Described, flows: Described, top: Described) -> dict[str, Any]:
    """Write a scenario (YAML takes JSON for its values), run it, and print what a person reads first."""
    import json

    lines = ["pathtrace: 1", "name: case"]
    lines += [f"{key}: {json.dumps(value)}" for key, value in top.items()]
    for title, entries in (("places", places), ("flows", flows)):
        lines += [f"{title}:", *(f"  {name}: {json.dumps(entry)}" for name, entry in entries.items())]
    path = room / "case.yaml"
    path.write_text("\n".join(lines) + "\n")
    document = measured(path, store=room / "runs")
    print(*(f"{f['code']}: {f['text']} {f['evidence']}" for f in document["findings"]), sep="\n")
    return document


def _workload(**more: Any) -> dict[str, Any]:
    """Questions whose answers a model gives in a few tokens."""
    return {
        "model": {"output": 4},
        "prompts": ["what did the letter say", "when was the roof mended"],
        "requests_per_day": REQUESTS_PER_DAY,
        **more,
    }


def _files(path: Path, **more: Any) -> dict[str, Any]:
    return {"kind": "files", "path": str(path), **more}


def _served(server: Server, **more: Any) -> dict[str, Any]:
    return {"kind": "inference", "url": server.url, "api": "openai", **more}


def _loaded(document: Described, name: str, source: str, model: str) -> dict[str, Any]:
    """How often weights are loaded, as declared and as observed."""
    return dict(hop(document, name, f"{source}->{model}")["frequency"])


def _evidence(document: Described, code: str, about: str) -> str:
    """The evidence of the finding of a kind that is about a hop, a flow or a place."""
    (found,) = [f for f in document["findings"] if f["code"] == code and f["text"].startswith(about)]
    return "\n".join([found["text"], *found["evidence"]])


def _advised(document: Described, stage: str) -> Sequence[str]:
    return [entry["advice"] for entry in document["ranking"] if entry["stage"] == stage]


@pytest.mark.server
@pytest.mark.parametrize("load_mode", ["none", "mmap"])
def test_an_embedder_and_a_model_that_evict_each_other_are_found(
    room: Path, draw: random.Random, llama: Callable[..., Server], load_mode: str
) -> None:
    """Two models, a server with room for one, each question needs both (case 3)."""
    models = room / "models"
    models.mkdir()
    sizes = {
        name: write_random_model(models / f"{name}.gguf", layers=layers, seed=draw.randrange(2**32)).size
        for name, layers in zip(("embedder", "answerer"), draw.choice([(2, 3), (3, 2), (2, 2)]), strict=True)
    }
    server = llama(lambda path: lab_llama.in_turn(path, load_mode), models)
    document = _scenario(
        room,
        top={
            "start": "as-is",
            "repeats": 1,
            "allow": ["load-model"],
            "workload": _workload(requests=draw.randint(5, 7), users=1),
        },
        places={
            "small": _files(models / "embedder.gguf"),
            "large": _files(models / "answerer.gguf"),
            "embedder": _served(server, task="embed", model="embedder"),
            "model": _served(server, model="answerer"),
            "people": {"kind": "user"},
        },
        flows={
            "load-small": {"path": ["small", "embedder"], "frequency": "per-load"},
            "load": {"path": ["large", "model"], "frequency": "per-load"},
            "answer": {"path": ["embedder", "model", "people"], "frequency": "per-request"},
        },
    )
    for name, source, place, file in (
        ("load-small", "small", "embedder", "embedder"),
        ("load", "large", "model", "answerer"),
    ):
        seen = _loaded(document, name, source, place)
        assert (seen["declared"], seen["observed"]) == ("per-load", "per-request")
        evidence = _evidence(document, "frequency", f"{source}->{place}")
        assert "a day" in evidence
        if load_mode == "none":  # of pages that are mapped no counter tells each load
            assert seen["bytes_per_request"] == pytest.approx(sizes[file], rel=0.05)
            assert "evict each other" in evidence
    advice = " ".join(_advised(document, "generate@model"))
    assert ("hold both models" if load_mode == "none" else "saves at most") in advice
    loads = [entry for entry in document["ranking"] if entry["flow"] == "load"]
    assert {(entry["frequency"], entry["waits"]) for entry in loads} == {("per-request", "people")}


@pytest.mark.server
def test_an_indexing_job_that_runs_together_with_questions_makes_their_model_load_again(
    room: Path, draw: random.Random, llama: Callable[..., Server]
) -> None:
    models = room / "models"
    models.mkdir()
    for name in ("embedder", "answerer"):
        write_random_model(models / f"{name}.gguf", layers=2, seed=draw.randrange(2**32))
    documents = write_documents(room / "archive", files=draw.randint(80, 120), size=200, draw=draw)
    server = llama(lambda path: lab_llama.in_turn(path, "none"), models)
    document = _scenario(
        room,
        top={
            "start": "as-is",
            "repeats": 1,
            "allow": ["load-model"],
            "together": [["index", "answer"]],
            "workload": _workload(requests=12, users=1),
        },
        places={
            "archive": _files(documents.folder),
            "indexer": {"kind": "process", "run": "chunk"},
            "embedder": _served(server, task="embed", model="embedder", workers=1),
            "library": {"kind": "database", "url": "sqlite://"},
            "weights": _files(models / "answerer.gguf"),
            "model": _served(server, model="answerer"),
            "people": {"kind": "user"},
        },
        flows={
            "load": {"path": ["weights", "model"], "frequency": "per-load"},
            "index": {"path": ["archive", "indexer", "embedder", "library"], "frequency": "per-document"},
            "answer": {"path": ["model", "people"], "frequency": "per-request"},
        },
    )
    assert "weights->model: declared per-load" in _evidence(document, "frequency", "weights->model")
    assert {f["name"] for f in document["flows"] if f["duration_s"]} == {"load", "index", "answer"}


def test_a_reload_that_coincides_with_a_changed_option_is_told_with_the_option(
    room: Path, draw: random.Random, model_server: Callable[..., Server]
) -> None:
    """One model, asked with two context sizes in turn (case 4)."""
    weights = write_weights(room / "household.bin", size=draw.randint(60, 120) * MB, draw=draw)
    server = model_server(weights_path=str(weights), weights="changed", first_token_s=0.2)
    one, other = draw.sample([2048, 4096, 8192, 16384], 2)
    document = _scenario(
        room,
        top={"start": "as-is", "repeats": 1, "workload": _workload(requests=12, users=1)},
        places={
            "weights": _files(weights),
            "embedder": _served(server, task="embed", model="model", options={"num_ctx": one}),
            "model": _served(server, model="model", options={"num_ctx": other}),
            "people": {"kind": "user"},
        },
        flows={
            "load": {"path": ["weights", "model"], "frequency": "per-load"},
            "answer": {"path": ["embedder", "model", "people"], "frequency": "per-request"},
        },
    )
    seen = _loaded(document, "load", "weights", "model")
    assert (seen["declared"], seen["observed"]) == ("per-load", "per-request")
    assert lab_model_server.truth(server.url)["weights_bytes"] == 24 * weights.stat().st_size
    evidence = _evidence(document, "frequency", "weights->model")
    assert "coincides with a changed option" in evidence
    assert f"num_ctx is {other} at model and {one} at embedder" in evidence
    assert any("use the same `num_ctx`" in advice for advice in _advised(document, "generate@model"))


def test_the_same_option_everywhere_reloads_nothing(
    room: Path, draw: random.Random, model_server: Callable[..., Server]
) -> None:
    weights = write_weights(room / "household.bin", size=60 * MB, draw=draw)
    server = model_server(weights_path=str(weights), weights="changed")
    options = {"num_ctx": 4096}
    document = _scenario(
        room,
        top={"start": "as-is", "repeats": 1, "workload": _workload(requests=12, users=1)},
        places={
            "weights": _files(weights),
            "embedder": _served(server, task="embed", model="model", options=options),
            "model": _served(server, model="model", options=options),
            "people": {"kind": "user"},
        },
        flows={
            "load": {"path": ["weights", "model"], "frequency": "per-load"},
            "answer": {"path": ["embedder", "model", "people"], "frequency": "per-request"},
        },
    )
    assert _loaded(document, "load", "weights", "model")["observed"] == "per-load"
    assert [f for f in document["findings"] if f["code"] == "frequency"] == []


@pytest.mark.server
@pytest.mark.parametrize("load_mode", ["none", "mmap"])
def test_a_model_that_is_let_go_when_idle_is_found_after_the_gap(
    room: Path, draw: random.Random, llama: Callable[..., Server], load_mode: str
) -> None:
    model = write_random_model(room / "m.gguf", layers=draw.randint(6, 8), seed=draw.randrange(2**32))
    server = llama(lambda path: lab_llama.sleeping(path, 2, load_mode), model.path)
    document = _scenario(
        room,
        top={
            "start": "as-is",
            "repeats": 2,
            "allow": ["load-model"],
            "idle_gaps": ["4 s"],
            "workload": _workload(requests=6, users=1, loads_per_day=8),
        },
        places={
            "weights": _files(model.path),
            "model": _served(server),
            "people": {"kind": "user"},
        },
        flows={
            "load": {"path": ["weights", "model"], "frequency": "per-load"},
            "answer": {"path": ["model", "people"], "frequency": "per-request"},
        },
    )
    seen = _loaded(document, "load", "weights", "model")
    assert seen["observed"] == "per-load"
    assert "loaded again after 4 s without requests" in seen["evidence"]
    evidence = _evidence(document, "frequency", "weights->model")
    assert "in 2 of 2 pauses" in evidence
    assert "the first answer waits at least" in evidence
    assert [after["idle_s"] for after in document["after_idle"]] == [4]


@pytest.mark.parametrize("keeps", [False, True])
def test_a_command_that_keeps_no_list_of_known_documents_is_told_from_one_that_does(
    room: Path, draw: random.Random, keeps: bool
) -> None:
    """Every nightly index takes as long as the first (case 12)."""
    documents = write_documents(room / "archive", files=draw.randint(16, 24), size=400_000, draw=draw)
    indexer = lab_commands.keeping_a_list(room) if keeps else lab_commands.quick(room, most=4000)
    document = _scenario(
        room,
        top={"repeats": 3, "workload": {"documents_per_day": 20}},
        places={
            "archive": _files(documents.folder),
            "indexer": {"kind": "process", "command": [str(indexer), "{path}"]},
            "library": {"kind": "database", "url": f"sqlite:///{room / 'library.db'}"},
        },
        flows={"index": {"path": ["archive", "indexer", "library"], "frequency": "per-document"}},
    )
    seen = hop(document, "index", "archive->indexer")["frequency"]
    expected = "per-document" if keeps else "every run"
    assert (seen["declared"], seen["observed"]) == ("per-document", expected)
    assert ("read-again" in [f["code"] for f in document["findings"]]) is not keeps


@pytest.mark.needs_root
def test_mapped_weights_behind_a_line_are_held_by_round_trips_and_reading_whole_is_advised(
    room: Path, draw: random.Random
) -> None:
    """The same file, mapped and read, on a mount whose every request takes a set time (case 2)."""
    if reason := lab_slow_disk.why_not():
        pytest.skip(reason)
    model = write_random_model(room / "m.gguf", layers=1, seed=draw.randrange(2**32))
    delay_s = draw.uniform(0.001, 0.003)
    with lab_far_mount.far_mount(model.path, delay_s=delay_s) as mount:
        there = mount.folder / model.path.name
        document = _scenario(
            room,
            top={"start": "cold", "repeats": 1, "workload": {"loads_per_day": 10}},
            places={
                "mapped": _files(there, access="mmap"),
                "whole": _files(there, access="read"),
                "mapping": {"kind": "inference"},
                "reading": {"kind": "inference"},
            },
            flows={
                "map": {"path": ["mapped", "mapping"], "frequency": "per-load"},
                "read": {"path": ["whole", "reading"], "frequency": "per-load"},
            },
        )
        assert mount.requests() > model.size // (16 << 10)
    mapped, read = (flow(document, name)["duration_s"]["median"] for name in ("map", "read"))
    assert mapped > 3 * read
    limited = hop(document, "map", "mapped->mapping")["limited_by"]
    assert limited["resource"] == "round-trips:mapped"
    assert "one request takes" in "\n".join(limited["evidence"])
    (alone,) = [r for r in document["resources"] if r["name"] == "round-trips:mapped"]
    assert alone["ceiling_latency_s"] == pytest.approx(delay_s, rel=0.5)
    assert "`access: read`" in _advised(document, "read@mapped")[0]


@pytest.mark.needs_root
def test_a_database_on_a_network_mount_is_warned_of_with_its_commit_latency(
    room: Path, draw: random.Random
) -> None:
    """SQLite on a share, where each sync takes long (case 11)."""
    if reason := lab_slow_disk.why_not():
        pytest.skip(reason)
    documents = write_documents(room / "archive", files=draw.randint(10, 16), size=3_000, draw=draw)
    sync_s = draw.uniform(0.05, 0.12)
    with lab_far_mount.far_folder(sync_s=sync_s) as folder:
        document = _scenario(
            room,
            top={"repeats": 1, "workload": {"documents_per_day": 100}},
            places={
                "archive": _files(documents.folder),
                "indexer": {"kind": "process", "run": "chunk"},
                "library": {"kind": "database", "url": f"sqlite:///{folder / 'library.db'}", "batch": 5},
            },
            flows={"index": {"path": ["archive", "indexer", "library"], "frequency": "per-document"}},
        )
    assert flow(document, "index")["bottleneck"] == "commit:library"
    (alone,) = [r for r in document["resources"] if r["name"] == "commit:library"]
    assert alone["ceiling_latency_s"] == pytest.approx(sync_s, rel=0.2)
    assert "fuse.sshfs" in _evidence(document, "network-database", "library")
    assert any("network mount" in c["text"] for c in document["caveats"])


def test_a_path_without_a_network_hop_is_said_to_gain_nothing_from_a_faster_link(
    room: Path, draw: random.Random, model_server: Callable[..., Server]
) -> None:
    """After the upgrade the answer came no sooner: everything was local already (case 16)."""
    weights = write_weights(room / "household.bin", size=40 * MB, draw=draw)
    server = model_server(weights_path=str(weights), first_token_s=draw.uniform(0.2, 0.4))
    document = _scenario(
        room,
        top={
            "question": "Would 10GbE make the answers come sooner?",
            "start": "as-is",
            "repeats": 1,
            "hosts": {"nas": {"address": "192.0.2.7"}},
            "links": {"lan": {"hosts": ["nas", "workstation"], "speed": "1 Gbit/s"}},
            "workload": _workload(requests=6),
        },
        places={
            "weights": _files(weights),
            "model": _served(server),
            "people": {"kind": "user"},
        },
        flows={
            "load": {"path": ["weights", "model"], "frequency": "per-load"},
            "answer": {"path": ["model", "people"], "frequency": "per-request"},
        },
    )
    words = "No measured hop crosses lan: a faster link would change none of these times"
    said = pathtrace("show", "last", store=room / "runs").out.split("Found")[0]
    assert words in " ".join(said.split())
    assert "answer (model -> people) stays on workstation" in _evidence(document, "unused-link", words)
    assert document["ranking"][0]["flow"] == "answer"


@pytest.mark.server
def test_an_open_loop_shows_the_queue_that_a_closed_one_hides(
    room: Path, draw: random.Random, mock_server: Callable[..., Server]
) -> None:
    """A server that answers one after the other, asked somewhat faster than it can answer."""
    first_ms = draw.randint(150, 250)
    service_s = first_ms / 1000
    server = mock_server(first_token_ms=first_ms, between_tokens_ms=1, tokens=4, at_once=1)
    asked = {
        name: _scenario(
            room / name,
            top={"start": "as-is", "repeats": 1, "workload": _workload(requests=24, **how)},
            places={"model": _served(server), "people": {"kind": "user"}},
            flows={"answer": {"path": ["model", "people"], "frequency": "per-request"}},
        )
        for name, how in (("closed", {"users": 1}), ("open", {"rate": f"{1.5 / service_s:.2f}/s"}))
        if not (room / name).mkdir()
    }
    closed, opened = (asked[name]["requests"]["latency"] for name in ("closed", "open"))
    assert closed["p90_s"] < 1.6 * service_s
    assert opened["p90_s"] > 3 * service_s
    (caveat,) = [c for c in asked["open"]["caveats"] if c["code"] == "open-loop"]
    assert "pathtrace itself began them at most" in caveat["text"]
    assert [c["code"] for c in asked["closed"]["caveats"] if c["code"].endswith("-loop")] == ["closed-loop"]


@pytest.mark.server
def test_several_people_at_once_are_each_shown_with_what_all_get_and_what_each_waits(
    room: Path, draw: random.Random, mock_server: Callable[..., Server]
) -> None:
    first_ms = draw.randint(80, 150)
    server = mock_server(first_token_ms=first_ms, between_tokens_ms=5, tokens=6, at_once=2)
    document = _scenario(
        room,
        top={"start": "as-is", "repeats": 1, "workload": _workload(requests=16, users=[1, 2, 4])},
        places={"model": _served(server), "people": {"kind": "user"}},
        flows={"answer": {"path": ["model", "people"], "frequency": "per-request"}},
    )
    levels = {report["users"]: report for report in document["requests"]}
    assert list(levels) == [1, 2, 4]
    assert levels[2]["per_s"] > 1.5 * levels[1]["per_s"]
    assert levels[4]["per_s"] == pytest.approx(levels[2]["per_s"], rel=0.3)
    assert levels[4]["latency"]["p50_s"] > 1.5 * levels[2]["latency"]["p50_s"]
    assert all(report["tokens_per_s"] and report["time_to_first_token_s"] for report in levels.values())
    evidence = _evidence(document, "load-levels", "answer with 4 people at once instead of 1")
    assert "times as much in all, each waits" in evidence
