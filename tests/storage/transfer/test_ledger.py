from __future__ import annotations

import subprocess
import sys
from datetime import datetime, timezone
from decimal import Decimal
from pathlib import Path

import pytest

from lastro.clock import ManualClock
from lastro.errors import StoppedByRule
from lastro.storage.transfer.ledger import Cap, Ledger, Moved, may_move
from lastro.units import Money

GB = 10**9
USD = Money(Decimal("0.09"), "USD")


def ledger(path: Path, month: int = 11) -> Ledger:
    return Ledger(path / "moved.json", ManualClock(datetime(2026, month, 30, tzinfo=timezone.utc)))


def test_a_cap_in_bytes_holds_to_the_byte(tmp_path: Path) -> None:
    one = ledger(tmp_path)
    one.set_cap(Cap(bytes=10))
    one.draw(6, None)

    with pytest.raises(StoppedByRule, match="cap"):
        one.draw(5, None)
    one.draw(4, None)

    assert one.read() == (Moved(month="2026-11", bytes=10, unpriced_bytes=10), Cap(bytes=10))


def test_a_cap_in_money_by_hand() -> None:
    """At 0.09 USD a GB, 11 GB are 0.99 USD, and 12 GB 1.08; of 1 USD the first fits."""
    cap = Cap(money=Money(Decimal(1), "USD"))

    assert may_move(Moved(month="m"), cap, 11 * GB, USD).allowed
    assert not may_move(Moved(month="m"), cap, 12 * GB, USD).allowed
    spent = Moved(month="m", bytes=11 * GB, money=Money(Decimal("0.99"), "USD"))
    assert not may_move(spent, cap, GB, USD).allowed


def test_money_is_not_spent_where_its_price_is_unknown_or_in_another_currency() -> None:
    cap = Cap(money=Money(Decimal(1), "USD"))

    assert "no price" in may_move(Moved(month="m"), cap, 1, None).why
    assert not may_move(Moved(month="m"), cap, 1, Money(Decimal(1), "EUR")).allowed


def test_a_new_month_begins_at_nothing_and_keeps_the_cap(tmp_path: Path) -> None:
    first = ledger(tmp_path)
    first.set_cap(Cap(bytes=10))
    first.draw(10, USD)

    later = ledger(tmp_path, month=12)
    later.draw(10, USD)

    assert later.read()[0].bytes == 10
    assert later.read()[1] == Cap(bytes=10)


def test_several_processes_never_take_more_than_there_is(tmp_path: Path) -> None:
    """Four processes try to take 1 a hundred times each, and 150 are there."""
    ledger(tmp_path).set_cap(Cap(bytes=150))
    program = (
        "import sys\nfrom datetime import datetime, timezone\nfrom pathlib import Path\n"
        "from lastro.clock import ManualClock\nfrom lastro.errors import StoppedByRule\n"
        "from lastro.storage.transfer.ledger import Ledger\n"
        "clock = ManualClock(datetime(2026, 11, 30, tzinfo=timezone.utc))\n"
        "ledger, taken = Ledger(Path(sys.argv[1]), clock), 0\n"
        "for _number in range(100):\n"
        "    try:\n        ledger.draw(1, None)\n        taken += 1\n"
        "    except StoppedByRule:\n        pass\n"
        "print(taken)\n"
    )
    command = [sys.executable, "-c", program, str(tmp_path / "moved.json")]
    processes = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _number in range(4)]

    taken = [int(process.communicate()[0]) for process in processes]

    assert sum(taken) == 150
    assert ledger(tmp_path).read()[0].bytes == 150
