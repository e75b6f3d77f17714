"""Machines that cannot be used, on a real sshd: each is told with what is wrong there."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from lastro.clock import SystemClock
from lastro.errors import ProviderError, StorageError
from lastro.paths import Home
from lastro.providers.base import MachineRequest
from lastro.providers.ssh.ssh import Ssh
from lastro.providers.ssh.transport import NO_PYTHON, Refused
from tests.providers.ssh.sshd import Rented, rented

#: Puts a file system over a folder, for what is started in it only.
_OVER = 'mount {how} "$0"; exec "$@"'


def over(folder: Path, how: str) -> list[str]:
    """Return the command in which a folder is another file system."""
    if os.geteuid() != 0:
        pytest.skip("a file system of its own needs root")
    script = _OVER.format(how=how)
    return ["unshare", "--mount", "--propagation", "private", "sh", "-c", script, str(folder)]


def at(machine: Rented, tmp_path: Path, patch: pytest.MonkeyPatch) -> Ssh:
    patch.setenv("LASTRO_SSH_CONFIG", str(machine.config))
    return Ssh(machine.spec, Home(tmp_path / "home-here"), SystemClock())


def refusal(machine: Rented, tmp_path: Path, patch: pytest.MonkeyPatch) -> Refused:
    with pytest.raises(Refused) as told:
        at(machine, tmp_path, patch).traces()
    return told.value


def test_an_old_python_is_named_and_nothing_is_sent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tools = tmp_path / "bin"
    tools.mkdir()
    (tools / "sh").symlink_to("/bin/sh")
    (tools / "python3").write_text(f"#!/bin/sh\nexit {NO_PYTHON}\n")  # what 3.9 makes of lastro's first words
    (tools / "python3").chmod(0o755)
    with rented(tmp_path / "machine", PATH=str(tools)) as machine:
        error = refusal(machine, tmp_path, monkeypatch)
        left = list(machine.home.iterdir())

    assert "no Python that is 3.10 or newer" in error.message and "apt-get install" in str(error.hint)
    assert left == []


@pytest.mark.parametrize(
    ("how", "why"),
    [("-t tmpfs -o ro tmpfs", "Read-only file system"), ("-t tmpfs -o size=64k tmpfs", "No space left")],
)
def test_a_home_that_takes_nothing_is_told_with_a_way_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str, why: str
) -> None:
    folder = tmp_path / "machine"
    with rented(folder, over(folder / "home", how)) as machine:
        error = refusal(machine, tmp_path, monkeypatch)

    assert f"does not take lastro: {folder}/home/.lastro: {why}" in error.message
    assert "LASTRO_HOME" in str(error.hint)


def test_who_has_no_key_there_is_told_and_asked_for_no_password(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with rented(tmp_path / "machine") as machine:
        (machine.folder / "user").unlink()
        command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(machine.folder / "user")]
        subprocess.run(command, check=True)
        error = refusal(machine, tmp_path, monkeypatch)

    assert "accepts none of your keys" in error.message
    assert "lastro types no password" in str(error.hint)


def test_a_full_disk_there_is_named_and_publishes_nothing_half(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "machine"
    (folder / "home" / "disk").mkdir(parents=True)
    with rented(folder, over(folder / "home" / "disk", "-t tmpfs -o size=256k tmpfs")) as machine:
        provider = at(machine, tmp_path, monkeypatch)
        replica = provider.replica("disk")
        replica.open(None)
        large = replica.local.root / "campaigns" / "c" / "large.bin"
        large.parent.mkdir(parents=True)
        large.write_bytes(os.urandom(1 << 20))
        with pytest.raises(StorageError) as told:
            replica.carry([large], "any")
        _told, names = provider._channel.ask("list", path="campaigns")

    assert names == b"[]"
    assert "No space left" in told.value.message and machine.spec in told.value.message


def test_a_machine_on_which_nothing_answers_as_lastro_is_no_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its shell ends whoever logs in with a word of its own, as an appliance does."""
    tools = tmp_path / "bin"
    tools.mkdir()
    (tools / "sh").write_text("#!/bin/bash\necho This account is not available. >&2\nexit 1\n")
    (tools / "sh").chmod(0o755)
    with rented(tmp_path / "machine", PATH=str(tools)) as machine, pytest.raises(ProviderError) as told:
        at(machine, tmp_path, monkeypatch).traces()

    assert "This account is not available." in told.value.message
    assert "try it by hand" in str(told.value.hint)


def test_another_machine_at_the_address_makes_the_old_one_neither_gone_nor_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Gone it is when a person says so."""
    with rented(tmp_path / "machine", apart=True) as machine:
        request = MachineRequest(tag="one", campaign="small", disk=tmp_path / "disk", lease=None)
        made = at(machine, tmp_path, monkeypatch).create(request)
        (machine.folder / "machine-id").write_text("0123456789abcdef0123456789abcdef\n")
        later = at(machine, tmp_path, monkeypatch)

        for verb in (later.describe, later.delete):
            with pytest.raises(ProviderError, match="another machine answers") as told:
                verb(made.id)
            assert f"lastro stop --gone {made.id}" in str(told.value.hint)
        later.forget(made.id, "gone, as a person says")

    assert later.describe(made.id).cause == "gone, as a person says"
