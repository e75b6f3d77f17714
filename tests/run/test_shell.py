"""The machine's end of a shell, with real processes: what ends it, and what outlives it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from lastro import atomic, strictjson
from lastro.clock import iso
from lastro.journal.events import EventType
from lastro.journal.streams import Event, read_stream
from lastro.paths import CampaignFolder, Disk, stream_of_shell
from lastro.procs.killtree import end_tree, members
from lastro.rules import Limits
from lastro.rules.shell import ShellOrder
from lastro.run.shell_command import environment_of, python_folder, words_of
from tests.procs.real import eventually

#: A process that a hang-up does not end, beside one that it does.
STAYS_AND_GOES = "(trap '' HUP; exec sleep 600) & sleep 600"


@pytest.fixture(autouse=True)
def _nothing_stays_alive() -> Iterator[None]:
    yield
    end_tree(("LASTRO_SHELL", "t"))


def order_for(tmp_path: Path, *command: str, **changed: Any) -> ShellOrder:
    order = ShellOrder(
        token="t",
        campaign="c",
        machine="m-1",
        node="n",
        campaign_folder=str(tmp_path / "disk/campaigns/c"),
        workdir=str(tmp_path),
        command=command or None,
        home_stream="home-1",
        home_head="0",
    )
    return replace(order, **changed)


def start(order: ShellOrder, **environment: str) -> subprocess.Popen[bytes]:
    campaign = CampaignFolder(Path(order.campaign_folder))
    folder = campaign.shell(order.token)
    atomic.make_folder(folder.root)
    atomic.write_text(folder.order, strictjson.pretty(order.as_json()))
    folder.heard.touch()
    return subprocess.Popen(
        [sys.executable, "-m", "lastro.run.shell", str(folder.root)],
        env={**os.environ, "HOME": str(campaign.root), **environment},
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )


def ended(order: ShellOrder) -> Event:
    stream = CampaignFolder(Path(order.campaign_folder)).stream(stream_of_shell(order.token))
    return next(event for event in read_stream(stream).events if event.type is EventType.SHELL_ENDED)


def living() -> int:
    return len(members(("LASTRO_SHELL", "t")).all)


def test_home_that_is_not_heard_ends_it_as_a_terminal_that_is_gone_would(tmp_path: Path) -> None:
    """What a person has started to outlive its terminal does that."""
    order = order_for(tmp_path, "sh", "-c", STAYS_AND_GOES, silence_seconds=2.0)

    shell = start(order)

    assert shell.wait(30) == 128 + 1
    assert ended(order).facts["ended_by"] == "silence"
    eventually(lambda: living() == 1)
    assert not CampaignFolder(Path(order.campaign_folder)).shell("t").root.exists()


def test_a_limit_ends_all_of_it_and_lets_the_machine_go(tmp_path: Path) -> None:
    release = tmp_path / "release.json"
    lease_end = iso(datetime.now(timezone.utc) + timedelta(seconds=62))
    order = order_for(tmp_path, "sh", "-c", STAYS_AND_GOES, limits=Limits(lease_end_at=lease_end))

    shell = start(order, LASTRO_RELEASE=str(release))
    _none, words = shell.communicate(timeout=60)

    assert ended(order).facts["ended_by"] == "lease_end"
    assert b"the machine's lease ends in" in words
    assert strictjson.read(release) == {"why": "lease end"}
    eventually(lambda: living() == 0)


def test_a_terminal_that_was_left_is_not_waited_for(tmp_path: Path) -> None:
    order = order_for(tmp_path, "sleep", "600")
    shell = start(order)
    folder = CampaignFolder(Path(order.campaign_folder)).shell("t")
    eventually(lambda: living() and folder.sign.exists())

    folder.heard.unlink()

    assert shell.wait(60) == 128 + 1
    assert ended(order).facts["why"] == "its terminal was left"


def test_an_order_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    broken = CampaignFolder(tmp_path).shell("t")
    atomic.make_folder(broken.root)
    broken.order.write_text("{}")

    words = [sys.executable, "-m", "lastro.run.shell", str(broken.root)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)

    assert done.returncode == 8 and "could not be opened" in done.stderr


def _with_python(folder: Path) -> Path:
    folder.mkdir(parents=True)
    (folder / "python").symlink_to(sys.executable)
    return folder


@pytest.mark.parametrize(
    ("word", "place"),
    [
        (None, lambda tmp: tmp / "bin"),
        ("python", lambda tmp: tmp / "bin"),
        (".venv/bin/python", lambda tmp: tmp / "work/.venv/bin"),
        ("other/bin/python", lambda tmp: None),
    ],
)
def test_the_jobs_python_comes_first(
    tmp_path: Path, word: str | None, place: Callable[[Path], Path | None]
) -> None:
    """A path begins at the run's folder; one that is not there yet changes nothing."""
    found = _with_python(tmp_path / "bin")
    _with_python(tmp_path / "work/.venv/bin")
    order = order_for(tmp_path, "true", workdir=str(tmp_path / "work"), python=word)
    base = {"PATH": f"/usr/bin:{found}", "HOME": str(tmp_path)}
    expected = place(tmp_path)

    assert python_folder(order, base) == (None if expected is None else str(expected))
    path = environment_of(order, base, Disk(tmp_path / "disk"))["PATH"]
    assert path.startswith(f"{expected}:" if expected is not None else "/usr/bin:")


def test_what_a_person_has_set_stays_and_a_shell_of_another_kind_is_started_as_it_is(tmp_path: Path) -> None:
    order = order_for(tmp_path)
    base = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "HF_HOME": "/mine", "SHELL": "/bin/sh"}

    given = environment_of(order, base, Disk(tmp_path / "disk"))

    assert given["HF_HOME"] == "/mine"
    assert given["TORCH_HOME"] == str(tmp_path / "disk/cache/torch")
    assert words_of(order, given, CampaignFolder(tmp_path).shell("t")) == ["/bin/sh", "-i"]
