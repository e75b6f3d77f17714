"""An offers file made of public catalogues: rows named, filtered, written, and all that was mended told."""

from __future__ import annotations

import datetime as dates
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from lastro import atomic
from lastro.billing import LeaseKind
from lastro.errors import UsageError
from lastro.flow.offers import gpuhunt, skypilot
from lastro.flow.offers.catalogue import (
    CURRENCY,
    GIB,
    MIB,
    Mended,
    Row,
    readable,
    with_memory_in_names,
    without_constant_machines,
    without_repetitions,
    without_spot_for_nothing,
)
from lastro.flow.offers.wanted import Wanted, left_out
from lastro.locale import _
from lastro.records import dataclass
from lastro.spec import tree
from lastro.spec.load import made_in_code
from lastro.spec.offers import Offer, Offers
from lastro.spec.prices import GB
from lastro.strictjson import dumps


@dataclass(frozen=True, kw_only=True)
class Form:
    """A form of catalogue: what it is called, how its rows are read, and whose a file is by its path."""

    name: str
    rows_of: Callable[[Path, str, Mended], Iterator[Row]]
    provider_of: Callable[[Path], str | None]


FORMS: Mapping[str, Form] = {
    "skypilot": Form(name=skypilot.FORM, rows_of=skypilot.rows_of, provider_of=skypilot.provider_of),
    "gpuhunt": Form(name=gpuhunt.FORM, rows_of=gpuhunt.rows_of, provider_of=gpuhunt.provider_of),
}


@dataclass(frozen=True, kw_only=True)
class Imported:
    """What came of one or more catalogues. `mended` and `left_out`: numbers of lines or offers, by reason."""

    offers: tuple[Offer, ...]
    text: str
    mended: Mapping[str, Mapping[str, int]]
    unreadable: Mapping[str, str]
    left_out: Mapping[str, int]


def import_offers(
    form: str, files: Sequence[Path], wanted: Wanted, *, provider: str | None, seen: dates.date | None
) -> Imported:
    """Return the offers of catalogue files that are wanted, as the text of an offers file.

    Raises:
        CampaignInvalid: a file is no catalogue of this form.
        UsageError: whose a file is cannot be told, nothing is left, or more is left than a file can hold.
    """
    items: list[dict[str, Any]] = []
    reasons: Counter[str] = Counter()
    mended: dict[str, dict[str, int]] = {}
    unreadable: dict[str, str] = {}
    for path in files:
        whose = provider or readable(FORMS[form].provider_of(path) or "")
        if not whose:
            raise UsageError(
                _("whose {file} is cannot be told from its name").format(file=path),
                hint=_("say it: --provider NAME"),
            )
        told = Mended()
        source = _("{form} catalogue of {provider}").format(form=FORMS[form].name, provider=whose)
        for row in _mend(FORMS[form].rows_of(path, whose, told), told):
            reason = left_out(wanted, row)
            if reason is None:
                items.append(_item(row, source, seen))
            else:
                reasons[reason] += 1
        mended[str(path)] = dict(told.counts)
        if told.unreadable is not None:
            unreadable[str(path)] = told.unreadable
    if not items:
        raise UsageError(
            _("no offer is left of {count}").format(count=reasons.total()),
            hint=_("ask for less, such as --gpu alone"),
        )
    _name_apart(items)
    text = _text(items, form, files, seen)
    _check_size(text, items)
    return Imported(
        offers=made_in_code(Offers, {"offers": items}).offers,
        text=text,
        mended=mended,
        unreadable=unreadable,
        left_out=dict(reasons),
    )


def write(imported: Imported, path: Path) -> None:
    """Write the offers file. Raises UsageError when there is one: what somebody wrote is never replaced."""
    if not atomic.claim(path, imported.text.encode()):
        raise UsageError(
            _("{file} is there already").format(file=path),
            hint=_("name another file with -o, and copy from it what you need"),
        )


