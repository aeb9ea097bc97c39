"""The lab by hand, from the checkout, as root: ``python -m tests.truth.lab up --link 1gbit --delay 2ms``.

Brings up the network and its servers, says what there is and how to get a shell on each host, and stays
until Enter, Ctrl-C or SIGTERM; then everything is undone. ``down`` undoes what a killed lab left behind.
"""

from __future__ import annotations

import argparse
import contextlib
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

from lab_leftovers import remove_leftovers

from pathtrace.errors import UsageError
from pathtrace.units import parse_bytes, parse_duration, parse_rate

from . import nas as box
from . import postgres
from .documents import large_files, small_files
from .links import LINKS, UNSHAPED
from .network import Network, network, why_not

_SMALL_BYTES = 16 << 10


def main() -> None:
    arguments = _parser().parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    if arguments.command == "down":
        print("\n".join(remove_leftovers()) or "no leftovers")
    elif reason := why_not():
        sys.exit(reason)
    else:
        with contextlib.suppress(KeyboardInterrupt):
            _up(arguments)


def _up(arguments: argparse.Namespace) -> None:
    start = time.monotonic()
    with network(arguments.link) as net, contextlib.ExitStack() as servers:
        _plant(net, arguments)
        _describe(net)
        print(f"network up in {time.monotonic() - start:.1f} s\n")
        if arguments.servers != "none":
            _serve_files(net, arguments, servers)
            _serve_rows(net, servers)
            print(f"all up in {time.monotonic() - start:.1f} s\n")
        print(
            "Enter, Ctrl-C or SIGTERM takes it all down, with everything that runs on the hosts.", flush=True
        )
        if not sys.stdin.readline():  # nobody there to press Enter
            signal.pause()


def _plant(net: Network, arguments: argparse.Namespace) -> None:
    if arguments.delay:
        net.delay("nas", arguments.delay)
        print(f"nas: {arguments.delay * 1e3:g} ms further away, there and back")
    if arguments.loss:
        net.loss("nas", arguments.loss)
        print(f"nas: {arguments.loss:.2%} of data segments lost")
    if arguments.mtu_mismatch:
        net.mtu_mismatch()
        print("hosts: MTU 9000, switch: 1500")
    if arguments.second_cable:
        second = net.second_cable("nas", arguments.second_cable)
        print(f"nas: also at {second.address} over a second cable of {arguments.second_cable}")


def _describe(net: Network) -> None:
    for host in net.hosts.values():
        print(f"{host.name:<12} {host.address:<12} {' '.join(host.command(['bash']))}")
    print(f"{'(switch)':<25} {' '.join(net.switch.command(['bash']))}")


def _serve_files(net: Network, arguments: argparse.Namespace, servers: contextlib.ExitStack) -> None:
    held = box.Held(**dict(arguments.disk)) if arguments.disk else None
    if reason := box.why_not(held):
        print(f"no file servers: {reason}")
        return

    def fill(folder: Path) -> None:
        large_files(folder, sizes=[arguments.large], seed=1)
        small_files(folder, files=arguments.small, size=_SMALL_BYTES, seed=2)

    it = servers.enter_context(box.nas(net.nas, fill, held=held))
    print(
        f"nas disk     {'in memory' if held is None else held} at {it.folder}, with large0.bin and part000/…"
    )
    print(
        f"nas SMB      {it.samba.url(box.SHARE)}  user {it.samba.user}, password file {it.samba.credentials}"
    )
    print(f"nas SSH      {it.ssh.url(it.folder)}  ssh -F {it.ssh.configuration} {it.ssh.name}")


def _serve_rows(net: Network, servers: contextlib.ExitStack) -> None:
    if reason := postgres.why_not():
        print(f"no database: {reason}")
        return
    print(f"db           {servers.enter_context(postgres.postgres(net.db)).url}")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.truth.lab", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("down", help="remove what killed labs left behind")
    up = commands.add_parser("up", help="bring it up and stay")
    up.add_argument("--link", default=UNSHAPED, choices=LINKS, help="speed of every cable")
    up.add_argument("--delay", type=_read(parse_duration), metavar="2ms", help="added round trip to nas")
    up.add_argument(
        "--loss", type=_read(_share), metavar="1%", help="share of data segments lost to and from nas"
    )
    up.add_argument("--mtu-mismatch", action="store_true", help="hosts 9000, switch 1500")
    up.add_argument("--second-cable", choices=LINKS, help="a second network, nas connected at this speed")
    up.add_argument(
        "--disk", action="append", type=_read(_held), metavar="60MB/s|150iops", help="hold the disk of nas"
    )
    up.add_argument(
        "--large", type=_read(parse_bytes), default=256 << 20, metavar="256MiB", help="the large file"
    )
    up.add_argument("--small", type=int, default=500, metavar="500", help="so many files of 16 KiB")
    up.add_argument("--servers", choices=("all", "none"), default="all")
    return parser


def _read(parse: Callable[[str], object]) -> Callable[[str], object]:
    """`parse` for argparse, which then says what is wrong with an option."""

    def read(text: str) -> object:
        try:
            return parse(text)
        except (UsageError, ValueError) as error:
            raise argparse.ArgumentTypeError(str(error)) from error

    return read


def _share(text: str) -> float:
    return float(text.removesuffix("%")) / 100 if text.endswith("%") else float(text)


def _held(text: str) -> tuple[str, float]:
    if text.endswith("iops"):
        return "iops", float(text.removesuffix("iops"))
    return "bytes_per_s", parse_rate(text)


if __name__ == "__main__":
    main()
