"""The types of a scenario's values: a reader and a JSON Schema each.

Which key has which type, and its default, is ``document``'s.
"""

from __future__ import annotations

from enum import StrEnum
from functools import partial
from typing import Annotated

from pydantic import BeforeValidator, PlainValidator, WithJsonSchema

from pathtrace import units
from pathtrace.model import scenario as model
from pathtrace.scenario import readers


class LinkKind(StrEnum):
    ETHERNET = "ethernet"
    WIFI = "wifi"
    TUNNEL = "tunnel"
    DIRECT = "direct"


class DataKind(StrEnum):
    ORIGINAL = "original"
    DERIVED = "derived"
    WEIGHTS = "weights"
    OUTPUT = "output"


class MadeKind(StrEnum):
    TEXT = "text"
    WEIGHTS = "weights"


class Api(StrEnum):
    OPENAI = "openai"
    OLLAMA = "ollama"


class Task(StrEnum):
    GENERATE = "generate"
    EMBED = "embed"


class Runner(StrEnum):
    CHUNK = "chunk"


class Waits(StrEnum):
    PEOPLE = "people"
    NOBODY = "nobody"


class Allowance(StrEnum):
    """What a run may do beyond reading. ``drop-server-cache``: empty a server's cache of the files read."""

    LOAD_MODEL = "load-model"
    DROP_SERVER_CACHE = "drop-server-cache"


def _examples(*examples: object) -> WithJsonSchema:
    return WithJsonSchema({"type": ["string", "number"], "examples": list(examples)})


def _whole(least: int, most: int) -> tuple[PlainValidator, WithJsonSchema]:
    return (
        PlainValidator(partial(readers.read_whole, least=least, most=most)),
        WithJsonSchema({"type": "integer", "minimum": least, "maximum": most}),
    )


def _one_of(choices: type[StrEnum]) -> tuple[PlainValidator, WithJsonSchema]:
    return (
        PlainValidator(partial(readers.read_choice, choices=choices)),
        WithJsonSchema({"type": "string", "enum": [choice.value for choice in choices]}),
    )


def _url(*schemes: str) -> tuple[PlainValidator, WithJsonSchema]:
    pattern = f"^({'|'.join(schemes)})://|^\\$\\{{"
    return (
        PlainValidator(partial(readers.read_url, schemes=schemes)),
        WithJsonSchema({"type": "string", "pattern": pattern}),
    )


def _read_by(parse: object) -> PlainValidator:
    return PlainValidator(partial(readers.read_quantity, parse=parse))  # type: ignore[arg-type]


_TEXT = {"type": ["string", "number"]}

Text = Annotated[str, PlainValidator(readers.read_text), WithJsonSchema(_TEXT)]
Name = Annotated[
    str, PlainValidator(readers.read_name), WithJsonSchema({"type": "string", "pattern": r"^\S{1,64}$"})
]
Texts = Annotated[
    tuple[Text, ...],
    BeforeValidator(readers.read_listed),
    WithJsonSchema({"anyOf": [_TEXT, {"type": "array", "items": _TEXT}]}),
]
Flag = Annotated[bool, PlainValidator(readers.read_flag), WithJsonSchema({"type": "boolean"})]
Command = Annotated[
    tuple[str, ...],
    PlainValidator(readers.read_command),
    WithJsonSchema(
        {"type": "array", "items": _TEXT, "minItems": 1, "examples": [["my-extractor", "{path}"]]}
    ),
]
Ssh = Annotated[str, PlainValidator(readers.read_ssh), WithJsonSchema({"type": "string"})]
Address = Annotated[
    str,
    PlainValidator(readers.read_address),
    WithJsonSchema({"type": "string", "examples": ["nas.lan:7411", "[fd00::2]:7411"]}),
]
_TELL_URL = {
    "type": "string",
    "pattern": r"^[A-Za-z0-9][A-Za-z0-9+._-]*://\S+$|^\S*\$\{",
    "examples": ["${NTFY_URL}"],
}
TELL_URLS = {"anyOf": [_TELL_URL, {"type": "array", "items": _TELL_URL}]}
TellUrl = Annotated[str, PlainValidator(readers.read_tell_url), WithJsonSchema(_TELL_URL)]
PingUrl = Annotated[
    str,
    PlainValidator(readers.read_ping_url),
    WithJsonSchema(
        {"type": "string", "pattern": r"^https?://\S+$|^\$\{", "examples": ["${HEALTHCHECK_URL}"]}
    ),
]
WholePath = Annotated[
    str,
    PlainValidator(readers.read_whole_path),
    WithJsonSchema(
        {"type": "string", "examples": ["/var/lib/node_exporter/pathtrace.prom", "~/pathtrace.log"]}
    ),
]
Options = Annotated[
    dict[str, object], PlainValidator(readers.read_options), WithJsonSchema({"type": "object"})
]

