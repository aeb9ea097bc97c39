"""A sound document becomes a ``Scenario``: hosts resolved, flows cut into stages and hops, ordered.

Nothing here finds faults: ``shape`` and ``checks`` have passed.
"""

from __future__ import annotations

from dataclasses import replace

from pathtrace.model import scenario as model
from pathtrace.scenario import document as doc
from pathtrace.scenario.checks import actions_in
from pathtrace.scenario.fingerprint import setup_fingerprint, workload_fingerprint
from pathtrace.scenario.hosts import all_hosts, host_of
from pathtrace.scenario.path_rules import ORDER, derived_frequency, hops_of, stages_of


def build(document: doc.Document, source: str, text: str, secrets: tuple[str, ...]) -> model.Scenario:
    """The scenario; ``text`` has been redacted already."""
    flows = [_flow(name, flow, document) for name, flow in document.flows.items()]
    scenario = model.Scenario(
        name=document.name,
        question=document.question,
        source=source,
        text=text,
        workload=_workload(document.workload),
        hosts=all_hosts(document),
        links=tuple(_link(name, link) for name, link in document.links.items()),
        places=tuple(_place(name, place, document) for name, place in document.places.items()),
        flows=tuple(sorted(flows, key=lambda flow: ORDER[flow.frequency.kind])),
        control=_control(document),
        secrets=secrets,
        workload_fingerprint="",
        setup_fingerprint="",
        tell=_ways(document.tell),
        keep_s=document.keep,
    )
    return replace(
        scenario,
        workload_fingerprint=workload_fingerprint(scenario),
        setup_fingerprint=setup_fingerprint(scenario),
    )


def _ways(tell: doc.Tell) -> model.Ways:
    urls = tuple(url for url in tell.urls if url)
    return model.Ways(urls=urls, metrics=tell.metrics, log=tell.log, ping=tell.ping or None)


def _workload(workload: doc.Workload) -> model.Workload:
    return model.Workload(
        application=workload.application,
        model=model.ModelCard(**workload.model.model_dump()),
        users=workload.users,
        rate_per_s=workload.rate,
        requests=workload.requests,
        acceptable_wait_s=workload.acceptable_wait,
        requests_per_day=workload.requests_per_day,
        documents_per_day=workload.documents_per_day,
        loads_per_day=workload.loads_per_day,
        prompts=workload.prompts,
        stated=tuple(key for key in doc.Workload.model_fields if key in workload.model_fields_set),
    )


def _link(name: str, link: doc.Link) -> model.Link:
    return model.Link(name, link.hosts, link.speed, link.mtu, link.kind.value)


def _place(name: str, place: doc.PlaceOf, document: doc.Document) -> model.Place:
    return model.Place(
        name=name,
        kind=model.PlaceKind(document.places[name].kind),
        host=host_of(place, document),
        workers=place.workers,
        queue=place.queue,
        timeout_s=place.timeout,
        data=place.data.value if place.data else None,
        spec=_spec(place),
    )


def _spec(place: doc.PlaceOf) -> model.Spec:
    match place:
        case doc.Files():
            return _files(place)
        case doc.Process():
            run = place.run.value if place.run else None
            return model.ProcessSpec(run, place.command, place.url)
        case doc.Database():
            insert, query = place.insert, place.query
            return model.DatabaseSpec(place.url, place.batch, place.commit, query, insert, place.keep)
        case doc.Inference():
            return _inference(place)
        case _:
            return model.UserSpec()


def _files(place: doc.Files) -> model.FilesSpec:
    made = place.make
    return model.FilesSpec(
        path=place.path,
        url=place.url,
        make=model.Made(made.files, made.bytes, made.kind.value) if made else None,
        include=place.include,
        exclude=place.exclude,
        sample=place.sample,
        access=place.access or model.Access.READ,
        access_stated=place.access is not None,
        block_bytes=place.block,
        depth=place.depth,
        there=place.there,
    )


def _inference(place: doc.Inference) -> model.InferenceSpec:
    options = dict(place.options)
    api_key = options.pop("api_key", None)
    return model.InferenceSpec(
        url=place.url,
        api=place.api.value,
        task=place.task.value,
        model=place.model,
        options=tuple(options.items()),
        api_key=None if api_key is None else str(api_key),
    )


def _flow(name: str, flow: doc.Flow, document: doc.Document) -> model.Flow:
    kinds = [model.PlaceKind(document.places[place].kind) for place in flow.path]
    frequency = flow.frequency or derived_frequency(kinds)
    asked = frequency.kind is model.FrequencyKind.PER_REQUEST
    stages = stages_of(actions_in(flow, document))
    return model.Flow(
        name=name,
        path=flow.path,
        frequency=frequency,
        waits=flow.waits.value if flow.waits else ("people" if asked else "nobody"),
        stages=stages,
        hops=hops_of(stages, kinds),
    )


def _control(document: doc.Document) -> model.RunControl:
    start = document.start or model.Start.COLD
    warmup = document.warmup
    if warmup is None:
        warmup = 1 if start is model.Start.WARM else 0
    return model.RunControl(
        start=start,
        start_stated=document.start is not None,
        repeats=document.repeats,
        warmup=warmup,
        budget_bytes=document.budget.bytes,
        budget_s=document.budget.time,
        seed=document.seed,
        idle_gaps_s=document.idle_gaps,
        together=document.together,
        lifetime_s=document.lifetime,
        expect=tuple(document.expect.items()),
        allow=tuple(allowed.value for allowed in document.allow),
        checks=tuple(model.Check(check.ask, check.expect) for check in document.checks),
        claims=document.claims,
    )
