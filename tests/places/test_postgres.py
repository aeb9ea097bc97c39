"""PostgreSQL places against a server of the test's own: what is stored, found, refused, and removed."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import TypeVar

import psutil
import pytest

from pathtrace.errors import OperationError, PlaceError
from pathtrace.model.run import Mount
from pathtrace.model.scenario import Action, Commit, DatabaseSpec, Place, PlaceKind, Start
from pathtrace.model.work import Item
from pathtrace.places.postgres import Postgres
from pathtrace.ports import AnswersNothing, Commits, TakesRows
from tests.places import postgres_server as lab
from tests.places.contract import Case, PlaceContract
from tests.places.postgres_server import PostgresServer

pytestmark = [pytest.mark.server, pytest.mark.skipif(bool(lab.why_not()), reason=str(lab.why_not()))]

Result = TypeVar("Result")
TEXTS = ("Der Dachstuhl wurde erneuert", "the boiler was serviced", "heating oil prices", "roof insulation")
BOTH = frozenset({Action.INSERT, Action.LOOKUP})
INSERT = frozenset({Action.INSERT})
LOOKUP = frozenset({Action.LOOKUP})


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    with lab.postgres_server(fsync="off") as started:
        started.run("CREATE TABLE note (body text, number int)")
        started.run("INSERT INTO note VALUES ('zwölf Rüben', 12), ('100 % wool', NULL)")
        yield started


@pytest.fixture(autouse=True)
def _no_schema_left(server: PostgresServer) -> Iterator[None]:
    yield
    assert server.schemas() == []
    assert server.run("SELECT count(*) FROM note") == [(2,)]


def described(
    url: str,
    *,
    commit: Commit = Commit.BATCH,
    query: str | None = None,
    insert: str | None = None,
    keep: bool = False,
    workers: int = 2,
    timeout_s: float = 10.0,
) -> Place:
    spec = DatabaseSpec(url, 100, commit, query, insert, keep)
    return Place("library", PlaceKind.DATABASE, "workstation", workers, 16, timeout_s, None, spec)


def postgres(place: Place) -> Postgres:
    return Postgres(place, time.perf_counter_ns, 1)


def documents() -> tuple[Item, ...]:
    return (Item("a.txt", 0, texts=TEXTS[:3]), Item("b.txt", 0, texts=TEXTS[3:]))


def within(place: Place, life: Callable[[Postgres], Awaitable[Result]]) -> Result:
    async def run() -> Result:
        opened = postgres(place)
        try:
            await opened.open(Path("/nowhere"))
            return await life(opened)
        finally:
            await opened.close()

    return asyncio.run(run())


async def store(place: Postgres) -> None:
    await place.begin(Start.AS_IS, BOTH)
    await place.perform(Action.INSERT, documents())
    await place.finish(Action.INSERT)


async def look_up(place: Postgres, question: str) -> tuple[str, ...]:
    done = await place.perform(Action.LOOKUP, (Item("q", 0, texts=(question,)),))
    assert done.bytes == sum(len(text.encode()) for text in done.items[0].texts[1:])
    return done.items[0].texts


class TestInserting(PlaceContract):
    @pytest.fixture(params=["copy", "rows"])
    def case(self, server: PostgresServer, request: pytest.FixtureRequest) -> Case:
        vectors = ((0.5, 1.0, 2.0),) * 3
        items = (Item("v", 0, texts=TEXTS[:3], vectors=vectors), Item("raw.txt", 3, data=b"raw"))
        return Case(
            make=lambda: postgres(described(server.url, insert=request.param)),
            action=Action.INSERT,
            items=items,
            bytes=sum(len(text.encode()) for text in TEXTS[:3]) + 3 * 3 * 4 + 3,
            broken=lambda: postgres(described(server.url_of(lab.USER, "not-this-one"))),
            secret="not-this-one",
        )


class TestQuerying(PlaceContract):
    @pytest.fixture
    def case(self, server: PostgresServer) -> Case:
        query = "SELECT body FROM note WHERE number = 12 AND %(question)s <> ''"
        return Case(
            make=lambda: postgres(described(server.url, query=query)),
            action=Action.LOOKUP,
            items=(Item("q", 4, texts=("what",)),),
            bytes=len("zwölf Rüben".encode()),
            broken=lambda: postgres(described(server.url, query="SELECT * FROM nothing")),
            secret=lab.PASSWORD,
        )


def test_a_lookup_finds_passages_with_any_of_the_words(server: PostgresServer) -> None:
    async def life(place: Postgres) -> tuple[str, ...]:
        await store(place)
        return await look_up(place, 'roof OR "boiler* (cost? Dachstuhl')

    texts = within(described(server.url), life)
    assert texts[0] == 'roof OR "boiler* (cost? Dachstuhl'
    assert set(texts[1:]) == {"Der Dachstuhl wurde erneuert", "the boiler was serviced", "roof insulation"}


def test_at_most_five_passages_are_found_and_none_without_words(server: PostgresServer) -> None:
    async def life(place: Postgres) -> tuple[int, tuple[str, ...]]:
        await place.begin(Start.AS_IS, BOTH)
        await place.perform(Action.INSERT, (Item("many", 0, texts=("oak",) * 50),))
        return len(await look_up(place, "oak")), await look_up(place, "?!")

    assert within(described(server.url), life) == (6, ("?!",))


@pytest.mark.parametrize("insert", ["copy", "rows"])
@pytest.mark.parametrize("commit", list(Commit))
def test_each_way_of_committing_stores_all_rows_and_times_the_commits(
    server: PostgresServer, commit: Commit, insert: str
) -> None:
    async def life(place: Postgres) -> tuple[bool, int, bool, int]:
        await place.begin(Start.AS_IS, BOTH)
        done = await place.perform(Action.INSERT, documents())
        seen_before = await place.rows_stored()
        last = await place.finish(Action.INSERT)
        return (
            done.finish_ns > 0,
            seen_before,
            last is not None and last.finish_ns > 0,
            await place.rows_stored(),
        )

    held = commit is Commit.FLOW
    assert within(described(server.url, commit=commit, insert=insert), life) == (
        not held,
        0 if held else 4,
        held,
        4,
    )


def test_what_is_stored_is_what_was_given(server: PostgresServer) -> None:
    texts = ("tab\tand\nline \\ back", "zwölf \U0001f955", "")
    vectors = ((0.1, -2.5e-8), (1.0, 3.0), (0.0, 1e10))

    async def life(place: Postgres) -> list[tuple[object, ...]]:
        await place.begin(Start.AS_IS, INSERT)
        await place.perform(Action.INSERT, (Item("ö.txt", 0, texts=texts, vectors=vectors),))
        return server.run(f"SELECT name, text, vector FROM {place.schema}.pieces")

    stored = within(described(server.url), life)
    assert [(name, text) for name, text, _ in stored] == [("ö.txt", text) for text in texts]
    assert [vector for _, _, vector in stored] == [
        pytest.approx(list(vector), rel=1e-6) for vector in vectors
    ]


def test_text_that_postgresql_cannot_hold_is_stored_without_it(server: PostgresServer) -> None:
    async def life(place: Postgres) -> list[tuple[object, ...]]:
        await place.begin(Start.AS_IS, INSERT)
        done = await place.perform(Action.INSERT, (Item("x", 0, texts=("a\0b \ud800", "long " * 300_000)),))
        assert done.bytes == 5 + 5 * 300_000
        return server.run(f"SELECT left(text, 10) FROM {place.schema}.pieces")

    assert within(described(server.url), life) == [("a b ?",), ("long long ",)]


def test_many_workers_insert_and_search_at_once(server: PostgresServer) -> None:
    async def life(place: Postgres) -> tuple[int, list[int]]:
        await store(place)
        rows = (Item("more", 0, texts=("oak",) * 500),)
        async with asyncio.TaskGroup() as group:
            for _ in range(5):
                group.create_task(place.perform(Action.INSERT, rows))
            lookups = [group.create_task(look_up(place, "boiler roof")) for _ in range(40)]
        return await place.rows_stored(), [len(task.result()) for task in lookups]

    assert within(described(server.url), life) == (4 + 5 * 500, [3] * 40)


def test_each_repeat_begins_empty(server: PostgresServer) -> None:
    async def life(place: Postgres) -> list[int]:
        seen = []
        for _ in range(2):
            await store(place)
            await look_up(place, "roof")
            seen.append(await place.rows_stored())
        return seen

    assert within(described(server.url), life) == [4, 4]


def test_the_users_own_query_is_given_the_question_in_each_spelling(server: PostgresServer) -> None:
    async def life(place: Postgres) -> tuple[str, ...]:
        await place.begin(Start.AS_IS, LOOKUP)
        return await look_up(place, "wool")

    for parameter in ("%(question)s", ":question", "$1"):
        query = f"SELECT body, number, now()::text <> '' FROM note WHERE body LIKE '%' || {parameter} || '%'"
        assert within(described(server.url, query=query), life) == ("wool", "100 % wool\t\tTrue")


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("INSERT INTO note VALUES ($1)", "cannot execute INSERT in a read-only transaction"),
        ("SELECT 1; COMMIT; DELETE FROM note", "cannot insert multiple commands into a prepared statement"),
        ("SELECT set_config('transaction_read_only', 'off', false), $1", None),
    ],
)
def test_a_query_cannot_write(server: PostgresServer, query: str, message: str | None) -> None:
    async def life(place: Postgres) -> None:
        await place.begin(Start.AS_IS, LOOKUP)
        await look_up(place, "x")

    with pytest.raises((OperationError, PlaceError), match=message or "read-write mode"):
        within(described(server.url, query=query), life)


def test_questions_are_words_that_are_stored_and_the_same_for_the_same_seed(server: PostgresServer) -> None:
    async def life(place: Postgres) -> tuple[tuple[str, ...], ...]:
        await store(place)
        return await place.questions(4, 3), await place.questions(4, 3), await place.questions(4, 4)

    first, again, other = within(described(server.url), life)
    assert first == again != other
    assert len(first) == 4
    assert all(any(word in text for text in TEXTS) for question in first for word in question.split())


def test_what_is_known_of_a_server_on_this_host(server: PostgresServer) -> None:
    async def life(place: Postgres) -> tuple[int | None, str | None, bool, object]:
        return place.server_pid, place.identity, place.mount is not None, place.scratch_folder

    (shown,) = server.run("SHOW server_version")[0]
    identity = (
        f"PostgreSQL {str(shown).split(' (')[0]}, synchronous_commit on, fsync off, shared_buffers 128MB, "
        "wal_level replica"
    )
    assert within(described(server.url), life) == (server.pid, identity, True, None)


def test_a_commit_alone_takes_time_and_stores_no_piece(server: PostgresServer) -> None:
    async def life(place: Postgres) -> tuple[bool, int]:
        await place.begin(Start.AS_IS, INSERT)
        assert isinstance(place, Commits)
        return await place.commit_alone() > 0, await place.rows_stored()

    assert within(described(server.url), life) == (True, 0)


def test_a_query_for_nothing_takes_time(server: PostgresServer) -> None:
    async def life(place: Postgres) -> bool:
        await place.begin(Start.AS_IS, frozenset((Action.LOOKUP,)))
        assert isinstance(place, AnswersNothing)
        return await place.answer_nothing() > 0

    assert within(described(server.url, query="select 1"), life)


def test_rows_alone_take_time_and_are_taken_back(server: PostgresServer) -> None:
    async def life(place: Postgres) -> tuple[int | None, bool, int]:
        await place.begin(Start.AS_IS, INSERT)
        assert isinstance(place, TakesRows)
        before = await place.rows_alone(500)
        await place.perform(Action.INSERT, [Item("letter", 4, data=b"text")])
        return before, (await place.rows_alone(500) or 0) > 0, await place.rows_stored()

    assert within(described(server.url), life) == (None, True, 1)


def test_a_database_on_a_network_mount_is_warned_of(
    server: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    mount = Mount("/mnt/nas", "nas:/pg", "nfs4", None, network=True)
    asked: list[object] = []
    monkeypatch.setattr("pathtrace.places.postgres.mount_of", lambda path: asked.append(path) or mount)
    facts = asyncio.run(postgres(described(server.url)).check())
    assert asked == [server.data]
    assert facts.warnings == (
        "the database's files lie on a network mount (nfs4 at /mnt/nas): each commit crosses the network, "
        "and a lost mount can damage it",
    )


def test_the_server_is_known_through_its_socket_too(server: PostgresServer) -> None:
    async def life(place: Postgres) -> int | None:
        return place.server_pid

    url = f"postgres://{lab.USER}:{lab.URL_PASSWORD}@localhost:{server.port}/postgres?host={server.folder}/sockets"
    assert within(described(url), life) == server.pid


def test_a_bare_at_sign_in_a_password_is_no_part_of_the_host(server: PostgresServer) -> None:
    url = server.url_of(lab.USER, lab.PASSWORD.replace("/", "%2F"))
    assert asyncio.run(postgres(described(url)).check()).summary.endswith("a scratch schema in postgres")


def test_the_password_may_come_from_the_environment(
    server: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGPASSWORD", lab.PASSWORD)
    url = f"postgresql://{lab.USER}@127.0.0.1:{server.port}/postgres"
    assert asyncio.run(postgres(described(url)).check()).summary.startswith("PostgreSQL ")


def test_kept_rows_stay_in_a_schema_that_can_be_named(server: PostgresServer) -> None:
    async def life(place: Postgres) -> str:
        await store(place)
        return place.schema

    schema = within(described(server.url, keep=True), life)
    try:
        assert server.schemas() == [schema]
        asyncio.run(_opened_and_closed(server))
        assert server.run(f"SELECT text FROM {schema}.pieces") == [(text,) for text in TEXTS]
    finally:
        server.run(f"DROP SCHEMA {schema} CASCADE")


async def _opened_and_closed(server: PostgresServer) -> None:
    place = postgres(described(server.url))
    await place.open(Path("/nowhere"))
    await place.close()


def test_only_schemas_of_our_own_dead_runs_on_this_host_are_removed(server: PostgresServer) -> None:
    host = socket.gethostname()
    gone = {"host": host, "pid": 2**22 + 1, "since": 1.0}
    alive = {"host": host, "pid": os.getpid(), "since": psutil.Process(os.getpid()).create_time()}
    marks = {
        "pathtrace_dead": f"pathtrace scratch {json.dumps(gone)}",
        "pathtrace_another_since": f"pathtrace scratch {json.dumps({**gone, 'pid': os.getpid()})}",
        "pathtrace_alive": f"pathtrace scratch {json.dumps(alive)}",
        "pathtrace_elsewhere": f"pathtrace scratch {json.dumps({**gone, 'host': 'another'})}",
        "pathtrace_garbled": "pathtrace scratch {",
        "pathtrace_of_the_user": "my own notes",
        "pathtrace_bare": None,
    }
    try:
        for schema, mark in marks.items():
            server.run(f"CREATE SCHEMA {schema}")
            server.run(f"COMMENT ON SCHEMA {schema} IS {'NULL' if mark is None else repr(mark)}")
        asyncio.run(_opened_and_closed(server))
        assert set(server.schemas()) == set(marks) - {"pathtrace_dead", "pathtrace_another_since"}
    finally:
        for schema in server.schemas():
            server.run(f"DROP SCHEMA {schema} CASCADE")


def test_a_lost_connection_fails_its_operation_and_the_next_one_goes_on(server: PostgresServer) -> None:
    async def life(place: Postgres) -> int:
        await store(place)
        end_connections(server, place)
        with pytest.raises(OperationError, match="library: insert failed: terminating connection") as caught:
            await place.perform(Action.INSERT, documents())
        assert caught.value.hint == "the server was stopped, or somebody ended the connection"
        done = await place.perform(Action.INSERT, documents())
        assert done.setup_ns > 0
        assert await look_up_after_loss(place) == {"roof insulation"}
        return await place.rows_stored()

    assert within(described(server.url, workers=1), life) == 8


async def look_up_after_loss(place: Postgres) -> set[str]:
    with pytest.raises(OperationError, match="library: lookup failed: terminating connection"):
        await look_up(place, "insulation")
    return set((await look_up(place, "insulation"))[1:])


def end_connections(server: PostgresServer, place: Postgres) -> None:
    server.run(
        "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE application_name = %s",
        place.schema,
    )


def test_rows_lost_with_an_open_transaction_are_told_of(server: PostgresServer) -> None:
    async def life(place: Postgres) -> int:
        await place.begin(Start.AS_IS, INSERT)
        await place.perform(Action.INSERT, documents())
        end_connections(server, place)
        with pytest.raises(OperationError, match="4 rows before it, not yet committed, were lost"):
            await place.perform(Action.INSERT, documents())
        await place.perform(Action.INSERT, documents())
        await place.finish(Action.INSERT)
        return await place.rows_stored()

    assert within(described(server.url, commit=Commit.FLOW, workers=1), life) == 4


def test_a_cancelled_insert_ends_soon_and_its_place_is_taken_by_another(server: PostgresServer) -> None:
    async def life(place: Postgres) -> int:
        await place.begin(Start.AS_IS, INSERT)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.3):
                await place.perform(Action.INSERT, (Item("r", 0, texts=("words to index " * 50,) * 200_000),))
        await place.perform(Action.INSERT, documents())
        return await place.rows_stored()

    began = time.monotonic()
    assert within(described(server.url, workers=1), life) == 4
    assert time.monotonic() - began < 10


def test_a_full_server_is_named_and_the_schema_is_removed_all_the_same() -> None:
    with lab.postgres_server(max_connections=5, superuser_reserved_connections=0, fsync="off") as small:
        place = described(small.url, workers=8)

        async def life(opened: Postgres) -> None:
            with pytest.raises(PlaceError, match="library: the scratch schema cannot be made: ") as caught:
                await opened.begin(Start.AS_IS, INSERT)
            assert caught.value.hint == "the server is full: fewer `workers`, or a larger max_connections"

        within(place, life)
        assert small.schemas() == []


def test_a_server_that_went_away_is_told_and_closing_does_no_harm() -> None:
    async def life(server_gone: Callable[[], None], place: Postgres) -> str:
        await place.open(Path("/nowhere"))
        try:
            await store(place)
            server_gone()
            with pytest.raises(OperationError) as caught:
                await place.perform(Action.INSERT, documents())
            with pytest.raises(OperationError, match="Connection refused"):
                await place.perform(Action.INSERT, documents())
            return str(caught.value)
        finally:
            await place.close()

    context = lab.postgres_server(fsync="off")
    server = context.__enter__()

    def end() -> None:
        context.__exit__(None, None, None)

    said = asyncio.run(life(end, postgres(described(server.url, workers=1, timeout_s=3.0))))
    assert said.startswith("library: insert failed: ")


@pytest.mark.parametrize(
    ("user", "password", "database", "message", "hint"),
    [
        (lab.USER, "wrong-one", "postgres", "password authentication failed", "check the password"),
        ("nobody-here", "wrong-one", "postgres", "password authentication failed", "check the password"),
        (
            lab.USER,
            lab.URL_PASSWORD,
            "attic",
            'database "attic" does not exist',
            "name a database that exists",
        ),
    ],
)
def test_a_refusal_says_why_and_what_to_do(
    server: PostgresServer, user: str, password: str, database: str, message: str, hint: str
) -> None:
    with pytest.raises(PlaceError, match=message) as caught:
        asyncio.run(postgres(described(server.url_of(user, password, database))).check())
    assert hint in str(caught.value.hint)
    for secret in ("wrong-one", lab.PASSWORD, lab.URL_PASSWORD):
        assert secret not in f"{caught.value} {caught.value.hint}"


def test_nobody_at_the_port_is_told() -> None:
    with pytest.raises(PlaceError, match=r"library: cannot be used: .*refused") as caught:
        asyncio.run(postgres(described("postgresql://lab:pw@127.0.0.1:1/lab")).check())
    assert caught.value.hint == "is the server running, and does it listen there?"


def test_a_role_that_may_not_make_schemas_is_told_how_to(server: PostgresServer) -> None:
    server.run("CREATE ROLE guest LOGIN PASSWORD 'guest'")
    try:
        with pytest.raises(PlaceError, match="library: guest may not make a schema in postgres") as caught:
            asyncio.run(postgres(described(server.url_of("guest", "guest"))).check())
        assert caught.value.hint == 'GRANT CREATE ON DATABASE "postgres" TO "guest"'
    finally:
        server.run("DROP ROLE guest")


def test_a_statement_timeout_of_the_server_is_told(server: PostgresServer) -> None:
    async def life(place: Postgres) -> None:
        await place.begin(Start.AS_IS, LOOKUP)
        with pytest.raises(OperationError, match="canceling statement due to statement timeout") as caught:
            await look_up(place, "x")
        assert caught.value.hint == "the server's statement_timeout ended it: raise it for this role"

    url = f"{server.url}?options=-c%20statement_timeout%3D50"
    within(described(url, query="SELECT pg_sleep(5)"), life)


def test_an_unreadable_url_is_told_without_being_shown() -> None:
    with pytest.raises(PlaceError, match="the URL cannot be read") as caught:
        asyncio.run(postgres(described("postgresql://lab:s3cret@host/lab?nonsense=1")).check())
    assert "s3cret" not in str(caught.value)


def test_searching_before_anything_is_stored_is_told(server: PostgresServer) -> None:
    async def life(place: Postgres) -> None:
        with pytest.raises(PlaceError, match="library: there is nothing to search"):
            await place.begin(Start.AS_IS, LOOKUP)
        with pytest.raises(OperationError, match="library: nothing has been stored"):
            await look_up(place, "roof")

    within(described(server.url), life)


def test_a_way_to_insert_that_is_not_known_is_refused(server: PostgresServer) -> None:
    with pytest.raises(PlaceError, match="no `insert: UPSERT`") as caught:
        asyncio.run(postgres(described(server.url, insert="UPSERT")).check())
    assert caught.value.hint == "allowed: copy (COPY, the default), rows (INSERT)"
