"""One made-up scenario, run, report and check, whole and fixed, for everything that is drawn or written."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

from pathtrace.model.check import CheckReport, MemoryCheck, MemoryPart, PlaceCheck, RoomCheck, TimeEstimate
from pathtrace.model.network import PathFacts, PathHop, Route
from pathtrace.model.report import (
    CapacityReport,
    Caveat,
    DatasetReport,
    Estimate,
    Finding,
    First,
    FlowReport,
    FrequencyReport,
    HopReport,
    Latency,
    LimitedBy,
    Parts,
    Point,
    RankingEntry,
    RepeatHop,
    RepeatReport,
    Report,
    RequestsReport,
    ResourceReport,
    Segment,
    StageReport,
    Throughput,
    TimeUse,
    Verdict,
    Wire,
)
from pathtrace.model.run import (
    Activity,
    Environment,
    FlowWidth,
    HostFacts,
    Interface,
    Mount,
    ObserverCost,
    OwnCost,
    Reached,
    Run,
    StartCondition,
    Until,
)
from pathtrace.model.sample import ReadingTable, SampleTable, Window
from pathtrace.model.scenario import (
    Access,
    Action,
    Commit,
    DatabaseSpec,
    FilesSpec,
    Flow,
    Frequency,
    FrequencyKind,
    Hop,
    Host,
    InferenceSpec,
    Link,
    ModelCard,
    Phase,
    Place,
    PlaceKind,
    ProcessSpec,
    RunControl,
    Scenario,
    Spec,
    Stage,
    Start,
    UserSpec,
    Workload,
)
from pathtrace.model.work import LayerState, PlaceFacts

GB = 1_000_000_000


class NoRows:
    """Stands for numpy columns of a run without samples: nothing here looks at single samples."""

    def __len__(self) -> int:
        return 0


def files(path: str) -> FilesSpec:
    return FilesSpec(path, None, None, ("**/*",), (), None, Access.READ, False, 1_048_576, 1)


def place(
    name: str, kind: PlaceKind, spec: Spec, host: str = "workstation", data: str | None = None
) -> Place:
    return Place(name, kind, host, workers=2, queue=16, timeout_s=60.0, data=data, spec=spec)


def frequency(text: str, kind: FrequencyKind, period_s: float | None = None) -> Frequency:
    return Frequency(kind, period_s, assumed=False, text=text)


INDEX = Flow(
    "index",
    ("archive", "indexer", "library"),
    frequency("every 24 h", FrequencyKind.EVERY, 86_400.0),
    "nobody",
    (
        Stage(0, "archive", Action.READ, 0),
        Stage(1, "indexer", Action.PROCESS, 1),
        Stage(2, "library", Action.INSERT, 1),
    ),
    (
        Hop("archive->indexer", "archive", "indexer", Phase.INGEST, (0,), 0),
        Hop("indexer->library", "indexer", "library", Phase.PROCESS, (1, 2), 1),
    ),
)
LOAD = Flow(
    "load",
    ("weights", "model"),
    frequency("per-load", FrequencyKind.PER_LOAD),
    "nobody",
    (Stage(0, "weights", Action.READ, 0), Stage(1, "model", Action.LOAD, 0)),
    (Hop("weights->model", "weights", "model", Phase.LOAD, (0, 1), 0),),
)
ANSWER = Flow(
    "answer",
    ("library", "model", "people"),
    frequency("per-request", FrequencyKind.PER_REQUEST),
    "people",
    (
        Stage(0, "library", Action.LOOKUP, 0),
        Stage(1, "model", Action.GENERATE, 1),
        Stage(2, "people", Action.DELIVER, 1),
    ),
    (
        Hop("library->model", "library", "model", Phase.PROCESS, (0,), 0),
        Hop("model->people", "model", "people", Phase.DELIVER, (1, 2), 1),
    ),
)

SCENARIO = Scenario(
    name="household-archive",
    question="Would 10GbE shorten the re-index, or the answers?",
    source="household-archive.yaml",
    text="pathtrace: 1\n",
    workload=Workload(
        application="questions over the household archive",
        model=ModelCard(
            name="llama-3.1-8b-instruct",
            revision="Q4_K_M",
            precision="4-bit",
            format=None,
            context=8192,
            input=None,
            output=256,
            batch=None,
            runtime=None,
            parameters=8.0e9,
            active_parameters=None,
            modality=None,
        ),
        users=(2,),
        rate_per_s=None,
        requests=40,
        acceptable_wait_s=3.0,
        requests_per_day=200.0,
        documents_per_day=10.0,
        loads_per_day=1.0,
        prompts=(),
        stated=("application", "model", "users", "requests", "acceptable_wait", "requests_per_day"),
    ),
    hosts=(
        Host("nas", ("nas.lan",), "shared storage", None, None, None, here=False),
        Host("workstation", (), None, None, None, None, here=True),
    ),
    links=(Link("lan", ("nas", "workstation"), 125_000_000.0, 1500, "ethernet"),),
    places=(
        place("archive", PlaceKind.FILES, files("/mnt/archive"), host="nas", data="original"),
        place("indexer", PlaceKind.PROCESS, ProcessSpec(None, ("my-extractor", "{path}"), None)),
        place(
            "library",
            PlaceKind.DATABASE,
            DatabaseSpec("sqlite:library.db", 100, Commit.BATCH, None, None, keep=False),
            data="derived",
        ),
        place("weights", PlaceKind.FILES, files("/models/llama.gguf"), data="weights"),
        place(
            "model",
            PlaceKind.INFERENCE,
            InferenceSpec("http://localhost:8080", "openai", "generate", None, (), None),
        ),
        place("people", PlaceKind.USER, UserSpec()),
    ),
    flows=(LOAD, INDEX, ANSWER),
    control=RunControl(
        start=Start.COLD,
        start_stated=False,
        repeats=5,
        warmup=0,
        budget_bytes=10 * 1_073_741_824,
        budget_s=900.0,
        seed=1,
        idle_gaps_s=(),
        together=(),
        lifetime_s=365 * 86_400.0,
        expect=(),
        allow=(),
        checks=(),
        claims=(),
    ),
    secrets=(),
    workload_fingerprint="w1:5d41402abc4b2a76",
    setup_fingerprint="s1:7d793037a0760186",
)

ENVIRONMENT = Environment(
    hosts=(
        HostFacts(
            name="workstation",
            cpu="AMD Ryzen 7 5700G",
            cores=16,
            memory_bytes=32 * 1_073_741_824,
            memory_available_bytes=20 * 1_073_741_824,
            kernel="Linux 6.8.0",
            gpus=(),
            mounts=(Mount("/mnt/archive", "nas:/archive", "nfs4", None, network=True),),
            interfaces=(Interface("eth0", 125_000_000.0, 1500, up=True),),
            servers=("llama-server b4000",),
        ),
    ),
    python="3.12.3",
    pathtrace="0.1.0",
    boot_at="2026-02-01T06:00:00+00:00",
    clock_resolution_ns=1,
)

STARTS = tuple(
    StartCondition(
        repeat,
        "cold",
        (
            LayerState("client_cache", "archive", "cold", "0 of 311,296 pages resident after dropping"),
            LayerState("client_cache", "weights", "cold", "0 of 1,220,703 pages resident after dropping"),
            LayerState("server_cache", "archive", "unknown", "the NAS's memory cannot be seen from here"),
            LayerState("database", "library", "cold", "a new file"),
            LayerState("model", "model", "warm", "the server had answered before the first repeat"),
        ),
    )
    for repeat in range(5)
)

ROUTES = (Route("nas", "192.168.1.10", "eth0", "192.168.1.20", None, 1500),)
PATHS = (
    PathFacts(
        host="nas",
        address="192.168.1.10",
        hops=(PathHop(1, "192.168.1.10", 0.0003),),
        path_mtu_bytes=1500,
        interface_mtu_bytes=1500,
        black_hole=False,
        connect_s=0.00031,
        evidence=("TCP connects to port 445, 5 times",),
        took_s=0.4,
    ),
)

RUN = Run(
    id="20260201-120000-3fa9",
    label="before 10GbE",
    status="complete",
    started_at="2026-02-01T12:00:00+00:00",
    duration_s=412.5,
    scenario=SCENARIO,
    environment=ENVIRONMENT,
    reached=(
        Reached(
            "archive",
            PlaceFacts("1,200 files, 1.19 GiB", 1200, 1_275_068_416, 1_275_068_416, 0, 0, "d1:9e107d9d"),
            None,
            ENVIRONMENT.hosts[0].mounts[0],
            None,
        ),
    ),
    starts=STARTS,
    windows=(Window(0, 1, 0, 1, 0, 43_800_000_000, True, (2, 2, 2)),),
    ceilings=(),
    activity=(Activity("workstation", 3.5, 120_000.0, None, ("updatedb 4 % CPU",)),),
    cost=OwnCost(0.004, 0.003, 610.0, 14.2, (ObserverCost("cpu", 0.001), ObserverCost("tcp", 0.002))),
    caveats=(),
    faults=(),
    samples=SampleTable(cast("object", NoRows())),  # type: ignore[arg-type]  # no numpy needed here
    readings=ReadingTable(()),
    routes=ROUTES,
    paths=PATHS,
    until=Until(
        0.03,
        True,
        5,
        (
            FlowWidth("load", 5, 0.011, False, False),
            FlowWidth("index", 5, 0.024, False, True),
            FlowWidth("answer", 5, 0.004, False, False),
        ),
    ),
)

NO_LATENCY = Latency(None, None, None, None)


def stage(action: str, place: str, operations: int, size: int, while_busy: str, p50_s: float) -> StageReport:
    return StageReport(
        action=action,
        place=place,
        workers=2,
        operations=operations,
        errors=0,
        bytes=size,
        time=TimeUse(50.0, 30.0, 7.6),
        latency=Latency(p50_s, p50_s * 1.5, None, p50_s * 3),
        parts=Parts(0.0002, p50_s, 0.0001, 0.00005 if action == "read" else None),
        cpu_s=3.5,
        while_busy=while_busy,
    )


ARCHIVE_INDEXER = HopReport(
    flow="index",
    name="archive->indexer",
    source="archive",
    destination="indexer",
    phase="ingest",
    measured_from="workstation",
    stand_in=False,
    frequency=FrequencyReport("every 24 h", None, "driven by the replay"),
    operations=1200,
    errors=0,
    bytes=1_275_068_416,
    duration_s=41.2,
    active_s=11.6,
    throughput=Throughput(30_948_262.0, 30_100_000.0, 31_700_000.0, 109_919_691.0, 29.1),
    latency=Latency(0.0093, 0.015, 0.031, 0.12),
    time=TimeUse(11.6, 2.0, 74.0),
    stages=(stage("read", "archive", 1200, 1_275_068_416, "link:lan", 0.0093),),
    first=First(44.0, 28_978_827.0),
    limited_by=LimitedBy(
        "cpu:indexer",
        (),
        "link:lan",
        (
            "blocked 84 % of the time: its result found the indexer's queue full",
            "my-extractor held 1.97 of 2 cores",
        ),
        None,
    ),
    caveats=(),
    wire=Wire(1_361_000_000, 0.067, 3, 0.0004, "eth0"),
    series=tuple(Point(number * 0.86, 2e7 + number % 8 * 4e6, 20.0 + number % 8) for number in range(48)),
)
INDEXER_LIBRARY = HopReport(
    flow="index",
    name="indexer->library",
    source="indexer",
    destination="library",
    phase="process",
    measured_from="workstation",
    stand_in=False,
    frequency=FrequencyReport("every 24 h", None, "driven by the replay"),
    operations=1200,
    errors=3,
    bytes=402_653_184,
    duration_s=43.6,
    active_s=43.1,
    throughput=Throughput(9_235_164.0, 9_120_000.0, 9_310_000.0, 9_342_301.0, 27.5),
    latency=Latency(0.071, 0.083, 0.11, 0.31),
    time=TimeUse(85.9, 0.9, 0.4),
    stages=(
        stage("process", "indexer", 1200, 402_653_184, "cpu:indexer", 0.071),
        stage("insert", "library", 61, 402_653_184, "commit:library", 0.012),
    ),
    first=First(45.1, 8_928_008.0),
    limited_by=LimitedBy(
        "cpu:indexer", ("commit:library",), "cpu:indexer", ("my-extractor held 1.97 of 2 cores",), None
    ),
    caveats=(
        Caveat("errors", "3 of 1200 documents failed: exit status 1", "see the run's faults", "indexer"),
    ),
)
WEIGHTS_MODEL = HopReport(
    flow="load",
    name="weights->model",
    source="weights",
    destination="model",
    phase="load",
    measured_from="workstation",
    stand_in=True,
    frequency=FrequencyReport(
        "per-load", "per-request", "llama-server read 4.1 GB in each of 40 requests", 4_100_000_000.0
    ),
    operations=4769,
    errors=0,
    bytes=5_000_000_000,
    duration_s=2.1,
    active_s=2.05,
    throughput=Throughput(2_380_952_381.0, 2_310_000_000.0, 2_420_000_000.0, 2_439_024_390.0, 2270.0),
    latency=Latency(0.0004, 0.0006, 0.0011, 0.009),
    time=TimeUse(2.05, 0.03, 0.02),
    stages=(stage("read", "weights", 4769, 5_000_000_000, "disk:weights", 0.0004),),
    first=None,
    limited_by=LimitedBy(
        "disk:weights", (), "disk:weights", ("97 % of 2.46 GB/s, read directly from the same disk",), None
    ),
    caveats=(),
)
LIBRARY_MODEL = HopReport(
    flow="answer",
    name="library->model",
    source="library",
    destination="model",
    phase="process",
    measured_from="workstation",
    stand_in=False,
    frequency=FrequencyReport("per-request", "per-request", "one lookup in each of 40 requests"),
    operations=40,
    errors=0,
    bytes=163_840,
    duration_s=51.0,
    active_s=0.2,
    throughput=Throughput(3_212.0, 3_100.0, 3_300.0, 819_200.0, 0.78),
    latency=Latency(0.0049, 0.0072, None, 0.011),
    time=TimeUse(0.2, 0.0, 101.8),
    stages=(stage("lookup", "library", 40, 163_840, "unknown", 0.0049),),
    first=None,
    limited_by=LimitedBy("unknown", (), "unknown", ("too quick to tell",), "repeat with more requests"),
    caveats=(),
)
MODEL_PEOPLE = HopReport(
    flow="answer",
    name="model->people",
    source="model",
    destination="people",
    phase="deliver",
    measured_from="workstation",
    stand_in=False,
    frequency=FrequencyReport("per-request", "per-request", "one answer in each of 40 requests"),
    operations=40,
    errors=0,
    bytes=38_400,
    duration_s=51.0,
    active_s=50.8,
    throughput=Throughput(753.0, 740.0, 771.0, 756.0, 0.78),
    latency=Latency(2.5, 3.4, None, 4.1),
    time=TimeUse(101.6, 0.2, 0.2),
    stages=(
        stage("generate", "model", 40, 0, "model:model", 0.41),
        stage("deliver", "people", 40, 38_400, "model:model", 2.1),
    ),
    first=None,
    limited_by=LimitedBy(
        "model:model", (), "model:model", ("86 % of an answer's time lies between its tokens",), None
    ),
    caveats=(),
)

REPORT = Report(
    verdict=Verdict(
        (
            "10GbE would shorten neither: the re-index waits for the indexer's CPU, answers for the model.",
            "People wait 2.5 s an answer (8 min 20 s a day), 84 % of it while the model writes.",
            "First, free of charge: more workers for the indexer (now 2 of 16 cores).",
        )
    ),
    dataset=(
        DatasetReport("archive", 1200, 1_275_068_416, "d1:9e107d9d372bb682", 0),
        DatasetReport("weights", 1, 5_000_000_000, "d1:e4d909c290d0fb1c", None),
    ),
    capacity=(
        CapacityReport("workstation", 34_359_738_368, 12_884_901_888, 5_000_000_000),
        CapacityReport("library", 512_000_000_000, None, 402_653_184),
    ),
    hops=(WEIGHTS_MODEL, ARCHIVE_INDEXER, INDEXER_LIBRARY, LIBRARY_MODEL, MODEL_PEOPLE),
    flows=(
        FlowReport(
            "load",
            "per-load",
            "nobody",
            Estimate(2.1, 2.05, 2.2, 5, "s"),
            "disk:weights",
            (Segment("weights->model", "read@weights", "disk:weights", 2.1),),
            1.0,
            2.1,
            None,
        ),
        FlowReport(
            "index",
            "every 24 h",
            "nobody",
            Estimate(43.8, 42.9, 44.4, 5, "s"),
            "cpu:indexer",
            (
                Segment("archive->indexer", "read@archive", "link:lan", 0.2),
                Segment("indexer->library", "process@indexer", "cpu:indexer", 43.4),
                Segment("indexer->library", "insert@library", "commit:library", 0.2),
            ),
            1.0,
            43.8,
            None,
        ),
        FlowReport(
            "answer",
            "per-request",
            "people",
            Estimate(51.0, 49.8, 52.3, 5, "s"),
            "model:model",
            (
                Segment("library->model", "lookup@library", "unknown", 0.1),
                Segment("model->people", "generate@model", "model:model", 8.2),
                Segment("model->people", "deliver@people", "model:model", 42.7),
            ),
            200.0,
            2.5,
            within_acceptable_wait=True,
        ),
    ),
    requests=(RequestsReport("answer", 40, 0, 2, 0.78, Latency(2.5, 3.4, None, 4.1), 0.41, 98.5, 0.825),),
    resources=(
        ResourceReport("disk:weights", "disk", 2_460_000_000.0, None, None, "measured", 0.97, "direct read"),
        ResourceReport(
            "link:lan",
            "link",
            117_687_500.0,
            None,
            None,
            "computed",
            0.93,
            "1500-byte MTU",
            "nas->workstation",
        ),
        ResourceReport("cpu:indexer", "cpu", None, None, None, None, 0.985, "1.97 of 2 cores"),
    ),
    ranking=(
        RankingEntry(
            1,
            "answer",
            "model->people",
            "deliver@people",
            "model:model",
            "per-request",
            "people",
            420.0,
            2.1,
            0.84,
            stand_in=False,
            advice="answer in fewer tokens (output: 256), or a faster GPU",
            free=False,
        ),
        RankingEntry(
            2,
            "answer",
            "model->people",
            "generate@model",
            "model:model",
            "per-request",
            "people",
            82.0,
            0.41,
            0.16,
            stand_in=False,
            advice="keep the prompt's beginning the same, so that the server's prompt cache serves it",
            free=True,
        ),
        RankingEntry(
            3,
            "index",
            "indexer->library",
            "process@indexer",
            "cpu:indexer",
            "every 24 h",
            "nobody",
            43.4,
            43.4,
            0.99,
            stand_in=False,
            advice="raise workers of indexer from 2 to 16",
            free=True,
        ),
        RankingEntry(
            4,
            "load",
            "weights->model",
            "read@weights",
            "disk:weights",
            "per-load",
            "nobody",
            2.1,
            2.1,
            1.0,
            stand_in=True,
            advice="keep the model loaded between requests",
            free=True,
        ),
    ),
    findings=(
        Finding(
            "frequency",
            "weights->model is declared per-load and observed at every request: 4.1 GB re-read each time",
            ("llama-server read 164 GB during 40 requests, by its own I/O counters",),
        ),
    ),
    caveats=(
        Caveat(
            "assumed", "loads_per_day was not stated: 1 assumed", "state loads_per_day in workload", "load"
        ),
        Caveat("server-cache", "the NAS may have served from its memory", "give ssh: for host nas", "nas"),
        Caveat(
            "server-cache", "the NAS may have served from its memory", "give ssh: for host nas", "archive"
        ),
    ),
    repeats=tuple(
        RepeatReport(
            index,
            96.9 + index / 10,
            "cold",
            (
                RepeatHop("index", "archive->indexer", 41.2, 1_275_068_416, 1200),
                RepeatHop("index", "indexer->library", 43.6, 402_653_184, 1200),
            ),
        )
        for index in range(5)
    ),
)

UNMEASURED = replace(
    MODEL_PEOPLE,
    operations=0,
    bytes=0,
    duration_s=None,
    active_s=None,
    throughput=Throughput(None, None, None, None, None),
    latency=NO_LATENCY,
    time=None,
    stages=(),
    limited_by=LimitedBy("unknown", (), "unknown", ("not measured: connection refused",), "start the server"),
)
PARTIAL_RUN = replace(RUN, id="20260202-120000-77aa", label=None, status="partial", faults=("refused",))
PARTIAL_REPORT = replace(
    REPORT,
    verdict=Verdict(("Not all could be measured: model refused the connection.",)),
    hops=(*REPORT.hops[:4], UNMEASURED),
    requests=(),
    ranking=REPORT.ranking[2:],
)

CHECK = CheckReport(
    scenario=SCENARIO,
    places=(
        PlaceCheck(
            "archive",
            "files",
            "nas",
            PlaceFacts(
                "1,200 files in /mnt/archive (nfs4)",
                files=1200,
                bytes=1_275_068_416,
                read_bytes=1_275_068_416,
                write_bytes=0,
                warnings=("3 files are unreadable",),
            ),
            None,
        ),
        PlaceCheck(
            "library",
            "database",
            "workstation",
            PlaceFacts("SQLite 3.45 in a scratch file", write_bytes=402_653_184),
            None,
        ),
        PlaceCheck(
            "model",
            "inference",
            "workstation",
            None,
            "http://localhost:8080 refused the connection",
            "start the server, or correct url",
        ),
    ),
    memory=(
        MemoryCheck(
            "workstation",
            5_556_870_912,
            21_474_836_480,
            34_359_738_368,
            5_700_000_000,
            8_589_934_592,
            (
                MemoryPart("weights", "model", 5_000_000_000, 5_000_000_000, "all bytes of its files"),
                MemoryPart("cache", "model", 536_870_912, 536_870_912, "4,096 tokens; 32 layers"),
                MemoryPart("runtime", "model", 20_000_000, 163_129_088, "the process and its work"),
            ),
        ),
    ),
    room=(RoomCheck("scratch", "/tmp", 402_653_184, 64_424_509_440),),
    read_bytes=6_275_068_416,
    write_bytes=402_653_184,
    estimate=TimeEstimate(None, None, "model cannot be reached"),
    caveats=(Caveat("budget", "5 repeats read 31 GB, more than the budget of 10 GiB", "raise budget", None),),
    routes=ROUTES,
    paths=PATHS,
)
