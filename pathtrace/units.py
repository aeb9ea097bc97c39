"""Sizes, rates and durations: read what people write, write what people read.

The only file that converts: everywhere else there are bytes, seconds, bytes per second and ratios
from 0 to 1. What a figure is for, and what to show where it is absent, is the caller's.
"""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Mapping
from decimal import Decimal

from pathtrace.errors import UsageError

KIB = 1024
MIB = KIB**2
GIB = KIB**3
TIB = KIB**4
NANOSECONDS_PER_SECOND = 1_000_000_000
SECONDS_PER_DAY = 86_400
BITS_PER_BYTE = 8

_LARGEST = 10**18
"""Nothing that pathtrace deals with is larger: an exabyte, or more seconds than there were."""

_SIZES: Mapping[str, int] = {
    "B": 1,
    "kB": 10**3,
    "MB": 10**6,
    "GB": 10**9,
    "TB": 10**12,
    "KiB": KIB,
    "MiB": MIB,
    "GiB": GIB,
    "TiB": TIB,
}
_SIZE_SPELLINGS: Mapping[str, int] = {**_SIZES, "KB": 10**3, "bytes": 1, "byte": 1}
_BITS: Mapping[str, int] = {"bit": 1, "kbit": 10**3, "Mbit": 10**6, "Gbit": 10**9, "Tbit": 10**12}
_BYTE_RATES: Mapping[str, Decimal] = {f"{unit}/s": Decimal(size) for unit, size in _SIZES.items()}
_BIT_RATES: Mapping[str, Decimal] = {
    f"{unit}/s": Decimal(bits) / BITS_PER_BYTE for unit, bits in _BITS.items()
}
_RATES: Mapping[str, Decimal] = {
    **_BYTE_RATES,
    **_BIT_RATES,
    "GbE": _BIT_RATES["Gbit/s"],
    "MbE": _BIT_RATES["Mbit/s"],
}
_RATE_SPELLINGS: Mapping[str, Decimal] = {
    **_RATES,
    "KB/s": _BYTE_RATES["kB/s"],
    "Mbps": _BIT_RATES["Mbit/s"],
    "Gbps": _BIT_RATES["Gbit/s"],
}
_DURATIONS: Mapping[str, Decimal] = {
    "ns": Decimal("1e-9"),
    "µs": Decimal("1e-6"),
    "ms": Decimal("1e-3"),
    "s": Decimal(1),
    "min": Decimal(60),
    "h": Decimal(3600),
    "d": Decimal(SECONDS_PER_DAY),
}
_DURATION_SPELLINGS: Mapping[str, Decimal] = {
    **_DURATIONS,
    "us": Decimal("1e-6"),
    "μs": Decimal("1e-6"),  # Greek mu beside the micro sign: keyboards differ
}
_COUNTS: Mapping[str, int] = {"K": 10**3, "M": 10**6, "B": 10**9, "T": 10**12}
_PER: Mapping[str, int] = {"s": 1, "min": 60, "h": 3600, "d": SECONDS_PER_DAY}

_NUMBER = re.compile(r"[0-9]{1,30}(?:\.[0-9]{1,30})?")
_QUANTITY = re.compile(rf"\s*({_NUMBER.pattern})\s*([A-Za-zµμ][A-Za-z/µμ]*)?\s*")


def parse_bytes(text: str | int) -> int:
    """A size in bytes: ``64 KiB``, ``1.5 GiB``, ``10 GB``, or a plain whole number of bytes."""
    if isinstance(text, int) and not isinstance(text, bool):
        return int(_bounded(Decimal(text), text, "size"))
    number, unit = _quantity(text, "size", _SIZES)
    factor = 1 if unit is None else _factor(unit, text, "size", _SIZE_SPELLINGS, _SIZES)
    return round(_bounded(number * factor, text, "size"))


def parse_rate(text: str) -> float:
    """A rate in bytes per second: ``1 Gbit/s``, ``10GbE``, ``60 MB/s``. Never without "per second"."""
    number, unit = _quantity(text, "rate", _RATES)
    if unit is None:
        raise UsageError(f"{text!r} is not a rate: it has no unit", hint=_allowed(_RATES))
    if unit in _SIZE_SPELLINGS or unit in _BITS:
        raise UsageError(
            f'{text!r} is not a rate: "{unit}" is an amount, not an amount per second',
            hint=_rate_hint(f"{number:f}", unit),
        )
    if unit in ("Kb/s", "kb/s", "Mb/s", "Gb/s"):
        hint = f'write "{unit[0]}B/s" for bytes or "{unit[0]}bit/s" for bits'
        raise UsageError(
            f'{text!r} is not a clear rate: "{unit}" is read as bits by some, bytes by others', hint=hint
        )
    factor = _factor(unit, text, "rate", _RATE_SPELLINGS, _RATES)
    return float(_bounded(number * factor, text, "rate"))


