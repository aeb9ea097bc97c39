"""What a kernel says of one TCP socket: ``struct tcp_info`` of linux/tcp.h, however much of it there is.

Decodes what ``getsockopt(TCP_INFO)`` and inet_diag's ``INET_DIAG_INFO`` hand out. The struct has only ever
grown at its end, so a short one is an older kernel's and its missing fields are None. Opens no socket.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

MOST_BYTES = 1024
"""To ask ``getsockopt`` for: several times what any kernel has."""

_STATES = (
    None,
    "established",
    "syn-sent",
    "syn-recv",
    "fin-wait-1",
    "fin-wait-2",
    "time-wait",
    "close",
    "close-wait",
    "last-ack",
    "listen",
    "closing",
    "new-syn-recv",
)

_MICROSECOND = 1e-6
_NO_MINIMUM = 0xFFFFFFFF
"""The kernel's "never measured" of the least round trip."""


@dataclass(frozen=True, slots=True)
class TcpInfo:
    """Counters since the connection began. What the kernel does not say, or has not measured, is None."""

    state: str | None
    """established, close-wait, …"""
    rtt_s: float | None
    """Smoothed; of the sender's segments."""
    rttvar_s: float | None
    min_rtt_s: float | None
    retransmits: int | None
    """Segments sent again, in all."""
    bytes_acked: int | None
    bytes_received: int | None
    bytes_sent: int | None
    """Retransmitted ones too."""
    bytes_retransmitted: int | None
    segments_in: int | None
    segments_out: int | None
    data_segments_in: int | None
    data_segments_out: int | None
    out_of_order: int | None
    """Segments received out of order: what a receiver sees of loss."""
    reordering_seen: int | None
    delivery_rate_bytes_per_s: int | None
    app_limited: bool | None
    """True: the delivery rate was held by the sending program, not by the way."""
    busy_s: float | None
    """Time with data under way; this and the next two exist at the sender of data only."""
    rwnd_limited_s: float | None
    sndbuf_limited_s: float | None
    notsent_bytes: int | None
    unacked_segments: int | None
    congestion_window_segments: int | None
    mss_bytes: int | None
    """Of segments sent."""
    receive_mss_bytes: int | None
    """Of the segments that arrive."""
    path_mtu_bytes: int | None
    """What this end takes the path MTU for."""
    receive_rtt_s: float | None
    """A receiver's estimate."""
    send_window_bytes: int | None
    """What the other end lets this one send."""
    receive_window_bytes: int | None
    timeouts: int | None
    """Retransmission timeouts, in all."""


def decode(raw: bytes) -> TcpInfo:
    """``struct tcp_info`` of the running machine's byte order, of any length. Never fails."""
    rtt_us, min_rtt_us, receive_rtt_us = _u32(raw, 68), _u32(raw, 148), _u32(raw, 92)
    delivery_rate = _u64(raw, 160)
    return TcpInfo(
        state=_state(raw),
        rtt_s=_as_seconds(rtt_us or None),
        rttvar_s=_as_seconds(_u32(raw, 72)) if rtt_us else None,
        min_rtt_s=_as_seconds(None if not rtt_us or min_rtt_us == _NO_MINIMUM else min_rtt_us),
        retransmits=_u32(raw, 100),
        bytes_acked=_u64(raw, 120),
        bytes_received=_u64(raw, 128),
        bytes_sent=_u64(raw, 200),
        bytes_retransmitted=_u64(raw, 208),
        segments_in=_u32(raw, 140),
        segments_out=_u32(raw, 136),
        data_segments_in=_u32(raw, 152),
        data_segments_out=_u32(raw, 156),
        out_of_order=_u32(raw, 224),
        reordering_seen=_u32(raw, 220),
        delivery_rate_bytes_per_s=delivery_rate or None,
        app_limited=bool(raw[7] & 1) if delivery_rate else None,
        busy_s=_as_seconds(_u64(raw, 168)),
        rwnd_limited_s=_as_seconds(_u64(raw, 176)),
        sndbuf_limited_s=_as_seconds(_u64(raw, 184)),
        notsent_bytes=_u32(raw, 144),
        unacked_segments=_u32(raw, 24),
        congestion_window_segments=_u32(raw, 80),
        mss_bytes=_u32(raw, 16),
        receive_mss_bytes=_u32(raw, 20),
        path_mtu_bytes=_u32(raw, 60) or None,
        receive_rtt_s=_as_seconds(receive_rtt_us or None),
        send_window_bytes=_u32(raw, 228),
        receive_window_bytes=_u32(raw, 232),
        timeouts=_u16(raw, 240),
    )


def _state(raw: bytes) -> str | None:
    return _STATES[raw[0]] if raw and raw[0] < len(_STATES) else None


def _as_seconds(microseconds: int | None) -> float | None:
    return None if microseconds is None else microseconds * _MICROSECOND


def _u16(raw: bytes, offset: int) -> int | None:
    return _number(raw, offset, "=H")


def _u32(raw: bytes, offset: int) -> int | None:
    return _number(raw, offset, "=I")


def _u64(raw: bytes, offset: int) -> int | None:
    return _number(raw, offset, "=Q")


def _number(raw: bytes, offset: int, form: str) -> int | None:
    """None where the struct ends before the whole number."""
    if offset + struct.calcsize(form) > len(raw):
        return None
    number: int = struct.unpack_from(form, raw, offset)[0]
    return number