def _mend(rows: Iterable[Row], mended: Mended) -> list[Row]:
    found = list(without_repetitions(rows, mended))
    found = without_constant_machines(found, mended)
    found = without_spot_for_nothing(found, mended)
    return with_memory_in_names(found, mended)


def _item(row: Row, source: str, seen: dates.date | None) -> dict[str, Any]:
    """Return a row as an offers file spells it; what is unknown does not stand there."""
    words = [
        row.provider,
        row.machine,
        row.zone or row.region,
        "spot" if row.kind is LeaseKind.SPOT else None,
    ]
    values = {
        "name": "-".join(_in_a_name(word) for word in words if word),
        "kind": row.kind.value,
        "price": f"{row.price.normalize():f} {CURRENCY}" if row.price is not None else "unknown",
        "gpu": row.gpu,
        "gpus": row.gpus,
        "memory": _size(row.memory),
        "cpus": row.cpus,
        "ram": _size(row.ram),
        "region": row.region,
        "zone": row.zone,
        "jurisdiction": row.jurisdiction,
        "provider": row.provider,
        "source": source,
        "seen": seen.isoformat() if seen else None,
        "notes": row.notes,
    }
    return {key: value for key, value in values.items() if value is not None}


def _size(size: int | None) -> str | None:
    """Return a size in the largest unit that tells it whole."""
    if not size:
        return None
    units = (("GB", GB), ("GiB", GIB), ("MiB", MIB), ("B", 1))
    return next(f"{size // unit} {name}" for name, unit in units if size % unit == 0)


def _in_a_name(word: str) -> str:
    return re.sub(r"[^\w.]+", "-", word).strip("-")


def _name_apart(items: Iterable[dict[str, Any]]) -> None:
    """Number the offers whose name another one has: two hosts of one place with the same machine."""
    taken: set[str] = set()
    numbers: dict[str, int] = {}
    for item in items:
        name = base = item["name"]
        while name in taken:
            numbers[base] = numbers.get(base, 1) + 1
            name = f"{base}-{numbers[base]}"
        taken.add(name)
        item["name"] = name


# --- the file -------------------------------------------------------------------------------------------

#: Words that YAML reads as a text as they stand: nothing in them means anything to it.
_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_./()-]*( [A-Za-z0-9_./()-]+)*|[0-9.]+ [A-Z]+")
_NO_TEXT = frozenset({"true", "false", "null", "yes", "no", "on", "off"})


def _text(
    items: Iterable[Mapping[str, Any]], form: str, files: Iterable[Path], seen: dates.date | None
) -> str:
    names = ", ".join(readable(path.name) for path in files)
    day = seen.isoformat() if seen else _("on an unknown day")
    lines = [
        _("# Made by `lastro offers import {form}` of {files}, read {day}.").format(
            form=form, files=names, day=day
        ),
        "offers:",
    ]
    for item in items:
        pairs = ", ".join(f"{key}: {_scalar(key, value)}" for key, value in item.items())
        lines.append(f"  - {{{pairs}}}")
    return "\n".join(lines) + "\n"


def _scalar(key: str, value: object) -> str:
    if isinstance(value, int) or key == "seen":
        return str(value)
    text = str(value)
    plain = _PLAIN.fullmatch(text) and text.casefold() not in _NO_TEXT
    return text if plain else dumps(text)


def _check_size(text: str, items: Sequence[Mapping[str, Any]]) -> None:
    """Refuse what lastro itself would not read again."""
    values = 2 + sum(len(item) + 1 for item in items)
    if len(text.encode()) > tree.MAX_BYTES or values > tree.MAX_VALUES:
        raise UsageError(
            _(
                "{count} offers are more than one offers file holds: {size} KiB of at most {most}, {values} "
                "values of at most {limit}"
            ).format(
                count=len(items),
                size=len(text.encode()) // 1024,
                most=tree.MAX_BYTES // 1024,
                values=values,
                limit=tree.MAX_VALUES,
            ),
            hint=_("ask for fewer: --gpu, --memory, --region, --kind, --max-price"),
        )
