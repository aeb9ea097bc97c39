"""What moves through a flow, and what one operation upon it gave. Made inside timed loops."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import NamedTuple

from pathtrace.model.weights import WeightsHeader


class Item(NamedTuple):
    """One thing on its way along a flow: a document, a block, its pieces, a question, an answer.

    Each place reads the fields that it needs and hands on a new item; ``name`` stays.
    """

    name: str
    size_bytes: int
    path: str | None = None
    """Where a command may read the document itself."""
    offset: int = 0
    """Where a block starts in its file."""
    data: bytes | memoryview | None = None
    texts: tuple[str, ...] = ()
    """Pieces of a document, or a question followed by the passages found for it."""
    vectors: tuple[tuple[float, ...], ...] = ()
    """One for each of ``texts``, or empty."""
    documents: tuple[str, ...] = ()
    """Of passages that were found: the document that each comes from, where that is known."""
    answer: AsyncIterator[str] | None = None
    """The rest of an answer that has begun to arrive; the ``user`` place drains it."""


class Done(NamedTuple):
    """One finished operation: its own times (taken where it happened) and what it hands on.

    ``elapsed_ns`` covers all of it; ``setup_ns`` (open, connect, spawn) and ``finish_ns`` (close,
    commit) are its first and last parts. -1 stands for "not known", never for zero.
    """

    start_ns: int
    elapsed_ns: int
    bytes: int
    items: tuple[Item, ...] = ()
    setup_ns: int = 0
    first_byte_ns: int = -1
    """From the operation's start to the first byte of its result."""
    finish_ns: int = 0
    cpu_ns: int = -1
    """CPU time of whoever did the work: the thread, or the command's processes."""
    io_bytes: int = -1
    """Bytes that the acting process read by its own counters (a command's)."""
    tokens: int = -1
    """Tokens generated or embedded, where the server says."""
    fault: str | None = None
    """Why it failed; the sample's outcome is then ``failed``."""
    timed_out: bool = False
    """True if the fault is that the time limit ran out."""
    stat_ns: int = -1
    """The part of ``setup_ns`` in which an open file was asked how long it is."""
    load_ns: int = -1
    """How long the server loaded its model for this; 0: it was in memory already. A streamed answer
    says so at its end: then it stands with ``deliver``."""


@dataclass(frozen=True, slots=True)
class PlaceFacts:
    """What ``check`` learns of a place without changing anything."""

    summary: str
    """One line for a person."""
    files: int | None = None
    bytes: int | None = None
    read_bytes: int | None = None
    """What a repeat would read."""
    write_bytes: int | None = None
    """What a repeat would write into scratch."""
    sparse_bytes: int | None = None
    fingerprint: str | None = None
    warnings: tuple[str, ...] = ()
    whole_bytes: int | None = None
    """Of all files, where only a sample of them is read."""
    listing_s: float | None = None
    """How long listing the files took when the place was opened."""
    weights: WeightsHeader | None = None
    """Of a place that holds one model whose header can be read."""
    disk_total_bytes: int | None = None
    disk_used_bytes: int | None = None
    """Of the disk that it writes to, or else lies on."""


@dataclass(frozen=True, slots=True)
class LayerState:
    """One layer's start condition. ``layer`` is client_cache, server_cache, database or model."""

    layer: str
    place: str
    state: str
    """cold, warm or unknown."""
    evidence: str


Clock = Callable[[], int]
"""Monotonic nanoseconds (``time.perf_counter_ns`` outside tests)."""
