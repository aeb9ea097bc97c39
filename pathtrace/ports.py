"""The shapes that rooms meet at. The engine sees these, never a concrete place or observer."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Protocol, runtime_checkable

from pathtrace.model.network import Endpoint
from pathtrace.model.run import Ceiling, Mount
from pathtrace.model.sample import Reading, Sample, Window
from pathtrace.model.scenario import Action, Start
from pathtrace.model.work import Done, Item, LayerState, PlaceFacts


class Place(Protocol):
    """Where data is or is worked on. One object per place of the scenario and run.

    Constructed as ``Class(place: model.scenario.Place, clock, seed)``; construction does no I/O.
    Order of calls: ``check`` any time; ``open`` once; then per repeat ``begin``, and per flow
    ``supply`` (first place of a path only), ``draw`` or ``perform`` many times, ``finish`` once;
    at last ``close`` (always called once ``open`` was, also after a fault or an interrupt; it removes
    all scratch data). Foreign errors are mapped to ``PlaceError`` (check, open, begin, supply)
    or ``OperationError`` (draw, perform, finish), ``from`` the cause.
    """

    def concurrency(self, action: Action) -> int:
        """How many workers the stage has, when the place itself decides (``workers`` otherwise)."""
        ...

    async def check(self) -> PlaceFacts:
        """Reach the place and say what is there. Changes nothing, reads no content."""
        ...

    async def open(self, scratch: Path) -> PlaceFacts:
        """Get ready for a run; whatever is written goes below the folder ``scratch`` (it exists)."""
        ...

    async def begin(self, start: Start, actions: frozenset[Action]) -> tuple[LayerState, ...]:
        """Put the place into the start condition before a repeat; return evidence per layer.

        Not timed. ``actions`` is what it will be asked to do in this repeat.
        """
        ...

    async def supply(self, action: Action) -> Sequence[Item]:
        """The work that starts here in one execution of a flow: documents, blocks, questions."""
        ...

    async def draw(self, items: Sequence[Item]) -> Sequence[Done]:
        """Read from the front of ``items``, which ``supply`` gave: at least one, as many as are
        worth one thread hop (about a millisecond). Done k belongs to item k. A failed read is a
        ``Done`` with ``fault``, so that one bad file costs only itself.
        """
        ...

    async def perform(self, action: Action, items: Sequence[Item]) -> Done:
        """One operation on what arrived: one item, or for ``insert`` a batch of them."""
        ...

    async def finish(self, action: Action) -> Done | None:
        """What remains when the flow's last item has passed (a last commit); None if nothing."""
        ...

    async def fingerprint(self) -> str | None:
        """Of the data set, read after the last repeat so as not to warm what it describes."""
        ...

    async def close(self) -> None:
        """Release everything and remove scratch data. Never raises for what is already gone."""
        ...

    def batch(self, action: Action) -> int:
        """How many texts one ``perform`` takes: 0 means "one item, whole, whatever it holds".

        With a batch size the engine splits and joins items so that each call but the flow's last
        has exactly that many texts.
        """
        ...

    @property
    def mount(self) -> Mount | None:
        """Where the place's data lies on this host, once opened."""
        ...

    @property
    def scratch_folder(self) -> Path | None:
        """The folder that the place writes to, once opened; None if it writes nothing here."""
        ...

    @property
    def server_pid(self) -> int | None:
        """The local process behind a URL, once opened, where it can be seen."""
        ...

    @property
    def identity(self) -> str | None:
        """The server's or engine's own name and version, once opened."""
        ...


class Observer(Protocol):
    """What else can be seen meanwhile. Missing rights or files give no readings, never an error."""

    @property
    def name(self) -> str:
        """What its cost is booked on; several observers may share one."""
        ...

    @property
    def period_s(self) -> float:
        """How often ``observe`` wants to be called."""
        ...

    def observe(self, at_ns: int) -> Sequence[Reading]:
        """One look, quick and without waiting (well under a millisecond)."""
        ...


class Probe(Protocol):
    """One resource measured alone, outside the timed part."""

    async def measure(self) -> Ceiling | None:
        """The ceiling, or None if it cannot be known here."""
        ...


class Sink(Protocol):
    """Where samples and readings go as they come."""

    def sample(self, sample: Sample) -> None:
        """Take one sample: packed at once, written by the recorder's own task. Never waits."""
        ...

    def reading(self, reading: Reading) -> None:
        """Take one reading. Never waits."""
        ...

    def fault(self, text: str) -> int:
        """Store a failure's text (once per distinct text) and return its index for ``Sample.detail``."""
        ...

    def window(self, window: Window) -> None:
        """Take the bounds of one timed execution of a flow."""
        ...


class Progress(Protocol):
    """Told by the engine what is going on; the terminal decides what of it to draw."""

    def execution(self, repeat: int, repeats: int | None, flow: str, total_operations: int | None) -> None:
        """An execution of a flow begins. Warm-up repeats are negative; ``repeats`` None: nobody knows yet."""
        ...

    def advance(self, stage: int, operations: int, bytes: int) -> None:
        """Operations of the running flow's stage have finished."""
        ...

    def message(self, text: str) -> None:
        """Something a person should see now."""
        ...


