"""One execution of a per-request flow: each request is carried through all stages.

A closed loop of people (``ask_in_turn``): each asks again when the answer has been delivered, so
latency counts from the moment of asking and a slow answer also slows the asking. An open loop
(``ask_on_schedule``): requests come evenly spaced whatever the answers do, and latency counts from
when each was meant to start, so that a queue shows.
"""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import Sequence

from pathtrace.model.sample import Window
from pathtrace.model.scenario import Action, Flow
from pathtrace.model.work import Done, Item
from pathtrace.replay.budget import Budget
from pathtrace.replay.operations import (
    GIVE_UP_AFTER,
    Execution,
    Recording,
    StageSetup,
    draw_one,
    perform,
    sample_of,
)
from pathtrace.units import nanoseconds, seconds


class Asking:
    """Runs one execution. Use once."""

    def __init__(
        self,
        execution: Execution,
        flow: Flow,
        setups: Sequence[StageSetup],
        recording: Recording,
        budget: Budget,
        idle_s: float = 0.0,
    ) -> None:
        self._idle_s = idle_s
        self._execution = execution
        self._flow = flow
        self._setups = setups
        self._recording = recording
        self._budget = budget
        self._operations = 0
        self._asked = 0
        self._failed = 0
        self._answered = 0
        self._start_ns = recording.clock()
        self._end_ns: int | None = None
        self._users = 0
        self._cut_short = False
        self.bytes_read = 0
        self.gave_up: str | None = None
        """Why the execution was given up, if it was."""

    async def ask_in_turn(self, questions: Sequence[Item], requests: int, users: int) -> Window:
        """Let ``users`` people ask ``requests`` questions in all; returns the timed window."""
        self._users = users
        self._start_ns = self._recording.clock()
        async with asyncio.TaskGroup() as group:
            for user in range(users):
                group.create_task(self._ask_all(user, questions, requests), name=f"user {user}")
        self._end_ns = self._recording.clock()
        return self.window()

    async def ask_on_schedule(self, questions: Sequence[Item], requests: int, rate_per_s: float) -> Window:
        """Ask ``requests`` questions, one every 1 / ``rate_per_s`` seconds; returns the timed window."""
        clock = self._recording.clock
        lanes: list[int] = []
        self._start_ns = clock()
        async with asyncio.TaskGroup() as group:
            for request in range(requests):
                due_ns = self._start_ns + nanoseconds(request / rate_per_s)
                if not await self._reach(due_ns):
                    break
                self._asked += 1
                question = questions[request % len(questions)]
                group.create_task(self._ask_in_lane(lanes, request, question, due_ns))
        self._end_ns = clock()
        return self.window()

    def window(self) -> Window:
        """The timed window, also of an execution that was cut short."""
        clock, origin_ns = self._recording.clock, self._recording.origin_ns
        return Window(
            repeat=self._execution.repeat,
            flow=self._execution.flow,
            execution=self._execution.number,
            users=self._users,
            start_ns=self._start_ns - origin_ns,
            end_ns=(self._end_ns or clock()) - origin_ns,
            complete=self._end_ns is not None and not self._cut_short,
            workers=(self._users,) * len(self._setups),
            idle_s=self._idle_s,
        )

    async def _reach(self, due_ns: int) -> bool:
        """Wait until then; False if the execution ends first."""
        left_ns = due_ns - self._recording.clock()
        if left_ns > 0:
            await self._budget.pause(seconds(left_ns))
        return not self._ends()

    def _ends(self) -> bool:
        self._cut_short |= self.gave_up is not None or self._budget.ends()
        return self._cut_short

    async def _ask_all(self, user: int, questions: Sequence[Item], requests: int) -> None:
        while self._asked < requests and not self._ends():
            request = self._asked
            self._asked += 1
            await self._ask(user, request, questions[request % len(questions)], self._recording.clock())

    async def _ask_in_lane(self, lanes: list[int], request: int, question: Item, due_ns: int) -> None:
        """In the lowest lane that is free, as if one person more had come where all were waiting."""
        if lanes:
            lane = heapq.heappop(lanes)
        else:
            lane, self._users = self._users, self._users + 1
        await self._ask(lane, request, question, due_ns)
        heapq.heappush(lanes, lane)

    async def _ask(self, user: int, request: int, question: Item, due_ns: int) -> None:
        cause, item, arrived_ns = -1, question, due_ns
        for stage, setup in enumerate(self._setups):
            number = self._operations
            self._operations += 1
            done = await self._do(setup, item)
            self._record((stage, user, number, cause, request), arrived_ns, done)
            if done.fault is not None or not done.items:
                self._judge(stage, done)
                return
            cause, item, arrived_ns = number, done.items[0], self._recording.clock()
        self._answered += 1

    async def _do(self, setup: StageSetup, item: Item) -> Done:
        if setup.action is Action.READ:
            done = await draw_one(setup, item, self._recording.clock)
            self._budget.spend(done.bytes)
            self.bytes_read += done.bytes
            return done
        return await perform(setup, (item,), self._recording.clock)

    def _record(self, identity: tuple[int, int, int, int, int], arrived_ns: int, done: Done) -> None:
        repeat, flow, execution = self._execution
        stage, user, number, cause, request = identity
        self._recording.sink.sample(
            sample_of(
                (repeat, flow, execution, stage, user, number, cause, request),
                arrived_ns,
                done,
                0,
                self._recording,
            )
        )
        self._recording.progress.advance(stage, 1, done.bytes)

    def _judge(self, stage: int, done: Done) -> None:
        if done.fault is None:
            return
        self._failed += 1
        if not self._answered and self._failed >= GIVE_UP_AFTER:
            place = self._flow.stages[stage].place
            self.gave_up = (
                f"{self._setups[stage].action.value} at {place}: the first {GIVE_UP_AFTER} requests all "
                f"failed, the last with: {done.fault}"
            )
