"""A public catalogue of machines: its rows as one shape, whatever form they came in, and what was mended."""

from __future__ import annotations

import csv
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from decimal import Decimal, InvalidOperation
from pathlib import Path

from lastro.billing import LeaseKind
from lastro.errors import CampaignInvalid
from lastro.locale import _
from lastro.records import dataclass
from lastro.units import Money

MIB = 2**20
GIB = 2**30
#: Of every price in the two forms that are read.
CURRENCY = "USD"
#: The most that an offers file takes of each, and the decimals of a price.
MOST_GPUS, MOST_CPUS, MOST_GB = 1024, 4096, 10**6
_DECIMALS = 12
#: A file with fewer machines than this may well have the same processors in each of them.
_MANY = 10


@dataclass(frozen=True, kw_only=True)
class Row:
    """One machine of a catalogue. `price` is for one hour of the whole machine, in USD; None is unknown.

    `memory`: of each GPU, in bytes; `ram`: of the machine, in bytes. None is unknown throughout.
    """

    line: int
    provider: str
    machine: str
    kind: LeaseKind
    price: Decimal | None
    gpu: str | None
    gpus: int
    memory: int | None = None
    cpus: int | None = None
    ram: int | None = None
    region: str | None = None
    zone: str | None = None
    jurisdiction: str | None = None
    notes: str | None = None

    @property
    def machine_price(self) -> Money | None:
        """What the machine costs by the hour; None is unknown."""
        return Money(self.price, CURRENCY) if self.price is not None else None

    def priced(self) -> tuple[object, ...]:
        """Return all that it says but its line, its provider and its kind."""
        machine = (self.machine, self.gpu, self.gpus, self.memory, self.cpus, self.ram)
        return (self.price, *machine, self.region, self.zone, self.jurisdiction, self.notes)


@dataclass
class Mended:
    """What was mended or left out in one file: how many lines, by what it was.

    `unreadable`: the first line that means nothing, and why.
    """

    counts: Counter[str] = field(default_factory=Counter)
    unreadable: str | None = None

    def count(self, what: str, lines: int = 1) -> None:
        if lines:
            self.counts[what] += lines

    def count_unreadable(self, line: int, why: str) -> None:
        self.count(_("a line that means nothing: left out"))
        self.unreadable = self.unreadable or _("line {line}: {why}").format(line=line, why=why)


class Unreadable(ValueError):
    """A line that means nothing; the text says why."""


def lines_of(path: Path, needed: Sequence[str], form: str) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield each line of a CSV file with its number, as a mapping of the columns in its first line.

    Raises:
        CampaignInvalid: it cannot be read as CSV in UTF-8, or lacks a column.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file)
            missing = [name for name in needed if name not in (reader.fieldnames or ())]
            if missing:
                raise CampaignInvalid(
                    _("this is no {form} catalogue: it has no column {names}").format(
                        form=form, names=", ".join(missing)
                    ),
                    hint=_("its columns are: {names}").format(
                        names=", ".join(reader.fieldnames or ()) or "-"
                    ),
                    file=str(path),
                    line=1,
                )
            for values in reader:
                yield reader.line_num, {key: readable(value or "") for key, value in values.items() if key}
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise CampaignInvalid(
            _("it cannot be read: {error}").format(error=reason),
            hint=_("name a CSV file in UTF-8 with one line of columns"),
            file=str(path),
        ) from error


def readable(text: str) -> str:
    """Return a text as it can stand in a line of YAML: characters that are not printed become blanks."""
    if not text.isprintable():
        text = "".join(char if char.isprintable() else " " for char in text)
    return text.strip()


def number(text: str, most: int = 10**9) -> Decimal | None:
    """Return a number of a catalogue; None for nothing. Raises Unreadable, also above `most`."""
    if not text:
        return None
    try:
        value = Decimal(text)
    except InvalidOperation as error:
        raise Unreadable(_("{text!r} is no number").format(text=text[:40])) from error
    if not value.is_finite() or not 0 <= value <= most or value != round(value, _DECIMALS):
        raise Unreadable(_("{text!r} is no number that anything costs or has").format(text=text[:40]))
    return value


def price(text: str, mended: Mended) -> Decimal | None:
    """Return a price; None for nothing and for 0, which is how catalogues write that there is none."""
    value = number(text)
    if value == 0:
        mended.count(_("a price of 0 means that there is none"))
        return None
    return value


def whole(text: str, most: int) -> int | None:
    """Return a number of pieces; None for nothing, and where it is a part of one. Raises Unreadable."""
    value = number(text, most)
    return int(value) if value is not None and value == value.to_integral_value() else None


# --- what is wrong in whole files -----------------------------------------------------------------------


def without_repetitions(rows: Iterable[Row], mended: Mended) -> Iterator[Row]:
    """Leave out rows that say what an earlier one said."""
    seen: set[tuple[object, ...]] = set()
    for row in rows:
        key = (row.kind, *row.priced())
        if key in seen:
            mended.count(_("the same machine again: left out"))
            continue
        seen.add(key)
        yield row


def with_memory_in_names(rows: Sequence[Row], mended: Mended) -> list[Row]:
    """Tell cards of two sizes under one name apart: `A100` becomes `A100 40GB` and `A100 80GB`.

    Sizes are compared in whole GiB: 81559 and 81920 MiB are both 80.
    """
    sizes: Mapping[str | None, set[int]] = defaultdict(set)
    for row in rows:
        if row.memory is not None:
            sizes[row.gpu].add(_gib(row.memory))
    named = []
    for row in rows:
        size = _gib(row.memory) if row.memory is not None else None
        if size is not None and len(sizes[row.gpu]) > 1 and f"{size}GB" not in (row.gpu or ""):
            mended.count(_("cards of several sizes under one name: the size added to it"))
            row = replace(row, gpu=f"{row.gpu} {size}GB")  # noqa: PLW2901
        named.append(row)
    return named


def _gib(size: int) -> int:
    return round(size / GIB)


def without_constant_machines(rows: Sequence[Row], mended: Mended) -> list[Row]:
    """Leave out processors and memory where machines of different GPUs all have the same: placeholders."""
    with_gpus = [row for row in rows if row.gpus]
    same = {(row.cpus, row.ram) for row in with_gpus}
    cards = {(row.gpu, row.gpus) for row in with_gpus}
    if len(with_gpus) < _MANY or len(same) > 1 or len(cards) < 2 or same == {(None, None)}:
        return list(rows)
    mended.count(_("the same processors and memory for every machine: taken as unknown"), len(with_gpus))
    return [replace(row, cpus=None, ram=None) if row.gpus else row for row in rows]


def without_spot_for_nothing(rows: Sequence[Row], mended: Mended) -> list[Row]:
    """Leave out spot machines that cost what the same machine costs without being taken away."""
    lasting = {row.priced() for row in rows if row.kind is LeaseKind.HOURLY and row.price is not None}
    kept = [row for row in rows if row.kind is LeaseKind.HOURLY or row.priced() not in lasting]
    mended.count(_("a spot price that equals the other one: no spot offer"), len(rows) - len(kept))
    return kept
