"""What a run was made in, as flat named facts: hosts, links, mounts, routes, versions, run control.

One name, one value, ready to be held against another run's. What a difference means is for others.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from enum import Enum
from urllib.parse import urlsplit

from pathtrace.analysis.limiting.links import link_between
from pathtrace.model.run import HostFacts, Interface, Mount, Reached, Run
from pathtrace.model.scenario import Flow, Host, Link, Place, Scenario
from pathtrace.units import format_bytes, format_duration, format_link

_HARMLESS = {
    "repeats",
    "budget_bytes",
    "budget_s",
    "lifetime_s",
    "expect",
    "checks",
    "claims",
}
"""Run control that makes no flow faster or slower."""
_WHEREABOUTS = ("path", "url", "there")
_VIRTUAL = {"loopback", "veth", "bridge"}


@dataclass(frozen=True, slots=True)
class Fact:
    """``cause``: what would have changed if this did. ``names``: what else it may be called by.

    ``absent_is_known``: None means "there is none" rather than "nobody looked".
    """

    value: str | None
    cause: str
    names: tuple[str, ...] = ()
    matters: bool = True
    absent_is_known: bool = False


Facts = Mapping[str, Fact]


def setup_facts(run: Run) -> Facts:
    """Everything that may differ between runs of the same workload, in the order in which it is told."""
    scenario = run.scenario
    found: dict[str, Fact] = {}
    for link in scenario.links:
        found.update(_link(link))
    for host in scenario.hosts:
        found.update(_host(run, host))
    for place in scenario.places:
        found.update(_place(run, place))
    for reached in run.reached:
        found.update(_reached(run, reached))
    found.update(_ways(run))
    for facts in run.environment.hosts:
        found.update(_environment(run, facts))
    found.update(_versions(run))
    found.update(_control(scenario))
    return found


def workload_facts(scenario: Scenario) -> Facts:
    """Everything that the workload's fingerprint covers."""
    workload = asdict(scenario.workload)
    model = workload.pop("model")
    del workload["stated"]
    named = {f"workload.{key}": value for key, value in workload.items()}
    named |= {f"workload.model.{key}": value for key, value in model.items()}
    found = {what: Fact(_text(what, value), what, (), True, True) for what, value in named.items()}
    for place in scenario.places:
        found.update(_work_of(place))
    for flow in scenario.flows:
        found.update(_flow(flow))
    return found


def way(run: Run, host: str) -> tuple[str, ...]:
    """The links that join this host and another one, the one that the route takes first."""
    scenario = run.scenario
    here = scenario.here.name
    if host == here:
        return ()
    facts = next((each for each in run.environment.hosts if each.name == here), None)
    taken = link_between(scenario, run.routes, facts, host)
    joining = tuple(link.name for link in scenario.links if {here, host} <= set(link.hosts))
    if not joining:
        return (taken,)
    return tuple(dict.fromkeys((taken.removeprefix("link:"), *joining)))


def _link(link: Link) -> Iterator[tuple[str, Fact]]:
    values = {
        "hosts": tuple(sorted(link.hosts)),
        "speed_bytes_per_s": link.speed_bytes_per_s,
        "mtu": link.mtu_bytes,
        "kind": link.kind,
    }
    for key, value in values.items():
        what = f"{link.name}.{key.removesuffix('_bytes_per_s')}"
        yield what, Fact(_text(key, value), link.name, (), True, True)


def _host(run: Run, host: Host) -> Iterator[tuple[str, Fact]]:
    ways = way(run, host.name)
    cause = ways[0] if ways else host.name
    yield f"{host.name}.addresses", Fact(_text("", host.addresses), cause, (host.name, *ways), True, True)
    yield f"{host.name}.here", Fact(_text("", host.here), host.name, (), True, True)
    for key in ("role", "ssh", "memory_bytes", "gpu_memory_bytes", "responder", "iperf3"):
        text = _text(key, getattr(host, key))
        yield f"{host.name}.declared.{key}", Fact(text, host.name, (), False, True)


def _place(run: Run, place: Place) -> Iterator[tuple[str, Fact]]:
    ways = way(run, place.host)
    cause = ways[0] if ways else place.name
    names = (place.name, place.host, *ways)
    yield f"{place.name}.host", Fact(place.host, place.name, (place.host,), True, True)
    spec = asdict(place.spec)
    for key in ("path", "there"):
        if key in spec:
            matters = key != "there"
            yield f"{place.name}.{key}", Fact(_text("", spec[key]), cause, names, matters, True)
    if "url" in spec:
        url = spec["url"]
        yield f"{place.name}.url", Fact(_text("", url), cause, names, True, True)
        protocol = urlsplit(url).scheme if url else None
        yield f"{place.name}.protocol", Fact(protocol, place.name, (), True, True)


def _reached(run: Run, reached: Reached) -> Iterator[tuple[str, Fact]]:
    place = run.scenario.place(reached.place)
    ways = way(run, place.host)
    cause, names = (ways[0] if ways else place.name), (place.name, place.host, *ways)
    yield f"{place.name}.server", Fact(reached.identity, f"server of {place.name}", (place.name,))
    address = reached.endpoint.address if reached.endpoint else None
    yield f"{place.name}.endpoint", Fact(address, cause, names)
    for label, mount in (("mount", reached.mount), ("far_mount", reached.far_mount)):
        if mount is not None:
            yield from _mount(f"{place.name}.{label}", mount, place.name, cause, names)


