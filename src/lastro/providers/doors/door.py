"""What a door is: the command that leads into a machine, the records there, and ports that lead to it."""

from __future__ import annotations

import contextlib
import re
import socket
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from lastro import atomic
from lastro.errors import UsageError
from lastro.locale import _
from lastro.paths import Disk
from lastro.records import dataclass

#: Where a forwarded port listens, and what it leads to: never another computer's address.
LOOPBACK = "127.0.0.1"
_FORWARD = re.compile(r"([0-9]+)(?::([0-9]+))?")
_LAST_PORT = 65535


@dataclass(frozen=True)
class Forward:
    """A port of this computer that leads to one of the machine."""

    local: int
    remote: int


@dataclass(frozen=True, kw_only=True)
class Way:
    """How a command is started on a machine from a terminal here.

    `argv` in `environment` (whole) and in the folder `cwd`. `told`: a line for each forwarded port. `beside`:
    a command that has to run meanwhile, for these; None: nothing. `far`: the last one is a connection, which
    ends with 255 when it breaks.
    """

    argv: tuple[str, ...]
    environment: Mapping[str, str]
    cwd: Path
    told: tuple[str, ...] = ()
    beside: tuple[str, ...] | None = None
    far: bool = False


class Door(Protocol):
    """One machine, from a terminal here. Names are paths below `disk`, the root of the campaign's there."""

    disk: Path

    def put(self, name: str, data: bytes) -> None:
        """Publish a file there. Raises StorageError, ProviderError."""
        ...

    def touch(self, name: str) -> None:
        """Change a file's time there, which is a sign of life. Raises StorageError, ProviderError."""
        ...

    def drop(self, name: str) -> None:
        """Remove a file there; one that is gone is fine. Raises StorageError, ProviderError."""
        ...

    def read(self, name: str) -> bytes | None:
        """Return a small file; None where there is none. Raises StorageError, ProviderError."""
        ...

    def way(self, words: Sequence[str], forwards: Sequence[Forward], *, terminal: bool) -> Way:
        """Return how `python WORDS` is started there, with the marks of the machine in its environment.

        Raises:
            ProviderError: nobody can be let in, or a port cannot be led there.
        """
        ...

    def close(self) -> None:
        """Hang up."""
        ...


class NearDisk:
    """The records of a door whose machine sees the same disk as this computer, at the same path."""

    def __init__(self, disk: Disk) -> None:
        self.disk = disk.root

    def put(self, name: str, data: bytes) -> None:
        path = self.disk / name
        atomic.make_folder(path.parent)
        atomic.write_bytes(path, data)

    def touch(self, name: str) -> None:
        (self.disk / name).touch()

    def drop(self, name: str) -> None:
        (self.disk / name).unlink(missing_ok=True)

    def read(self, name: str) -> bytes | None:
        with contextlib.suppress(FileNotFoundError):
            return (self.disk / name).read_bytes()
        return None

    def close(self) -> None:
        """Nothing is held."""


def parse_forward(text: str) -> Forward:
    """Read `8888` (the same port there) or `8888:9999` (9999 there). Raises UsageError for anything else."""
    found = _FORWARD.fullmatch(text)
    ports = [int(port) for port in found.groups() if port is not None] if found else []
    if not ports or not all(0 < port <= _LAST_PORT for port in ports):
        raise UsageError(
            _("{text!r} is no port to forward").format(text=text),
            hint=_("a number from 1 to {last}, or two: --forward 8888, --forward 8888:9999").format(
                last=_LAST_PORT
            ),
        )
    return Forward(ports[0], ports[-1])


def require_free(forwards: Sequence[Forward]) -> None:
    """See that the ports of this computer can be had, each once.

    Raises:
        UsageError: one cannot; another one that can is offered.
    """
    taken: set[int] = set()
    for one in forwards:
        if one.local in taken or not _is_free(one.local):
            free = next((port for port in range(one.local + 1, _LAST_PORT + 1) if _is_free(port)), None)
            raise UsageError(
                _("port {port} of this computer is taken").format(port=one.local),
                hint=_("another one: --forward {free}:{remote}").format(free=free, remote=one.remote)
                if free is not None and free not in taken
                else _("take another one: --forward PORT:{remote}").format(remote=one.remote),
            )
        taken.add(one.local)


def _is_free(port: int) -> bool:
    with socket.socket() as tried:
        tried.setsockopt(
            socket.SOL_SOCKET, socket.SO_REUSEADDR, 1
        )  # one that was let go a moment ago is free
        try:
            tried.bind((LOOPBACK, port))
        except OSError:
            return False
    return True


def options_of(forwards: Sequence[Forward]) -> tuple[str, ...]:
    """Return the options by which ssh leads ports: of this computer alone, or the connection is not made."""
    if not forwards:
        return ()
    ports = [f"{LOOPBACK}:{one.local}:{LOOPBACK}:{one.remote}" for one in forwards]
    return ("-o", "ExitOnForwardFailure=yes", *(word for port in ports for word in ("-L", port)))


def leads_to(forward: Forward, machine: str) -> str:
    """Return what is told of a port that is forwarded."""
    return _("http://{host}:{local} leads to port {remote} of {machine}").format(
        host=LOOPBACK, local=forward.local, remote=forward.remote, machine=machine
    )


def not_needed(forward: Forward) -> str:
    """Return what is told of a port of a machine that is this very box."""
    return _("nothing has to be forwarded: port {remote} is http://{host}:{remote} as it is").format(
        host=LOOPBACK, remote=forward.remote
    )
