"""The JSON Schema of the ``pathtrace.run/1`` document, for people who read it with their own programs.

Every key is required; unknown keys are allowed, since later versions may add some. Tests hold real
documents against it. The scenario's schema belongs to ``scenario/``.
"""

from __future__ import annotations

from pathtrace.render.conditions import LAYERS
from pathtrace.render.figures import Document, Json
from pathtrace.render.json_document import RUN_FORMAT

DIALECT = "https://json-schema.org/draft/2020-12/schema"

_TEXT: Document = {"type": "string"}
_TEXT_OR_NULL: Document = {"type": ["string", "null"]}
_FLAG: Document = {"type": "boolean"}
_COUNT: Document = {"type": "integer", "minimum": 0}
_COUNT_OR_NULL: Document = {"type": ["integer", "null"], "minimum": 0}
_FIGURE: Document = {"type": "number", "minimum": 0}
_FIGURE_OR_NULL: Document = {"type": ["number", "null"], "minimum": 0}
_RATIO_OR_NULL: Document = {"type": ["number", "null"], "minimum": 0, "maximum": 1}


def run_schema() -> Document:
    """JSON Schema (2020-12) of ``pathtrace.run/1``."""
    schema = _object(
        format={"const": RUN_FORMAT},
        id=_TEXT,
        label=_TEXT_OR_NULL,
        status=_one_of("complete", "partial", "interrupted"),
        started_at={"type": "string", "format": "date-time"},
        duration_s=_FIGURE,
        scenario=_scenario(),
        workload=_workload(),
        dataset=_named(_dataset()),
        capacity=_named(
            _object(total_bytes=_COUNT_OR_NULL, used_bytes=_COUNT_OR_NULL, needed_bytes=_COUNT_OR_NULL)
        ),
        start_condition=_start_condition(),
        environment=_environment(),
        other_activity=_named(_or_null(_activity())),
        hops=_list(_hop()),
        flows=_list(_flow()),
        requests={"anyOf": [_request(), _list(_request()), {"type": "null"}]},
        after_idle=_list(_request(idle_s=_FIGURE)),
        resources=_list(_resource()),
        ranking=_list(_ranking()),
        findings=_list(_object(code=_TEXT, text=_TEXT, evidence=_list(_TEXT))),
        checks=_or_null(_object(asked=_COUNT, passed=_COUNT)),
        caveats=_list(_caveat()),
        repeats=_list(_repeat()),
        routes=_list(_route()),
        paths=_list(_path()),
        own_cost=_or_null(_own_cost()),
        until=_or_null(_until()),
    )
    return {"$schema": DIALECT, "title": "A pathtrace run", **schema}


def _object(**properties: Document) -> Document:
    keys: list[Json] = list(properties)
    return {"type": "object", "properties": dict(properties), "required": keys}


def _renamed(schema: Document, **names: str) -> Document:
    """``schema`` with properties renamed to what cannot be a Python argument (``from``)."""
    properties, required = schema["properties"], schema["required"]
    assert isinstance(properties, dict)
    assert isinstance(required, list)
    return schema | {
        "properties": {names.get(key, key): value for key, value in properties.items()},
        "required": [names.get(str(key), key) for key in required],
    }


def _list(items: Document) -> Document:
    return {"type": "array", "items": items}


def _named(values: Document) -> Document:
    return {"type": "object", "additionalProperties": values}


def _or_null(schema: Document) -> Document:
    return {"anyOf": [schema, {"type": "null"}]}


def _one_of(*words: str) -> Document:
    return {"enum": list(words)}


def _scenario() -> Document:
    return _object(
        name=_TEXT,
        question=_TEXT_OR_NULL,
        workload_fingerprint=_TEXT,
        setup_fingerprint=_TEXT,
        source=_TEXT_OR_NULL,
    )


def _workload() -> Document:
    card = _object(
        **dict.fromkeys(("name", "revision", "precision", "format"), _TEXT_OR_NULL),
        **dict.fromkeys(("context", "input", "output", "batch"), _COUNT_OR_NULL),
        runtime=_TEXT_OR_NULL,
        parameters=_FIGURE_OR_NULL,
        active_parameters=_FIGURE_OR_NULL,
        modality=_TEXT_OR_NULL,
    )
    return _object(
        application=_TEXT_OR_NULL,
        model=card,
        users={"anyOf": [_COUNT, _list(_COUNT), {"type": "null"}]},
        rate_per_s=_FIGURE_OR_NULL,
        requests=_COUNT_OR_NULL,
        acceptable_wait_s=_FIGURE_OR_NULL,
        requests_per_day=_FIGURE_OR_NULL,
        documents_per_day=_FIGURE_OR_NULL,
        loads_per_day=_FIGURE_OR_NULL,
        prompts=_or_null(_list(_TEXT)),
    )