def parse_duration(text: str | int | float) -> float:
    """A duration in seconds: ``250 ms``, ``4 min 10 s``, ``365 d``; a plain number is seconds."""
    if isinstance(text, (int, float)) and not isinstance(text, bool):
        return _plain(text, "duration", _DURATIONS)
    if isinstance(text, str) and re.fullmatch(rf"\s*{_NUMBER.pattern}\s*", text):
        return float(_bounded(Decimal(text.strip()), text, "duration"))
    seconds = Decimal(0)
    for part in _duration_parts(text):
        number, unit = _quantity(part, "duration", _DURATIONS)
        seconds += number * _factor(unit or "", text, "duration", _DURATION_SPELLINGS, _DURATIONS)
    return float(_bounded(seconds, text, "duration"))


def parse_count_rate(text: str) -> float:
    """So many per second: ``2/s``, ``30/min``, ``1000/d``."""
    match = (
        re.fullmatch(rf"\s*({_NUMBER.pattern})\s*/\s*([A-Za-z]+)\s*", text) if isinstance(text, str) else None
    )
    if match is None:
        raise UsageError(
            f"{text!r} is not a number per time", hint="write it as in 2/s, 30/min, 100/h or 1000/d"
        )
    period = _factor(match[2], text, "number per time", _PER, _PER)
    return float(_bounded(Decimal(match[1]) / period, text, "number per time"))


def parse_count(text: str | int | float) -> float:
    """A large number as models are named by: ``8B``, ``137M``, or a plain number."""
    if isinstance(text, (int, float)) and not isinstance(text, bool):
        return _plain(text, "number", _COUNTS)
    number, unit = _quantity(text, "number", _COUNTS)
    factor = 1 if unit is None else _factor(unit, text, "number", _COUNTS, _COUNTS)
    return float(_bounded(number * factor, text, "number"))


def parse_ratio(text: str) -> float:
    """A ratio written in per cent: ``3%``, ``2.5 %``. Never without the sign: 0.03 and 3 look alike."""
    match = re.fullmatch(rf"\s*({_NUMBER.pattern})\s*%\s*", text) if isinstance(text, str) else None
    if match is None:
        raise UsageError(
            f"{text!r} is not a share in per cent", hint="write a number and %, as in 3% or 2.5%"
        )
    return float(_bounded(Decimal(match[1]) / 100, text, "share in per cent"))


def seconds(nanoseconds: float) -> float:
    """Nanoseconds as seconds."""
    return nanoseconds / NANOSECONDS_PER_SECOND


def nanoseconds(seconds: float) -> int:
    """Seconds as whole nanoseconds."""
    return round(seconds * NANOSECONDS_PER_SECOND)


def bytes_per_s_of_megabits(megabits_per_s: float) -> float:
    """Bytes per second of a link speed in Mbit/s, as kernels report it."""
    return megabits_per_s * float(_RATES["Mbit/s"])


def format_rate(bytes_per_s: float) -> str:
    """A throughput for people, always in MB/s (10^6): ``118 MB/s``, ``0.21 MB/s``."""
    return f"{_significant(bytes_per_s / _SIZES['MB'])} MB/s"


def format_link(bytes_per_s: float) -> str:
    """A link's speed for people, in bits: ``1 Gbit/s``, ``941 Mbit/s``."""
    bits = _rounded(bytes_per_s * BITS_PER_BYTE)
    unit = _largest_unit(bits, ("kbit", "Mbit", "Gbit"), _BITS, "bit")
    return f"{_significant(bits / _BITS[unit])} {unit}/s"


def format_both(bytes_per_s: float) -> str:
    """A rate where links and files meet: ``941 Mbit/s (118 MB/s)``."""
    return f"{format_link(bytes_per_s)} ({format_rate(bytes_per_s)})"


