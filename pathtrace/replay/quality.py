"""Asks the scenario's ``checks`` after the timed part: a faster answer that is wrong is no gain.

An expectation is met by a document that was found, by its name or the end of its path, or by words
in the answer (where no model answers: in the passages), whatever their case.
"""

from __future__ import annotations

from collections.abc import Sequence

from pathtrace.model.run import CheckResult
from pathtrace.model.scenario import Action, Check, Flow, Scenario
from pathtrace.model.work import Clock, Done, Item
from pathtrace.replay.executing import Executor, question
from pathtrace.replay.operations import StageSetup, perform


async def ask_checks(
    scenario: Scenario, executor: Executor, skipped: Sequence[str], clock: Clock
) -> tuple[CheckResult, ...]:
    """One result for each check; none if no flow answers questions."""
    flow = _answering(scenario, skipped)
    if flow is None:
        return ()
    setups = executor.setups(flow)
    return tuple([await _ask(check, setups, clock) for check in scenario.control.checks])


def _answering(scenario: Scenario, skipped: Sequence[str]) -> Flow | None:
    """The first flow that could be measured and carries a question to people."""
    for flow in scenario.flows:
        asks = flow.stages[0].action in (Action.LOOKUP, Action.GENERATE)
        if asks and flow.stages[-1].action is Action.DELIVER and flow.name not in skipped:
            return flow
    return None


async def _ask(check: Check, setups: Sequence[StageSetup], clock: Clock) -> CheckResult:
    item, documents = question(check.ask), set[str]()
    for setup in setups[:-1]:
        done: Done = await perform(setup, (item,), clock)
        if done.fault is not None or not done.items:
            return CheckResult(check.ask, False, (done.fault or "no answer",))
        item = done.items[0]
        documents |= set(item.documents)
    text = await _text(item)
    missing = tuple(wanted for wanted in check.expect if not _found(wanted, text, documents))
    return CheckResult(check.ask, not missing, missing)


async def _text(item: Item) -> str:
    if item.answer is not None:
        return "".join([piece async for piece in item.answer])
    return "\n".join(item.texts[1:])


def _found(wanted: str, text: str, documents: set[str]) -> bool:
    named = any(document == wanted or document.endswith(f"/{wanted}") for document in documents)
    return named or wanted.casefold() in text.casefold()
