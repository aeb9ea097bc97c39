"""The scenario file as people write it: every key, its type, its default and what it is for.

The one place for keys and defaults; the JSON Schema comes from here. Defaults stand as a person
would write them. What the keys mean together is told in ``checks`` and built in ``build``.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Discriminator, Field, WithJsonSchema

from pathtrace.scenario import readers
from pathtrace.scenario import values as of


def key(default: Any, description: str, **limits: Any) -> Any:
    """A key with its default as it would be written in a file; ``...``: it must be given."""
    return Field(default, description=description, **limits)


class Mapping(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", validate_default=True)


class ModelCard(Mapping):
    name: of.Text | None = key(None, "Name of the model, as you know it")
    revision: of.Text | None = key(None, "Revision or quantisation: Q4_K_M")
    precision: of.Text | None = key(None, "Precision of the weights: 4-bit, fp16")
    format: of.Text | None = key(None, "File format of the weights: gguf, safetensors")
    context: of.Positive | None = key(None, "Context length in tokens")
    input: of.Positive | None = key(None, "Prompt length in tokens")
    output: of.Positive | None = key(None, "Answer length in tokens, at most")
    batch: of.Positive | None = key(None, "Requests that the server computes together")
    runtime: of.Text | None = key(None, "What runs the model: llama.cpp, vllm")
    parameters: of.Parameters | None = key(None, "Number of parameters: 8B")
    active_parameters: of.Parameters | None = key(None, "Parameters used per token")
    modality: of.Text | None = key(None, "text, image, audio")


class Workload(Mapping):
    application: of.Text | None = key(None, "What it is used for, in your words")
    model: ModelCard = key(ModelCard(), "The model that answers")
    users: Annotated[
        tuple[of.Workers, ...],
        BeforeValidator(readers.read_listed),
        Field(min_length=1),
        WithJsonSchema({"anyOf": [{"type": "integer"}, {"type": "array", "items": {"type": "integer"}}]}),
    ] = key((1,), "People asking at the same time; a list measures each level")
    rate: of.CountRate | None = key(None, "Requests arriving per time instead of users: 2/s")
    requests: of.Positive = key(20, "Requests per repeat")
    acceptable_wait: of.Duration | None = key(None, "An answer within this time needs no upgrade")
    requests_per_day: of.PerDay = key(100, "Requests a day, to weigh waiting by")
    documents_per_day: of.PerDay = key(10, "New or changed documents a day")
    loads_per_day: of.PerDay = key(1, "Loads of the model a day")
    prompts: of.Texts = key((), "Questions to ask; made up from the data if there are none")


class Host(Mapping):
    address: of.Texts = key((), "Names or addresses in the network")
    role: of.Text | None = key(None, "What it is there for")
    ssh: of.Ssh | None = key(None, "user@host to measure on the host itself")
    memory: of.Bytes | None = key(None, "Main memory")
    gpu_memory: of.Bytes | None = key(None, "Memory of its GPUs together")
    responder: of.Address | None = key(
        None, "Where `pathtrace respond` listens there; its address:7411 if absent"
    )
    iperf3: of.Address | None = key(None, "Where an iperf3 server listens there; its address:5201 if absent")
    here: of.Flag = key(False, "This host runs pathtrace")


class Link(Mapping):
    hosts: Annotated[tuple[of.Name, ...], Field(min_length=2)] = key(..., "The hosts it joins")
    speed: of.Rate | None = key(None, "Its nominal speed: 1 Gbit/s, 10GbE")
    mtu: of.Mtu | None = key(None, "Largest packet in bytes")
    kind: of.LinkOf = key("ethernet", "What it is made of")


class Made(Mapping):
    files: of.FileCount = key(..., "How many files to make")
    bytes: of.Bytes = key(..., "Size of all of them together")
    kind: of.MadeOf = key(..., "text (documents) or weights")


class PlaceOf(Mapping):
    host: of.Name | None = key(None, "Where it is; here, unless its URL or mount tells")
    workers: of.Workers = key(2, "Operations at the same time")
    queue: of.QueueLength = key(16, "Items that may wait in front of it")
    timeout: of.Duration = key("60 s", "An operation fails after this time")
    data: of.Data | None = key(None, "What it holds")


class Files(PlaceOf):
    kind: Literal["files"]
    path: of.Text | None = key(None, "A file or folder; any mount will do")
    url: of.FilesUrl | None = key(None, "Files on a server")
    make: Made | None = key(None, "Files to make in a scratch folder: a stand-in")
    include: of.Texts = key((), 'Which files of a folder: ["**/*.pdf"]; all if empty')
    exclude: of.Texts = key((), "Which files to leave out")
    sample: of.Sample = key("all", "How many files to take, chosen by the seed")
    access: of.Access | None = key(None, "read; mmap is the default for GGUF and safetensors")
    block: of.Bytes = key("1 MiB", "Size of one read")
    depth: of.Depth = key(1, "Reads of one file under way at the same time")
    there: of.Text | None = key(None, "Where the same files lie on their own host, to look at its disk")


class Process(PlaceOf):
    kind: Literal["process"]
    run: of.RunOf | None = key(None, "chunk: cuts text into pieces, a stand-in")
    command: of.Command | None = key(None, "Program and arguments; {path} is the document")
    url: of.HttpUrl | None = key(None, "A service that takes documents by POST")


class Database(PlaceOf):
    kind: Literal["database"]
    url: of.DatabaseUrl = key(..., "sqlite:// is a scratch file; sqlite:///relative/path")
    batch: of.Positive = key(100, "Rows per insert")
    commit: of.Commit = key("batch", "Commit after each batch or row, or once per flow")
    query: of.Text | None = key(None, "How to search it")
    insert: of.Text | None = key(None, "How to insert into it")
    keep: of.Flag = key(False, "Keep what was inserted after the run")


class Inference(PlaceOf):
    kind: Literal["inference"]
    url: of.HttpUrl | None = key(None, "Model server; none is a stand-in that takes weights only")
    api: of.ApiOf = key("openai", "What the server speaks")
    task: of.TaskOf = key("generate", "Answer requests, or embed text")
    model: of.Text | None = key(None, "The model's name at the server")
    options: of.Options = key({}, "Sent with every request; api_key only as a header")


class User(PlaceOf):
    kind: Literal["user"]


Place = Annotated[Files | Process | Database | Inference | User, Discriminator("kind")]
PLACE_KINDS: dict[str, type[PlaceOf]] = {
    "files": Files,
    "process": Process,
    "database": Database,
    "inference": Inference,
    "user": User,
}


class Flow(Mapping):
    path: tuple[of.Name, ...] = key(..., "Places in order, two or more")
    frequency: of.Frequency | None = key(None, "How often; derived from the path if absent")
    waits: of.WaitsOf | None = key(None, "Who waits: people for per-request, else nobody")


class Budget(Mapping):
    bytes: of.Bytes = key("10 GiB", "A run reads no more than this")
    time: of.Duration = key("15 min", "A run takes no longer than this")


class Check(Mapping):
    ask: of.Text = key(..., "A question")
    expect: of.Texts = key(..., "A document or words that the answer rests on")


class Tell(Mapping):
    urls: Annotated[
        tuple[of.TellUrl, ...],
        BeforeValidator(readers.read_listed),
        WithJsonSchema(of.TELL_URLS),
    ] = key((), "Where changes are told, as apprise writes it: ntfy, mailto, tgram and a hundred others")
    metrics: of.WholePath | None = key(None, "A Prometheus text file, written anew by each scan")
    log: of.WholePath | None = key(None, "A file that gets one line of JSON for each scan")
    ping: of.PingUrl | None = key(
        None, "A healthcheck to call at start, end (url) and failure (/start, /fail)"
    )


class Document(Mapping):
    model_config = ConfigDict(title="pathtrace scenario")

    pathtrace: of.Version = key(..., "1, the version of this format")
    name: of.Text = key(..., "Name of the scenario")
    question: of.Text | None = key(None, "What you want to know; the verdict answers it")
    workload: Workload = key(Workload(), "What is asked of the pipeline")
    hosts: dict[of.Name, Host] = key({}, "Machines")
    links: dict[of.Name, Link] = key({}, "Networks between hosts")
    places: dict[of.Name, Place] = key(..., "Where data is or is worked on", min_length=1)
    flows: dict[of.Name, Flow] = key(..., "Ordered paths through places", min_length=1)
    start: of.Start | None = key(None, "cold where provable, else as-is, if absent")
    repeats: of.Repeats = key(5, "Full passes that are measured")
    warmup: of.Warmups | None = key(None, "Passes before; 1 when warm, else 0, if absent")
    budget: Budget = key(Budget(), "What a run may cost")
    seed: of.Seed = key(1, "Decides samples and made data")
    idle_gaps: tuple[of.Duration, ...] = key((), "Pauses after which the model is loaded again")
    together: tuple[tuple[of.Name, ...], ...] = key((), "Flows that run at the same time")
    lifetime: of.Duration = key("365 d", "Over which a flow that happens once is spread")
    expect: dict[str, of.Text] = key({}, "What a scan is to find")
    allow: tuple[of.Allowed, ...] = key((), "What is allowed beyond reading")
    checks: tuple[Check, ...] = key((), "Questions whose answers are known")
    claims: of.Texts = key((), "What somebody says of the pipeline")
    tell: Tell = key(Tell(), "How the owner hears what a scan found")
    keep: of.Keep = key("90 d", "How long the samples of its runs are kept; their figures stay")