def format_count(count: int, noun: str) -> str:
    """So many of a thing: ``1 file``, ``1,200 files``."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def format_bytes(count: float) -> str:
    """A size for people: ``512 B``, ``64 KiB``, ``1.5 GiB``."""
    unit = _largest_unit(count, ("KiB", "MiB", "GiB", "TiB"), _SIZES, "B")
    value = _significant(count / _SIZES[unit]) if unit != "B" else f"{count:.0f}"
    return f"{value} {unit}"


def format_duration(duration_s: float) -> str:
    """A duration for people: ``12 µs``, ``250 ms``, ``3.2 s``, ``4 min 10 s``, ``2 h 5 min``, ``3 d``."""
    if duration_s < 0:
        return f"-{format_duration(-duration_s)}"
    rounded = _rounded(duration_s)
    if rounded < _PER["min"]:
        return _format_short(rounded)
    for large, small in (("min", "s"), ("h", "min"), ("d", "h")):
        whole = round(duration_s / _PER[small])
        if large == "d" or whole * _PER[small] < _PER[large] * (60 if large == "min" else 24):
            break
    count, rest = divmod(whole, _PER[large] // _PER[small])
    return f"{count} {large} {rest} {small}" if rest else f"{count} {large}"


def format_count_rate(per_s: float) -> str:
    """So many per time, for people: ``2/s``, ``30/min``, ``5/d``."""
    for unit, period in _PER.items():
        if per_s == 0 or _rounded(per_s * period) >= 1 or unit == "d":
            return f"{_significant(per_s * period)}/{unit}"
    raise AssertionError("unreachable: the last unit always fits")


PLAIN_CHANGE = 1.5
"""Changes up to half as much again, or down to two thirds, are said in per cent, larger ones as factors."""


def format_change(ratio: float) -> str:
    """A ratio, after / before, as a change: ``-12 %``, ``+3.1 %``; a large one as it is, ``×3.2``."""
    if not 1 / PLAIN_CHANGE < ratio < PLAIN_CHANGE:
        return f"×{ratio:.2g}" if ratio < 100 else f"×{ratio:.0f}"
    percent = 100 * (ratio - 1)
    rounded = round(percent, 1) if abs(percent) < 10 else round(percent)
    return f"{rounded:+g} %" if rounded else "0 %"


def format_ratio(ratio: float) -> str:
    """A ratio in per cent; ``0 %`` and ``100 %`` only when that is exactly true."""
    if ratio < 0:
        return f"-{format_ratio(-ratio)}"
    percent = ratio * 100
    if ratio in (0, 1):
        return f"{percent:.0f} %"
    if percent < 0.05:
        return "<0.1 %"
    if percent < 9.95 or (round(percent) == 100 and round(percent, 1) != 100):
        return f"{_significant(round(percent, 1))} %" if percent < 50 else f"{percent:.1f} %"
    if round(percent) == 100:
        return ">99.9 %" if percent < 100 else ">100 %"
    return f"{percent:.0f} %"


def _quantity(text: object, what: str, units: Mapping[str, object]) -> tuple[Decimal, str | None]:
    match = _QUANTITY.fullmatch(text) if isinstance(text, str) else None
    if match is None:
        raise UsageError(f"{text!r} is not a {what}", hint=_allowed(units))
    return Decimal(match[1]), match[2]


def _factor(
    unit: str,
    text: object,
    what: str,
    spellings: Mapping[str, int] | Mapping[str, Decimal],
    units: Mapping[str, object],
) -> Decimal:
    if unit in spellings:
        return Decimal(spellings[unit])
    raise UsageError(f'{text!r} is not a {what}: unknown unit "{unit}"', hint=_allowed(units, unit))


def _allowed(units: Mapping[str, object], wrong: str | None = None) -> str:
    text = f"write a number and one of {', '.join(units)}"
    lowered = {unit.lower(): unit for unit in reversed(list(units))}
    near = difflib.get_close_matches((wrong or "").lower(), lowered, n=1, cutoff=0.5)
    return f'{text}; did you mean "{lowered[near[0]]}"?' if near else text


def _rate_hint(number: str, unit: str) -> str:
    prefix = unit.removesuffix("bit").removesuffix("B")
    if f"{prefix}bit/s" not in _RATES:
        return f'write "{number} {unit}/s"'
    return f'write "{number} {prefix}B/s" for bytes or "{number} {prefix}bit/s" for bits'


def _bounded(value: Decimal, text: object, what: str) -> Decimal:
    if not 0 <= value <= _LARGEST:
        raise UsageError(f"{text!r} is not a {what}: it must lie between 0 and {_LARGEST:.0e}")
    return value


def _plain(value: int | float, what: str, units: Mapping[str, object]) -> float:
    if isinstance(value, float) and not math.isfinite(value):
        raise UsageError(f"{value!r} is not a {what}", hint=_allowed(units))
    return float(_bounded(Decimal(value), value, what))


def _duration_parts(text: object) -> list[str]:
    part = rf"{_NUMBER.pattern}\s*[A-Za-zµμ]+"
    if not isinstance(text, str) or not re.fullmatch(rf"\s*{part}(?:\s+{part})*\s*", text):
        raise UsageError(f"{text!r} is not a duration", hint=_allowed(_DURATIONS))
    return re.findall(part, text)


def _rounded(value: float) -> float:
    """To three significant digits, so that a unit is chosen for what will be shown."""
    return float(f"{value:.2e}")


def _significant(value: float) -> str:
    """Three significant digits, or all whole ones, without an exponent or trailing zeros."""
    if abs(value) >= 999.5:
        return f"{value:.0f}"
    return f"{Decimal(f'{value:.2e}').normalize():f}"


def _largest_unit(value: float, units: tuple[str, ...], sizes: Mapping[str, int], smallest: str) -> str:
    fitting = [unit for unit in units if _rounded(abs(value) / sizes[unit]) >= 1]
    return fitting[-1] if fitting else smallest


def _format_short(duration_s: float) -> str:
    for unit in ("s", "ms", "µs"):
        if duration_s == 0 or duration_s >= float(_DURATIONS[unit]):
            return f"{_significant(duration_s / float(_DURATIONS[unit]))} {unit}"
    return f"{_significant(duration_s / float(_DURATIONS['ns']))} ns"
