"""What to type for what a prediction leaves open: a command whose run then has it, or a setting.

``pathtrace probe`` stores nothing: its figures come in with ``--set``, those of a run by themselves.
"""

from __future__ import annotations

from pathtrace.analysis.evidence import Evidence
from pathtrace.analysis.limiting.link_use import link_ceiling
from pathtrace.model.scenario import Action, FilesSpec, Host

RUN = "pathtrace run SCENARIO"
PROBES = f"{RUN}, without --no-probes"


def disk_told(place: str, action: Action, evidence: Evidence) -> str:
    """How fast the disk under a place is: no probe writes to one."""
    given = f"--set disk:{place}=…"
    if not evidence.is_far(place):
        from_sheet = f"{given} from its data sheet"
        return f"{PROBES}, or {from_sheet}" if action is Action.READ else from_sheet
    host, spec = evidence.place(place).host, evidence.place(place).spec
    described = _host(evidence, host)
    needs = f"`ssh:` of host {host}"
    if described is not None and described.ssh:
        needs = f"an `ssh:` of host {host} that answers"
    if isinstance(spec, FilesSpec) and spec.url is not None and spec.there is None:
        needs += f" and `there:` of {place}"
    return f"{RUN}, with {needs}, or {given}"


def link_told(place: str, evidence: Evidence) -> str:
    """What the link to a place carries."""
    host = evidence.place(place).host
    return f"{RUN}, with `responder:` of host {host} and `pathtrace respond` there"


def server_told(place: str, evidence: Evidence) -> str:
    """What the server of a place computes while the link to it is not full."""
    return f"{RUN}, on a host with a faster link to {evidence.place(place).host}"


def crossing_told(place: str, evidence: Evidence) -> str:
    """How much of what a place does crosses its link: what that carries, and what was counted."""
    host, here = evidence.place(place).host, evidence.run.scenario.here.name
    if link_ceiling(evidence, place, f"{host}->{here}") is None:
        return link_told(place, evidence)
    return f"{RUN}, on Linux with `address:` of host {host}: connections are then counted"


def trip_told(place: str, evidence: Evidence) -> str:
    """How long a round trip to a place takes."""
    host = evidence.place(place).host
    described = _host(evidence, host)
    return (
        PROBES if described is not None and described.addresses else f"{RUN}, with `address:` of host {host}"
    )


def setting_told(place: str, setting: str) -> str:
    """What a setting of the scenario makes different, by trying it."""
    return f"{RUN}, with `{setting}` at {place}"


def _host(evidence: Evidence, name: str) -> Host | None:
    return next((each for each in evidence.run.scenario.hosts if each.name == name), None)
