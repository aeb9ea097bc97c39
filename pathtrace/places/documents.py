"""What a document goes to a command or a service as, and what comes back from there. Pure."""

from __future__ import annotations

from pathtrace.model.work import Item


def document_bytes(item: Item) -> bytes | memoryview:
    """The document's bytes: pieces if it has been taken apart, else its data."""
    if item.texts:
        return "".join(item.texts).encode()
    return item.data if item.data is not None else b""


def in_pieces(item: Item, texts: tuple[str, ...]) -> Item:
    """The document as the pieces that it was turned into."""
    return Item(name=item.name, size_bytes=size_of(texts), texts=texts)


def size_of(texts: tuple[str, ...]) -> int:
    """UTF-8 bytes of all pieces."""
    return sum(len(text.encode()) for text in texts)


def storable(text: str) -> str:
    """``text`` without halves of surrogate pairs, which JSON can spell and nothing further on can store."""
    return text.encode("utf-8", "replace").decode()
