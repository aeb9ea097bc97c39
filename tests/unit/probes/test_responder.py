from __future__ import annotations

import contextlib
import socket
import time

import pytest

from pathtrace.errors import OperationError, PlaceError
from pathtrace.probes import link_protocol
from pathtrace.probes.link_pieces import SIZES, answer_pieces
from pathtrace.probes.link_protocol import (
    LEAST_DATAGRAM,
    Asked,
    Datagram,
    LinkError,
    Purpose,
    ResponderBusyError,
    ResponderRefusedError,
    introduce,
    read_message,
    receive_exactly,
    seal,
    unseal,
    write_message,
)
from pathtrace.probes.link_streams import padding
from pathtrace.probes.responder import Responder
from pathtrace.probes.responder_client import ResponderClient, Way
from pathtrace.probes.responder_session import Limits
from pathtrace.units import GIB, MIB
from tests.unit.probes.responders import TOKEN, clock, listening

SHORT_S = 0.1
HELLO_BYTES = 45
ANSWER_BYTES = 33


@pytest.mark.parametrize("way", Way)
@pytest.mark.parametrize("streams", [1, 3])
def test_bytes_go_from_memory_to_memory_both_ways(way: Way, streams: int) -> None:
    with listening() as there:
        client = there.client()
        moved = client.transfer(way, streams, SHORT_S, 0.02)
        client.close()
        there.thread.join(10)
    assert (len(moved.received), len(moved.sent)) == (streams, streams)
    assert moved.bytes_per_s > 10e6
    assert all(0.5 * SHORT_S < stream.window_s < 5 * SHORT_S for stream in moved.received)
    received = sum(stream.bytes for stream in moved.received)
    (served,) = there.responder.served
    booked = served.sent_bytes if way is Way.TO_HERE else served.received_bytes
    assert booked == sum(stream.bytes for stream in (moved.sent if way is Way.TO_HERE else moved.received))
    assert received <= sum(stream.bytes for stream in moved.sent)
    assert (served.ended, served.peer) == ("done", "127.0.0.1")


@pytest.mark.parametrize("way", Way)
def test_pieces_are_timed_one_at_a_time_and_the_session_goes_on(way: Way) -> None:
    with listening() as there:
        client = there.client()
        pieces = client.pieces(way, 5.0)
        after = client.transfer(way, 1, 0.05, 0.0)
        client.close()
    assert [piece.bytes for piece in pieces] == list(SIZES)
    assert 0 < pieces[0].took_s < pieces[-1].took_s < 0.5
    assert after.bytes_per_s > 0


def test_pieces_end_with_their_time() -> None:
    with listening() as there:
        client = there.client()
        pieces = client.pieces(Way.TO_HERE, 0.015)
        client.close()
    assert [piece.bytes for piece in pieces][:1] == [SIZES[0]]
    assert len(pieces) <= 2


