"""A direct link that is not there yet: the run as it is, with its own name for the way between two hosts.

What crosses between the two moves to the new link, at first as fast as today; others stay where they are. How
much faster the new one is, is then a change like any other.
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass, replace

from pathtrace.analysis.limiting.links import link_between
from pathtrace.errors import UsageError
from pathtrace.model.run import HostFacts, Run
from pathtrace.model.scenario import Link, Scenario


@dataclass(frozen=True, slots=True)
class NewLink:
    name: str
    hosts: tuple[str, str]
    setting: str
    """As for ``--set``."""
    others: str | None
    """Who stays on the link of today, in words; None if nobody does."""


def with_links(run: Run, texts: Sequence[str]) -> tuple[Run, tuple[NewLink, ...]]:
    """``texts``: ``nas,workstation=10GbE``. UsageError if that names no two hosts of the run."""
    made: list[NewLink] = []
    for text in texts:
        hosts, speed = _hosts(text, run.scenario)
        name = "-".join(hosts)
        if name in [link.name for link in run.scenario.links] + [link.name for link in made]:
            hint = f"its speed is set with --set {name}={speed}"
            raise UsageError(f"there is a link called {name} already", hint=hint)
        run, others = _moved(run, name, hosts)
        made.append(NewLink(name, hosts, f"link:{name}={speed}", others))
    return run, tuple(made)


def _hosts(text: str, scenario: Scenario) -> tuple[tuple[str, str], str]:
    """The hosts, the one that runs pathtrace last, and the speed as written."""
    names, equals, speed = (part.strip() for part in text.partition("="))
    ends = [name.strip() for name in names.split(",")]
    if not equals or not speed or len(ends) != 2 or not all(ends):
        raise UsageError(
            f"{text!r} is no link between two hosts", hint="write it as in --add-link nas,workstation=10GbE"
        )
    known = dict.fromkeys([host.name for host in scenario.hosts] + [place.host for place in scenario.places])
    for name in ends:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
            hint = f"did you mean {near[0]!r}?" if near else f"hosts: {', '.join(known)}"
            raise UsageError(f"there is no host called {name!r} in this run", hint=hint)
    if ends[0] == ends[1]:
        raise UsageError(f"{text!r} joins {ends[0]} with itself", hint=f"hosts: {', '.join(known)}")
    first, second = sorted(ends, key=lambda name: name == scenario.here.name)
    return (first, second), speed


def _moved(run: Run, name: str, hosts: tuple[str, str]) -> tuple[Run, str | None]:
    """The run with the way between two hosts under a name of its own, and who keeps the old one."""
    here = run.scenario.here.name
    if here not in hosts:
        link = Link(name, hosts, None, None, "direct")
        return _with(run, link), None
    old = _between(run, hosts[0]).removeprefix("link:")
    found = next((link for link in run.scenario.links if link.name == old), None)
    if found is None:  # today's way has no name but its ends'
        return run, None
    ceilings = tuple(
        replace(each, resource=f"link:{name}") for each in run.ceilings if each.resource == f"link:{old}"
    )
    # Kind and speed stay as they are: by them the route's interface is known again.
    moved = _with(replace(run, ceilings=(*run.ceilings, *ceilings)), replace(found, name=name, hosts=hosts))
    left = [host for host in found.hosts if host not in hosts]
    return moved, f"what {', '.join(left)} has on {old} stays there" if left else None


def _between(run: Run, far: str) -> str:
    facts = {host.name: host for host in run.environment.hosts}
    here: HostFacts | None = facts.get(run.scenario.here.name)
    return link_between(run.scenario, run.routes, here, far)


def _with(run: Run, link: Link) -> Run:
    return replace(run, scenario=replace(run.scenario, links=(link, *run.scenario.links)))
