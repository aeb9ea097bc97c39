from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pathtrace.analysis.room_plan import IndexRoom, index_room
from pathtrace.model.work import PlaceFacts
from tests.unit.analysis.builders import MB, scenario

TEXT = """pathtrace: 1
places:
  archive: {{kind: files, path: /archive}}
  indexer: {{kind: process, {indexer}}}
  {embedder}
  library: {{kind: database, url: "sqlite:///library.db"}}
flows:
  index: {{path: [archive, indexer, {through}library], frequency: once}}
"""
PLAIN = scenario(TEXT.format(indexer="run: chunk", embedder="", through=""))
EXTRACTED = scenario(TEXT.format(indexer="command: [extract]", embedder="", through=""))
EMBEDDED = scenario(
    TEXT.format(
        indexer="run: chunk",
        embedder='embedder: {kind: inference, task: embed, url: "http://localhost:1"}',
        through="embedder, ",
    )
)
FACTS = {"archive": PlaceFacts("there", read_bytes=10 * MB)}


def test_an_index_is_a_range_above_the_text_that_it_holds() -> None:
    assert index_room(PLAIN, FACTS, "library") == IndexRoom(
        12 * MB, 25 * MB, "an index of 9.54 MiB of documents"
    )


def test_what_a_command_extracts_is_known_only_from_above() -> None:
    room = index_room(EXTRACTED, FACTS, "library")
    assert room == IndexRoom(None, 25 * MB, "an index of 9.54 MiB of documents, if all of it is text")


def test_vectors_take_more_than_their_text() -> None:
    assert index_room(EMBEDDED, FACTS, "library") == IndexRoom(
        27 * MB, 185 * MB, "an index of 9.54 MiB of documents with vectors"
    )


def test_nothing_is_said_where_nothing_is_known() -> None:
    assert index_room(PLAIN, FACTS, "archive") is None
    assert index_room(PLAIN, {}, "library") == IndexRoom(None, None, "how much archive holds is not known")


@given(st.integers(1, 10**12), st.integers(1, 10**12))
def test_more_documents_never_need_less_room(bytes: int, more: int) -> None:
    small = index_room(PLAIN, {"archive": PlaceFacts("", read_bytes=bytes)}, "library")
    large = index_room(PLAIN, {"archive": PlaceFacts("", read_bytes=bytes + more)}, "library")
    assert small is not None
    assert large is not None
    assert 0 < (small.low_bytes or 0) <= (large.low_bytes or 0)
    assert (small.high_bytes or 0) <= (large.high_bytes or 0)
