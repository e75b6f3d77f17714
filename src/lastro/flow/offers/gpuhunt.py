"""The CSV files of gpuhunt: one for each provider, a machine and a place and a way of paying a line.

Columns in any order: instance_name, location, price, cpu, memory, gpu_count, gpu_name, gpu_memory, spot,
and in newer files disk_size, gpu_vendor, flags, cpu_arch, provider_data. Prices are USD for an hour of the
whole machine, memory is in GB, that of the GPUs is for each.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from lastro.billing import LeaseKind
from lastro.flow.offers.catalogue import (
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
from lastro.spec.prices import GB

FORM = "gpuhunt"
_NEEDED = ("instance_name", "location", "price", "gpu_count", "gpu_name", "gpu_memory", "spot")


def provider_of(path: Path) -> str | None:
    """Return whose file it is: it is called like its provider."""
    return path.stem or None


def rows_of(path: Path, provider: str, mended: Mended) -> Iterator[Row]:
    """Yield the rows of a file. Raises CampaignInvalid."""
    for line, values in lines_of(path, _NEEDED, FORM):
        try:
            yield _row(line, provider, values, mended)
        except Unreadable as error:
            mended.count_unreadable(line, str(error))


def _row(line: int, provider: str, values: Mapping[str, str], mended: Mended) -> Row:
    gpus = whole(values["gpu_count"] or "0", MOST_GPUS)
    if gpus is None:
        raise Unreadable(_("a part of a GPU"))
    amount = price(values["price"], mended)
    if amount is None:
        mended.count(_("no price: unknown"))
    disk = number(values.get("disk_size", ""), MOST_GB)
    return Row(
        line=line,
        provider=provider,
        machine=values["instance_name"] or values["gpu_name"] or _("machine"),
        kind=LeaseKind.SPOT if values["spot"].casefold() == "true" else LeaseKind.HOURLY,
        price=amount,
        gpu=values["gpu_name"] or None if gpus else None,
        gpus=gpus,
        memory=_bytes(values["gpu_memory"]) if gpus else None,
        cpus=whole(values.get("cpu", ""), MOST_CPUS) or None,
        ram=_bytes(values.get("memory", "")),
        region=values["location"] or None,
        notes=_("with a disk of {size} GB").format(size=f"{disk.normalize():f}") if disk else None,
    )


def _bytes(text: str) -> int | None:
    value = number(text, MOST_GB)
    return int(value * GB) or None if value is not None else None
