"""The text of what is recorded as it comes: bytes of one sample, reading, window, fault, and back.

Reading back forgives a last record that a crash cut short, and counts what it could not use.
"""

from __future__ import annotations

import json
import mmap
import os
import re
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote

from pathtrace.errors import RunFileError
from pathtrace.model.sample import PIECE, SAMPLE_COLUMNS, Outcome, Reading, ReadingTable, SampleTable, Window
from pathtrace.store import files
from pathtrace.store.codec import CodecError, decode, encode
from pathtrace.store.facts import wrong_format

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

_CODES = {"i2": "h", "i4": "i", "i8": "q"}
PACK = struct.Struct("<" + "".join(_CODES[code] for _, code in SAMPLE_COLUMNS))
"""One sample: little-endian, without gaps."""

SAMPLES_HEADER = (
    f"pathtrace samples, format {files.FORMAT}, {PACK.size} bytes a record, little-endian\n".encode()
)
READINGS_HEADER = b"at_ns,observer,subject,metric,value\n"
_PLAIN = " !#$&'()*+/:;<=>?@[]^_`{|}~"
"""Besides letters and digits. Not the comma, which parts fields, nor the line break, which ends records."""
_HEADER = re.compile(rb"pathtrace samples, format (\d+), [^\n]*\n")


@dataclass(frozen=True, slots=True)
class Recorded:
    """How much was recorded, said by the recorder when it closed: what is less was lost since."""

    samples: int
    readings: int
    faults: int


def reading_prefix(observer: str, subject: str, metric: str) -> bytes:
    """The middle of a reading's line, which is the same each time. Odd characters are percent-encoded."""
    names = (quote(name, safe=_PLAIN, errors="surrogatepass") for name in (observer, subject, metric))
    return ",".join(names).encode("ascii")


def window_line(window: Window) -> bytes:
    """A window as a line of JSON."""
    return _line(encode(window, str))


def end_line(recorded: Recorded) -> bytes:
    """The last line of the windows' file: the recorder closed in good order."""
    return _line({"end": encode(recorded, str)})


def fault_line(text: str) -> bytes:
    """A fault's text as a line of JSON."""
    return _line(text)


def _line(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode() + b"\n"


def sample_dtype() -> np.dtype[np.void]:
    """The packed record as numpy sees it."""
    import numpy as np

    return np.dtype([(name, f"<{code}") for name, code in SAMPLE_COLUMNS])


def read_samples(folder: Path, stages: tuple[int, ...], faults: int) -> tuple[SampleTable, int]:
    """Whole records of the file, and how many had to be left out as impossible. RunFileError.

    ``stages`` says how many stages each flow has, ``faults`` how many fault texts there are.
    """
    import numpy as np

    path = folder / files.SAMPLES
    content = _mapped(path)
    header = _HEADER.match(content)
    if header is None and not SAMPLES_HEADER.startswith(content[: len(SAMPLES_HEADER) + 1]):
        raise RunFileError("the run is damaged: this is not a file of samples", where=str(path))
    if header is not None and int(header[1]) != files.FORMAT:
        raise wrong_format(path, int(header[1]))
    start = header.end() if header else len(content)
    rows = np.frombuffer(content, sample_dtype(), count=(len(content) - start) // PACK.size, offset=start)
    table = SampleTable(rows, content if isinstance(content, mmap.mmap) else None)
    good = np.empty(len(rows), dtype=bool)
    for at in range(0, len(rows), PIECE):
        good[at : at + PIECE] = _possible(rows[at : at + PIECE], stages, faults)
        table.release()
    left_out = int(len(rows) - good.sum())
    if left_out:
        rows = rows[good]
        rows.setflags(write=False)
        table = SampleTable(rows)
    return table, left_out


def _possible(rows: npt.NDArray[np.void], stages: tuple[int, ...], faults: int) -> npt.NDArray[np.bool_]:
    """True for records that a replay of this scenario could have left."""
    import numpy as np

    if not stages:
        return np.zeros(len(rows), dtype=bool)
    flow = rows["flow"]
    known = (flow >= 0) & (flow < len(stages))
    stage_count = np.asarray(stages)[np.where(known, flow, 0)]
    stage, outcome, detail = rows["stage"], rows["outcome"], rows["detail"]
    possible = known & (stage >= 0) & (stage < stage_count) & (outcome >= 0) & (outcome <= max(Outcome))
    return np.asarray(possible & (rows["elapsed_ns"] >= 0) & (detail >= -1) & (detail < faults))


def read_readings(folder: Path) -> ReadingTable:
    """All whole lines, in order of time; lines that are none are left out."""
    names, rows = Names(), []
    for line in _whole_lines(folder / files.READINGS)[1:]:
        try:
            rows.append(parse_reading(line, names))
        except ValueError:
            continue
    rows.sort(key=lambda reading: reading.at_ns)
    return ReadingTable(tuple(rows))


def parse_reading(line: str, names: Mapping[str, str]) -> Reading:
    """A line without its end; ``names`` decodes names as written. ValueError if it is no reading."""
    at_ns, observer, subject, metric, value = line.split(",")
    return Reading(int(at_ns), names[observer], names[subject], names[metric], float(value))


class Names(dict[str, str]):
    """Name as written -> name, one object for each: half a million readings share a hundred names."""

    def __missing__(self, written: str) -> str:
        return self.setdefault(written, unquote(written, errors="surrogatepass"))


def read_faults(folder: Path) -> tuple[str, ...]:
    """The texts, in the order of their numbers."""
    return tuple(str(value) for value in _values(folder / files.FAULTS))


def read_windows(folder: Path) -> tuple[tuple[Window, ...], Recorded | None]:
    """The windows, and what the recorder said when it closed; None if it never did."""
    windows, end = [], None
    for value in _values(folder / files.WINDOWS):
        try:
            if isinstance(value, dict) and "end" in value:
                end = decode(value["end"], Recorded, "end")
            else:
                windows.append(decode(value, Window, "window"))
        except CodecError:
            continue  # a damaged line: its window is worked out from the samples again
    return tuple(windows), end


def _values(path: Path) -> list[Any]:
    values = []
    for line in _whole_lines(path):
        try:
            values.append(json.loads(line))
        except ValueError:
            values.append("(damaged)")  # keeps its number, so that later ones keep theirs
    return values


def _whole_lines(path: Path) -> list[str]:
    """Lines that were written to their end: what follows the last line break was cut short."""
    return _read(path).decode("ascii", "replace").split("\n")[:-1]


def _mapped(path: Path) -> mmap.mmap | bytes:
    """The file's bytes without holding them; an empty file cannot be mapped."""
    try:
        with path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            return mmap.mmap(file.fileno(), size, access=mmap.ACCESS_READ) if size else b""
    except OSError as error:
        raise _unreadable(path, error) from error


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise _unreadable(path, error) from error


def _unreadable(path: Path, error: OSError) -> RunFileError:
    return RunFileError(
        f"the run is damaged: cannot read: {(error.strerror or str(error)).lower()}", where=str(path)
    )
