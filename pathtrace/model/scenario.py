"""What a scenario means, once its text has been read: every default filled in, every unit converted.

Bytes, seconds and bytes per second throughout. The text's own shape, its defaults and its faults
belong to ``scenario/``; nothing here has a default, so that there is one place for them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum


class PlaceKind(StrEnum):
    FILES = "files"
    PROCESS = "process"
    DATABASE = "database"
    INFERENCE = "inference"
    USER = "user"


class Action(StrEnum):
    """The one kind of work that a place does in a flow."""

    READ = "read"
    WRITE = "write"
    PROCESS = "process"
    LOOKUP = "lookup"
    INSERT = "insert"
    GENERATE = "generate"
    EMBED = "embed"
    LOAD = "load"
    DELIVER = "deliver"


class Phase(StrEnum):
    LOAD = "load"
    INGEST = "ingest"
    PROCESS = "process"
    DELIVER = "deliver"


class Start(StrEnum):
    COLD = "cold"
    WARM = "warm"
    AS_IS = "as-is"


class Access(StrEnum):
    READ = "read"
    MMAP = "mmap"
    DIRECT = "direct"


class Commit(StrEnum):
    BATCH = "batch"
    ROW = "row"
    FLOW = "flow"


class FrequencyKind(StrEnum):
    """In the order in which a repeat executes them (``every`` goes with ``per-document``)."""

    ONCE = "once"
    PER_LOAD = "per-load"
    PER_DOCUMENT = "per-document"
    EVERY = "every"
    PER_REQUEST = "per-request"


@dataclass(frozen=True, slots=True)
class Frequency:
    """``period_s`` is set for ``every`` only. ``assumed``: derived from the flow's shape, not stated."""

    kind: FrequencyKind
    period_s: float | None
    assumed: bool
    text: str
    """As written or derived: ``once``, ``every 24 h``."""


@dataclass(frozen=True, slots=True)
class ModelCard:
    """What the user says of the model that answers. ``None``: not stated."""

    name: str | None
    revision: str | None
    precision: str | None
    format: str | None
    context: int | None
    input: int | None
    """Prompt tokens."""
    output: int | None
    """Answer tokens at most."""
    batch: int | None
    runtime: str | None
    parameters: float | None
    active_parameters: float | None
    modality: str | None


@dataclass(frozen=True, slots=True)
class Workload:
    """``users`` has one entry per load level to measure; ``stated`` names the keys the file gave."""

    application: str | None
    model: ModelCard
    users: tuple[int, ...]
    rate_per_s: float | None
    requests: int
    acceptable_wait_s: float | None
    requests_per_day: float
    documents_per_day: float
    loads_per_day: float
    prompts: tuple[str, ...]
    stated: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Host:
    name: str
    addresses: tuple[str, ...]
    role: str | None
    ssh: str | None
    memory_bytes: int | None
    gpu_memory_bytes: int | None
    here: bool
    """True for the one host that runs pathtrace."""
    responder: str | None = None
    """``address:port`` of ``pathtrace respond`` there; its token comes from ``PATHTRACE_TOKEN``."""
    iperf3: str | None = None
    """``address:port`` of an iperf3 server there."""


@dataclass(frozen=True, slots=True)
class Link:
    name: str
    hosts: tuple[str, ...]
    speed_bytes_per_s: float | None
    mtu_bytes: int | None
    kind: str


@dataclass(frozen=True, slots=True)
class Made:
    """Files to make from the seed in a scratch folder (``make:``): a stand-in."""

    files: int
    bytes: int
    kind: str
    """``text`` or ``weights``; ``bytes`` is the total over all files."""


@dataclass(frozen=True, slots=True)
class FilesSpec:
    """Exactly one of ``path``, ``url`` and ``make`` is set."""

    path: str | None
    url: str | None
    make: Made | None
    include: tuple[str, ...]
    exclude: tuple[str, ...]
    sample: int | None
    """How many files to take, seeded; ``None``: all."""
    access: Access
    access_stated: bool
    """False: the place may choose mmap for GGUF and safetensors."""
    block_bytes: int
    depth: int
    there: str | None = None
    """Where the same files lie on their own host, for measuring its disk over ``ssh``."""


@dataclass(frozen=True, slots=True)
class ProcessSpec:
    """Exactly one of ``run``, ``command`` and ``url`` is set."""

    run: str | None
    command: tuple[str, ...] | None
    url: str | None


