"""A real sshd on loopback as a rented machine: its own home, its own keys, an address, and a cable to cut."""

from __future__ import annotations

import contextlib
import getpass
import os
import shlex
import shutil
import signal
import socket
import subprocess
import time
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from lastro.procs.identity import table
from lastro.procs.killtree import end_tree

#: What tells one box from another.
_OF_A_BOX = (Path("/proc/sys/kernel/random/boot_id"), Path("/etc/machine-id"))


def free_port() -> int:
    """Return a port on which nobody listens now."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
    return port


@dataclass
class Rented:
    """One machine. `config`: the ssh configuration of a user who can log in there.

    `inside`: the command in which its sshd is started, such as one that gives it a root of its own.
    """

    folder: Path
    port: int
    process: subprocess.Popen[bytes] = field(repr=False)
    inside: Sequence[str] = ()

    @property
    def home(self) -> Path:
        """The home of the user there."""
        return self.folder / "home"

    @property
    def config(self) -> Path:
        return self.folder / "ssh_config"

    @property
    def spec(self) -> str:
        return f"ssh://{getpass.getuser()}@127.0.0.1:{self.port}"

    def cut(self) -> None:
        """Cut all cables: who is connected hears nothing more, on either side."""
        for pid in self._connections():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def _connections(self) -> list[int]:
        """Return the processes of sshd that serve a connection; what they have started is not among them."""
        found, all_of_them = {self.process.pid}, table()
        for _level in range(2):
            found |= {one.pid for one in all_of_them.values() if one.parent in found and _is_sshd(one.pid)}
        return sorted(found - {self.process.pid})

    def down(self) -> None:
        """Let nobody answer any more; what runs there goes on."""
        serving = self._connections()
        self.process.kill()
        self.process.wait()
        for pid in serving:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def up(self) -> None:
        """Answer again."""
        self.process = _start(self.folder, self.port, self.inside)


def _is_sshd(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/comm").read_text().startswith("sshd")
    except OSError:
        return False


def _keys(folder: Path) -> None:
    for name in ("host", "user"):
        command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name)]
        subprocess.run(command, check=True)
    (folder / "authorized").write_bytes((folder / "user.pub").read_bytes())
    kind, key, *_rest = (folder / "host.pub").read_text().split()
    (folder / "known").write_text(f"* {kind} {key}\n")


def _start(folder: Path, port: int, inside: Sequence[str] = ()) -> subprocess.Popen[bytes]:
    sshd = shutil.which("sshd") or "/usr/sbin/sshd"
    command = [sshd, "-D", "-e", "-f", str(folder / "sshd_config")]
    own = [f"mount --bind {shlex.quote(str(folder / target.name))} {target}" for target in _OF_A_BOX]
    if all((folder / target.name).exists() for target in _OF_A_BOX):
        script = " && ".join([*own, f"exec {shlex.join(command)}"])
        command = ["unshare", "--mount", "--propagation", "private", "sh", "-c", script]
    with (folder / "log").open("a") as log:
        process = subprocess.Popen([*inside, *command], stderr=log)
    for _attempt in range(400):
        with socket.socket() as tried:
            if tried.connect_ex(("127.0.0.1", port)) == 0:
                return process
        assert process.poll() is None, (folder / "log").read_text()
        time.sleep(0.05)
    raise AssertionError("sshd did not come up")


@contextlib.contextmanager
def rented(
    folder: Path, inside: Sequence[str] = (), *, apart: bool = False, **environment: str
) -> Iterator[Rented]:
    """Give a machine; at the end nothing of it runs. `apart`: it has a boot and a machine id of its own."""
    if not Path(shutil.which("sshd") or "/usr/sbin/sshd").exists():
        pytest.skip("sshd is not installed here: make system")
    (folder / "home").mkdir(parents=True, exist_ok=True)
    if apart:
        if os.geteuid() != 0:
            pytest.skip("a machine with ids of its own needs root")
        (folder / _OF_A_BOX[0].name).write_text(f"{uuid.uuid4()}\n")
        (folder / _OF_A_BOX[1].name).write_text(f"{uuid.uuid4().hex}\n")
    _keys(folder)
    port = free_port()
    given = {"HOME": str(folder / "home"), "LASTRO_HOME": str(folder / "home" / ".lastro"), **environment}
    settings = {
        "ListenAddress": "127.0.0.1",
        "Port": str(port),
        "HostKey": str(folder / "host"),
        "AuthorizedKeysFile": str(folder / "authorized"),
        "PidFile": "none",
        "StrictModes": "no",
        "UsePAM": "no",
        "PasswordAuthentication": "no",
        "KbdInteractiveAuthentication": "no",
        "PrintMotd": "no",
        "SetEnv": " ".join(f'{name}="{value}"' for name, value in given.items()),
    }
    (folder / "sshd_config").write_text("".join(f"{key} {value}\n" for key, value in settings.items()))
    (folder / "ssh_config").write_text(
        f"IdentityFile {folder / 'user'}\nIdentitiesOnly yes\nUserKnownHostsFile {folder / 'known'}\n"
        "StrictHostKeyChecking yes\nLogLevel ERROR\n"
    )
    if os.geteuid() == 0:
        Path("/run/sshd").mkdir(exist_ok=True)
    machine = Rented(folder, port, _start(folder, port, inside), inside)
    try:
        yield machine
    finally:
        machine.down()
        for place in (folder / "home" / ".lastro" / "ssh").glob("*"):
            end_tree(("LASTRO_MACHINE", place.name))