@pytest.mark.parametrize("header", [b"\xff" * 8, bytes(8), b"\0\0"])
def test_a_piece_that_nobody_may_ask_for_ends_the_connection_only(header: bytes) -> None:
    """More than a buffer, nothing at all for ever, half a header."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.sendall(header)
        ours.shutdown(socket.SHUT_WR)
        assert answer_pieces(theirs, lambda count: True, 1.0).bytes == 0


def test_the_first_part_stays_out_of_the_figure() -> None:
    with listening() as there:
        client = there.client()
        moved = client.transfer(Way.TO_HERE, 1, SHORT_S, 0.1)
        client.close()
    (stream,) = moved.received
    assert 0 < stream.window_bytes < stream.bytes
    assert stream.window_s < 0.2


def test_a_wrong_token_is_refused_after_a_while_and_logged() -> None:
    with listening(refusal_s=0.1) as there:
        start = time.monotonic()
        with pytest.raises(ResponderRefusedError) as refused:
            there.client("another token altogether").transfer(Way.TO_HERE, 1, SHORT_S, 0)
        assert time.monotonic() - start >= 0.1
        good = there.client()  # the token was not used up by somebody who did not have it
        assert good.transfer(Way.TO_HERE, 1, SHORT_S, 0).bytes_per_s > 0
        good.close()
    assert str(refused.value) == f"responder {there.address}: the responder refused the token"
    assert refused.value.exit_code == 3
    assert there.told[0] == "127.0.0.1: turned away: wrong token"
    assert there.responder.refused == 1


def test_the_token_never_crosses_the_wire() -> None:
    with listening() as there, there.connection() as stranger:
        stranger.sendall(b"ptlink1\nC" + bytes(32) + bytes(4))
        challenge = stranger.recv(40)
        stranger.sendall(bytes(32))
        answer = stranger.recv(ANSWER_BYTES)
    assert TOKEN.encode() not in challenge + answer
    assert answer == b"-" + bytes(32)
    assert all(TOKEN not in line for line in there.told)


def test_a_second_client_is_told_that_the_token_is_used_up() -> None:
    with listening() as there:
        first = there.client()
        first.congestion_control()
        with pytest.raises(ResponderRefusedError, match="the responder's token is used up"):
            there.client().congestion_control()
        assert first.transfer(Way.TO_THERE, 1, SHORT_S, 0).bytes_per_s > 0
        first.close()


def test_a_second_client_is_told_busy_while_more_sessions_are_left() -> None:
    with listening(sessions=2) as there:
        first = there.client()
        first.congestion_control()
        with pytest.raises(ResponderBusyError, match="the responder serves another client"):
            there.client(busy_s=0).congestion_control()
        first.close()
        second = there.client(busy_s=5)
        assert second.transfer(Way.TO_HERE, 1, SHORT_S, 0).bytes_per_s > 0
        second.close()
        there.thread.join(10)
        assert len(there.responder.served) == 2


def test_the_responder_ends_once_its_token_is_used_up() -> None:
    with listening() as there:
        client = there.client()
        client.congestion_control()
        client.close()
        there.thread.join(10)
        assert not there.thread.is_alive()
        with pytest.raises(LinkError, match="connection refused") as refused:
            there.client().congestion_control()
    assert refused.value.hint is not None
    assert "pathtrace respond --listen" in refused.value.hint


@pytest.mark.parametrize("way", Way)
def test_a_session_ends_when_its_bytes_are_used_up(way: Way) -> None:
    with listening(limits=Limits(4 * MIB, 60.0)) as there:
        with pytest.raises(LinkError, match="its limit of 4 MiB a session is used up"):
            there.client().transfer(way, 2, 1.0, 0)
        there.thread.join(10)
    (served,) = there.responder.served
    assert served.ended == "its limit of 4 MiB a session is used up"
    assert served.sent_bytes + served.received_bytes <= 6 * MIB  # the last buffers were under way


def test_a_session_ends_when_its_time_is_over_though_the_client_is_idle() -> None:
    with listening(limits=Limits(GIB, 0.2)) as there:
        client = there.client()
        client.congestion_control()
        there.thread.join(10)
        (served,) = there.responder.served
        assert served.ended == "its time of 200 ms a session is over"
        with pytest.raises(LinkError):
            client.transfer(Way.TO_HERE, 1, SHORT_S, 0)


def test_a_session_ends_when_its_time_is_over_in_the_middle_of_a_transfer() -> None:
    with listening(limits=Limits(GIB * 64, 0.2)) as there:
        start = time.monotonic()
        with pytest.raises(LinkError, match="its time of 200 ms a session is over"):
            there.client().transfer(Way.TO_HERE, 1, 5.0, 0)
        assert time.monotonic() - start < 3


def recorded_handshake(there_address: tuple[str, int]) -> tuple[bytes, bytes]:
    """What a client says in a handshake that is good, as somebody on the way would see it."""

    class Recorded(socket.socket):
        sent = b""

        def sendall(self, data: bytes, flags: int = 0) -> None:  # type: ignore[override]
            self.sent += data
            super().sendall(data, flags)

    with Recorded() as connection:
        connection.connect(there_address)
        introduce(connection, TOKEN.encode(), Purpose.CONTROL, 0, 5)
        write_message(connection, {"do": "bye"})
        return connection.sent[:HELLO_BYTES], connection.sent[HELLO_BYTES : HELLO_BYTES + 32]


def test_a_replayed_handshake_is_refused() -> None:
    with listening(sessions=3) as there:
        hello, proof = recorded_handshake(there.responder.address)
        with there.connection() as again:
            again.sendall(hello)
            receive_exactly(again, 40, time.monotonic() + 5)
            again.sendall(proof)
            assert receive_exactly(again, ANSWER_BYTES, time.monotonic() + 5)[:1] == b"-"


def test_a_data_connection_needs_the_sessions_own_key() -> None:
    with listening() as there:
        client = there.client()
        client.congestion_control()
        with there.connection() as stranger, pytest.raises(ResponderRefusedError):
            introduce(stranger, TOKEN.encode(), Purpose.DATA, 1, 5)
        client.close()


@pytest.mark.parametrize(
    "garbage", [b"GET / HTTP/1.1\r\nHost: nas\r\n\r\n" + bytes(60), bytes(4096), b"\xff" * 45]
)
def test_garbage_is_cut_off_and_the_responder_goes_on(garbage: bytes) -> None:
    with listening() as there:
        with there.connection() as stranger, contextlib.suppress(ConnectionError):
            stranger.sendall(garbage)
            assert stranger.recv(100) == b""
        client = there.client()
        assert client.transfer(Way.TO_HERE, 1, SHORT_S, 0).bytes_per_s > 0
        client.close()
    assert there.told[0] == "127.0.0.1: turned away: no prober of this version"


def test_somebody_who_says_nothing_or_drips_is_cut_off_in_time() -> None:
    with listening(handshake_s=0.2) as there:
        silent, dripping = there.connection(), there.connection()
        with silent, dripping:
            start = time.monotonic()
            with contextlib.suppress(OSError):
                while time.monotonic() - start < 5:
                    dripping.sendall(b"p")
                    dripping.settimeout(0.05)
                    with contextlib.suppress(TimeoutError):
                        if not dripping.recv(1):
                            break
            assert silent.recv(1) == b""
            assert time.monotonic() - start < 3
    assert there.told == ["127.0.0.1: turned away: said nothing in time"] * 2


def test_strangers_that_hold_every_place_do_so_for_a_moment_only() -> None:
    with listening(handshake_s=0.3) as there, contextlib.ExitStack() as stack:
        for _ in range(70):
            stack.enter_context(there.connection())
        until, client = time.monotonic() + 10, there.client()
        while True:
            try:
                client.congestion_control()
                break
            except LinkError:
                assert time.monotonic() < until
                client = there.client()
        client.close()


@pytest.mark.parametrize(
    "message",
    [
        {"do": "send", "streams": 10_000, "length_s": 1, "warmup_s": 0, "most_bytes": 1},
        {"do": "send", "streams": 1, "length_s": 1e9, "warmup_s": 0, "most_bytes": 1},
        {"do": "send", "streams": True, "length_s": 1, "warmup_s": 0, "most_bytes": 1},
        {"do": "format the disk"},
        {"do": ["pieces"]},
        {"do": "pieces", "streams": 1, "length_s": 61, "warmup_s": 0, "most_bytes": 1},
        {},
    ],
)
def test_a_message_that_asks_for_too_much_ends_the_session(message: dict[str, object]) -> None:
    with listening() as there:
        with there.connection() as connection:
            introduce(connection, TOKEN.encode(), Purpose.CONTROL, 0, 5)
            read_message(connection, time.monotonic() + 5)
            write_message(connection, message)
            assert str(read_message(connection, time.monotonic() + 5)["error"]).startswith(
                "a message asks for"
            )
        there.thread.join(10)


def test_an_address_that_is_not_here_or_taken_is_told() -> None:
    def make(host: str, port: int) -> None:
        Responder((host, port), TOKEN, Limits(1, 1), print, clock)

    with pytest.raises(
        PlaceError, match=r"^cannot listen on 192\.0\.2\.1:7411: Cannot assign requested address$"
    ):
        make("192.0.2.1", 7411)
    with (
        socket.create_server(("127.0.0.1", 0), reuse_port=False) as taken,
        pytest.raises(PlaceError, match=r": Address already in use$"),
    ):
        make("127.0.0.1", taken.getsockname()[1])


def test_an_impostor_without_the_token_is_found_out() -> None:
    with socket.create_server(("127.0.0.1", 0)) as impostor:
        client = ResponderClient(f"127.0.0.1:{impostor.getsockname()[1]}", TOKEN, clock)

        def pretend() -> None:
            connection, _ = impostor.accept()
            with connection:
                handshake, _ = link_protocol.challenge(connection, time.monotonic() + 5)
                link_protocol.welcome(connection, handshake, b"some other key")

        import threading

        thread = threading.Thread(target=pretend)
        thread.start()
        with pytest.raises(LinkError, match="the responder could not prove that it has the token"):
            client.congestion_control()
        thread.join()


def test_another_service_on_that_port_is_no_responder() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        client = ResponderClient(f"127.0.0.1:{other.getsockname()[1]}", TOKEN, clock)
        import threading

        def greet() -> None:
            connection, _ = other.accept()
            with connection:
                connection.sendall(b"SSH-2.0-OpenSSH_9.2p1 Debian-2+deb12u3\r\n" + bytes(60))
                connection.recv(100)

        thread = threading.Thread(target=greet)
        thread.start()
        with pytest.raises(LinkError, match="something else than a responder of this version answers there"):
            client.congestion_control()
        thread.join()


def test_a_session_that_failed_is_not_begun_again() -> None:
    with listening() as there:
        client = there.client("another token altogether")
        for _ in range(2):
            with pytest.raises(OperationError):
                client.congestion_control()
    assert there.responder.refused == 1


def test_an_echo_answers_the_sessions_peer_once_per_number_and_nobody_else() -> None:
    with listening() as there:
        client = there.client()
        echo = client.echo()
        assert echo is not None
        assert echo.exchange(400, 900, 2.0).rtt_s is not None
        echo.close()
        key = client._key
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as own:
            own.settimeout(0.15)
            own.connect(there.responder.address)
            ask = seal(Datagram(Asked.ECHO, 10, 700), key, padding(100))
            own.send(ask)
            reply = own.recv(2000)
            assert unseal(reply, key) == Datagram(Asked.REPLY, 10, 700)
            assert len(reply) == 700
            unwanted = (
                ask,  # caught on the way and sent again
                seal(Datagram(Asked.ECHO, 11, 700), b"a stranger's key", padding(100)),
                seal(Datagram(Asked.REPLY, 12, 700), key, padding(100)),
                bytes(LEAST_DATAGRAM),
                b"x",
            )
            for raw in unwanted:
                own.send(raw)
            with pytest.raises(TimeoutError):
                own.recv(2000)
        client.close()


def test_stopping_ends_a_session_that_is_going_on() -> None:
    with listening() as there:
        client = there.client()
        client.congestion_control()
        there.responder.stop()
        there.thread.join(10)
        with pytest.raises(LinkError):
            client.transfer(Way.TO_HERE, 1, SHORT_S, 0)
