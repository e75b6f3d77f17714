"""A rented machine on loopback for the tests of a file."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.providers.ssh.sshd import Rented, rented


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rented]:
    with rented(tmp_path_factory.mktemp("rented") / "machine") as found:
        yield found


@pytest.fixture
def reachable(machine: Rented, monkeypatch: pytest.MonkeyPatch) -> Rented:
    monkeypatch.setenv("LASTRO_SSH_CONFIG", str(machine.config))
    return machine
