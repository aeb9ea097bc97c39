"""What every database place stores and is asked: pieces of documents, the words of a question.

Knows items and words; tables and statements belong to each database.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pathtrace.model.work import Item
from pathtrace.places.chunking import decode

FOUND = 5
"""Passages that a full-text lookup returns."""
_TERMS = 64
_WORD = re.compile(r"\w+")
_LONG_WORD = re.compile(r"[^\W\d_]{4,}")


class Passage(NamedTuple):
    """What a lookup found; ``document`` is None where the user's own query found it."""

    document: str | None
    text: str


def found_item(asked: Item, question: str, found: Sequence[Passage]) -> Item:
    """A question with the passages found for it, on its way to whoever answers."""
    documents = tuple(dict.fromkeys(passage.document for passage in found if passage.document is not None))
    size = sum(len(passage.text.encode()) for passage in found)
    texts = (question, *(passage.text for passage in found))
    return Item(name=asked.name, size_bytes=size, texts=texts, documents=documents)


class Piece(NamedTuple):
    """One row to be: the document's name, the text, its vector if it has one."""

    name: str
    text: str
    vector: Sequence[float] | None


def pieces_of(item: Item) -> Iterator[Piece]:
    """Its texts with their vectors; of a document without any, the whole of it."""
    texts = item.texts or ((decode(item.data),) if item.data is not None else ())
    vectors: Sequence[Sequence[float] | None] = item.vectors or (None,) * len(texts)
    for text, vector in zip(texts, vectors, strict=True):
        yield Piece(item.name, text, vector)


def terms_of(question: str) -> list[str]:
    """The question's words, each once, of a long one the first 64."""
    return list(dict.fromkeys(_WORD.findall(question)))[:_TERMS]


def phrase_of(text: str, draw: random.Random) -> str | None:
    """Three to five long words of the text, to be asked for; None if it has none."""
    words = list(dict.fromkeys(_LONG_WORD.findall(text)))
    if not words:
        return None
    at = draw.randrange(max(1, len(words) - 3))
    return " ".join(words[at : at + draw.randint(3, 5)])


def row_as_text(row: Sequence[object]) -> str:
    """A row of the user's own query as a passage: its columns joined by tabs."""
    return "\t".join(map(_shown, row))


def _shown(value: object) -> str:
    if value is None:
        return ""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
