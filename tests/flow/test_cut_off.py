"""A campaign whose home is killed, and whose folder is all that is left: what an audit says of it."""

from __future__ import annotations

import json
import os
import shutil
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import pytest

from lastro import atomic
from lastro.clock import SystemClock
from lastro.closeout.audit import Audit
from lastro.closeout.seal import held_ends
from lastro.closeout.unclosed import look_at_unclosed
from lastro.flow.auditing import audit
from lastro.flow.verifying import loose_ends
from lastro.journal.projections import project
from lastro.journal.settled import settled_files
from lastro.journal.streams import read_journal
from lastro.paths import CampaignFolder, Home
from lastro.providers.local import Local
from lastro.storage.digest import sha256_file
from tests.flow.campaigns import SmallCampaign, small_campaign, wait_for
from tests.flow.flips import with_a_flip


@pytest.fixture(scope="module")
def cuts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[CampaignFolder, ...]]:
    """Return the folder as it was found at three moments, each after a kill of home.

    The plan has just been frozen; a checkpoint is there, and its attempt goes on; the first run, which had
    lost a machine, was completed without home.
    """
    root = tmp_path_factory.mktemp("cut")
    campaign = small_campaign(root)
    (campaign.folder / "faults.yaml").write_text("faults:\n  - {run: control, step: 24}\n")
    there = campaign.disk / "campaigns/small"
    moments: tuple[Callable[[], object], ...] = (
        there.joinpath("close/seal.json").exists,
        lambda: list(there.glob("runs/*/checkpoints/10-a1/manifest.json")),
        lambda: list(there.glob("runs/*/attempts/2/process.json")),
    )
    found = []
    for number, moment in enumerate(moments):
        driver = campaign.start("run", "--faults", "faults.yaml")
        wait_for(moment)
        os.killpg(driver.pid, signal.SIGKILL)
        driver.wait()
        if number == 2:
            wait_for(
                lambda: [one for one in there.glob("journal/*-2.jsonl") if "run.ended" in one.read_text()]
            )
        found.append(CampaignFolder(root / f"{number}" / "small"))
        shutil.copytree(there, found[-1].root)
    yield tuple(found)
    local = Local(Home(campaign.home), SystemClock())
    for machine in local.machines():
        local.delete(machine.id)


def look(folder: CampaignFolder) -> Audit:
    return audit(folder.root, SystemClock())


def kinds(found: Audit, folder: CampaignFolder) -> set[str]:
    """Return the files that were compared, without the names of runs, checkpoints and archives."""
    names = {path.relative_to(folder.root).parts for path in folder.root.rglob("*") if path.is_file()}
    known = names - {Path(name).parts for name in found.unheld}
    return {"/".join(one[2:] if one[0] == "runs" else one) for one in known}


def test_what_is_there_is_whole_at_any_moment_and_what_nothing_is_known_of_is_named(
    cuts: tuple[CampaignFolder, ...],
) -> None:
    frozen, saved, done = cuts

    for folder in cuts:
        found = look(folder)
        assert (found.exit_code, found.whole, found.closed, found.damage) == (11, True, False, ())
        assert found.as_json()["unheld"] == list(found.unheld)
    assert {"plan.json", "campaign.yaml", "close/how-to-reload.txt"} <= kinds(look(frozen), frozen)
    assert "tar -xf" in frozen.how_to_reload.read_text(), "it is there from the freezing on"
    assert any(name.endswith("attempts/1/measurements.0.jsonl") for name in look(saved).unheld), "it grows"
    whole = kinds(look(done), done)
    assert {"outputs/total.json", "outputs/predictions.csv", "config.json"} <= whole
    assert {"attempts/1/measurements.0.jsonl", "attempts/2/measurements.0.jsonl"} <= whole, "one of them lost"
    assert {"checkpoints/40-a2/manifest.json", "checkpoints/40-a2/state.json"} <= whole
    assert not [name for name in look(done).unheld if name.endswith((".tar", ".csv", "exit.json", "log.txt"))]


def test_one_flipped_byte_of_any_file_that_is_held_is_found_and_the_file_named(
    cuts: tuple[CampaignFolder, ...],
) -> None:
    """Each file in turn, at a place that hangs on its name; where nothing holds its end, before that."""
    folder = cuts[-1]
    loose = {f"journal/{name}.jsonl" for name in loose_ends(folder)}
    unheld = {*look(folder).unheld}
    places = []
    for path in sorted(path for path in folder.root.rglob("*") if path.is_file()):
        name, size = path.relative_to(folder.root).as_posix(), path.stat().st_size
        end = path.read_bytes()[:-1].rindex(b"\n") if name in loose else size
        if name not in unheld and size and not path.name.startswith(atomic.TEMPORARY):
            places.append((path, Random(path.name).randrange(end)))
    assert len(places) > 25

    missed = [str(path) for path, place in places if not _finds(folder, path, place)]

    assert missed == []


def _finds(folder: CampaignFolder, path: Path, place: int) -> bool:
    found = with_a_flip(path, place, lambda: look(folder))
    name = path.relative_to(folder.root).as_posix()
    return found.exit_code == 8 and not found.whole and name in {one.path for one in found.damage}