def _dataset() -> Document:
    return _object(
        files=_COUNT_OR_NULL,
        bytes=_COUNT_OR_NULL,
        fingerprint=_TEXT_OR_NULL,
        sparse_bytes=_COUNT_OR_NULL,
        listing_s=_FIGURE_OR_NULL,
    )


def _start_condition() -> Document:
    layer = _object(state=_one_of("cold", "warm", "unknown"), evidence=_TEXT)
    return _object(start=_TEXT, layers=_object(**dict.fromkeys(LAYERS, layer)))


def _environment() -> Document:
    mount = _object(
        path=_TEXT,
        device=_TEXT,
        fstype=_TEXT,
        disk=_TEXT_OR_NULL,
        network=_FLAG,
        server=_TEXT_OR_NULL,
        there=_TEXT_OR_NULL,
        options=_list(_TEXT),
    )
    interface = _object(
        name=_TEXT,
        speed_bytes_per_s=_FIGURE_OR_NULL,
        mtu_bytes=_COUNT_OR_NULL,
        up=_FLAG,
        duplex=_TEXT_OR_NULL,
        kind=_TEXT_OR_NULL,
        driver=_TEXT_OR_NULL,
        addresses=_list(_TEXT),
        pcie_bytes_per_s=_FIGURE_OR_NULL,
        pcie_best_bytes_per_s=_FIGURE_OR_NULL,
    )
    host = _object(
        cpu=_TEXT_OR_NULL,
        memory_bytes=_COUNT_OR_NULL,
        kernel=_TEXT,
        gpus=_list(_TEXT),
        mounts=_list(mount),
        interfaces=_list(interface),
        servers=_list(_TEXT),
    )
    return _object(hosts=_named(host), python=_TEXT, pathtrace=_TEXT, boot_at=_TEXT)


def _activity() -> Document:
    return _object(
        cpu_percent=_FIGURE_OR_NULL,
        disk_bytes_per_s=_FIGURE_OR_NULL,
        network_bytes_per_s=_FIGURE_OR_NULL,
        notable=_list(_TEXT),
    )


def _latency() -> Document:
    return _object(p50_s=_FIGURE_OR_NULL, p90_s=_FIGURE_OR_NULL, p99_s=_FIGURE_OR_NULL, max_s=_FIGURE_OR_NULL)


def _time() -> Document:
    return _object(busy_s=_FIGURE, starved_s=_FIGURE, blocked_s=_FIGURE)


def _caveat() -> Document:
    return _object(code=_TEXT, text=_TEXT, remedy=_TEXT_OR_NULL, subject=_TEXT_OR_NULL)


def _wire() -> Document:
    return _object(
        bytes=_COUNT_OR_NULL,
        overhead_ratio={"type": ["number", "null"]},
        retransmits=_COUNT_OR_NULL,
        rtt_s=_FIGURE_OR_NULL,
        interface=_TEXT_OR_NULL,
        interface_kind=_TEXT_OR_NULL,
    )


def _hop() -> Document:
    limited_by = _object(
        resource=_TEXT,
        also=_list(_TEXT),
        while_busy=_TEXT,
        evidence=_list(_TEXT),
        next_measurement=_TEXT_OR_NULL,
    )
    hop = _object(
        flow=_TEXT,
        name=_TEXT,
        from_=_TEXT,
        to=_TEXT,
        phase=_one_of("load", "ingest", "process", "deliver"),
        measured_from=_TEXT,
        stand_in=_FLAG,
        frequency=_observed_frequency(),
        operations=_COUNT,
        errors=_COUNT,
        bytes=_COUNT,
        duration_s=_FIGURE_OR_NULL,
        active_s=_FIGURE_OR_NULL,
        throughput=_throughput(),
        latency=_latency(),
        time=_or_null(_time()),
        stages=_list(_stage()),
        first=_or_null(_object(duration_s=_FIGURE, bytes_per_s=_FIGURE_OR_NULL)),
        wire=_or_null(_wire()),
        limited_by=limited_by,
        caveats=_list(_caveat()),
        series=_list(_object(t_s=_FIGURE, bytes_per_s=_FIGURE, operations_per_s=_FIGURE)),
    )
    return _renamed(hop, from_="from")