@dataclass(frozen=True, slots=True)
class DatabaseSpec:
    url: str
    batch: int
    commit: Commit
    query: str | None
    insert: str | None
    keep: bool


@dataclass(frozen=True, slots=True)
class InferenceSpec:
    """``options`` are sent with every request; ``api_key`` only as an Authorization header."""

    url: str | None
    api: str
    task: str
    model: str | None
    options: tuple[tuple[str, object], ...]
    api_key: str | None


@dataclass(frozen=True, slots=True)
class UserSpec:
    pass


Spec = FilesSpec | ProcessSpec | DatabaseSpec | InferenceSpec | UserSpec


@dataclass(frozen=True, slots=True)
class Place:
    name: str
    kind: PlaceKind
    host: str
    workers: int
    queue: int
    timeout_s: float
    data: str | None
    spec: Spec

    @property
    def stand_in(self) -> bool:
        """True if what it does or holds is made up by pathtrace itself."""
        match self.spec:
            case FilesSpec(make=made):
                return made is not None
            case ProcessSpec(run=run):
                return run is not None
            case InferenceSpec(url=url):
                return url is None
            case _:
                return False


@dataclass(frozen=True, slots=True)
class Stage:
    """One kind of work within a flow. ``index`` is its position in the flow's order of work."""

    index: int
    place: str
    action: Action
    hop: int
    """Position in ``Flow.hops`` of the hop that it is booked on."""


@dataclass(frozen=True, slots=True)
class Hop:
    name: str
    """``source->destination``."""
    source: str
    destination: str
    phase: Phase
    stages: tuple[int, ...]
    """Indexes into ``Flow.stages``."""
    main_stage: int
    """The first stage that moves data on: its operations and bytes are the hop's."""


@dataclass(frozen=True, slots=True)
class Flow:
    name: str
    path: tuple[str, ...]
    frequency: Frequency
    waits: str
    """``people`` or ``nobody``."""
    stages: tuple[Stage, ...]
    hops: tuple[Hop, ...]


@dataclass(frozen=True, slots=True)
class Check:
    ask: str
    expect: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RunControl:
    start: Start
    start_stated: bool
    """False: ``cold`` is the default and falls back to as-is where it cannot be proved."""
    repeats: int
    warmup: int
    budget_bytes: int
    budget_s: float
    seed: int
    idle_gaps_s: tuple[float, ...]
    together: tuple[tuple[str, ...], ...]
    lifetime_s: float
    expect: tuple[tuple[str, str], ...]
    allow: tuple[str, ...]
    checks: tuple[Check, ...]
    claims: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Ways:
    """How a scan is to be told. ``urls`` (apprise's) and ``ping`` are secrets as a whole, since their tokens
    stand anywhere in them; ``metrics`` and ``log`` are absolute paths or begin with ``~``."""

    urls: tuple[str, ...] = field(default=(), repr=False)
    metrics: str | None = None
    log: str | None = None
    ping: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Scenario:
    """A described pipeline. ``flows`` are in the order in which a repeat executes them."""

    name: str
    question: str | None
    source: str | None
    """The file it was read from, for messages."""
    text: str
    """The file's text with literal secrets redacted and variables unexpanded; stored with a run."""
    workload: Workload
    hosts: tuple[Host, ...]
    links: tuple[Link, ...]
    places: tuple[Place, ...]
    flows: tuple[Flow, ...]
    control: RunControl
    secrets: tuple[str, ...]
    """Expanded values that must never be stored or shown."""
    workload_fingerprint: str
    setup_fingerprint: str
    tell: Ways = Ways()
    keep_s: float = 90 * 86_400.0
    """How long samples of its runs are kept."""

    def place(self, name: str) -> Place:
        """The place called ``name``; KeyError if there is none."""
        for place in self.places:
            if place.name == name:
                return place
        raise KeyError(name)

    def flow(self, name: str) -> Flow:
        """The flow called ``name``; KeyError if there is none."""
        for flow in self.flows:
            if flow.name == name:
                return flow
        raise KeyError(name)

    def host(self, name: str) -> Host:
        """The host called ``name``; KeyError if there is none."""
        for host in self.hosts:
            if host.name == name:
                return host
        raise KeyError(name)

    @property
    def here(self) -> Host:
        """The host that runs pathtrace."""
        return next(host for host in self.hosts if host.here)
