"""What a run is doing, on standard error: a live line on a terminal, an occasional one elsewhere.

Counts what the engine reports and puts it into words; decides nothing. Drawing costs are kept to a
few redraws a second, since they are paid inside the measured process.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from pathtrace.cli import streams
from pathtrace.model.scenario import Flow, FrequencyKind, Scenario
from pathtrace.ports import Progress
from pathtrace.units import format_count_rate, format_duration, format_rate, format_ratio

if TYPE_CHECKING:
    from rich.progress import Progress as Bar

REDRAWS_PER_S = 4
LINE_EVERY_S = 10.0

Now = Callable[[], float]


def progress_for(scenario: Scenario, quiet: bool) -> Watching:
    """How this run's progress is shown: not at all, live, or by lines."""
    if quiet:
        return Watching(scenario, time.monotonic)
    if sys.stderr.isatty():
        return LiveProgress(scenario, time.monotonic)
    return LineProgress(scenario, time.monotonic)


class Watching(Progress):
    """Counts, and shows nothing."""

    def __init__(self, scenario: Scenario, now: Now) -> None:
        self._flows = {flow.name: flow for flow in scenario.flows}
        self._now = now
        self._flow: Flow | None = None
        self._repeat = 0
        self._repeats: int | None = 0
        self._total: int | None = None
        self._operations: list[int] = []
        self._bytes: list[int] = []
        self._latest = 0
        self._began = self._repeat_began = self._run_began = now()
        self._whole_repeats: list[float] = []

    def execution(self, repeat: int, repeats: int | None, flow: str, total_operations: int | None) -> None:
        at = self._now()
        if self._flow is None or repeat != self._repeat:
            if self._flow is not None and self._repeat >= 0:
                self._whole_repeats.append(at - self._repeat_began)
            self._repeat_began = at
        self._flow, self._repeat, self._repeats = self._flows[flow], repeat, repeats
        self._total, self._began, self._latest = total_operations, at, 0
        self._operations = [0] * len(self._flow.stages)
        self._bytes = [0] * len(self._flow.stages)

    def advance(self, stage: int, operations: int, bytes: int) -> None:
        self._operations[stage] += operations
        self._bytes[stage] += bytes
        self._latest = stage

    def message(self, text: str) -> None:
        """Something a person should see now."""

    def tick(self) -> None:
        """A second or so went by: show that time passes, even where no operation comes to its end."""

    def close(self) -> None:
        """Take away what was drawn."""

    def words(self) -> str:
        """Repeat, time gone and left, flow and hop, operations and rate; empty before the first execution.

        What matters most comes first, since a narrow terminal cuts the end off.
        """
        flow = self._flow
        if flow is None:
            return ""
        stage = self._shown_stage(flow)
        done = self._operations[stage]
        of = f" of {self._total:,}" if self._total and stage in (0, len(flow.stages) - 1) else ""
        hop = flow.hops[flow.stages[stage].hop].name
        parts = (self._which(), self._times(), f"{flow.name} {hop}", f"{done:,}{of}", self._rate(flow, stage))
        return " · ".join(part for part in parts if part)

    def share(self) -> float | None:
        """How much of this execution is done, 0 to 1; None if that cannot be said."""
        if self._flow is None or not self._total:
            return None
        return min(self._operations[self._counting_stage(self._flow)] / self._total, 1.0)

    def _counting_stage(self, flow: Flow) -> int:
        """The stage whose operations are those of the total: whole answers, or what is read first."""
        return len(flow.stages) - 1 if flow.frequency.kind is FrequencyKind.PER_REQUEST else 0

    def _shown_stage(self, flow: Flow) -> int:
        counting = self._counting_stage(flow)
        finished = self._total is not None and self._operations[counting] >= self._total
        return self._latest if finished else counting

    def _which(self) -> str:
        if self._repeat < 0:
            return "warm-up"
        of = "" if self._repeats is None else f" of {self._repeats}"
        return f"repeat {self._repeat + 1}{of}"

    def _rate(self, flow: Flow, stage: int) -> str:
        elapsed = self._now() - self._began
        if elapsed <= 0 or not self._operations[stage]:
            return ""
        if flow.frequency.kind is FrequencyKind.PER_REQUEST or not self._bytes[stage]:
            return format_count_rate(self._operations[stage] / elapsed)
        return format_rate(self._bytes[stage] / elapsed)

    def _times(self) -> str:
        gone = f"{format_duration(round(self._now() - self._run_began))} gone"
        left = self._seconds_left()
        return gone if left is None else f"{gone}, {format_duration(round(left))} left"

    def _seconds_left(self) -> float | None:
        """Of the whole run once a repeat has been seen, before that of this flow's execution."""
        at = self._now()
        if self._whole_repeats and self._repeats is None:
            return None
        if self._whole_repeats and self._repeats is not None:
            mean = sum(self._whole_repeats) / len(self._whole_repeats)
            rest = max(mean - (at - self._repeat_began), 0.0)
            return rest + mean * (self._repeats - self._repeat - 1)
        share = self.share()
        return (at - self._began) * (1 - share) / share if share and share < 1 else None


