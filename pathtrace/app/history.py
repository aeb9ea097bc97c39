"""The recipe behind ``history``: nights from the index, what changed between them, what was told."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from pathtrace.errors import PathtraceError, UsageError
from pathtrace.model.history import CHANGES, PastScenario
from pathtrace.model.report import Caveat
from pathtrace.store.index import History, set_newer_aside
from pathtrace.store.index_file import NewerIndexError

Watch = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Asked:
    """``flow`` None: all of them. ``limit``: the last so many nights; None: all."""

    scenario: str | None = None
    flow: str | None = None
    limit: int | None = None


@dataclass(frozen=True, slots=True)
class Past:
    """Scenarios, the one with the latest night last."""

    scenarios: tuple[PastScenario, ...]
    caveats: tuple[Caveat, ...]


def look_back(store: Path, asked: Asked, watch: Watch) -> Past:
    """What the store knows of its nights. RunFileError; UsageError for names that are not there."""
    with History(store) as history:
        history.refresh(watch)
        return _past(store, history, asked)


def look_back_anew(store: Path, asked: Asked, watch: Watch) -> Past:
    """The same with an index that is made anew from the run folders. RunFileError."""
    try:
        with History(store) as history:
            history.rebuild(watch)
            return _past(store, history, asked)
    except NewerIndexError:
        set_newer_aside(store)
        return look_back(store, asked, watch)


def _past(store: Path, history: History, asked: Asked) -> Past:
    if _analyse(store, history.unanalysed()):
        history.refresh()
    names = history.scenarios()
    if asked.scenario is not None:
        _require(asked.scenario, names, "scenario")
        names = (asked.scenario,)
    scenarios = tuple(_scenario(history, name, asked) for name in names)
    if asked.flow is not None:
        flows = [flow for each in scenarios for flow in each.flows]
        _require(asked.flow, flows, "flow")
    return Past(scenarios, history.caveats)


def _scenario(history: History, name: str, asked: Asked) -> PastScenario:
    """Changes are found among all nights, also where the last few are asked for."""
    from pathtrace.analysis.nightly.night_series import MEASURED, counted
    from pathtrace.analysis.nightly.nights import changes, marks
    from pathtrace.analysis.nightly.steps import FEWEST_BEFORE, RECENT, SHOWN

    entries, told = history.entries(name), history.told(name)
    shown = entries if asked.limit is None else entries[-asked.limit :]
    since = shown[0].id if shown else ""
    return PastScenario(
        name=name,
        entries=shown,
        changes=changes(entries, [each for each in told if each.kind in CHANGES]),
        marks=tuple(mark for mark in marks(entries) if mark.run >= since),
        told=tuple(each for each in told if each.night is not None and each.night >= since),
        comparable=sum(entry.status in MEASURED for entry in counted(entries)),
        needed=FEWEST_BEFORE + SHOWN,
        newest=RECENT,
        baseline=next((entry for entry in reversed(entries) if entry.baseline), None),
    )


def _require(name: str, known: Sequence[str], what: str) -> None:
    if name in known:
        return
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    listed = ", ".join(dict.fromkeys(known)) or "none yet: pathtrace run SCENARIO makes a run"
    hint = f"did you mean {near[0]!r}?" if near else f"there {'is' if not known else 'are'} {listed}"
    raise UsageError(f"there is no history of a {what} {name!r}", hint=hint)


def _analyse(store: Path, runs: Sequence[str]) -> bool:
    """Write the figures of runs that ended well but were cut off before theirs were; True if any were."""
    return any([_analyse_one(store / run) for run in runs])


def _analyse_one(folder: Path) -> bool:
    """False where that cannot be done; the run stays as it is."""
    from pathtrace import app
    from pathtrace.analysis import analyse
    from pathtrace.store.runs import load

    try:
        run = load(folder)
        app.write_figures(folder, run, analyse(run))
    except PathtraceError:
        return False
    return True
