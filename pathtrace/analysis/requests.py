"""What people get: latency of whole requests, time to first token, tokens per second."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from pathtrace.analysis.executions import Execution
from pathtrace.analysis.spread import FEWEST, latency
from pathtrace.model.report import RequestsReport
from pathtrace.model.scenario import Action, Flow, Workload
from pathtrace.units import NANOSECONDS_PER_SECOND, seconds


@dataclass(frozen=True, slots=True)
class PerRequest:
    """Mean seconds that one request spends in each stage (by its index), and in all."""

    count: int
    total_s: float
    stages_s: tuple[float, ...]
    late_s: float
    """How much later than meant requests were begun by pathtrace itself: of 100 or more the 99th
    percentile, of fewer the largest."""


def requests_report(execution: Execution, flow: Flow, workload: Workload, users: int) -> RequestsReport:
    """Of one execution of a per-request flow; a failed request counts in ``count`` and ``errors`` only."""
    whole = _whole_requests(execution)
    good = whole[whole["ok"]]
    took = good["took"].to_numpy(np.int64)
    wait = workload.acceptable_wait_s
    return RequestsReport(
        flow=flow.name,
        count=len(whole),
        errors=int((~whole["ok"]).sum()),
        users=users,
        per_s=len(good) * NANOSECONDS_PER_SECOND / execution.wall_ns if execution.wall_ns else None,
        latency=latency(took),
        time_to_first_token_s=_first_token_s(execution, flow),
        tokens_per_s=_tokens_per_s(execution, flow),
        within_acceptable_wait=(
            float((took <= wait * NANOSECONDS_PER_SECOND).sum() / len(whole))
            if wait is not None and len(whole)
            else None
        ),
        after_idle_s=(execution.window.idle_s or None) if execution.window else None,
    )


def per_request(execution: Execution, stages: int) -> PerRequest | None:
    """Means over the requests that were answered; None if there is none."""
    whole = _whole_requests(execution)
    good = whole[whole["ok"]]
    if not len(good):
        return None
    chosen = np.isin(execution.request, good.index.to_numpy())
    sums = np.bincount(execution.stage[chosen], execution.elapsed[chosen], minlength=stages)
    return PerRequest(
        count=len(good),
        total_s=seconds(float(good["took"].mean())),
        stages_s=tuple(seconds(float(total) / len(good)) for total in sums),
        late_s=_late_s(execution),
    )


def _late_s(execution: Execution) -> float:
    first = (execution.stage == 0) & (execution.request >= 0)
    late = np.maximum(0, execution.start[first] - execution.intended[first])
    if not len(late):
        return 0.0
    return seconds(float(np.percentile(late, 99 if len(late) >= FEWEST[99] else 100)))


def _whole_requests(execution: Execution) -> pd.DataFrame:
    """One row per request: how long it took, from when it should have begun (open loop) or was asked."""
    frame = pd.DataFrame(
        {
            "request": execution.request,
            "begin": np.minimum(execution.intended, execution.start),
            "end": execution.end,
            "ok": execution.ok,
        }
    )
    grouped = frame[frame["request"] >= 0].groupby("request")
    whole = grouped.agg(begin=("begin", "min"), end=("end", "max"), ok=("ok", "all"))
    return whole.assign(took=whole["end"] - whole["begin"])


def _stages_of(flow: Flow, action: Action) -> list[int]:
    return [stage.index for stage in flow.stages if stage.action is action]


def _first_token_s(execution: Execution, flow: Flow) -> float | None:
    """Median from request sent to first token, of the answers that hold any."""
    held = (execution.bytes > 0) | (execution.tokens > 0)
    delivered = np.isin(execution.stage, _stages_of(flow, Action.DELIVER)) & held
    mine = np.isin(execution.stage, _stages_of(flow, Action.GENERATE)) & execution.ok
    mine &= np.isin(execution.request, execution.request[delivered])
    return seconds(float(np.median(execution.elapsed[mine]))) if mine.any() else None


def _tokens_per_s(execution: Execution, flow: Flow) -> float | None:
    """Tokens after the first, per second from first to last: the first one belongs to ``generate``."""
    frame = pd.DataFrame(
        {
            "request": execution.request,
            "tokens": execution.tokens,
            "streamed": np.where(
                np.isin(execution.stage, _stages_of(flow, Action.DELIVER)), execution.elapsed, 0
            ),
        }
    )[np.isin(execution.stage, _stages_of(flow, Action.GENERATE) + _stages_of(flow, Action.DELIVER))]
    frame = frame[execution.ok[frame.index]]
    whole = frame.groupby("request").agg(tokens=("tokens", "max"), streamed=("streamed", "sum"))
    whole = whole[(whole["tokens"] > 1) & (whole["streamed"] > 0)]
    if not len(whole):
        return None
    return float((whole["tokens"] - 1).sum() * NANOSECONDS_PER_SECOND / whole["streamed"].sum())
