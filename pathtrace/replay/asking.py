"""One execution of a per-request flow: people who ask, each carrying a request through all stages.

A closed loop: a person asks again when the answer has been delivered, so latency counts from
the moment of asking and a slow answer also slows the asking.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from pathtrace.model.sample import Window
from pathtrace.model.scenario import Action, Flow
from pathtrace.model.work import Done, Item
from pathtrace.replay.budget import Budget
from pathtrace.replay.stream import (
    GIVE_UP_AFTER,
    Execution,
    Recording,
    StageSetup,
    draw_one,
    perform,
    sample_of,
)


class Asking:
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
        self._budget = budget
        self._operations = 0
        self._asked = 0
        self._failed = 0
        self._start_ns = recording.clock()
        self._end_ns: int | None = None
        self._users = 0
        self._cut_short = False
        self.bytes_read = 0
        self.gave_up: str | None = None
        """Why the execution was given up, if it was."""

    async def run(self, questions: Sequence[Item], requests: int, users: int) -> Window:
        """Let ``users`` people ask ``requests`` questions in all; returns the timed window."""
        self._users = users
        self._start_ns = self._recording.clock()
        async with asyncio.TaskGroup() as group:
            for user in range(users):
                group.create_task(self._ask_all(user, questions, requests), name=f"user {user}")
        self._end_ns = self._recording.clock()
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
        )

    async def _ask_all(self, user: int, questions: Sequence[Item], requests: int) -> None:
        while self._asked < requests:
            if self.gave_up is not None or self._budget.ends():
                self._cut_short = True
                return
            request = self._asked
            self._asked += 1
            await self._ask(user, request, questions[request % len(questions)])

    async def _ask(self, user: int, request: int, question: Item) -> None:
        cause, item, arrived_ns = -1, question, self._recording.clock()
        for stage, setup in enumerate(self._setups):
            number = self._operations
            self._operations += 1
            done = await self._do(setup, item)
            self._record((stage, user, number, cause, request), arrived_ns, done)
            if done.fault is not None or not done.items:
                self._judge(stage, done)
                return
            cause, item, arrived_ns = number, done.items[0], self._recording.clock()

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
        if self._failed == self._asked and self._failed >= GIVE_UP_AFTER:
            place = self._flow.stages[stage].place
            self.gave_up = (
                f"{self._setups[stage].action.value} at {place}: the first {GIVE_UP_AFTER} requests all "
                f"failed, the last with: {done.fault}"
            )
