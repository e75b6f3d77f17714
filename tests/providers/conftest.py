from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from lastro.clock import SystemClock
from lastro.paths import Home
from lastro.procs.killtree import members
from lastro.providers import environment
from lastro.providers.local import Local


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home")


@pytest.fixture
def local(home: Home) -> Iterator[Local]:
    """The local provider in a home of its own; its machines are deleted at the end."""
    local = Local(home, SystemClock())
    yield local
    for machine in local.machines():
        local.delete(machine.id)
        assert not members(environment.marker(machine.id)).all
