"""What is done with a night once it is over: kept, held against what was, judged, told.

Each step may fail and costs only itself. The scan's document is written twice: before anything is compared,
so that a crash loses nothing of the night, and again with what was told.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pathtrace.app.claims import Claim, living
from pathtrace.app.scanning_verdict import Past, judged, told_by
from pathtrace.app.telling import reached_nobody, tell
from pathtrace.errors import PathtraceError, RunFileError, StoreError
from pathtrace.model.history import FAILED, SKIPPED, HistoryEntry, Told
from pathtrace.model.report import Caveat
from pathtrace.model.scanning import ScanReport
from pathtrace.model.scenario import Scenario
from pathtrace.model.work import Clock
from pathtrace.redaction import Scrubber
from pathtrace.units import seconds

if TYPE_CHECKING:
    from pathtrace.app import Outcome

UNKEPT, UNREAD, UNPRUNED = "night-unkept", "history-unread", "not-pruned"


@dataclass(frozen=True, slots=True)
class Draft:
    """A night as it went, before anything is made of it. ``began_ns``: when its turn came."""

    scenario: Scenario
    store: Path
    at: datetime
    began_ns: int
    waited_s: float
    outcome: str
    label: str | None = None
    reason: str | None = None
    run: Outcome | None = None
    error: PathtraceError | None = None


@dataclass(frozen=True, slots=True)
class Scanned:
    """``folder`` None: the store took nothing. ``error``: what ended the scan, or was not stored."""

    report: ScanReport
    document: Mapping[str, Any]
    folder: Path | None
    run: Outcome | None
    caveats: tuple[Caveat, ...]
    error: PathtraceError | None
    compared: bool = True
    """False: what it would have been held against could not be read."""


async def keep(draft: Draft, doubts: tuple[Caveat, ...], clock: Clock) -> Scanned:
    """Keep the night, judge it, tell of it, and tidy up behind it. Raises nothing of ours."""
    kept = _Keeping(draft)
    kept.doubt(doubts)
    with kept.claimed():
        entry = kept.first(seconds(clock() - draft.began_ns))
        past = kept.past(entry)
        report = judged(draft.scenario, draft.outcome, draft.run, past, draft.waited_s)
        report = replace(report, scan_s=seconds(clock() - draft.began_ns))
        told = told_by(report)
        untold = await tell(report, draft.scenario, kept.document(report, told))
        kept.doubt(untold)
        remembered = () if reached_nobody(draft.scenario, untold) else told
        document = kept.document(report, remembered)
        kept.write(document)  # before the tidying up: who is killed in that must not tell it all again
        if kept.prune(past):
            document = kept.document(report, remembered)
            kept.write(document)
    return Scanned(report, document, kept.folder, draft.run, tuple(kept.caveats), kept.error, kept.compared)


class _Keeping:
    """Where a night is kept, and what stood in the way of it."""

    def __init__(self, draft: Draft) -> None:
        self._draft = draft
        self._scrub = Scrubber(draft.scenario.secrets)
        self.caveats: list[Caveat] = []
        self.error = draft.error
        self.compared = True
        self.folder = draft.run.folder if draft.run is not None else self._made()
        if draft.run is not None:
            self.error = self.error or draft.run.unstored

    def _made(self) -> Path | None:
        from pathtrace.store.scans import new_night

        try:
            return new_night(self._draft.store, self._draft.at)
        except StoreError as error:
            self._refused(error)
            return None

    def _refused(self, error: PathtraceError) -> None:
        if self.error is None:
            self.error = error
        elif str(error) != str(self.error):
            self.doubt((Caveat(UNKEPT, f"this night is not kept: {error}", error.hint),))

    @contextlib.contextmanager
    def claimed(self) -> Iterator[None]:
        """So that half a document, left by a crash, is known to be ours; where the store takes a note."""
        claim = Claim(self._draft.store)
        try:
            if self.folder is not None:
                with contextlib.suppress(StoreError):
                    claim.take(self.folder.name)
            yield
        finally:
            claim.release()

    def doubt(self, caveats: Iterable[Caveat]) -> None:
        """Note doubts, without what must not be shown."""
        from pathtrace.store.codec import scrubbed

        self.caveats += (scrubbed(each, self._scrub) for each in caveats)

    def first(self, took_s: float) -> HistoryEntry:
        """The night as an entry of history, kept before anything else is done with it."""
        from pathtrace.store.nights import read_night

        entry = self._bare(took_s)
        bare = ScanReport(entry, self._host, self._draft.outcome, took_s, self._draft.waited_s)
        self.write(self.document(bare, ()))
        found = read_night(self.folder).entry if self.folder is not None else None
        return found if found is not None else entry

    def _bare(self, took_s: float) -> HistoryEntry:
        """Without figures: those are read from the run."""
        draft, scenario = self._draft, self._draft.scenario
        run = draft.run.run if draft.run is not None else None
        status = draft.outcome if draft.outcome in (SKIPPED, FAILED) or run is None else run.status
        return HistoryEntry(
            id=self.folder.name if self.folder is not None else f"{draft.at:%Y%m%d-%H%M%S}",
            at=draft.at,
            scenario=scenario.name,
            workload_fingerprint=scenario.workload_fingerprint,
            setup_fingerprint=scenario.setup_fingerprint,
            start=scenario.control.start.value,
            status=status,
            duration_s=took_s,
            label=draft.label,
            reason=None if draft.reason is None else self._scrub(draft.reason),
            scanned=True,
        )

    @property
    def _host(self) -> str:
        return self._draft.scenario.here.name

    def past(self, entry: HistoryEntry) -> Past:
        """What is known of earlier nights, tonight among them."""
        from pathtrace.store.index import History

        try:
            with History(self._draft.store) as history:
                history.refresh()
                nights = history.entries(entry.scenario)
                baseline = history.baseline(entry.scenario, entry.workload_fingerprint)
                told = history.told(entry.scenario)
                self.doubt(history.caveats)
        except RunFileError as error:
            text = f"this night is held against nothing: {error}"
            self.doubt((Caveat(UNREAD, text, error.hint),))
            self.compared = False
            return Past(entry, (entry,), None, ())
        earlier = tuple(each for each in nights if each.id != entry.id)
        found = next((each for each in nights if each.id == entry.id), entry)
        return Past(found, (*earlier, found), baseline, told)

    def document(self, report: ScanReport, told: tuple[Told, ...]) -> dict[str, Any]:
        from pathtrace.render.scan_document import scan_document
        from pathtrace.store.codec import scrubbed

        run = self._draft.run.run.id if self._draft.run is not None else None
        return scan_document(scrubbed(report, self._scrub), run, told, self.caveats)

    def write(self, document: Mapping[str, Any]) -> None:
        from pathtrace.store.scans import write_scan

        if self.folder is None:
            return
        try:
            write_scan(self.folder, document)
        except StoreError as error:
            self._refused(error)

    def prune(self, past: Past) -> bool:
        """Of the same scenario only: others say themselves how long theirs are kept. True if it failed."""
        from pathtrace.store.retention import prune

        store, own = self._draft.store, {each.id for each in past.nights}
        try:
            prune(store, own, self._draft.scenario.keep_s, datetime.now(UTC), living(store))
        except RunFileError as error:
            self.doubt((Caveat(UNPRUNED, f"old samples are kept: {error}", error.hint),))
            return True
        return False
