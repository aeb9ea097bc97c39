"""What a run was made in, as history keeps it: ``kernel of nas`` is ``Linux 6.12``.

Reads the JSON of ``facts.json`` as it is, since ten thousand runs are read one after the other; what a
version of it does not have is left out. What a change of these means is for ``analysis``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from pathtrace.units import format_bytes, format_link

Pair = tuple[str, str | None]
Facts = Mapping[str, Any]

_CABLES = ("ethernet", "wifi", "tunnel")
_DOWN = "down"


def surroundings(facts: Facts) -> tuple[tuple[str, str], ...]:
    """Sorted; what is not known is not there. Never fails: a part in another shape is left out."""
    found: dict[str, str] = {}
    for part in _PARTS:
        try:
            found.update((what, value) for what, value in part(facts) if value)
        except (AttributeError, KeyError, StopIteration, TypeError, ValueError):
            continue
    return tuple(sorted(found.items()))


def _hosts(facts: Facts) -> Iterator[Pair]:
    for host in facts["environment"]["hosts"]:
        name = host["name"]
        yield f"kernel of {name}", host["kernel"]
        yield f"processor of {name}", host["cpu"]
        yield f"cores of {name}", str(host["cores"]) if host["cores"] else None
        yield f"memory of {name}", format_bytes(host["memory_bytes"]) if host["memory_bytes"] else None
        yield f"GPUs of {name}", ", ".join(host["gpus"])
        yield f"congestion control of {name}", host.get("congestion_control")


def _cards(facts: Facts) -> Iterator[Pair]:
    """Each interface that a cable or a signal ends at, by the link that it serves where a route says so."""
    here = next(host["name"] for host in facts["scenario"]["hosts"] if host["here"])
    links = {route["interface"]: _link(facts, here, route["host"]) for route in facts.get("routes", ())}
    for host in facts["environment"]["hosts"]:
        for card in host["interfaces"]:
            name = links.get(card["name"]) if host["name"] == here else None
            if name is None and (card.get("kind") not in _CABLES or not card["up"]):
                continue
            what = name or f"interface {card['name']} of {host['name']}"
            yield what, _speed(card)
            yield f"largest packet of {what}", f"{card['mtu_bytes']} B" if card["mtu_bytes"] else None


def _speed(card: Facts) -> str | None:
    if not card["up"]:
        return _DOWN
    speed = card["speed_bytes_per_s"]
    half = ", half duplex" if card.get("duplex") == "half" else ""
    return f"{format_link(speed)}{half}" if speed else None


def _link(facts: Facts, here: str, host: str) -> str:
    """The declared link that joins both hosts, else one named by them."""
    joining = (link["name"] for link in facts["scenario"]["links"] if {here, host} <= set(link["hosts"]))
    return f"link {next(joining, '-'.join(sorted((here, host))))}"


def _ways(facts: Facts) -> Iterator[Pair]:
    for route in facts.get("routes", ()):
        past = f" by {route['gateway']}" if route.get("gateway") else ""
        kind = " (a tunnel)" if route.get("interface_kind") == "tunnel" else ""
        yield f"way to {route['host']}", f"{route['interface']}{kind}{past}"
        yield f"address of {route['host']}", route["address"]
    for path in facts.get("paths", ()):
        passes = path.get("path_mtu_bytes")
        yield f"largest packet to {path['host']}", f"{passes} B" if passes else None


def _places(facts: Facts) -> Iterator[Pair]:
    for place in facts["scenario"]["places"]:
        spec = place["spec"]
        yield f"whereabouts of {place['name']}", spec.get("path") or spec.get("url")
    for reached in facts["reached"]:
        name = reached["place"]
        yield f"server of {name}", reached.get("identity")
        for what, mount in (("mount", reached.get("mount")), ("far mount", reached.get("far_mount"))):
            if mount:
                yield f"{what} of {name}", f"{mount['fstype']}, {mount['device']}"
                yield f"{what} options of {name}", ", ".join(sorted(mount.get("options", ())))


def _versions(facts: Facts) -> Iterator[Pair]:
    yield "Python", facts["environment"]["python"]
    yield "pathtrace", facts["environment"]["pathtrace"]


_PARTS: tuple[Callable[[Facts], Iterator[Pair]], ...] = (_hosts, _cards, _ways, _places, _versions)
