"""pathtrace on the lab's workstation, asked about a share: the same scenario whatever has been planted.

It declares a 10GbE link and nothing else, so that it cannot give the answer away. The NAS may be asked over
ssh, a responder runs there as any user would start one, and the server's cache may be emptied.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lab.nas import Nas
from lab.network import Network
from lab.responder import responder
from lab_pathtrace import Outcome, pathtrace

_TEXT = """\
pathtrace: 1
name: planted
question: What holds us back?
start: {start}
repeats: {repeats}
seed: {seed}
budget: {{bytes: 40 GiB, time: 40 s}}
allow: [drop-server-cache]
hosts:
  nas: {{address: {nas}{ssh}}}
  db: {{address: {db}}}
links:
  lan: {{hosts: [nas, workstation, db], speed: 10GbE}}
places:
{places}
  reader: {{kind: inference}}
flows:
{flows}
"""
READ = "  read: {path: [archive, reader]}\n"


@dataclass(frozen=True)
class Asked:
    """What pathtrace is to read, and how often. ``reader`` takes what comes into memory."""

    places: str
    flows: str = READ
    start: str = "cold"
    repeats: int = 3
    seed: int = 1
    more: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)


def by_smb(nas: Nas, path: str = "", options: str = "") -> str:
    """The NAS's share as a place, read by pathtrace itself over SMB."""
    scheme, _, rest = nas.samba.url("documents", path).partition("://")
    user, _, where = rest.partition("@")
    url = f"{scheme}://{user}:${{NAS_PASSWORD}}@{where}"
    return _archive(f'url: "{url}", there: "{nas.folder / path}"', options)


def by_sftp(nas: Nas, path: str = "", options: str = "") -> str:
    return _archive(f'url: "{nas.ssh.url(nas.folder / path)}"', options)


def by_path(path: Path, options: str = "", name: str = "archive") -> str:
    """What is mounted here."""
    return _archive(f'path: "{path}"', options, name)


def _archive(where: str, options: str, name: str = "archive") -> str:
    more = f", {options}" if options else ""
    return f"  {name}: {{kind: files, {where}, timeout: 8 s{more}}}\n"


def ask(net: Network, nas: Nas | None, asked: Asked, room: Path, *, ssh: bool = True) -> Outcome:
    """``pathtrace run --json`` on the workstation, with a store of its own."""
    room.mkdir(parents=True, exist_ok=True)
    home = room / "home"
    _at_home(home, nas)
    scenario = room / "planted.yaml"
    scenario.write_text(
        _TEXT.format(
            start=asked.start,
            repeats=asked.repeats,
            seed=asked.seed,
            nas=net.nas.address,
            ssh=", ssh: nas" if ssh else "",
            db=net.db.address,
            places=asked.places.rstrip("\n"),
            flows=asked.flows.rstrip("\n"),
        )
    )
    secret = {"NAS_PASSWORD": nas.samba.password} if nas else {}
    with responder(net.nas) as there:
        outcome = pathtrace(
            *("run", str(scenario), "--json", *asked.more),
            store=room / "store",
            environment={
                "HOME": str(home),
                "PATHTRACE_TOKEN": there.token,
                **secret,
                **asked.environment,
            },
            wrapper=net.workstation.command([]),
        )
    _keep_no_secret(outcome, room / "store", (there.token, *secret.values()))
    return outcome


def _at_home(home: Path, nas: Nas | None) -> None:
    """The files of a user's own client, which know the NAS."""
    (home / ".ssh").mkdir(parents=True, exist_ok=True)
    if nas is not None:
        (home / ".ssh" / "config").write_text(nas.ssh.configuration.read_text())


def _keep_no_secret(outcome: Outcome, store: Path, secrets: Sequence[str]) -> None:
    """No password or token may be in what was printed or stored."""
    stored = b"".join(path.read_bytes() for path in store.rglob("*") if path.is_file())
    for secret in secrets:
        assert secret not in outcome.out + outcome.err
        assert secret.encode() not in stored


def limits(document: Mapping[str, Any], flow: str = "read", name: str | None = None) -> dict[str, Any]:
    """``limited_by`` of a hop, a flow's first if none is named, with what is worth printing beside it."""
    hop = next(each for each in document["hops"] if each["flow"] == flow and name in (None, each["name"]))
    found = dict(hop["limited_by"])
    rate = hop["throughput"]["bytes_per_s"]
    codes = [finding["code"] for finding in document["findings"]]
    print(f"  {flow}: {found['resource']} also {found['also']}, {rate and rate / 1e6:.1f} MB/s, {codes}")
    for line in found["evidence"]:
        print(f"    {line}")
    for finding in document["findings"]:
        print(f"    [{finding['code']}] {finding['text']}")
    for caveat in document["caveats"]:
        print(f"    ({caveat['code']}) {caveat['text']}")
    for resource in document["resources"]:
        ceiling = resource["ceiling_bytes_per_s"]
        if ceiling:
            print(f"    {resource['name']} {ceiling / 1e6:.1f} MB/s {resource['ceiling_source']}")
    sys.stdout.flush()
    return found


def written(document: Mapping[str, Any]) -> str:
    return json.dumps(document, indent=1)
