"""The recipes: check, measure, show. Joins rooms and prints nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from pathtrace.errors import StoreError, UsageError
from pathtrace.model.check import CheckReport
from pathtrace.model.probe import ProbeReport
from pathtrace.model.report import Report
from pathtrace.model.run import Run
from pathtrace.model.scenario import Scenario
from pathtrace.ports import Progress
from pathtrace.registry import KINDS, KindInfo
from pathtrace.replay.stop import StopRequest

if TYPE_CHECKING:
    from pathtrace.app.probing import Probing

__all__ = ["KindInfo", "Outcome", "StopRequest"]


Shown = TypeVar("Shown")

_SCENARIO_BYTES = 4 * 2**20
"""No more of a file is looked at: far above what a scenario may have, and a device has no end."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """A stored run, analysed."""

    folder: Path
    run: Run
    report: Report
    unstored: StoreError | None = None
    """Why a part of it is not in the store."""


def load_scenario(path: Path, environ: Mapping[str, str]) -> Scenario:
    """Read a scenario file. UsageError if it cannot be read, ScenarioError if it cannot be used."""
    from pathtrace.app.telling import with_stated_ways
    from pathtrace.scenario import decode, parse

    try:
        with path.open("rb") as file:
            data = file.read(_SCENARIO_BYTES)
    except OSError as error:
        reason = error.strerror or str(error)
        raise UsageError(f"cannot read the scenario: {reason}", where=str(path)) from error
    scenario = with_stated_ways(parse(decode(data, str(path)), str(path), environ), environ)
    password = environ.get("PATHTRACE_SMB_PASSWORD", "")
    return replace(scenario, secrets=(*scenario.secrets, password)) if password else scenario


async def check(scenario: Scenario, store: Path) -> CheckReport:
    """What a run would read and need, against what is there. Changes nothing."""
    import time

    from pathtrace import registry
    from pathtrace.app.checking import check_scenario
    from pathtrace.app.checking_ways import with_ways
    from pathtrace.app.locating import located
    from pathtrace.app.telling import doubts_of_ways
    from pathtrace.observers.environment import describe

    host = describe(scenario.here.name).hosts[0]
    scenario = await located(scenario)
    places = registry.build_places(scenario, time.perf_counter_ns)
    report = await check_scenario(scenario, places, host, store)
    report = await with_ways(report, places, time.perf_counter_ns)
    report = replace(report, caveats=(*report.caveats, *await doubts_of_ways(scenario)))
    return _shown(report, scenario)


def picture(scenario: Scenario) -> Scenario:
    """The scenario as it may be drawn: without the values of secrets."""
    return _shown(scenario, scenario)


def _shown(value: Shown, scenario: Scenario) -> Shown:
    from pathtrace.redaction import Scrubber
    from pathtrace.store.codec import scrubbed

    return scrubbed(value, Scrubber(scenario.secrets))


def _nothing() -> None:
    pass


async def run(
    scenario: Scenario,
    store: Path,
    *,
    label: str | None,
    progress: Progress,
    stop: StopRequest,
    probing: Probing,
    until: float | None = None,
    measured: Callable[[], None] = _nothing,
) -> Outcome:
    """Replay, measure, probe, store and analyse. StoreError if the store takes nothing at all.

    ``until``: repeat until the interval of every flow's median duration is as narrow, as a ratio of it.
    ``measured``: called when the last figure is taken, before they are analysed.
    """
    from contextlib import closing

    from pathtrace.app.locating import located
    from pathtrace.app.measuring import Measurement

    measurement = Measurement(await located(scenario), store, label, progress, stop, probing, until)
    with closing(measurement):
        folder = await measurement.measure()
        measured()
        return _documented(_open(folder), measurement.unstored)


def _documented(outcome: Outcome, unstored: StoreError | None) -> Outcome:
    """With its document and its page beside the run."""
    try:
        write_figures(outcome.folder, outcome.run, outcome.report)
    except StoreError as error:
        unstored = unstored or error
    return replace(outcome, unstored=unstored)


def write_figures(folder: Path, run: Run, report: Report) -> None:
    """A run's document and its page, beside it. StoreError."""
    from pathtrace.app.asking import page_of
    from pathtrace.render.json_document import run_document
    from pathtrace.store.files import DOCUMENT, PAGE, write_document

    write_document(folder, DOCUMENT, to_json(run_document(run, report)))
    write_document(folder, PAGE, page_of(run, report))


def needed_probes(environ: Mapping[str, str]) -> Probing:
    """Every probe that a scenario's hops need; a responder's token comes from ``PATHTRACE_TOKEN``. UsageError
    if that can be none."""
    from pathtrace.app.probing import NeededProbes

    return NeededProbes(_token(environ))


def all_probes(environ: Mapping[str, str]) -> Probing:
    """The same, and each link in both directions, whichever way the scenario's bytes go."""
    from pathtrace.app.network_probing import links_both_ways
    from pathtrace.app.probing import NeededProbes

    return NeededProbes(_token(environ), links_both_ways)


def _token(environ: Mapping[str, str]) -> str | None:
    from pathtrace.app.responding import stated_token

    return stated_token(environ, "and links are computed")


def no_probes() -> Probing:
    """No resource is measured alone."""
    from pathtrace.app.probing import NoProbes

    return NoProbes()


async def probe(scenario: Scenario, store: Path, probing: Probing) -> ProbeReport:
    """Each resource that the scenario's hops use, measured alone. Nothing is stored."""
    from pathtrace.app.locating import located
    from pathtrace.app.probing_alone import probe_alone

    return _shown(await probe_alone(await located(scenario), store, probing), scenario)


def show(store: Path, name: str) -> Outcome:
    """A stored run, analysed again. RunFileError if there is none or it cannot be read."""
    from pathtrace.store.find import resolve

    return _open(resolve(store, name))


def is_damaged(report: Report) -> bool:
    """True if part of what was recorded is lost, and the figures are of the rest."""
    from pathtrace.store.runs import DAMAGED

    return any(caveat.code == DAMAGED for caveat in report.caveats)


def _open(folder: Path) -> Outcome:
    from pathtrace.analysis import analyse
    from pathtrace.store.runs import load

    run = load(folder)
    return Outcome(folder, run, analyse(run))


def to_json(document: Mapping[str, Any]) -> str:
    """A document as text; NaN and infinities are refused, since JSON has none."""
    import json

    return json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def default_store(environ: Mapping[str, str]) -> Path:
    """Where runs lie unless ``--store`` says otherwise."""
    from pathtrace.store.find import default_store as found

    return found(environ)


def scenario_schema() -> dict[str, Any]:
    """JSON Schema of a scenario file."""
    from pathtrace.scenario import schema

    return schema()


def run_schema() -> dict[str, Any]:
    """JSON Schema of the ``pathtrace.run/1`` document."""
    from pathtrace.render.run_schema import run_schema as built

    return built()


def place_kinds() -> tuple[KindInfo, ...]:
    """Every kind of place, also those that this version does not have."""
    return KINDS