Bytes = Annotated[int, _read_by(units.parse_bytes), _examples("64 KiB", "10 GiB")]
Rate = Annotated[float, _read_by(units.parse_rate), _examples("1 Gbit/s", "10GbE", "60 MB/s")]
Duration = Annotated[float, _read_by(units.parse_duration), _examples("250 ms", "3 s", "15 min", "365 d")]
Keep = Annotated[float, PlainValidator(readers.read_keep), _examples("90 d", "3650 d")]
CountRate = Annotated[float, _read_by(units.parse_count_rate), _examples("2/s", "30/min")]
Parameters = Annotated[float, _read_by(units.parse_count), _examples("8B", "137M")]
PerDay = Annotated[float, _read_by(readers.read_count_per_day), _examples(100)]

Version = Annotated[int, *_whole(1, 1)]
Positive = Annotated[int, *_whole(1, 10**9)]
Seed = Annotated[int, *_whole(0, 2**32 - 1)]
Repeats = Annotated[int, *_whole(1, 1000)]
Warmups = Annotated[int, *_whole(0, 100)]
Workers = Annotated[int, *_whole(1, 1024)]
QueueLength = Annotated[int, *_whole(1, 100_000)]
Depth = Annotated[int, *_whole(1, 256)]
Mtu = Annotated[int, *_whole(68, 65_535)]
FileCount = Annotated[int, *_whole(1, 1_000_000)]
Sample = Annotated[
    int | None,
    PlainValidator(readers.read_sample),
    WithJsonSchema({"anyOf": [{"const": "all"}, {"type": "integer", "minimum": 1}]}),
]

Frequency = Annotated[
    model.Frequency,
    PlainValidator(readers.read_frequency),
    WithJsonSchema(
        {
            "type": "string",
            "pattern": "^(once|per-load|per-document|per-request|every .+)$",
            "examples": ["per-request", "every 24 h"],
        }
    ),
]
Start = Annotated[model.Start, *_one_of(model.Start)]
Access = Annotated[model.Access, *_one_of(model.Access)]
Commit = Annotated[model.Commit, *_one_of(model.Commit)]
LinkOf = Annotated[LinkKind, *_one_of(LinkKind)]
Data = Annotated[DataKind, *_one_of(DataKind)]
MadeOf = Annotated[MadeKind, *_one_of(MadeKind)]
ApiOf = Annotated[Api, *_one_of(Api)]
TaskOf = Annotated[Task, *_one_of(Task)]
RunOf = Annotated[Runner, *_one_of(Runner)]
Allowed = Annotated[Allowance, *_one_of(Allowance)]
WaitsOf = Annotated[Waits, *_one_of(Waits)]

FilesUrl = Annotated[str, *_url("smb", "sftp", "http", "https", "webdav", "s3")]
HttpUrl = Annotated[str, *_url("http", "https")]
DatabaseUrl = Annotated[str, *_url("sqlite", "postgresql")]