def _mount(
    what: str, mount: Mount, place: str, cause: str, names: tuple[str, ...]
) -> Iterator[tuple[str, Fact]]:
    """A network mount's ends belong to the link; a local one's, and any kind and options, to the place."""
    ends = cause if mount.network else place
    for key in ("path", "device", "server", "there"):
        yield f"{what}.{key}", Fact(getattr(mount, key), ends, names if mount.network else (place,))
    yield f"{what}.fstype", Fact(mount.fstype, place, (), True, True)
    yield f"{what}.options", Fact(_text("", tuple(sorted(mount.options))), place)


def _ways(run: Run) -> Iterator[tuple[str, Fact]]:
    for route in run.routes:
        ways = way(run, route.host)
        cause, names = (ways[0] if ways else route.host), (route.host, *ways)
        for key in ("address", "interface", "source", "gateway", "mtu_bytes", "interface_kind"):
            text = _text(key, getattr(route, key))
            yield f"{route.host}.route.{key}", Fact(text, cause, names, True, key == "gateway")
    for path in run.paths:
        ways = way(run, path.host)
        cause, names = (ways[0] if ways else path.host), (path.host, *ways)
        yield f"{path.host}.path_mtu", Fact(_text("mtu", path.path_mtu_bytes), cause, names)
        routers = str(len(path.hops) - 1) if path.hops else None
        yield f"{path.host}.routers", Fact(routers, cause, names)


def _environment(run: Run, host: HostFacts) -> Iterator[tuple[str, Fact]]:
    for key in ("cpu", "cores", "memory_bytes", "kernel", "gpus", "servers"):
        text = _text(key, getattr(host, key))
        yield f"{host.name}.{key}", Fact(text, f"{key.removesuffix('_bytes')} of {host.name}", (host.name,))
    for interface in host.interfaces:
        yield from _interface(run, host.name, interface)


def _interface(run: Run, host: str, interface: Interface) -> Iterator[tuple[str, Fact]]:
    """One that a route leads through belongs to that link; a virtual one that none uses does not matter."""
    used = [route.host for route in run.routes if route.interface == interface.name]
    used = used if host == run.scenario.here.name else []
    ways = tuple(dict.fromkeys(link for far in used for link in way(run, far)))
    cause = ways[0] if ways else f"interface {interface.name} of {host}"
    matters = bool(ways) or interface.kind not in _VIRTUAL
    for key in (each.name for each in fields(Interface) if each.name != "name"):
        what = f"{host}.interface.{interface.name}.{key.removesuffix('_bytes_per_s')}"
        yield what, Fact(_text(key, getattr(interface, key)), cause, (host, interface.name, *ways), matters)


def _versions(run: Run) -> Iterator[tuple[str, Fact]]:
    yield "python", Fact(run.environment.python, "python")
    yield "pathtrace", Fact(run.environment.pathtrace, "pathtrace")
    yield "boot_at", Fact(run.environment.boot_at, "boot", (), False)


def _control(scenario: Scenario) -> Iterator[tuple[str, Fact]]:
    for key, value in asdict(scenario.control).items():
        if key not in ("start", "start_stated"):
            what = f"control.{key}"
            yield what, Fact(_text(key, value), what, (), key not in _HARMLESS, True)


def _work_of(place: Place) -> Iterator[tuple[str, Fact]]:
    values = {"kind": place.kind, "workers": place.workers, "queue": place.queue}
    values |= {"timeout_s": place.timeout_s, "data": place.data, "stand_in": place.stand_in}
    values |= {
        key: value
        for key, value in asdict(place.spec).items()
        if key not in (*_WHEREABOUTS, "api_key", "access_stated")
    }
    for key, value in values.items():
        what = f"{place.name}.{key.removesuffix('_bytes')}"
        yield what, Fact(_text(key, value), what, (), True, True)


def _flow(flow: Flow) -> Iterator[tuple[str, Fact]]:
    values = {"path": flow.path, "frequency": flow.frequency.text, "waits": flow.waits}
    for key, value in values.items():
        what = f"flows.{flow.name}.{key}"
        yield what, Fact(_text("", value), what, (), True, True)


def _text(key: str, value: object) -> str | None:
    """A value for people; None where there is none."""
    if value is None or value == () or value == "":
        return None
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Enum):
        return str(value.value)
    if isinstance(value, int | float):
        return _figure(key, value)
    if isinstance(value, tuple | list):
        return ", ".join(_text("", part) or "" for part in value)
    if isinstance(value, dict):
        return ", ".join(f"{name} {_text(name, part)}" for name, part in value.items())
    return str(value)


def _figure(key: str, value: int | float) -> str:
    if key.endswith("bytes_per_s"):
        return format_link(value)
    if "mtu" in key:
        return f"{value:g} B"
    if key.endswith("bytes"):
        return format_bytes(value)
    return format_duration(value) if key.endswith("_s") and key != "rate_per_s" else f"{value:g}"