def _throughput() -> Document:
    return _object(
        bytes_per_s=_FIGURE_OR_NULL,
        low=_FIGURE_OR_NULL,
        high=_FIGURE_OR_NULL,
        active_bytes_per_s=_FIGURE_OR_NULL,
        operations_per_s=_FIGURE_OR_NULL,
    )


def _stage() -> Document:
    parts = _object(setup_s=_FIGURE, stat_s=_FIGURE_OR_NULL, body_s=_FIGURE, finish_s=_FIGURE)
    return _object(
        action=_TEXT,
        place=_TEXT,
        workers=_COUNT,
        operations=_COUNT,
        bytes=_COUNT,
        time=_time(),
        latency=_latency(),
        parts=_or_null(parts),
    )


def _flow() -> Document:
    segment = _object(hop=_TEXT, stage=_TEXT, resource=_TEXT, seconds=_FIGURE)
    return _object(
        name=_TEXT,
        frequency=_TEXT,
        waits=_one_of("people", "nobody"),
        duration_s=_or_null(_object(median=_FIGURE, low=_FIGURE_OR_NULL, high=_FIGURE_OR_NULL)),
        bottleneck=_TEXT,
        critical_path=_list(segment),
    )


def _observed_frequency() -> Document:
    return _object(declared=_TEXT, observed=_TEXT_OR_NULL, evidence=_TEXT, bytes_per_request=_FIGURE_OR_NULL)


def _request(**more: Document) -> Document:
    return _object(
        **more,
        count=_COUNT,
        users=_COUNT,
        per_s=_FIGURE_OR_NULL,
        latency=_latency(),
        time_to_first_token_s=_FIGURE_OR_NULL,
        tokens_per_s=_FIGURE_OR_NULL,
        within_acceptable_wait=_RATIO_OR_NULL,
    )


def _resource() -> Document:
    return _object(
        name=_TEXT,
        kind=_TEXT,
        ceiling_bytes_per_s=_FIGURE_OR_NULL,
        ceiling_operations_per_s=_FIGURE_OR_NULL,
        ceiling_latency_s=_FIGURE_OR_NULL,
        ceiling_source={"enum": ["measured", "computed", "declared", "nominal", None]},
        utilisation=_FIGURE_OR_NULL,
        direction=_TEXT_OR_NULL,
    )


def _ranking() -> Document:
    return _object(
        rank={"type": "integer", "minimum": 1},
        flow=_TEXT,
        hop=_TEXT,
        stage=_TEXT,
        resource=_TEXT,
        frequency=_TEXT,
        waits=_one_of("people", "nobody"),
        seconds_per_day=_FIGURE,
        seconds_per_execution=_FIGURE,
        share={"type": "number", "minimum": 0, "maximum": 1},
        advice=_TEXT,
    )


def _repeat() -> Document:
    hop = _object(duration_s=_FIGURE, bytes=_COUNT, operations=_COUNT)
    return _object(index=_COUNT, duration_s=_FIGURE, start_condition=_TEXT, hops=_named(hop), outlier=_FLAG)


def _route() -> Document:
    return _object(
        host=_TEXT,
        address=_TEXT,
        interface=_TEXT,
        source=_TEXT_OR_NULL,
        gateway=_TEXT_OR_NULL,
        mtu_bytes=_COUNT_OR_NULL,
        interface_kind=_TEXT_OR_NULL,
    )


def _path() -> Document:
    hop = _object(number=_COUNT, address=_TEXT_OR_NULL, rtt_s=_FIGURE_OR_NULL)
    return _object(
        host=_TEXT,
        address=_TEXT,
        routed={"type": ["boolean", "null"]},
        hops=_list(hop),
        path_mtu_bytes=_COUNT_OR_NULL,
        interface_mtu_bytes=_COUNT_OR_NULL,
        black_hole={"type": ["boolean", "null"]},
        connect_s=_FIGURE_OR_NULL,
        evidence=_list(_TEXT),
        took_s=_FIGURE,
    )


def _until() -> Document:
    flow = _object(name=_TEXT, repeats=_COUNT, half_width=_FIGURE_OR_NULL, drifts=_FLAG, two_kinds=_FLAG)
    return _object(
        asked=_FIGURE,
        reached=_FLAG,
        half_width=_FIGURE_OR_NULL,
        repeats=_COUNT,
        ended_by={"enum": ["bytes", "time", "stop", "store", "repeats", None]},
        flows=_list(flow),
    )


def _own_cost() -> Document:
    return _object(
        recording_ratio=_FIGURE,
        observing_ratio=_FIGURE,
        sample_s=_FIGURE,
        probes_s=_FIGURE_OR_NULL,
        observers=_named(_FIGURE),
    )
