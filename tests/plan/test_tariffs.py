"""What the frozen plan keeps of the offers file, so that no later price can change the bill."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

from lastro.flow.freeze import changes_between
from lastro.journal.events import EventType as E
from lastro.plan.model import Plan
from tests.plan.planning import plan
from tests.view.story import Story

STAGES = "stages:\n  run: {each: run, gpu: 1, hours: 2}\ndata: {dataset: 90 GB}\n"
#: 90 GB and a fifth of slack are 108 GB, on a disk in steps of 50 GB: 150 GB.
TABLE = """\
offers:
  - {name: box, kind: hourly, price: 1.00 USD, gpu: A100, provider: here, disk: fast, seen: 2026-11-29}
disks:
  - {name: fast, price: 0.073 USD, stopped: 0.0365 USD, step: 50 GB, provider: here, seen: 2026-11-28}
rates:
  - {from: BRL, to: USD, rate: 0.18, seen: 2026-11-29, source: bank}
"""


def frozen(folder: Path, text: str = TABLE) -> Plan:
    return plan(folder, STAGES, text)


def test_rows_of_disks_and_rates_are_copied_into_the_plan(tmp_path: Path) -> None:
    tariffs = frozen(tmp_path).tariffs

    assert tariffs is not None
    assert tariffs.disk is not None
    assert (tariffs.disk.name, tariffs.disk.disks, tariffs.disk.bytes) == ("fast", 1, 150 * 10**9)
    assert (str(tariffs.disk.price), str(tariffs.disk.stopped)) == ("0.073 USD", "0.036 USD")
    assert [(one.base, one.to, str(one.rate), one.seen) for one in tariffs.rates] == [
        ("BRL", "USD", "0.18", "2026-11-29")
    ]


def test_a_plan_with_tariffs_is_read_as_it_was_written_and_one_without_has_the_digest_of_before(
    tmp_path: Path,
) -> None:
    with_them = frozen(tmp_path)
    without = plan(tmp_path, STAGES)

    assert Plan.from_json(with_them.as_json()) == with_them
    assert "tariffs" not in without.as_json()
    assert Plan.from_json(without.as_json()).digest() == without.digest()


def test_a_price_table_that_is_changed_later_changes_nothing(tmp_path: Path) -> None:
    """The disk for 73 h, never held: 150 x 0.0365 x 73 / 730 = 0.5475 USD, whatever the table says."""
    story = Story(frozen(tmp_path).as_json())
    dearer = frozen(tmp_path, TABLE.replace("0.073", "7.3").replace("0.0365", "3.65"))

    changes = changes_between(story.view().plan or {}, dearer.as_json())

    assert changes.none, "it is no revision: the frozen one stays"
    cost = story.view(timedelta(hours=73) / timedelta(minutes=1)).cost
    assert f"{cost.total.amount.normalize():f}" == "0.5475" if cost.total else False


def test_a_machine_costs_what_its_lease_says_whatever_the_offer_costs_now(tmp_path: Path) -> None:
    lease: dict[str, Any] = frozen(tmp_path, TABLE).lease.as_json()  # type: ignore[union-attr]
    story = Story(frozen(tmp_path, TABLE.replace("1.00 USD", "9.00 USD")).as_json())
    story.machine("m-1", 0, lease)
    story.home(60, E.MACHINE_GONE, machine="m-1", cause="released", seconds=3600.0)

    (line,) = (line for line in story.view(60).cost.lines if line.kind == "machine")

    assert str(line.amount) == "1.00 USD"
