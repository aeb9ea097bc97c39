from __future__ import annotations

import os
import socket
import threading

from hypothesis import given
from hypothesis import strategies as st

from pathtrace.places.smb_frames import missing, packed, receive, send, unpacked

VALUES = st.recursive(
    st.none() | st.integers() | st.binary(max_size=50) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3).map(tuple),
)


@given(VALUES, st.data())
def test_a_frame_is_complete_with_its_last_byte_and_not_before(value: object, data: st.DataObject) -> None:
    frame = packed(value)
    cut = data.draw(st.integers(0, len(frame) - 1))
    assert missing(frame) == 0
    assert missing(frame[:cut]) == (4 - cut if cut < 4 else len(frame) - cut)
    assert unpacked(frame) == value


def test_values_larger_than_the_sockets_buffer_and_descriptors_come_across() -> None:
    ours, theirs = socket.socketpair()
    large = os.urandom(3_000_000)
    with ours, theirs:
        sender = threading.Thread(target=send, args=(ours, large))
        sender.start()
        assert receive(theirs) == (large, [])
        sender.join()
        read_end, write_end = os.pipe()
        socket.send_fds(ours, [packed("with one")], [write_end])
        value, descriptors = receive(theirs)
        os.write(descriptors[0], b"!")
        assert (value, len(descriptors), os.read(read_end, 1)) == ("with one", 1, b"!")
        for descriptor in (read_end, write_end, *descriptors):
            os.close(descriptor)
