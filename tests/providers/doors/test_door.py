"""Ports that lead to a machine: how they are written, and whether they can be had."""

from __future__ import annotations

import socket

import pytest

from lastro.errors import UsageError
from lastro.providers.doors.door import Forward, options_of, parse_forward, require_free


@pytest.mark.parametrize(("text", "forward"), [("8888", Forward(8888, 8888)), ("1:65535", Forward(1, 65535))])
def test_one_port_or_two_are_read(text: str, forward: Forward) -> None:
    assert parse_forward(text) == forward


@pytest.mark.parametrize("text", ["0", "65536", "8888:0", "8888:", "-1", "http", "8888:9:9", "", "1.5", "٣"])
def test_what_is_no_port_is_refused_with_what_would_be_one(text: str) -> None:
    with pytest.raises(UsageError) as told:
        parse_forward(text)

    assert "65535" in str(told.value.hint)


def test_of_a_port_that_is_taken_another_one_is_offered() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]

        with pytest.raises(UsageError, match=f"port {port} of this computer is taken") as told:
            require_free([Forward(port, 8888)])

    assert ":8888" in str(told.value.hint)


def test_a_port_of_this_computer_leads_to_one_place() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]

    with pytest.raises(UsageError, match="is taken"):
        require_free([Forward(port, 1), Forward(port, 2)])


def test_a_forwarded_port_is_heard_on_this_computer_alone() -> None:
    assert options_of([Forward(1, 2)])[-2:] == ("-L", "127.0.0.1:1:127.0.0.1:2")
    assert options_of([]) == ()
