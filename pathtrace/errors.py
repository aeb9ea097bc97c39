"""Errors that end a command: what failed, where, why, what to do, and the exit code.

A failed *operation* is not here: it is a sample with an outcome (``model.sample``). A doubt about
a figure is not here either: it is a ``Caveat`` (``model.report``). Imports nothing of ours.
"""

from __future__ import annotations

EXIT_DONE = 0
EXIT_VERDICT = 1
EXIT_USAGE = 2
EXIT_NOT_MEASURED = 3
EXIT_BUG = 70
EXIT_INTERRUPTED = 130
EXIT_TERMINATED = 143


class PathtraceError(Exception):
    """Base of every error of ours. ``message`` says what and why, ``hint`` what to do."""

    exit_code = EXIT_USAGE

    def __init__(self, message: str, *, hint: str | None = None, where: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.where = where

    def __str__(self) -> str:
        return f"{self.where}: {self.message}" if self.where else self.message


class UsageError(PathtraceError):
    """An unknown name, unit or option; something asked for that this version does not have."""


class ScenarioError(PathtraceError):
    """A scenario that cannot be used. ``faults`` holds every fault found, in file order."""

    def __init__(self, faults: tuple[PathtraceError, ...]) -> None:
        super().__init__("\n".join(str(fault) for fault in faults))
        self.faults = faults


class RunFileError(PathtraceError):
    """A stored run that is unknown, ambiguous, unreadable or of another format version."""


class IncomparableError(PathtraceError):
    """Runs whose times may not be held against each other. ``faults`` holds every reason."""

    def __init__(self, faults: tuple[PathtraceError, ...]) -> None:
        super().__init__("\n".join(str(fault) for fault in faults))
        self.faults = faults


class PlaceError(PathtraceError):
    """A place that cannot be reached or used: the flows through it are not measured."""

    exit_code = EXIT_NOT_MEASURED


class StoreError(PathtraceError):
    """The store cannot be written (full disk, no permission)."""

    exit_code = EXIT_NOT_MEASURED


class OperationError(PathtraceError):
    """One operation failed. The replay turns it into a sample; it never ends a run."""

    exit_code = EXIT_NOT_MEASURED


class EvidenceError(PathtraceError):
    """A run that was measured, but not as far as an answer needs."""

    exit_code = EXIT_NOT_MEASURED
