"""The door of a machine that is reached by ssh: `ssh -t`, beside the connection over which home asks."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lastro import strictjson
from lastro.errors import StorageError
from lastro.paths import Disk
from lastro.providers.base import Machine
from lastro.providers.doors.door import Forward, Way, leads_to, options_of
from lastro.providers.ssh.channel import Channel
from lastro.providers.ssh.replica import WHERE
from lastro.providers.ssh.transport import address, ssh_command

_MOST = 1 << 22


class SshDoor:
    """Leads to a machine at an address. What is put, touched and read goes over `channel`."""

    def __init__(self, channel: Channel, machine: Machine, copy: Disk) -> None:
        self._channel, self._machine = channel, machine
        self._path = str(strictjson.read(copy.root / WHERE)["path"])
        self._connection = 0
        self.disk = Path()
        self._open()

    def _open(self) -> None:
        """Have the agent open the disk; a new agent, after a cut, knows of none."""
        self._channel.connect()
        if self._connection != self._channel.connections:
            told, _none = self._channel.ask("disk", path=self._path, declared=None)
            self.disk = Path(told["path"])
            self._connection = self._channel.connections

    def _ask(self, question: str, body: bytes = b"", **facts: Any) -> tuple[Mapping[str, Any], bytes]:
        self._open()
        return self._channel.ask(question, body, **facts)

    def put(self, name: str, data: bytes) -> None:
        self._ask("put", data, path=name, how="replace", offset=0)

    def touch(self, name: str) -> None:
        self._ask("touch", path=name)

    def drop(self, name: str) -> None:
        self._ask("drop", path=name)

    def read(self, name: str) -> bytes | None:
        try:
            return self._ask("get", path=name, offset=0, most=_MOST)[1]
        except StorageError:
            return None

    def way(self, words: Sequence[str], forwards: Sequence[Forward], *, terminal: bool) -> Way:
        machine = self._machine
        told, _none = self._ask("shell", machine=machine.id, node=machine.node, argv=list(words))
        script = f"exec {shlex.join(told['argv'])}"
        target = self._channel.target
        return Way(
            argv=(
                *ssh_command(os.environ, terminal=terminal),
                *("-o", "LogLevel=ERROR", *options_of(forwards)),
                *address(target),
                f"exec sh -c {shlex.quote(script)}",
            ),
            environment=os.environ,
            cwd=Path.cwd(),
            told=tuple(leads_to(one, machine.id) for one in forwards),
            far=True,
        )

    def close(self) -> None:
        self._channel.close()
