"""The CSV files of SkyPilot's catalogue: `catalogs/v8/CLOUD/vms.csv`, a machine and a place a line.

Columns in any order: InstanceType, AcceleratorName, AcceleratorCount, vCPUs, MemoryGiB, GpuInfo, Price,
SpotPrice, Region, and AvailabilityZone in some; prices are USD for an hour of the whole machine.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from lastro.billing import LeaseKind
from lastro.flow.offers.catalogue import (
    GIB,
    MIB,
    MOST_CPUS,
    MOST_GB,
    MOST_GPUS,
    Mended,
    Row,
    Unreadable,
    lines_of,
    number,
    price,
    whole,
)
from lastro.locale import _

FORM = "SkyPilot"
_NEEDED = ("InstanceType", "AcceleratorName", "AcceleratorCount", "Price", "SpotPrice", "Region")
#: The sizes in a GpuInfo: {'Gpus': [{'MemoryInfo': {'SizeInMiB': 24564}}], 'TotalGpuMemoryInMiB': 24564}.
_SIZE = re.compile(r"'SizeInMiB': *([0-9]{1,9})(?![0-9])")
_TOTAL = re.compile(r"'TotalGpuMemoryInMiB': *([0-9]{1,9})(?![0-9])")
#: vast's names: `2x-RTX_4070S_Ti-32-65536`.
_NAMED_BY_CARD = re.compile(r"[0-9]+x-(.+?)-[0-9]+-[0-9]+")
#: What follows a card's number where it is another card: a 4070S Ti is no 4070.
_ANOTHER_CARD = frozenset({"S", "TI", "STI", "SUPER", "SUPERTI", "D", "LAPTOP"})
#: vast's places: `Bavaria, DE, EU`, also without the first part.
_PLACE = re.compile(r"(.*), ([A-Z]{2}), ([A-Z]{2})")
_COUNTRY = re.compile(r"[A-Z]{2}")
#: No card that anybody rents has less memory than this, so a smaller number of MiB is one of GiB.
_LEAST_MIB = 1024


def provider_of(path: Path) -> str | None:
    """Return whose file it is: they are all called vms.csv, in a folder for each cloud."""
    return path.parent.name or None


def rows_of(path: Path, provider: str, mended: Mended) -> Iterator[Row]:
    """Yield the rows of a file. Raises CampaignInvalid."""
    for line, values in lines_of(path, _NEEDED, FORM):
        try:
            yield from _rows(line, provider, values, mended)
        except Unreadable as error:
            mended.count_unreadable(line, str(error))


def _rows(line: int, provider: str, values: Mapping[str, str], mended: Mended) -> Iterator[Row]:
    count = number(values["AcceleratorCount"])
    name = values["AcceleratorName"]
    gpus = 0 if not name else whole(values["AcceleratorCount"], MOST_GPUS)
    if gpus is None or (name and not gpus):
        if count is not None and count > 0:
            mended.count(_("a part of a GPU: left out"))
            return
        raise Unreadable(_("an accelerator without its number"))
    ram = number(values.get("MemoryGiB", ""), MOST_GB)
    region, jurisdiction = _place(values["Region"])
    row = Row(
        line=line,
        provider=provider,
        machine=values["InstanceType"] or name,
        kind=LeaseKind.HOURLY,
        price=price(values["Price"], mended),
        gpu=_card(name, values["InstanceType"], mended) if name else None,
        gpus=gpus,
        memory=_memory(values.get("GpuInfo", ""), gpus, mended) if gpus else None,
        cpus=whole(values.get("vCPUs", ""), MOST_CPUS) or None,
        ram=int(ram * GIB) or None if ram is not None else None,
        region=region,
        zone=values.get("AvailabilityZone") or None,
        jurisdiction=jurisdiction,
    )
    if row.price is None:
        mended.count(_("no price: unknown"))
    yield row
    spot = price(values["SpotPrice"], mended)
    if spot is not None:
        yield replace(row, kind=LeaseKind.SPOT, price=spot)


def _card(name: str, instance: str, mended: Mended) -> str:
    """Return the card, by the instance's name where the catalogue's own name is that of a lesser one."""
    match = _NAMED_BY_CARD.fullmatch(instance)
    if match is None:
        return name
    longer = re.sub(r"[^A-Z0-9]", "", match[1].upper())
    shorter = re.sub(r"[^A-Z0-9]", "", name.upper())
    if longer.startswith(shorter) and longer[len(shorter) :] in _ANOTHER_CARD:
        mended.count(_("another card under a shorter name: called as its instance is"))
        return match[1].replace("_", " ")
    return name


def _memory(info: str, gpus: int, mended: Mended) -> int | None:
    """Return the bytes of each card; None where the catalogue does not say."""
    sizes, total = _SIZE.findall(info), _TOTAL.search(info)
    if len(sizes) != 1 or not int(sizes[0]):
        return None
    each = int(sizes[0])
    if each < _LEAST_MIB:
        mended.count(_("GiB in a field of MiB: read as GiB"))
        return each * GIB
    if gpus > 1 and total is not None and int(total[1]) == each:
        mended.count(_("the memory of all cards in the field of one: divided"))
        each = each // gpus
    return each * MIB


def _place(text: str) -> tuple[str | None, str | None]:
    """Return region and jurisdiction."""
    match = _PLACE.fullmatch(text)
    if match:
        return match[1] or match[2], match[2]
    return text or None, text if _COUNTRY.fullmatch(text) else None
