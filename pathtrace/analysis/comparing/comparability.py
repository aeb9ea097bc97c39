"""Whether the times of two runs may be held against each other, and if not, why.

The same work on the same data from the same start; what it runs on may differ, since that is what is
compared. A setting of the workload (``library.batch``, the model) may, if the user says that it changed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pathtrace.analysis.comparing.differences import differences
from pathtrace.analysis.comparing.run_facts import Fact, Facts, workload_facts
from pathtrace.analysis.resources import dataset_reports
from pathtrace.model.comparison import Difference
from pathtrace.model.report import DatasetReport
from pathtrace.model.run import Run
from pathtrace.units import format_bytes, format_count

_SETTINGS = {"workers", "queue", "timeout_s", "access", "block", "depth", "batch", "commit", "command", "run"}
_SETTINGS |= {"insert", "model", "api"}
_MODEL: tuple[str, ...] = ("name", "revision", "precision", "format", "runtime", "batch")
_MODEL += ("parameters", "active_parameters", "modality")
_LENGTHS = {"workload.prompts", "workload.model.input", "workload.model.output", "workload.model.context"}
LAYERS = ("client_cache", "server_cache", "database", "model")


def workload_differences(before: Run, after: Run, changed: Sequence[str]) -> tuple[Difference, ...]:
    """Of what the workload's fingerprint covers; nothing where the fingerprints agree."""
    if before.scenario.workload_fingerprint == after.scenario.workload_fingerprint:
        return ()
    return differences(workload_facts(before.scenario), workload_facts(after.scenario), changed)


def refusals(before: Run, after: Run, work: Sequence[Difference]) -> tuple[str, ...]:
    """Why the two cannot be compared, each reason in a sentence; none where they can."""
    return (
        *_other_workload(before, after, work),
        *_other_data(before, after),
        *_other_start(before, after),
        *_other_congestion_control(before, after),
    )


def may_change(what: str) -> bool:
    """True for a setting that leaves the work the same: it may be compared where it is named."""
    owner, _, option = what.rpartition(".")
    if owner == "workload.model":
        return option in _MODEL
    return not what.startswith(("workload.", "flows.")) and option in _SETTINGS


def start_of(run: Run) -> str:
    """The start condition that was reached, else the one asked for; several are joined."""
    words = dict.fromkeys(start.start for start in run.starts if start.repeat >= 0)
    return ", ".join(words) or run.scenario.control.start.value


def layer_facts(run: Run) -> Facts:
    """Each layer's start condition, cold, warm or unknown (also where repeats or places differed)."""
    return {
        f"start.{layer}": Fact(_state(run, layer), "start condition")
        for layer in LAYERS
        if _state(run, layer)
    }


def _state(run: Run, name: str) -> str | None:
    states = {
        layer.state
        for start in run.starts
        if start.repeat >= 0
        for layer in start.layers
        if layer.layer == name
    }
    return states.pop() if len(states) == 1 else ("unknown" if states else None)


def _other_workload(before: Run, after: Run, work: Sequence[Difference]) -> Iterator[str]:
    if before.scenario.workload_fingerprint == after.scenario.workload_fingerprint:
        return
    if not work:
        yield "another workload: the fingerprints differ"
    for each in work:
        if each.expected and may_change(each.what):
            continue
        what = "other prompt or output lengths" if each.what in _LENGTHS else "another workload"
        text = f"{what}: {each.what} was {each.before or 'not set'}, is {each.after or 'not set'}"
        yield text + _remedy(each)


def _remedy(each: Difference) -> str:
    if may_change(each.what):
        return f" (if that is the change to be judged: --changed {each.what})"
    if each.what == "workload.users" and each.before and each.after:
        return f" (users: [{each.before}, {each.after}] in one scenario measures each)"
    return " (run one of them again with the other's)"


def _other_data(before: Run, after: Run) -> Iterator[str]:
    old = {entry.place: entry for entry in dataset_reports(before)}
    for new in dataset_reports(after):
        known = old.get(new.place)
        if known is not None and _is_read(after, new.place) and _differ(known, new):
            sets = f"{_described(known)}, then {_described(new)}"
            yield f"another data set at {new.place}: {sets} (run one of them again over the other's files)"


def _is_read(run: Run, place: str) -> bool:
    return any(flow.path[0] == place for flow in run.scenario.flows)


def _differ(old: DatasetReport, new: DatasetReport) -> bool:
    """By the fingerprint where both have one, else by number and size as far as they are known."""
    if old.fingerprint and new.fingerprint:
        return old.fingerprint != new.fingerprint
    pairs = ((old.files, new.files), (old.bytes, new.bytes))
    return any(one is not None and other is not None and one != other for one, other in pairs)


def _described(entry: DatasetReport) -> str:
    files = "an unknown number of files" if entry.files is None else format_count(entry.files, "file")
    size = "" if entry.bytes is None else f", {format_bytes(entry.bytes)}"
    return f"{files}{size}" + (f" ({entry.fingerprint[:8]})" if entry.fingerprint else "")


def undecided_data(before: Run, after: Run) -> tuple[str, ...]:
    """Places whose data has no fingerprint in one of the runs: that it is the same is not proved."""
    old = {entry.place: entry.fingerprint for entry in dataset_reports(before)}
    return tuple(
        new.place
        for new in dataset_reports(after)
        if _is_read(after, new.place) and not (new.fingerprint and old.get(new.place))
    )


def _other_start(before: Run, after: Run) -> Iterator[str]:
    old, new = start_of(before), start_of(after)
    if old != new:
        yield f"another start condition: {old}, then {new}"
        return
    for layer in LAYERS:
        states = (_state(before, layer), _state(after, layer))
        if set(states) == {"cold", "warm"}:
            name = layer.replace("_", " ")
            yield f"another start condition: {name} {states[0]}, then {states[1]}"


def _other_congestion_control(before: Run, after: Run) -> Iterator[str]:
    old = {host.name: host.congestion_control for host in before.environment.hosts}
    for host in after.environment.hosts:
        was, now = old.get(host.name), host.congestion_control
        if was and now and was != now:
            yield f"another congestion control on {host.name}: {was}, then {now}"
