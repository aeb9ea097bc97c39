"""Defaults and units, once the text has been read."""

from __future__ import annotations

from pathtrace.model.scenario import (
    Access,
    Check,
    Commit,
    DatabaseSpec,
    FilesSpec,
    InferenceSpec,
    Link,
    Made,
    ModelCard,
    Place,
    PlaceKind,
    ProcessSpec,
    RunControl,
    Start,
    UserSpec,
    Workload,
)
from pathtrace.scenario.build import build
from pathtrace.scenario.shape import read_document
from pathtrace.scenario.tree import read_tree
from tests.unit.scenario.example import PLACES, read, text_of

NOTHING_STATED = ModelCard(None, None, None, None, None, None, None, None, None, None, None, None)
FILES = FilesSpec("/srv/archive", None, None, (), (), None, Access.READ, False, 2**20, 1)


def place(name: str, kind: PlaceKind, spec: object) -> Place:
    return Place(name, kind, "workstation", 2, 16, 60.0, None, spec)  # type: ignore[arg-type]


def test_the_least_that_says_what_is_meant_has_every_default() -> None:
    scenario = read(text_of())
    assert scenario.workload == Workload(None, NOTHING_STATED, (1,), None, 20, None, 100.0, 10.0, 1.0, (), ())
    assert scenario.control == RunControl(
        *(Start.COLD, False, 5, 0, 10 * 2**30, 900.0, 1, (), (), 31_536_000.0, (), (), (), ())
    )
    assert scenario.links == ()
    assert scenario.places == (
        place("archive", PlaceKind.FILES, FILES),
        place("chunker", PlaceKind.PROCESS, ProcessSpec("chunk", None, None)),
        place(
            "embedder",
            PlaceKind.INFERENCE,
            InferenceSpec("http://localhost:8081", "openai", "embed", None, (), None),
        ),
        place("library", PlaceKind.DATABASE, DatabaseSpec("sqlite://", 100, Commit.BATCH, None, None, False)),
        place(
            "weights",
            PlaceKind.FILES,
            FilesSpec("/srv/model.gguf", None, None, (), (), None, Access.READ, False, 2**20, 1),
        ),
        place(
            "model",
            PlaceKind.INFERENCE,
            InferenceSpec("http://localhost:8080", "openai", "generate", None, (), None),
        ),
        place("people", PlaceKind.USER, UserSpec()),
    )


def test_everything_that_is_stated_is_kept_in_base_units() -> None:
    top = (
        "question: Is it the link?\n"
        "workload: {application: a, model: {name: m, context: 8192, parameters: 8B}, users: 2,\n"
        "  requests: 40, acceptable_wait: 3 s, requests_per_day: 200, prompts: [Why?]}\n"
        "links: {lan: {hosts: [nas, workstation], speed: 1 Gbit/s, mtu: 9000, kind: wifi}}\n"
        "start: warm\nrepeats: 3\nbudget: {bytes: 1 GB}\nseed: 7\nlifetime: 10 d\n"
        "expect: {answer: 3 s}\nallow: [load-model]\nclaims: It is the link\n"
    )
    scenario = read(text_of(top))
    card = ModelCard("m", None, None, None, 8192, None, None, None, None, 8e9, None, None)
    stated = ("application", "model", "users", "requests", "acceptable_wait", "requests_per_day", "prompts")
    assert scenario.question == "Is it the link?"
    assert scenario.workload == Workload("a", card, (2,), None, 40, 3.0, 200.0, 10.0, 1.0, ("Why?",), stated)
    assert scenario.links == (Link("lan", ("nas", "workstation"), 125e6, 9000, "wifi"),)
    assert scenario.control == RunControl(
        *(Start.WARM, True, 3, 1, 10**9, 900.0, 7, (), (), 864_000.0),
        *((("answer", "3 s"),), ("load-model",), (), ("It is the link",)),
    )


def test_what_a_later_version_will_run_is_built_already() -> None:
    top = "workload: {users: [1, 2]}\nidle_gaps: [6 min]\ntogether: [[index, answer]]\n"
    top += "checks: [{ask: Who, expect: me}]\n"
    document, faults = read_document(read_tree(text_of(top), {}))
    assert document is not None
    scenario = build(document, "lab.yaml", "", ())
    control = scenario.control
    assert faults == []
    assert scenario.workload.users == (1, 2)
    assert (control.idle_gaps_s, control.together) == ((360.0,), (("index", "answer"),))
    assert control.checks == (Check("Who", ("me",)),)


def test_made_files_and_a_sample_are_kept() -> None:
    places = PLACES.replace(
        "path: /srv/archive",
        "make: {files: 4, bytes: 1 MiB, kind: text}, sample: 2, block: 64 KiB, access: mmap",
    )
    archive = read(text_of(places=places)).place("archive")
    made = Made(4, 2**20, "text")
    assert archive.spec == FilesSpec(None, None, made, (), (), 2, Access.MMAP, True, 65_536, 1)
    assert archive.stand_in