def test_the_end_of_home_s_stream_is_held_by_the_seal_and_a_seal_that_lags_is_no_damage(
    cuts: tuple[CampaignFolder, ...], tmp_path: Path
) -> None:
    """The seal is written after the stream: a kill between the two leaves one that is older."""
    folder = CampaignFolder(tmp_path / "small")
    shutil.copytree(cuts[-1].root, folder.root)
    (home,) = held_ends(folder)
    stream = folder.stream(home)
    whole = stream.read_bytes()

    stream.write_bytes(whole[: whole[:-1].rindex(b"\n") + 1])
    cut = look(folder)
    stream.write_bytes(whole)
    shutil.copy(cuts[0].close_seal, folder.close_seal)
    lagging = look(folder)

    assert cut.exit_code == 8
    assert f"journal/{home}.jsonl" in {one.path for one in cut.damage}
    assert (lagging.exit_code, lagging.damage) == (11, ())


def test_what_a_checkpoint_says_of_itself_is_held_by_the_journal(
    cuts: tuple[CampaignFolder, ...], tmp_path: Path
) -> None:
    """Its manifest holds its other files; another moment in it would be a manifest as good as before."""
    folder = CampaignFolder(tmp_path / "small")
    shutil.copytree(cuts[-1].root, folder.root)
    (manifest,) = folder.root.glob("runs/*/checkpoints/40-a2/manifest.json")
    manifest.write_text(manifest.read_text().replace('"created": "20', '"created": "19', 1))

    damage = [one.path for one in look(folder).damage]

    assert damage == [manifest.relative_to(folder.root).as_posix()]


def test_an_output_that_was_published_again_and_never_told_is_no_damage(
    cuts: tuple[CampaignFolder, ...], tmp_path: Path
) -> None:
    """A third life replaces it and tells so in its own file; its supervisor was killed before it looked."""
    folder = CampaignFolder(tmp_path / "small")
    shutil.copytree(cuts[-1].root, folder.root)
    (output,) = folder.root.glob("runs/*/outputs/total.json")
    output.write_text('{"total": 1}')
    name = output.relative_to(folder.root).as_posix()

    changed = look(folder)
    life = atomic.make_folder(output.parent.parent / "attempts" / "3")
    signal_line = {"kind": "output", "path": "total.json", "bytes": 12, "sha256": sha256_file(output)}
    (life / "signals.jsonl").write_text(json.dumps(signal_line) + "\n")
    told = look(folder)

    assert [one.path for one in changed.damage] == [name]
    assert (told.damage, name in told.unheld) == ((), True)


def test_files_that_are_gone_are_named(cuts: tuple[CampaignFolder, ...], tmp_path: Path) -> None:
    folder = CampaignFolder(tmp_path / "small")
    shutil.copytree(cuts[1].root, folder.root)
    gone = sorted(folder.root.glob("runs/*/checkpoints/10-a1"))[0]
    told = {one.name for one in folder.journal.glob("*.jsonl") if "checkpoint.committed" in one.read_text()}
    shutil.rmtree(gone.parent)
    folder.frozen_file.unlink()

    damage = {one.path: one.why for one in look(folder).damage}
    streams = {name: one.events for name, one in read_journal(folder.journal).items()}
    part = look_at_unclosed(folder, project(streams, SystemClock().now()), streams, partial=True)

    assert part.damage == (), "of a part nobody knows what has to be there"
    assert {"campaign.yaml", *damage} <= {*part.unheld}
    assert damage["campaign.yaml"] == "it was written to its end, and is not there"
    assert any("checkpoints/" in name for name in damage) == bool(told)


def test_each_file_is_told_of_once_and_by_whoever_wrote_it_last(cuts: tuple[CampaignFolder, ...]) -> None:
    """Home tells what it has put there and what a lost machine has left, a supervisor its own attempt."""
    streams = {name: one.events for name, one in read_journal(cuts[-1].journal).items()}
    told = settled_files(streams)

    by_stream = {
        name: [
            one["path"]
            for event in events
            for one in event.facts.get("files", ())
            if event.type == "files.settled"
        ]
        for name, events in streams.items()
    }
    home = next(name for name in by_stream if name.startswith("home-"))
    assert all(len(paths) == len(set(paths)) for paths in by_stream.values())
    assert any("attempts/1/log.txt" in path for path in by_stream[home])
    assert not any("attempts/2/" in path for path in by_stream[home])
    assert any(path.endswith("attempts/2/log.txt") for path in told)


def test_the_command_says_its_verdict_in_one_line(cuts: tuple[CampaignFolder, ...], tmp_path: Path) -> None:
    folder = tmp_path / "small"
    shutil.copytree(cuts[0].root, folder)
    campaign = SmallCampaign(tmp_path, tmp_path / "home")

    whole = campaign.lastro("close", "--audit", str(folder))
    (folder / "plan.json").write_text((folder / "plan.json").read_text().replace("better", "worse ", 1))
    changed = campaign.lastro("close", "--audit", str(folder), "--json")

    assert whole.returncode == 11
    assert "\nnot closed: what is there is whole; nothing is known of " in whole.stdout
    assert changed.returncode == 8
    assert [one["path"] for one in json.loads(changed.stdout)["damaged"]] == ["plan.json"]