@runtime_checkable
class Questions(Protocol):
    """A place that can be searched, and can say what is worth asking it."""

    async def questions(self, count: int, seed: int) -> tuple[str, ...]:
        """Up to ``count`` short questions that what is stored can answer; empty if it has none."""
        ...


@runtime_checkable
class Sources(Protocol):
    """A place whose data lies in files that this host can open, once it has been opened itself."""

    def sources(self, count: int) -> tuple[tuple[str, int], ...]:
        """Paths and sizes of the files that are read; of more than ``count``, a seeded sample."""
        ...


@runtime_checkable
class ReadsItself(Protocol):
    """A place that may open the documents by their path, so that nobody else should read them."""

    @property
    def reads_itself(self) -> bool:
        """True if it is given paths and does the reading itself."""
        ...


class Lane(Protocol):
    """Reads for one worker, one item at a time in order, on and on while earlier ones are being recorded.

    Each item hands on one item at most.
    """

    ahead: int
    """Items that were fed and have not come back."""
    since_ns: int
    """When the present read began."""

    def feed(self, items: Sequence[Item]) -> None:
        """Have ``items`` (of those that ``supply`` gave) read after what waits already."""
        ...

    async def ready(self) -> list[Done]:
        """A burst of what has been read, in order; empty only after a ``nudge``. May be asked again."""
        ...

    def nudge(self) -> None:
        """Have whoever waits in ``ready`` look up, though nothing has been read."""
        ...

    def take(self) -> list[Done]:
        """All that has been read, even nothing, without waiting."""
        ...

    def end(self) -> list[Item]:
        """Start no further read; returns what waited. A read in progress still comes back."""
        ...


@runtime_checkable
class ReadsOn(Protocol):
    """A place that need not stand still between two calls of ``draw``."""

    def lane(self) -> Lane | None:
        """A new lane for one worker; None where ``draw`` serves better."""
        ...

    def last_lane(self) -> Lane | None:
        """The same where nobody comes after: what it reads hands nothing on."""
        ...


@runtime_checkable
class Commits(Protocol):
    """A database whose commits can be measured alone, though nobody else may write to its folder."""

    async def commit_alone(self) -> int:
        """Nanoseconds that a commit of one row takes. OperationError if it cannot be done."""
        ...


@runtime_checkable
class TakesRows(Protocol):
    """A database that can be given rows again without keeping them."""

    async def rows_alone(self, count: int) -> int | None:
        """Nanoseconds that ``count`` rows like the latest ones take in one statement, which is taken back;
        None if it has had none. OperationError if it cannot be done."""
        ...


@runtime_checkable
class AnswersNothing(Protocol):
    """A database that can be asked for nothing, in the same steps as a lookup."""

    async def answer_nothing(self) -> int:
        """Nanoseconds that a query takes for which the server need do nothing. OperationError."""
        ...


@runtime_checkable
class Ready(Protocol):
    """A place that may refuse work which would change what the user's server holds."""

    async def ready(self, action: Action) -> None:
        """Asked before each execution of a flow; PlaceError if ``action`` must not be asked of it now."""
        ...


@runtime_checkable
class Connected(Protocol):
    """A place that talks to a server, and knows where that is once it has been opened."""

    @property
    def endpoint(self) -> Endpoint | None:
        """Its server as it was reached; None before, or if it is not reached over a network."""
        ...


class Shell(Protocol):
    """Commands run on another host, with nothing installed there."""

    async def run(self, command: str, timeout_s: float) -> str:
        """Standard output of a shell command. OperationError: it failed, or took too long."""
        ...

    def lines(self, command: str) -> AsyncIterator[str]:
        """Lines as a command writes them, until it ends or the iterator is closed. OperationError."""
        ...


class ServerCaches(Protocol):
    """The caches of servers on other hosts, as far as they can be seen or emptied from here."""

    async def begin(self, place: str, start: Start) -> LayerState | None:
        """Before each repeat, not timed: bring the place's ``server_cache`` into the start condition where
        that is allowed, and return the evidence; None if nothing is known of it."""
        ...


@runtime_checkable
class FarSources(Protocol):
    """A place whose data lies in files of another host, once it has been opened."""

    def far_sources(self, count: int) -> tuple[tuple[str, int], ...]:
        """Paths below its target ("" if that is the file) and sizes; of more than ``count``, a sample."""
        ...


@runtime_checkable
class MayLeave(Protocol):
    """A place whose scratch data lies on another host, and stays there if that host goes away."""

    @property
    def left_behind(self) -> str | None:
        """Once the place is closed, where something still lies; None: nowhere."""
        ...


@runtime_checkable
class HasWorkers(Protocol):
    """A place that has processes of pathtrace's own do its work: their CPU is the tracer's."""

    @property
    def pids(self) -> tuple[int, ...]:
        """Those that live now."""
        ...
