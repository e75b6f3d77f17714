"""What of a campaign belongs to one provider only, and what would have to change elsewhere. Pure.

What is written into an export is English, whatever language whoever makes it speaks: it is compared later.
"""

from __future__ import annotations

from collections.abc import Iterator

from lastro.billing import LeaseKind
from lastro.export.pins import Pins
from lastro.records import dataclass
from lastro.spec.campaign import Campaign
from lastro.spec.offers import Offer

#: Options of sbatch that name something of one cluster.
_OF_CLUSTER = (
    "partition", "account", "qos", "reservation", "constraint", "nodelist", "exclude", "licenses", "clusters",
    "gres", "wckey", "burst-buffer",
)  # fmt: skip


@dataclass(frozen=True)
class Part:
    """One thing that only one provider has; `elsewhere` says what to do where it is not."""

    what: str
    elsewhere: str


def parts_of(spec: Campaign, offers: tuple[Offer, ...], pins: Pins) -> tuple[Part, ...]:
    """Return every provider-only part that a campaign uses, in the order of its file."""
    return (*_machines(spec, pins), *_storage(spec), *_offered(spec, offers))


def _machines(spec: Campaign, pins: Pins) -> Iterator[Part]:
    scheme = spec.provider.partition("://")[0]
    if scheme == "ssh":
        yield Part("provider: a machine that is reached by ssh", "any machine: nothing here needs ssh")
    if scheme == "slurm" or spec.slurm:
        yield Part("provider: a Slurm cluster, its partitions and limits", "one run on each machine, by hand")
        partition = spec.provider.partition("://")[2]
        named = {**({"partition": partition} if scheme == "slurm" and partition else {}), **spec.slurm}
        for name in _OF_CLUSTER:
            if name in named:
                yield Part(
                    f"slurm {name}: {named[name] or 'yes'}", f"what the other cluster calls its {name}"
                )
    if (cards := spec.want.get("gpu")) is not None:
        yield Part(f"card: {cards}", "another card has other memory, speed and hours; results may differ")
    if (driver := pins.gpu.get("driver")) is not None:
        yield Part(
            f"driver: {driver} (lastro.lock)", "no environment or image holds it: the host has to have it"
        )
    if pins.image is not None:
        yield Part(f"image: {pins.image}", "mirror it to a registry that can be reached from there")


def _storage(spec: Campaign) -> Iterator[Part]:
    if spec.disk is not None:
        kind = f" ({spec.disk.kind})" if spec.disk.kind else ""
        yield Part(
            f"disk: {spec.disk.path}{kind}",
            "set STATE to a folder that outlives the machine; what lies on this disk has to be copied there",
        )
        if spec.disk.mirror is not None and spec.disk.mirror.startswith("s3://"):
            yield Part(
                f"mirror: {spec.disk.mirror}",
                "nothing here writes to it; another store: AWS_ENDPOINT_URL, AWS_REGION and credentials",
            )
        elif spec.disk.mirror is not None:
            yield Part("mirror: a machine that is reached by ssh", "nothing here writes to it")
    if spec.corpus is not None:
        yield Part(
            f"corpus: {spec.corpus.path}", "it is no part of the code: bring it there before the first start"
        )


def _offered(spec: Campaign, offers: tuple[Offer, ...]) -> Iterator[Part]:
    used = {stage.offer for stage in spec.plan_b.values() if stage.offer is not None}
    for offer in offers:
        place = ", ".join(filter(None, [offer.provider, offer.region, offer.zone, offer.jurisdiction]))
        if offer.kind is LeaseKind.SPOT:
            yield Part(
                f"offer {offer.name}: spot" + (f" ({place})" if place else ""),
                "its notice comes from the provider's metadata service, which nothing here asks: "
                "what is heard is TERM",
            )
        elif offer.kind is LeaseKind.LOT:
            yield Part(f"offer {offer.name}: a lot, which ends with its term", "nothing here ends with it")
        elif offer.region or offer.name in used:
            yield Part(
                f"offer {offer.name}" + (f": {place}" if place else ""), "price and region differ elsewhere"
            )
    if spec.jurisdictions:
        yield Part(
            f"jurisdictions: {', '.join(spec.jurisdictions)}",
            "nothing here keeps to them: choose the region yourself",
        )
    for name, path in spec.plan_b.items():
        leads = ", ".join(filter(None, [path.offer, path.gpu, path.region]))
        yield Part(f"plan B of {name}: {leads}", "nothing here takes it by itself")
