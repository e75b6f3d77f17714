from __future__ import annotations

import io

from hypothesis import given
from hypothesis import strategies as st

from lastro.providers.ssh.wire import MARK, frame, read_frame

LINES = st.binary(max_size=60).filter(lambda line: MARK not in line and b"\n" not in line)


@given(banner=st.lists(LINES, max_size=4), body=st.binary(max_size=200), text=st.text(max_size=20))
def test_a_frame_is_found_behind_whatever_a_shell_prints(banner: list[bytes], body: bytes, text: str) -> None:
    noise = b"".join(line + b"\n" for line in banner)

    found = read_frame(io.BytesIO(noise + frame({"ask": text}, body) + b"more"))

    assert found == ({"ask": text, "bytes": len(body)}, body)


def test_a_banner_without_an_end_of_line_hides_no_frame() -> None:
    assert read_frame(io.BytesIO(b"Welcome! " + frame({"ask": "hello"}))) == (
        {"ask": "hello", "bytes": 0},
        b"",
    )


def test_at_the_end_there_is_none() -> None:
    assert read_frame(io.BytesIO(b"Connection to gpu7 closed.\n")) is None
