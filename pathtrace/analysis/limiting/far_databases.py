"""Databases whose files lie on a network mount: what each commit costs there."""

from __future__ import annotations

from collections.abc import Iterator

from pathtrace.analysis.evidence import Evidence
from pathtrace.model.report import Finding
from pathtrace.model.scenario import PlaceKind
from pathtrace.units import format_duration


def far_databases(evidence: Evidence) -> Iterator[Finding]:
    """One for each such place, with the latency of a sync of its own folder where that was measured."""
    for reached in evidence.run.reached:
        mount = reached.mount
        if evidence.place(reached.place).kind is not PlaceKind.DATABASE or mount is None or not mount.network:
            continue
        ceiling = evidence.ceiling(f"commit:{reached.place}")
        alone = ceiling.latency_s if ceiling is not None else None
        takes = (
            f"a sync there takes {format_duration(alone)} alone" if alone else "a sync there was not timed"
        )
        yield Finding(
            "network-database",
            f"{reached.place} lies on a network mount: each commit crosses it; {takes}",
            (
                f"{mount.fstype} from {mount.device} at {mount.path}",
                "move its files to a disk of its own host",
            ),
        )
