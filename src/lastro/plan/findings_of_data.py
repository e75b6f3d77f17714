"""What is to be known of data: room on the disk, small files, downloads that a paid machine waits for."""

from __future__ import annotations

from collections.abc import Iterator

from lastro.locale import _
from lastro.plan import findings_of_disks
from lastro.plan.bill import show_hours
from lastro.plan.candidates import Candidate
from lastro.plan.disk_need import Measured
from lastro.plan.levels import NOTE, WARN
from lastro.plan.parts import DiskNeed, DiskPart, Finding
from lastro.plan.traffic import INTERNET, moves_of
from lastro.plan.waiting import cpu_machine, waits
from lastro.spec.campaign import Campaign
from lastro.spec.offers import Offers
from lastro.spec.stage import HOME, MACHINE
from lastro.units import Money, show_bytes

#: So many files are told: with a hundred thousand, listing and opening them is felt (docs/plan-disk.md).
_MANY_FILES = 100_000
#: A file below this is small: a read of 1 MB costs little more than its opening.
_SMALL = 1_000_000
#: How large packs are made: 256 MB to 1 GB are usual for shards of tar.
_PACK = 256 * 10**6
#: Measured with files of 35 KB on one disk, read in random order, nothing in memory: docs/plan-disk.md.
_SLOWER_UNPACKED = 1.7
_PACKING_SECONDS = 100e-6


def findings(
    campaign: Campaign,
    market: Offers,
    measured: Measured,
    taken: Candidate | None,
    need: DiskNeed,
) -> Iterator[Finding]:
    """Return what is to be known of the campaign's data."""
    yield from _of_disk(campaign, need)
    yield from _of_sizes(measured)
    yield from _of_files(market, need)
    if taken is not None:
        yield from findings_of_disks.findings(campaign, market, measured, taken, need)
        yield from _of_downloads(campaign, market, taken)
        yield from _of_places(campaign, market, taken)


def _of_disk(campaign: Campaign, need: DiskNeed) -> Iterator[Finding]:
    if need.needed is None:
        if campaign.stages:
            yield Finding(code="disk_unknown", level=NOTE, text=need.why)
        return
    if not need.complete:
        missing = [part for part in need.parts if part.bytes is None]
        text = _("the size of the disk is too small: {why}").format(why=need.why)
        if missing:
            text = _("the size of the disk counts no {parts}: {why}").format(
                parts=", ".join(part.name for part in missing), why=missing[0].why
            )
        yield Finding(code="disk_incomplete", level=WARN, text=text)
    if need.recommended is None:
        yield Finding(code="disk_too_large", level=WARN, text=need.why)
    size = campaign.disk.size if campaign.disk else None
    if size is not None and size < need.needed:
        text = _("the disk has {size}, {needed} are needed").format(
            size=show_bytes(size), needed=show_bytes(need.needed)
        )
        yield Finding(code="disk_too_small", level=WARN, text=text)
    if campaign.disk is None and campaign.provider != "here":
        text = _("no disk is named: what is on a machine is gone with it")
        yield Finding(code="no_disk", level=NOTE, text=text)


def _of_sizes(measured: Measured) -> Iterator[Finding]:
    for text in measured.oddities:
        yield Finding(code="weights_odd", level=WARN, text=text)
    if isinstance(measured.code, str):
        yield Finding(code="state_not_built", level=NOTE, text=measured.code)


def _of_files(market: Offers, need: DiskNeed) -> Iterator[Finding]:
    for part in need.parts:
        if part.files is None or part.bytes is None or part.files < _MANY_FILES:
            continue
        if part.bytes / part.files < _SMALL:
            yield Finding(code="many_files", level=WARN, text=_packing(market, part, part.bytes, part.files))


def _packing(market: Offers, part: DiskPart, size: int, files: int) -> str:
    packs = max(1, -(-size // _PACK))
    text = _(
        "{name}: {files} files of {size} on average. Packed they are {packs} files of {pack}: a pass asks a "
        "store {packs} times, not {files}; reading in random order took {slower} times as long unpacked "
        "(measured: docs/plan-disk.md). Packing takes a processor about {seconds:.0f} s"
    ).format(
        name=part.name,
        files=files,
        size=show_bytes(size // files),
        packs=packs,
        pack=show_bytes(min(_PACK, size)),
        slower=_SLOWER_UNPACKED,
        seconds=files * _PACKING_SECONDS,
    )
    for row in market.egress:
        if isinstance(row.per_request, Money):
            text += _("; {row} bills {saved} less a pass").format(
                row=row.name, saved=row.per_request.times(files - packs)
            )
    return text


def _of_downloads(campaign: Campaign, market: Offers, taken: Candidate) -> Iterator[Finding]:
    """Price each download at the machine that waits for it; a CPU machine waits for less."""
    cpu = cpu_machine(market)
    for name, stage in campaign.stages.items():
        if stage.moves is None or stage.moves.to != MACHINE or not stage.gpu:
            continue
        hours = stage.moves.rate.hours(stage.moves.size).likely
        cost = waits(taken.offer, hours)
        if cost is None:
            continue
        text = _("{stage} holds a GPU for {hours}, which is {cost} of {offer}").format(
            stage=name, hours=show_hours(hours), cost=cost.text, offer=taken.offer.name
        )
        cheaper = waits(cpu, hours) if cpu is not None else None
        if cpu is not None and cheaper is not None and cheaper.is_less_than(cost):
            text += _("; on {cpu} it would be {cost}: give it cpu: 1 instead of gpu").format(
                cpu=cpu.name, cost=cheaper.text
            )
        yield Finding(code="download_on_gpu", level=NOTE, text=text)


def _of_places(campaign: Campaign, market: Offers, taken: Candidate) -> Iterator[Finding]:
    """Name what is read from another region, every time that it is read."""
    region = taken.offer.region or taken.offer.zone
    for move in moves_of(campaign, taken.protocol.work):
        if move.to != MACHINE or move.origin in (HOME, INTERNET):
            continue
        if region is None:
            text = _("{name} reads {quantity} from {origin}, and {offer} does not say where it lies").format(
                name=move.name, quantity=move.quantity, origin=move.origin, offer=taken.offer.name
            )
            yield Finding(code="region_unknown", level=NOTE, text=text)
        elif move.origin not in (region, taken.offer.zone, taken.offer.provider):
            text = _("{name} reads {quantity} from {origin}, and {offer} is in {region}").format(
                name=move.name,
                quantity=move.quantity,
                origin=move.origin,
                offer=taken.offer.name,
                region=region,
            )
            yield Finding(code="other_region", level=WARN, text=text)
