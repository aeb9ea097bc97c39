"""Measured, predicted, really changed, measured again: one row for each prediction, and what it is held to.

Knows no cases. A case whose repeats differ widely was disturbed by something else on this machine, and is
tried once more; the row says so.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from lab.nas import Nas
from lab.network import Network
from lab_pathtrace import pathtrace
from lab_planted import Asked, ask

DISTURBED = 0.12
"""Between the fastest and the slowest repeat: then something else was at work too."""
POINT, MEDIAN, SELF_CHECK = 0.20, 0.10, 0.05
KNOWN_WIDTH, HIDDEN_WIDTH = 1.3, 2.0


@dataclass(frozen=True)
class Change:
    """``settings`` as they are given to ``whatif --set``; ``carried_out`` makes the change, ``asked`` is the
    scenario then, if that is what changes."""

    settings: tuple[str, ...]
    carried_out: Callable[[], None] = lambda: None
    asked: Asked | None = None


@dataclass(frozen=True)
class Row:
    """One prediction of one flow beside the fact. Seconds."""

    case: str
    change: str
    hidden: bool
    before_s: float
    expected_s: float
    low_s: float
    high_s: float
    fact_s: float
    self_check: float
    unknowns: tuple[str, ...]
    spread: float
    """Between the repeats of the run before or the run after, whichever is wider."""
    again: bool = False

    @property
    def error(self) -> float:
        return self.expected_s / self.fact_s - 1

    @property
    def width(self) -> float:
        return self.high_s / self.low_s

    @property
    def faults(self) -> list[str]:
        """What it is held to and does not keep."""
        found = [f"self-check {self.self_check:+.1%}"] if abs(self.self_check) > SELF_CHECK else []
        if self.hidden:
            found += [] if self.unknowns else ["what is hidden is not named"]
            found += [] if self.low_s <= self.fact_s <= self.high_s else ["the fact is not in the range"]
            found += [f"range {self.width:.2f}"] if self.width > HIDDEN_WIDTH else []
        else:
            found += [f"error {self.error:+.1%}"] if abs(self.error) > POINT else []
            found += [f"range {self.width:.2f}"] if self.width > KNOWN_WIDTH else []
        return found

    @property
    def text(self) -> str:
        kind = "hidden" if self.hidden else "known"
        again = f" (again: repeats differed by {self.spread:.0%})" if self.again else ""
        return (
            f"{self.case} | {self.change} | {self.before_s:.2f} s | {self.expected_s:.2f} s "
            f"({self.low_s:.2f} to {self.high_s:.2f}) | {self.fact_s:.2f} s | {self.error:+.0%} | "
            f"{self.self_check:+.1%} | {kind}{again}"
        )


HEAD = "case | change | before | predicted (range) | fact | error | self-check | ceilings"
rows: list[Row] = []
"""Of all cases that were run, for the table at the end."""


def keeps(case: Callable[[], list[Row]]) -> None:
    """Run a case, once more if it was disturbed and does not keep to its bars; note its rows, judge them."""
    found = case()
    _show(found)
    if any(row.faults for row in found) and any(row.spread > DISTURBED for row in found):
        print("  disturbed: once more")
        found = [replace(row, again=True) for row in case()]
        _show(found)
    rows.extend(found)
    faults = {f"{row.case}, {row.change}": row.faults for row in found if row.faults}
    assert not faults, faults


def foretold(
    case: str,
    net: Network,
    box: Nas | None,
    asked: Asked,
    changes: Sequence[Change],
    room: Path,
    *,
    ssh: bool = True,
    hidden: Sequence[str] = (),
) -> list[Row]:
    """Rows of a case: one run, then each change predicted, carried out and measured in turn.

    ``hidden``: flows of which not every ceiling can be known.
    """
    before = ask(net, box, asked, room / "before", ssh=ssh)
    assert before.code == 0, f"exit {before.code}\n{before.err}\n{before.out[-3000:]}"
    found: list[Row] = []
    for number, change in enumerate(changes):
        said = _whatif(before.store, change.settings)
        change.carried_out()
        then = replace(change.asked or asked, more=("--no-probes",))
        after = ask(net, box, then, room / f"after{number}", ssh=ssh)
        assert after.code == 0, f"exit {after.code}\n{after.err}\n{after.out[-3000:]}"
        (room / f"after{number}" / "settings.json").write_text(json.dumps(change.settings))
        facts = {flow["name"]: flow["duration_s"] for flow in after.document["flows"]}
        (room / f"after{number}" / "fact.json").write_text(json.dumps(facts))
        taken = {flow["name"]: flow["duration_s"] for flow in before.document["flows"]}
        several = len(said["flows"]) > 1
        for flow in said["flows"]:
            spread = max(_spread(facts[flow["name"]]), _spread(taken[flow["name"]]))
            name = f"{case}, {flow['name']}" if several else case
            found.append(
                _row(name, change, flow["name"] in hidden, said, flow, facts[flow["name"]]["median"], spread)
            )
    return found


def median_error(found: Sequence[Row]) -> float:
    """Of the points of those whose ceilings are all known."""
    return statistics.median(abs(row.error) for row in found if not row.hidden)


def _whatif(store: Path, settings: Sequence[str]) -> dict[str, Any]:
    given = [part for each in settings for part in ("--set", each)]
    outcome = pathtrace("whatif", "last", *given, "--json", store=store)
    assert outcome.code == 0, f"exit {outcome.code}\n{outcome.err}"
    document: dict[str, Any] = json.loads(outcome.out)
    return document


def _row(
    case: str,
    change: Change,
    hidden: bool,
    said: dict[str, Any],
    flow: dict[str, Any],
    fact_s: float,
    spread: float,
) -> Row:
    after = flow["after_s"]
    return Row(
        case=case,
        change=", ".join(change.settings),
        hidden=hidden,
        before_s=flow["before_s"],
        expected_s=after["expected"],
        low_s=after["low"],
        high_s=after["high"],
        fact_s=fact_s,
        self_check=flow["self_check"]["error"],
        unknowns=tuple(each["what"] for each in said["unknowns"]),
        spread=spread,
    )


def _spread(seconds: dict[str, Any]) -> float:
    return float(seconds["high"] / seconds["low"] - 1) if seconds["low"] else 0.0


def _show(found: Sequence[Row]) -> None:
    for row in found:
        print(f"  {row.text}")
        print(f"    width {row.width:.2f}, repeats differ by {row.spread:.0%}, {list(row.unknowns)}")
        print(f"    {row.faults or 'kept'}")
