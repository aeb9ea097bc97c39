"""Our own lines in a crontab, between marks. Works on bytes, so that every other line stays as it is.

A crontab whose last line has no end gets one in front of our first mark, which says so (``joined``); it goes
again with our lines.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from pathtrace.errors import UsageError

_BEGIN = re.compile(
    rb"# pathtrace schedule (?P<name>[a-z0-9-]+) begin(?P<joined> joined)? (?P<told>\{.*\})\r?\n?"
)
_END = re.compile(rb"# pathtrace schedule (?P<name>[a-z0-9-]+) end\r?\n?")
_JOINED = b" joined"


@dataclass(frozen=True, slots=True)
class Block:
    """``told``: JSON of the first mark; ``line``: what stands between the marks."""

    name: str
    told: str
    line: str
    joined: bool = False
    raw: bytes = b""
    """As it was found; made anew where that is empty."""

    def to_bytes(self) -> bytes:
        if self.raw:
            return self.raw
        joined = _JOINED.decode() if self.joined else ""
        mark = f"# pathtrace schedule {self.name}"
        lead = "\n" if self.joined else ""
        return f"{lead}{mark} begin{joined} {self.told}\n{self.line}\n{mark} end\n".encode()


Part = bytes | Block


def parts(data: bytes) -> list[Part]:
    """Others' bytes and our blocks, in order. UsageError if marks do not pair, so that nothing is guessed."""
    lines = re.findall(rb"[^\n]*\n|[^\n]+", data)
    found: list[Part] = []
    number = 0
    while number < len(lines):
        begin = _BEGIN.fullmatch(lines[number])
        if begin is None:
            _refuse_end(lines[number], number)
            found.append(lines[number])
            number += 1
            continue
        end = _end_of(lines, number, begin["name"])
        block = _block(begin, lines[number : end + 1])
        found.append(_with_its_line_end(found, block))
        number = end + 1
    return _merged(found)


def with_block(data: bytes, block: Block) -> bytes:
    """The crontab with this block, in place of one of the same name or at the end."""
    found = parts(data)
    for position, part in enumerate(found):
        if isinstance(part, Block) and part.name == block.name:
            found[position] = replace(block, joined=part.joined)
            return _joined(found)
    last = found[-1] if found else b""
    open_ended = isinstance(last, bytes) and last != b"" and not last.endswith(b"\n")
    return _joined([*found, replace(block, joined=open_ended)])


def without_block(data: bytes, name: str) -> bytes:
    """The crontab without the block of this name; as it was before that was added."""
    found = parts(data)
    for position, part in enumerate(found):
        if isinstance(part, Block) and part.name == name:
            after = found[position + 1 :]
            if part.joined and after:
                after[0] = (
                    replace(after[0], joined=True, raw=b"")
                    if isinstance(after[0], Block)
                    else b"\n" + after[0]
                )
            return _joined([*found[:position], *after])
    return data


def blocks(data: bytes) -> tuple[Block, ...]:
    """Our blocks, in order."""
    return tuple(part for part in parts(data) if isinstance(part, Block))


def _joined(found: Sequence[Part]) -> bytes:
    return b"".join(part.to_bytes() if isinstance(part, Block) else part for part in found)


def _merged(found: list[Part]) -> list[Part]:
    merged: list[Part] = []
    for part in found:
        if isinstance(part, bytes) and merged and isinstance(merged[-1], bytes):
            merged[-1] += part
        else:
            merged.append(part)
    return [part for part in merged if part != b""]


def _block(begin: re.Match[bytes], lines: list[bytes]) -> Block:
    joined = begin["joined"] is not None
    between = b"".join(lines[1:-1]).decode("utf-8", "replace").strip("\r\n")
    raw = (b"\n" if joined else b"") + b"".join(lines)
    return Block(begin["name"].decode(), begin["told"].decode("utf-8", "replace"), between, joined, raw)


def _with_its_line_end(found: list[Part], block: Block) -> Block:
    """The line end before a joined block is ours; unless people took away what stood there."""
    last = found[-1] if found else b""
    if not block.joined:
        return block
    if isinstance(last, bytes) and last.endswith(b"\n"):
        found[-1] = last[:-1]
        return block
    return replace(block, joined=False, raw=b"")


def _end_of(lines: list[bytes], begin: int, name: bytes) -> int:
    for number in range(begin + 1, len(lines)):
        end = _END.fullmatch(lines[number])
        if end is not None and end["name"] == name:
            return number
        if end is not None or _BEGIN.fullmatch(lines[number]):
            break
    raise _unpaired(begin, name)


def _refuse_end(line: bytes, number: int) -> None:
    end = _END.fullmatch(line)
    if end is not None:
        raise _unpaired(number, end["name"])


def _unpaired(number: int, name: bytes) -> UsageError:
    return UsageError(
        f"line {number + 1}: a mark of {name.decode()} stands alone: nothing was changed",
        hint="put right by hand what stands between 'begin' and 'end', or take both away",
    )
