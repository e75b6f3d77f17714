"""What a plan says of data and disks, with figures worked by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from lastro.plan.build import Code, make_plan
from lastro.plan.disk_need import Found, Measured
from lastro.plan.model import Plan
from tests.plan.planning import NOW, VARIANTS, campaign, codes, offers, plan, texts

GB = 10**9
#: 20 GB at 100 MB/s are 200 s.
STAGES = """\
window: 72h
stages:
  get: {does: download, gpu: 1, moves: {size: 20 GB, rate: 100 MB/s}}
  run: {each: run, gpu: 1, hours: 10}
"""
MARKET = """\
offers:
  - {name: card, kind: hourly, price: 1.80 USD, gpu: RTX 4090, provider: p, zone: z, disk: vol}
  - {name: box, kind: hourly, price: 0.36 USD, gpus: 0, provider: p, zone: z}
disks:
  - {name: vol, price: 0.073 USD, provider: p, zone: z, smallest: 50 GB}
"""
WEIGHTS = "data: {weights: {base: 20 GB}, slack: 0 %}\n"


def _measured(folder: Path, extra: str, measured: Measured) -> Plan:
    return make_plan(
        campaign(folder, extra),
        offers(folder, MARKET),
        created_at=NOW,
        code=Code(digest="c" * 64),
        measured=measured,
    )


def test_a_disk_is_held_against_downloading_again_by_hand(tmp_path: Path) -> None:
    """200 s at 1.80 an hour are 0.10. 50 GB at 0.073 a GB and month are 3.65, 0.005 an hour, 0.12 a day.

    A download costs as much as 20 h of that. Through 10 h and 200 s of calendar the disk costs half a
    download, so it is cheaper from two sessions on.
    """
    said = texts(plan(tmp_path, STAGES + WEIGHTS, MARKET))["keep_or_download"]

    assert "vol of 50 GB costs 0.12 USD a day" in said
    assert "downloading 20 GB again 0.10 USD" in said
    assert "up to 20 h 00 min between two sessions" in said
    assert said.endswith("from 2 sessions on")


def test_a_machine_without_a_gpu_waits_for_less(tmp_path: Path) -> None:
    """200 s at 0.36 an hour are 0.02 of the 0.10 that the card costs."""
    said = texts(plan(tmp_path, STAGES + WEIGHTS, MARKET))["download_on_gpu"]
    on_cpu = plan(tmp_path, STAGES.replace("gpu: 1, moves", "cpu: 1, moves") + WEIGHTS, MARKET)

    assert "which is 0.10 USD of card; on box it would be 0.020 USD" in said
    assert "download_on_gpu" not in codes(on_cpu)
    assert "downloading 20 GB again 0.020 USD" in texts(on_cpu)["keep_or_download"]


def test_what_a_lot_costs_by_the_hour_is_called_derived(tmp_path: Path) -> None:
    """72 h for 129.60 are 1.80 an hour."""
    lot = MARKET.replace("kind: hourly, price: 1.80 USD", "kind: lot, price: 129.60 USD, term: 3d")

    assert "0.10 USD (derived) of card" in texts(plan(tmp_path, STAGES + WEIGHTS, lot))["download_on_gpu"]


def test_machines_side_by_side_need_a_disk_each_with_its_time_and_price(tmp_path: Path) -> None:
    """Two machines, one disk of 50 GB for each: the second is half of the line, and gets 20 GB in 200 s."""
    extra = STAGES + VARIANTS + "machines: 2\nprovider: ssh://user@host\n" + WEIGHTS
    made = plan(tmp_path, extra, MARKET.replace("provider: p, ", ""))

    line = next(line for line in made.options[0].cost.lines if line.kind == "disk")
    said = texts(made)["disk_for_each"]

    assert line.name == "2 × vol"
    assert said.startswith("2 machines at once need 2 disks (vol, held by 1 at once)")
    assert line.amount is not None
    assert f"{line.amount.divided(2)} of the cost are for all but the first" in said
    assert "20 GB have to be brought to each: 1 × 3 min 20 s" in said
    assert "0.10 USD that the calendar does not count" in said


def test_a_disk_that_all_machines_hold_is_one(tmp_path: Path) -> None:
    extra = STAGES + VARIANTS + "machines: 2\nprovider: ssh://user@host\n" + WEIGHTS
    shared = MARKET.replace("provider: p, ", "").replace("smallest: 50 GB", "smallest: 50 GB, attach: 8")

    assert "disk_for_each" not in codes(plan(tmp_path, extra, shared))


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (("smallest: 50 GB", "stopped: none"), "disk_ends_with_machine"),
        (("smallest: 50 GB", "largest: 10 GB"), "disk_too_large"),
        (("provider: p, zone: z, disk: vol", "provider: p"), "zone_unknown"),
    ],
)
def test_a_disk_that_does_not_do_is_named(tmp_path: Path, change: tuple[str, str], code: str) -> None:
    found = codes(plan(tmp_path, STAGES + WEIGHTS, MARKET.replace(*change)))

    assert found[code] == "warn"


def test_many_small_files_are_told_with_what_packing_saves(tmp_path: Path) -> None:
    """1,200,000 files in 40 GB are 33.3 kB each; packs of 256 MB are 157. At 4e-7 a request 0.48 a pass."""
    market = MARKET + "egress:\n  - {name: s3, from: s3, price: 0 USD, per_request: 0.0000004 USD}\n"
    made = plan(tmp_path, STAGES + "data: {dataset: {size: 40 GB, files: 1200000}}\n", market)

    said = texts(made)["many_files"]

    assert "1200000 files of 33.3 kB on average" in said
    assert "157 files of 256 MB" in said
    assert "asks a store 157 times, not 1200000" in said
    assert "about 120 s" in said
    assert "s3 bills 0.48 USD less a pass" in said


def test_few_files_and_large_ones_are_not_told(tmp_path: Path) -> None:
    for dataset in ("{size: 40 GB, files: 99999}", "{size: 4 TB, files: 1200000}"):
        assert "many_files" not in codes(plan(tmp_path, STAGES + f"data: {{dataset: {dataset}}}\n", MARKET))


def test_a_disk_that_is_too_small_is_told(tmp_path: Path) -> None:
    """20 GB of weights do not fit on 15."""
    extra = STAGES + WEIGHTS + "disk: {path: /mnt/disk, size: 15 GB}\n"

    assert texts(plan(tmp_path, extra, MARKET))["disk_too_small"] == "the disk has 15 GB, 20 GB are needed"


def test_what_was_found_odd_is_told(tmp_path: Path) -> None:
    measured = Measured(
        oddities=("base: it names b.safetensors, which is not there",),
        code="train:build was not built within 1min",
        paths={"data": Found(bytes=GB, files=3, why="at least: data here", at_least=True)},
    )
    made = _measured(tmp_path, STAGES + "data: {dataset: {path: data}, state: 1 GB}\n", measured)

    assert codes(made)["weights_odd"] == "warn"
    assert codes(made)["state_not_built"] == "note"
    assert "more than was counted: dataset" in texts(made)["disk_incomplete"]
