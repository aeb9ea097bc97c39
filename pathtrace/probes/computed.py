"""What a link carries as payload at most, by arithmetic: its negotiated speed, less what headers take.

For a link that nobody could measure. Knows Ethernet and TCP; not how well a wireless link or a tunnel does.
"""

from __future__ import annotations

from pathtrace.model.run import Ceiling
from pathtrace.units import format_count, format_link

USUAL_MTU = 1500
VLAN_TAG_BYTES = 4

_PREAMBLE, _ETHERNET, _CHECKSUM, _GAP = 8, 14, 4, 12
_FRAMING = _PREAMBLE + _ETHERNET + _CHECKSUM + _GAP
_TCP_WITH_TIMESTAMPS = 20 + 12
_IP = {4: 20, 6: 40}


def payload_ratio(mtu_bytes: int, *, ip_version: int = 4, vlan_tags: int = 0) -> float:
    """Of the bits on the wire, those that are TCP payload: 0.9415 with 1500 bytes and timestamps."""
    payload = mtu_bytes - _IP[ip_version] - _TCP_WITH_TIMESTAMPS
    return max(0, payload) / (mtu_bytes + _FRAMING + vlan_tags * VLAN_TAG_BYTES)


def computed_link(
    resource: str,
    direction: str,
    speed_bytes_per_s: float | None,
    mtu_bytes: int | None,
    duplex: str | None,
    *,
    ip_version: int = 4,
    vlan_tags: int = 0,
) -> Ceiling | None:
    """The ceiling of an Ethernet link; None without a speed, and at half duplex, where ends take turns.

    ``speed_bytes_per_s`` is the slower end's, ``mtu_bytes`` what passes (None: 1500 is taken).
    """
    if not speed_bytes_per_s or duplex == "half":
        return None
    mtu = mtu_bytes if mtu_bytes is not None else USUAL_MTU
    carried = speed_bytes_per_s * payload_ratio(mtu, ip_version=ip_version, vlan_tags=vlan_tags)
    taken = "" if mtu_bytes is not None else " (not seen, but usual)"
    tagged = f" and {format_count(vlan_tags, 'VLAN tag')}" if vlan_tags else ""
    return Ceiling(
        resource=resource,
        bytes_per_s=carried,
        operations_per_s=None,
        latency_s=None,
        source="computed",
        evidence=f"{format_link(speed_bytes_per_s)} negotiated carry {format_link(carried)} of payload "
        f"in packets of {mtu} bytes{taken} with TCP timestamps{tagged}",
        took_s=0.0,
        direction=direction,
    )
