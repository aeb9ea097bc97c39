"""SQLite places on real files: what is stored and found, when it is committed, what stays untouched."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import Awaitable, Callable
from contextlib import closing
from pathlib import Path
from typing import TypeVar

import pytest

from pathtrace.errors import OperationError, PlaceError
from pathtrace.model.scenario import Action, Commit, DatabaseSpec, Place, PlaceKind, Start
from pathtrace.model.work import Item
from pathtrace.places.sqlite import Sqlite
from tests.places.contract import Case, PlaceContract

Result = TypeVar("Result")
TEXTS = ("Der Dachstuhl wurde erneuert", "the boiler was serviced", "heating oil prices", "roof insulation")
BOTH = frozenset({Action.INSERT, Action.LOOKUP})


def described(
    url: str = "sqlite://",
    *,
    commit: Commit = Commit.BATCH,
    query: str | None = None,
    insert: str | None = None,
    keep: bool = False,
) -> Place:
    spec = DatabaseSpec(url, 100, commit, query, insert, keep)
    return Place("library", PlaceKind.DATABASE, "workstation", 2, 16, 10.0, None, spec)


def sqlite(place: Place) -> Sqlite:
    return Sqlite(place, time.perf_counter_ns, 1)


def documents() -> tuple[Item, ...]:
    return (Item("a.txt", 0, texts=TEXTS[:3]), Item("b.txt", 0, texts=TEXTS[3:]))


def within(place: Place, scratch: Path, life: Callable[[Sqlite], Awaitable[Result]]) -> Result:
    async def run() -> Result:
        opened = sqlite(place)
        await opened.open(scratch)
        try:
            return await life(opened)
        finally:
            await opened.close()

    return asyncio.run(run())


async def store(place: Sqlite) -> None:
    await place.begin(Start.AS_IS, BOTH)
    await place.perform(Action.INSERT, documents())
    await place.finish(Action.INSERT)


class TestInserting(PlaceContract):
    @pytest.fixture
    def case(self, tmp_path: Path) -> Case:
        vectors = ((0.5, 1.0, 2.0),) * 3
        items = (Item("v", 0, texts=TEXTS[:3], vectors=vectors), Item("raw.txt", 3, data=b"raw"))
        return Case(
            make=lambda: sqlite(described(f"sqlite:///{tmp_path}/lab.db")),
            action=Action.INSERT,
            items=items,
            bytes=sum(len(text.encode()) for text in TEXTS[:3]) + 3 * 3 * 4 + 3,
            broken=lambda: sqlite(described(f"sqlite:///{tmp_path}/no/folder/lab.db")),
        )


class TestQuerying(PlaceContract):
    @pytest.fixture
    def case(self, tmp_path: Path) -> Case:
        own = tmp_path / "own.db"
        connection = sqlite3.connect(own)
        connection.execute("CREATE TABLE note (body)")
        connection.execute("INSERT INTO note VALUES ('zwölf Rüben')")
        connection.commit()
        connection.close()
        url = f"sqlite:///{own}"
        return Case(
            make=lambda: sqlite(described(url, query="SELECT body FROM note WHERE :question <> ''")),
            action=Action.LOOKUP,
            items=(Item("q", 4, texts=("what",)),),
            bytes=len("zwölf Rüben".encode()),
            broken=lambda: sqlite(described(url, query="SELECT * FROM nothing")),
        )


def test_a_lookup_finds_passages_with_any_of_the_words(tmp_path: Path) -> None:
    async def life(place: Sqlite) -> tuple[str, ...]:
        await store(place)
        done = await place.perform(Action.LOOKUP, (Item("q", 0, texts=('roof OR "boiler* (cost?',)),))
        assert done.bytes == sum(len(text) for text in done.items[0].texts[1:])
        return done.items[0].texts

    texts = within(described(), tmp_path, life)
    assert texts[0] == 'roof OR "boiler* (cost?'
    assert set(texts[1:]) == {"the boiler was serviced", "roof insulation"}


def test_a_question_without_words_finds_nothing(tmp_path: Path) -> None:
    async def life(place: Sqlite) -> tuple[str, ...]:
        await store(place)
        return (await place.perform(Action.LOOKUP, (Item("q", 0, texts=("?!",)),))).items[0].texts

    assert within(described(), tmp_path, life) == ("?!",)


def test_many_lookups_run_beside_an_insert(tmp_path: Path) -> None:
    async def life(place: Sqlite) -> list[int]:
        await store(place)
        question = (Item("q", 0, texts=("boiler roof",)),)
        rows = (Item("more", 0, texts=("oak",) * 500),)
        async with asyncio.TaskGroup() as group:
            inserts = [group.create_task(place.perform(Action.INSERT, rows)) for _ in range(5)]
            lookups = [group.create_task(place.perform(Action.LOOKUP, question)) for _ in range(40)]
        assert [task.result().fault for task in inserts] == [None] * 5
        assert place.rows_stored == 4 + 5 * 500
        return [len(task.result().items[0].texts) for task in lookups]

    assert within(described(f"sqlite:///{tmp_path}/x.db"), tmp_path, life) == [3] * 40


@pytest.mark.parametrize("commit", list(Commit))
def test_each_way_of_committing_stores_all_rows_and_times_the_commits(tmp_path: Path, commit: Commit) -> None:
    async def life(place: Sqlite) -> tuple[bool, bool, int]:
        await place.begin(Start.AS_IS, BOTH)
        done = await place.perform(Action.INSERT, documents())
        last = await place.finish(Action.INSERT)
        return done.finish_ns > 0, last is not None and last.finish_ns > 0, place.rows_stored

    seen = within(described(commit=commit), tmp_path, life)
    assert seen == (commit is not Commit.FLOW, commit is Commit.FLOW, 4)


def test_a_row_at_a_time_commits_far_longer_than_a_batch(tmp_path: Path) -> None:
    async def life(place: Sqlite) -> int:
        await place.begin(Start.AS_IS, BOTH)
        return (await place.perform(Action.INSERT, (Item("r", 0, texts=("word",) * 100),))).finish_ns

    row = within(described(commit=Commit.ROW), tmp_path, life)
    assert row > 5 * within(described(commit=Commit.BATCH), tmp_path, life)


def test_each_repeat_begins_empty(tmp_path: Path) -> None:
    async def life(place: Sqlite) -> list[int]:
        seen = []
        for _ in range(2):
            await store(place)
            await place.perform(Action.LOOKUP, (Item("q", 0, texts=("roof",)),))
            seen.append(place.rows_stored)
        return seen

    assert within(described(), tmp_path, life) == [4, 4]


def test_the_scratch_file_lies_beside_the_users_and_is_removed(tmp_path: Path) -> None:
    own = tmp_path / "own.db"
    connection = sqlite3.connect(own)
    connection.execute("PRAGMA journal_mode=wal")
    connection.execute("CREATE TABLE mine (x)")
    connection.commit()
    connection.close()
    before = own.read_bytes()

    async def life(place: Sqlite) -> tuple[int, str | None]:
        await store(place)
        return len(list(tmp_path.glob(".pathtrace-*.db"))), place.identity

    scratch = tmp_path / "scratch"
    scratch.mkdir()
    version = f"SQLite {sqlite3.sqlite_version}, journal_mode wal, synchronous full"
    assert within(described(f"sqlite:///{own}"), scratch, life) == (1, version)
    assert own.read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["own.db", "scratch"]


def test_querying_a_database_in_wal_mode_leaves_nothing_beside_it(tmp_path: Path) -> None:
    own = tmp_path / "own.db"
    connection = sqlite3.connect(own)
    connection.execute("PRAGMA journal_mode=wal")
    connection.execute("CREATE TABLE mine (x, y)")
    connection.execute("INSERT INTO mine VALUES ('answer', 42)")
    connection.commit()
    connection.close()

    async def life(place: Sqlite) -> tuple[str, ...]:
        await place.begin(Start.AS_IS, frozenset({Action.LOOKUP}))
        return (await place.perform(Action.LOOKUP, (Item("q", 0, texts=("answer",)),))).items[0].texts

    place = described(f"sqlite:///{own}", query="SELECT x, y FROM mine WHERE x = ?")
    assert within(place, tmp_path, life) == ("answer", "answer\t42")
    assert [path.name for path in tmp_path.iterdir()] == ["own.db"]


def test_a_query_cannot_write_to_the_users_file(tmp_path: Path) -> None:
    own = tmp_path / "own.db"
    connection = sqlite3.connect(own)
    connection.execute("CREATE TABLE mine (x)")
    connection.commit()
    connection.close()

    async def life(place: Sqlite) -> None:
        with pytest.raises(OperationError, match="lookup failed: attempt to write a readonly database"):
            await place.perform(Action.LOOKUP, (Item("q", 0, texts=("x",)),))

    within(described(f"sqlite:///{own}", query="INSERT INTO mine VALUES (?)"), tmp_path, life)


def test_kept_rows_stay_in_a_file_that_can_be_named(tmp_path: Path) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()

    async def life(place: Sqlite) -> Path | None:
        await store(place)
        return place.kept

    kept = within(described(f"sqlite:///{tmp_path}/own.db", keep=True), scratch, life)
    assert kept is not None
    connection = sqlite3.connect(kept)
    assert connection.execute("SELECT text FROM pieces").fetchall() == [(text,) for text in TEXTS]
    connection.close()


def test_questions_are_words_that_are_stored_and_the_same_for_the_same_seed(tmp_path: Path) -> None:
    async def life(place: Sqlite) -> tuple[tuple[str, ...], ...]:
        await store(place)
        return await place.questions(6, 3), await place.questions(6, 3), await place.questions(6, 4)

    first, again, other = within(described(), tmp_path, life)
    assert first == again != other
    assert len(first) == 6
    assert all(any(word in text for text in TEXTS) for question in first for word in question.split())


def test_searching_before_anything_is_stored_is_told(tmp_path: Path) -> None:
    async def life(place: Sqlite) -> None:
        with pytest.raises(PlaceError, match="library: there is nothing to search"):
            await place.begin(Start.AS_IS, frozenset({Action.LOOKUP}))
        with pytest.raises(OperationError, match="library: nothing has been stored"):
            await place.perform(Action.LOOKUP, (Item("q", 0, texts=("roof",)),))

    within(described(), tmp_path, life)


def test_a_cancelled_insert_ends_soon_and_the_place_closes(tmp_path: Path) -> None:
    async def life(place: Sqlite) -> None:
        await place.begin(Start.AS_IS, BOTH)
        rows = (Item("r", 0, texts=("some words to index",) * 400_000),)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.2):
                await place.perform(Action.INSERT, rows)

    began = time.monotonic()
    within(described(), tmp_path, life)
    assert time.monotonic() - began < 5
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_named(tmp_path: Path) -> None:
    async def life(place: Sqlite) -> None:
        await store(place)
        connection = place._connection  # SQLite's own limit stands in for a full disk
        assert connection is not None
        connection.execute("PRAGMA max_page_count=1")
        with pytest.raises(
            OperationError, match="library: insert failed: database or disk is full"
        ) as caught:
            await place.perform(Action.INSERT, (Item("r", 0, texts=("x" * 100_000,)),))
        assert caught.value.hint == "make room on that disk"

    within(described(), tmp_path, life)


def test_a_file_that_is_no_database_is_told(tmp_path: Path) -> None:
    (tmp_path / "own.db").write_bytes(b"not a database at all")
    with pytest.raises(PlaceError, match="library: cannot be used: file is not a database"):
        asyncio.run(sqlite(described(f"sqlite:///{tmp_path}/own.db")).check())


def test_an_insert_of_ones_own_is_refused_for_now(tmp_path: Path) -> None:
    with pytest.raises(PlaceError, match="not available in this version"):
        asyncio.run(sqlite(described(insert="INSERT INTO t VALUES (:text)")).check())


@pytest.mark.parametrize(
    "query",
    [
        "ATTACH '{elsewhere}' AS other",
        "PRAGMA journal_mode = wal",
        "BEGIN IMMEDIATE",
    ],
)
def test_a_query_that_does_more_than_read_is_refused_at_once(tmp_path: Path, query: str) -> None:
    own, elsewhere = tmp_path / "own.db", tmp_path / "elsewhere.db"
    with closing(sqlite3.connect(own)) as connection:
        connection.execute("CREATE TABLE mine (x)")
    place = described(f"sqlite:///{own}", query=query.format(elsewhere=elsewhere))
    with pytest.raises(PlaceError, match="not authorized") as caught:
        asyncio.run(sqlite(place).check())
    assert caught.value.hint == "`query` may only read: SELECT"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["own.db"]


def test_a_query_that_copies_the_database_elsewhere_fails(tmp_path: Path) -> None:
    own, elsewhere = tmp_path / "own.db", tmp_path / "elsewhere.db"
    with closing(sqlite3.connect(own)) as connection:
        connection.execute("CREATE TABLE mine (x)")

    async def life(place: Sqlite) -> None:
        with pytest.raises(OperationError, match="lookup failed"):
            await place.perform(Action.LOOKUP, (Item("q", 0, texts=("x",)),))

    within(described(f"sqlite:///{own}", query=f"VACUUM INTO '{elsewhere}'"), tmp_path, life)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["own.db"]


def test_a_query_may_use_functions_recursion_and_full_text(tmp_path: Path) -> None:
    own = tmp_path / "own.db"
    with closing(sqlite3.connect(own)) as connection:
        connection.execute("CREATE VIRTUAL TABLE mine USING fts5(body)")
        connection.execute("INSERT INTO mine VALUES ('the boiler hums')")
        connection.commit()
    query = (
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2) "
        "SELECT i, upper(snippet(mine, 0, '', '', '', 9)) FROM mine, n WHERE mine MATCH :question"
    )

    async def life(place: Sqlite) -> tuple[str, ...]:
        return (await place.perform(Action.LOOKUP, (Item("q", 0, texts=("boiler",)),))).items[0].texts

    found = within(described(f"sqlite:///{own}", query=query), tmp_path, life)
    assert found == ("boiler", "1\tTHE BOILER HUMS", "2\tTHE BOILER HUMS")