class LineProgress(Watching):
    """A line when an execution begins, then every ten seconds: for logs and pipes."""

    def __init__(self, scenario: Scenario, now: Now) -> None:
        super().__init__(scenario, now)
        self._next_line = 0.0

    def execution(self, repeat: int, repeats: int | None, flow: str, total_operations: int | None) -> None:
        super().execution(repeat, repeats, flow, total_operations)
        self._next_line = self._now() + LINE_EVERY_S
        total = f", {total_operations:,} operations" if total_operations else ""
        streams.say(f"{self._which()}: {flow}{total}")

    def advance(self, stage: int, operations: int, bytes: int) -> None:
        super().advance(stage, operations, bytes)
        self.tick()

    def tick(self) -> None:
        if self._flow is not None and self._now() >= self._next_line:
            self._next_line = self._now() + LINE_EVERY_S
            share = self.share()
            streams.say(self.words() + (f" · {format_ratio(share)}" if share is not None else ""))

    def message(self, text: str) -> None:
        streams.say(text)


class LiveProgress(Watching):
    """One line that is redrawn in place, with a bar, by rich."""

    def __init__(self, scenario: Scenario, now: Now) -> None:
        super().__init__(scenario, now)
        self._bar = _bar()
        self._task = self._bar.add_task("starting", total=None)
        self._next_redraw = 0.0
        self._bar.start()

    def execution(self, repeat: int, repeats: int | None, flow: str, total_operations: int | None) -> None:
        super().execution(repeat, repeats, flow, total_operations)
        self._redraw()

    def advance(self, stage: int, operations: int, bytes: int) -> None:
        super().advance(stage, operations, bytes)
        self.tick()

    def tick(self) -> None:
        if self._flow is not None and self._now() >= self._next_redraw:
            self._redraw()

    def message(self, text: str) -> None:
        self._bar.console.print(text)

    def close(self) -> None:
        self._bar.stop()

    def _redraw(self) -> None:
        self._next_redraw = self._now() + 1 / REDRAWS_PER_S
        share = self.share()
        self._bar.update(
            self._task,
            description=self.words(),
            total=1.0 if share is not None else None,
            completed=share or 0,
        )
        self._bar.refresh()


def _bar() -> Bar:
    from rich.progress import BarColumn, Progress, TextColumn
    from rich.table import Column

    return Progress(
        BarColumn(bar_width=12),
        TextColumn("{task.description}", markup=False, table_column=Column(no_wrap=True, ratio=1)),
        console=streams.console(sys.stderr),
        auto_refresh=False,
        transient=True,
        redirect_stdout=False,
        redirect_stderr=False,
        expand=True,
    )
