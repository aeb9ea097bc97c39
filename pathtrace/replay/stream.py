"""One execution of a flow as a stream: stages with workers, joined by bounded queues.

A worker is *busy* while its place works, *blocked* while its result finds the next queue full and
*starved* otherwise. Each operation becomes one sample that carries the operation which released
it (``cause``), so that the critical path can be walked afterwards from data alone.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from pathtrace.model.sample import Window
from pathtrace.model.scenario import Flow
from pathtrace.model.work import Done, Item
from pathtrace.ports import Lane
from pathtrace.replay.budget import Budget
from pathtrace.replay.operations import (
    GIVE_UP_AFTER,
    HANGS,
    Execution,
    Recording,
    StageSetup,
    Watch,
    draw,
    finish,
    lane_of,
    last_lane_of,
    perform,
    read_on,
    sample_of,
)
from pathtrace.replay.queues import AHEAD, BURST, Inlet, WorkList
from pathtrace.replay.taking_down import Reads


class Stream:
    """Runs one execution. Use once."""

    def __init__(
        self,
        execution: Execution,
        flow: Flow,
        setups: Sequence[StageSetup],
        recording: Recording,
        budget: Budget,
    ) -> None:
        self._execution = execution
        self._flow = flow
        self._setups = setups
        self._recording = recording
        self._clock = recording.clock
        self._budget = budget
        self._reads = Reads(execution, recording)
        self._inlets = [Inlet(setup, recording.clock) for setup in setups[1:]]
        self._operations = 0
        self._latest = [-1] * len(setups)
        self._failures = [0] * len(setups)
        self._hangs = [0] * len(setups)
        self._succeeded = [False] * len(setups)
        self._start_ns = self._clock()
        self._end_ns: int | None = None
        self._cut_short = False
        self.bytes_read = 0
        self.gave_up: str | None = None
        """Why the execution was given up, if it was."""

    async def run(self, items: Sequence[Item]) -> Window:
        """Move every item through all stages; returns the timed window."""
        work = WorkList(items, self._setups[0].workers)
        self._start_ns = self._clock()
        try:
            async with asyncio.TaskGroup() as group:
                for index in range(len(self._setups)):
                    group.create_task(self._stage(index, work), name=f"{self._flow.name}/{index}")
            self._end_ns = self._clock()
        finally:
            self._reads.finish()
        return self.window()

    @property
    def operations(self) -> int:
        """How many have been recorded so far, failed ones too."""
        return self._operations

    def window(self) -> Window:
        """The timed window, also of an execution that was cut short."""
        origin_ns = self._recording.origin_ns
        return Window(
            repeat=self._execution.repeat,
            flow=self._execution.flow,
            execution=self._execution.number,
            users=0,
            start_ns=self._start_ns - origin_ns,
            end_ns=(self._end_ns or self._clock()) - origin_ns,
            complete=self._end_ns is not None and not self._cut_short,
            workers=tuple(setup.workers for setup in self._setups),
        )

    def _ended(self) -> bool:
        return self.gave_up is not None or self._budget.ends()

    async def _stage(self, index: int, work: WorkList) -> None:
        """All workers of a stage, then what remains to be finished, then word to the next."""
        async with asyncio.TaskGroup() as group:
            for worker in range(self._setups[index].workers):
                task = self._read_all(worker, work) if index == 0 else self._perform_all(index, worker)
                group.create_task(task)
        await self._finish(index)
        if index < len(self._inlets):
            await self._inlets[index].flush()
            await self._inlets[index].end(self._setups[index + 1].workers)

    async def _read_all(self, worker: int, work: WorkList) -> None:
        outlet = self._inlets[0] if self._inlets else None
        lane = self._lane()
        if lane is None:
            await self._draw_all(worker, work, outlet)
        while lane is not None:
            lane = await self._read_on(worker, work, outlet, lane)

    def _lane(self) -> Lane | None:
        return lane_of(self._setups[0]) if self._inlets else last_lane_of(self._setups[0])

    async def _read_on(self, worker: int, work: WorkList, outlet: Inlet | None, lane: Lane) -> Lane | None:
        """Let a lane read while its bursts are handed on; returns another where it hangs in a read."""
        watch = Watch(lane, self._setups[0].timeout_s, self._clock)
        try:
            while True:
                if self._ended():
                    work.give_back(lane.end())
                else:
                    self._feed(lane, work, outlet)
                if not lane.ahead:
                    self._cut_short |= work.left > 0
                    return None
                burst = await self._next_burst(lane, work, outlet)
                hangs = burst[-1].timed_out
                await self._take_burst(worker, burst, outlet)
                del burst  # its memory is wanted for the next one
                if hangs:
                    return self._lane()
        finally:
            watch.end()
            work.give_back(lane.end())

    def _feed(self, lane: Lane, work: WorkList, outlet: Inlet | None) -> None:
        room = (outlet.free // self._setups[0].workers if outlet else AHEAD) - lane.ahead
        if room > 0 or not lane.ahead:
            lane.feed(work.take(room))

    async def _next_burst(self, lane: Lane, work: WorkList, outlet: Inlet | None) -> list[Done]:
        """What was read. Where handing it on has to wait, the lane rests first: blocked is not busy."""
        burst = await read_on(lane, self._setups[0], self._clock)
        if outlet and len(burst) > outlet.free:
            work.give_back(lane.end())
            while lane.ahead and not burst[-1].timed_out:
                burst += await read_on(lane, self._setups[0], self._clock)
        return burst

    async def _draw_all(self, worker: int, work: WorkList, outlet: Inlet | None) -> None:
        setup = self._setups[0]
        # A burst no longer than the room downstream: its reads then follow one another unblocked.
        while taken := work.take(outlet.free // setup.workers if outlet else BURST):
            if self._ended():
                self._cut_short = True
                return
            done = await draw(setup, taken, self._clock)
            work.give_back(taken[len(done) :])
            await self._take_burst(worker, done, outlet)
            del done  # its memory is wanted for the next one

    async def _take_burst(self, worker: int, burst: Sequence[Done], outlet: Inlet | None) -> None:
        """Hand a burst on and have it taken down, at once where that gives its memory back."""
        first = self._operations
        self._operations += len(burst)
        self._latest[0] = self._operations - 1
        for done in burst:
            self._judge(0, done)
        if outlet:
            blocked_ns = 0
            for number, done in enumerate(burst, first):
                blocked_ns += await outlet.put(done.items, number)
            self._reads.now(worker, first, burst, blocked_ns)
        else:
            self._reads.later(worker, first, burst)
        count = sum([done.bytes for done in burst])
        self._budget.spend(count)
        self.bytes_read += count
        self._recording.progress.advance(0, len(burst), count)

    async def _perform_all(self, index: int, worker: int) -> None:
        setup = self._setups[index]
        inlet = self._inlets[index - 1]
        outlet = self._inlets[index] if index < len(self._inlets) else None
        while (parcel := await inlet.queue.get()) is not None:
            if self._ended():
                self._cut_short = True
                continue
            number = self._operations
            self._operations += 1
            done = await perform(setup, parcel.items, self._clock)
            blocked_ns = await outlet.put(done.items, number) if outlet else 0
            self._record(index, worker, number, parcel.cause, parcel.arrived_ns, done, blocked_ns)
            self._recording.progress.advance(index, 1, done.bytes)

    async def _finish(self, index: int) -> None:
        setup, started = self._setups[index], self._clock()
        done = await finish(setup, self._clock)
        if done is not None:
            number = self._operations
            self._operations += 1
            self._record(index, 0, number, self._latest[index], started, done, 0)

    def _record(
        self,
        stage: int,
        worker: int,
        number: int,
        cause: int,
        arrived_ns: int,
        done: Done,
        blocked_ns: int,
    ) -> None:
        self._latest[stage] = number
        self._judge(stage, done)
        repeat, flow, execution = self._execution
        identity = (repeat, flow, execution, stage, worker, number, cause, -1)
        self._recording.sink.sample(sample_of(identity, arrived_ns, done, blocked_ns, self._recording))

    def _judge(self, stage: int, done: Done) -> None:
        if done.fault is None:
            self._succeeded[stage] = True
            self._hangs[stage] = 0
            return
        self._failures[stage] += 1
        self._hangs[stage] = self._hangs[stage] + 1 if done.timed_out else 0
        if self._hangs[stage] >= HANGS:
            setup = self._flow.stages[stage]
            self.gave_up = (
                f"{setup.action.value} at {setup.place}: {HANGS} operations in a row did not end, "
                f"the last with: {done.fault}"
            )
        if not self._succeeded[stage] and self._failures[stage] >= GIVE_UP_AFTER:
            setup = self._flow.stages[stage]
            self.gave_up = (
                f"{setup.action.value} at {setup.place}: the first {GIVE_UP_AFTER} operations all failed, "
                f"the last with: {done.fault}"
            )
