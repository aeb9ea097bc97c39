"""The built-in stand-in for a text splitter: plain text into pieces of about 1,000 characters.

Knows nothing of formats: bytes that are no UTF-8 become replacement characters, never a fault.
"""

from __future__ import annotations

PIECE_CHARACTERS = 1000


def decode(data: bytes | memoryview) -> str:
    """``data`` as UTF-8 text; whatever is not UTF-8 is replaced."""
    return str(data, "utf-8", "replace")


def split(text: str, characters: int = PIECE_CHARACTERS) -> tuple[str, ...]:
    """``text`` cut after white space into pieces of at most ``characters``; joined they are ``text``.

    A word longer than half a piece is cut where the piece is full.
    """
    pieces = []
    start = 0
    while start < len(text):
        end = _border(text, start, start + characters)
        pieces.append(text[start:end])
        start = end
    return tuple(pieces)


def _border(text: str, start: int, full: int) -> int:
    if full >= len(text):
        return len(text)
    middle = (start + full) // 2
    space = max(text.rfind(" ", middle, full), text.rfind("\n", middle, full))
    return space + 1 if space >= 0 else full
