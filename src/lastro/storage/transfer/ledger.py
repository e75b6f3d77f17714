"""What all transfers of a home have moved in a month, and the budget that they draw from before they move."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

from lastro import atomic, strictjson
from lastro.clock import Clock
from lastro.errors import StoppedByRule, StorageError
from lastro.locale import _
from lastro.records import dataclass
from lastro.units import Money, show_bytes

#: The record is padded to this and written by one call, so that a kill leaves the old or the new one.
_LENGTH = 2048


@dataclass(frozen=True, kw_only=True)
class Moved:
    """Bytes and money of one month. `money`: of what had a price; `unpriced_bytes` had none."""

    month: str
    bytes: int = 0
    money: Money | None = None
    unpriced_bytes: int = 0


@dataclass(frozen=True, kw_only=True)
class Cap:
    """The most that all transfers of a month may move. None: there is no such cap."""

    bytes: int | None = None
    money: Money | None = None


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """Whether something may be moved, and why not."""

    allowed: bool
    why: str


def may_move(moved: Moved, cap: Cap, size: int, price_of_gb: Money | None) -> Verdict:
    """Decide whether `size` more bytes stay within a cap.

    Args:
        moved: what was moved this month.
        cap: what may be.
        size: bytes that are about to move.
        price_of_gb: what 10^9 of them cost; None: nobody knows.
    """
    if cap.bytes is not None and moved.bytes + size > cap.bytes:
        why = _("{moved} were moved this month, and {size} more would pass the cap of {cap}").format(
            moved=show_bytes(moved.bytes), size=show_bytes(size), cap=show_bytes(cap.bytes)
        )
        return Verdict(allowed=False, why=why)
    if cap.money is None:
        return Verdict(
            allowed=True, why=_("within the cap") if cap.bytes is not None else _("there is no cap")
        )
    if price_of_gb is None or price_of_gb.currency != cap.money.currency:
        why = _("the cap is {cap}, and no price in that currency is known for this").format(cap=cap.money)
        return Verdict(allowed=False, why=why)
    cost = price_of_gb.times(Decimal(size) / 10**9)
    spent = moved.money or Money(Decimal(0), cap.money.currency)
    if spent.currency != cap.money.currency or spent.amount + cost.amount > cap.money.amount:
        why = _("{spent} went into transfers this month, and {cost} more would pass the cap of {cap}").format(
            spent=spent, cost=cost, cap=cap.money
        )
        return Verdict(allowed=False, why=why)
    return Verdict(allowed=True, why=_("within the cap"))


class Ledger:
    """The record of a home; any number of processes draw from it, one at a time."""

    def __init__(self, path: Path, clock: Clock) -> None:
        self._path, self._clock = path, clock

    def read(self) -> tuple[Moved, Cap]:
        """Return what was moved this month, and the cap."""
        with self._held() as descriptor:
            return self._load(descriptor)

    def set_cap(self, cap: Cap) -> None:
        """Keep another cap, for this and all later transfers."""
        with self._held() as descriptor:
            moved, _old = self._load(descriptor)
            _store(descriptor, moved, cap)

    def draw(self, size: int, price_of_gb: Money | None) -> None:
        """Take bytes out of the budget, before they move.

        Raises:
            StoppedByRule: the cap would be passed; nothing was taken.
        """
        with self._held() as descriptor:
            moved, cap = self._load(descriptor)
            verdict = may_move(moved, cap, size, price_of_gb)
            if not verdict.allowed:
                raise over(verdict)
            _store(descriptor, _with(moved, size, price_of_gb), cap)

    def capped(self) -> bool:
        """Say whether there is a cap; for one who may read the record and not write it."""
        try:
            value = strictjson.read(self._path)["cap"]
        except FileNotFoundError:
            return False
        return any(limit is not None for limit in value.values())

    @contextlib.contextmanager
    def _held(self) -> Iterator[int]:
        atomic.make_folder(self._path.parent)
        descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield descriptor
        finally:
            os.close(descriptor)

    def _load(self, descriptor: int) -> tuple[Moved, Cap]:
        month = f"{self._clock.now():%Y-%m}"
        text = os.pread(descriptor, _LENGTH, 0)
        if not text.strip():
            return Moved(month=month), Cap()
        value = strictjson.loads(text)
        cap = Cap(bytes=value["cap"]["bytes"], money=_money(value["cap"]["money"]))
        told = value["moved"]
        if told["month"] != month:
            return Moved(month=month), cap
        return Moved(**{**told, "money": _money(told["money"])}), cap


def drawing(ledger: Ledger) -> Callable[[int], None]:
    """Return what a machine's mirror draws from: the budget of its home, where bytes have no known price.

    In a jail the record can be read only. Then nothing is counted, and a cap that is set stops everything.
    """

    def draw(size: int) -> None:
        try:
            ledger.draw(size, None)
        except OSError as error:
            if ledger.capped():
                raise StorageError(
                    _("the cap on transfers cannot be kept here: {error}").format(error=error),
                    hint=_("lift it with --cap none, or let the machine write to home's record"),
                ) from error

    return draw


def over(verdict: Verdict) -> StoppedByRule:
    """Return the error for a transfer that the cap stops."""
    return StoppedByRule(
        _("stopped by the cap on transfers: {why}").format(why=verdict.why),
        hint=_("what has arrived stays and is not moved again; raise it with --cap, or go on next month"),
    )


def _with(moved: Moved, size: int, price_of_gb: Money | None) -> Moved:
    cost = price_of_gb.times(Decimal(size) / 10**9) if price_of_gb is not None else None
    unknown = cost is None or (moved.money is not None and moved.money.currency != cost.currency)
    money = moved.money if unknown or cost is None else cost if moved.money is None else moved.money + cost
    return Moved(
        month=moved.month,
        bytes=moved.bytes + size,
        money=money,
        unpriced_bytes=moved.unpriced_bytes + (size if unknown else 0),
    )


def _store(descriptor: int, moved: Moved, cap: Cap) -> None:
    value: dict[str, Any] = {
        "cap": {"bytes": cap.bytes, "money": cap.money.as_json() if cap.money else None},
        "moved": {
            "month": moved.month,
            "bytes": moved.bytes,
            "money": moved.money.as_json() if moved.money else None,
            "unpriced_bytes": moved.unpriced_bytes,
        },
    }
    os.pwrite(descriptor, strictjson.dumps(value).encode().ljust(_LENGTH), 0)


def _money(value: dict[str, str] | None) -> Money | None:
    return None if value is None else Money.from_json(value)
