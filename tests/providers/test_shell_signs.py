"""Who holds a machine by an open shell, as it is seen from its sign: by the clock of who looks."""

from __future__ import annotations

from pathlib import Path

from lastro import atomic, strictjson
from lastro.journal.signals import Heartbeat
from lastro.paths import CampaignFolder, ShellFolder
from lastro.providers.shell_signs import ShellSigns


def opened(campaign: CampaignFolder, token: str, machine: str) -> ShellFolder:
    folder = campaign.shell(token)
    atomic.make_folder(folder.root)
    order = {"machine": machine, "silence_seconds": 100.0}
    atomic.write_text(folder.order, strictjson.pretty(order))
    Heartbeat(folder.sign).beat(1)
    return folder


def test_a_shell_holds_its_machine_while_its_sign_changes_and_for_the_silence_after(tmp_path: Path) -> None:
    """Last changed at 150: held until 250, not at 250."""
    campaign = CampaignFolder(tmp_path)
    folder = opened(campaign, "t", "m-1")
    signs = ShellSigns(campaign)

    assert signs.held(50.0) == {"m-1"}
    Heartbeat(folder.sign).beat(1)
    assert signs.held(150.0) == {"m-1"}
    assert signs.held(249.9) == {"m-1"}
    assert signs.held(250.0) == frozenset()


def test_good_bye_and_a_folder_that_is_gone_let_go_at_once(tmp_path: Path) -> None:
    campaign = CampaignFolder(tmp_path)
    first, second = opened(campaign, "a", "m-1"), opened(campaign, "b", "m-2")
    signs = ShellSigns(campaign)
    assert signs.held(0.0) == {"m-1", "m-2"}

    Heartbeat(first.sign).beat(0)
    for path in second.root.iterdir():
        path.unlink()
    second.root.rmdir()

    assert signs.held(1.0) == frozenset()


def test_what_cannot_be_read_and_what_never_was_hold_nothing(tmp_path: Path) -> None:
    campaign = CampaignFolder(tmp_path)
    assert ShellSigns(campaign).held(0.0) == frozenset()

    atomic.make_folder(campaign.shell("t").root)
    campaign.shell("t").order.write_text("{")

    assert ShellSigns(campaign).held(0.0) == frozenset()
