"""Run -> Report: what the samples and readings of a run mean. Pure: no I/O, no clock."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathtrace.model.report import Report
    from pathtrace.model.run import Run


def analyse(run: Run) -> Report:
    """Everything that can be said of ``run``; also of a partial or empty one."""
    from pathtrace.analysis.assembly import assemble  # numpy and pandas load only when there is a run

    return assemble(run)
