"""How much is checked, what each part of it may take, and which size is due. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from types import MappingProxyType

from lastro.locale import _
from lastro.records import dataclass


class Size(str, Enum):
    """CANARY: a minute at most. FULL: ten. BURN_IN: an hour and more. CPU: a minute, without a GPU."""

    CANARY = "canary"
    FULL = "full"
    BURN_IN = "burn_in"
    CPU = "cpu"


HOST, DRIVER, LOCK, REACH, LAUNCH, BURN, SPEED, IO, WATCH, TRIAL = (
    "host", "driver", "lock", "reach", "launch", "burn", "speed", "io", "watch", "trial",
)  # fmt: skip

#: Of the step that is taken before anybody knows how much is due, beside the driver's answer.
HOST_SECONDS = 10.0
#: Seconds that each step may take, in the order in which they are taken; the trial of the job also has what
#: the others leave over. Sums: 60, 600, 5060 and 56. The clock runs from the typing of the command.
BUDGETS: Mapping[Size, Mapping[str, float]] = MappingProxyType(
    {
        Size.CANARY: {HOST: HOST_SECONDS, DRIVER: 6.0, LOCK: 1.0, REACH: 15.0, LAUNCH: 25.0, WATCH: 3.0},
        Size.FULL: {
            HOST: HOST_SECONDS, DRIVER: 6.0, LOCK: 1.0, REACH: 30.0, LAUNCH: 30.0, BURN: 255.0, SPEED: 45.0,
            IO: 15.0, WATCH: 3.0, TRIAL: 205.0,
        },
        Size.BURN_IN: {
            HOST: HOST_SECONDS, DRIVER: 6.0, LOCK: 1.0, REACH: 30.0, LAUNCH: 30.0, BURN: 3600.0, SPEED: 65.0,
            IO: 110.0, WATCH: 3.0, TRIAL: 1205.0,
        },
        Size.CPU: {HOST: HOST_SECONDS, LOCK: 1.0, LAUNCH: 18.0, IO: 4.0, TRIAL: 23.0},
    }
)  # fmt: skip

#: Updates of the user's own job in a trial.
TRIAL_STEPS: Mapping[Size, int] = MappingProxyType({Size.FULL: 60, Size.BURN_IN: 200, Size.CPU: 12})


@dataclass(frozen=True, kw_only=True)
class Known:
    """What is known of a machine before it is checked.

    Args:
        rented: it will be given back; else it is this box, or a rehearsal on it.
        has_gpu: its driver tells of cards.
        lock: "unchanged" (there is one and this machine is like it), "changed", or "none".
        provider: where it comes from, and `providers`: where machines that have passed came from.
        region: where it stands, and `regions`: where those stood. None: not told.
        image: its container's digest, and `images`: those of machines that have passed. None: not told.
        notes: what was noted of this node before.
    """

    rented: bool
    has_gpu: bool
    lock: str
    provider: str
    providers: frozenset[str] = frozenset()
    region: str | None = None
    regions: frozenset[str] = frozenset()
    image: str | None = None
    images: frozenset[str] = frozenset()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Due:
    """The size that is due, and why."""

    size: Size
    why: str


def size_due(known: Known) -> Due:
    """Return how much of a machine is checked before it is trusted.

    A short look is enough where everything was proven before. What is new is looked at for as long as a step
    of it costs less than hours that are lost.
    """
    if not known.rented and not known.has_gpu:
        return Due(size=Size.CANARY, why=_("nothing is rented and there is no GPU"))
    if known.notes:
        return Due(
            size=Size.FULL, why=_("this node has notes: {notes}").format(notes="; ".join(known.notes[:3]))
        )
    if known.lock == "none":
        return Due(size=Size.FULL, why=_("no machine of this kind has passed yet, so nothing is locked"))
    if known.lock == "changed":
        return Due(size=Size.FULL, why=_("it is not the machine that is locked"))
    if known.provider not in known.providers:
        return Due(size=Size.FULL, why=_("{provider} is new").format(provider=known.provider))
    if known.region is not None and known.region not in known.regions:
        return Due(size=Size.FULL, why=_("the region {region} is new").format(region=known.region))
    if known.image is not None and known.image not in known.images:
        return Due(size=Size.FULL, why=_("the image {image} is new").format(image=known.image))
    return Due(size=Size.CANARY, why=_("the provider is known, and the lock is unchanged"))


def seconds_of(size: Size) -> float:
    """Return the most that a size takes."""
    return sum(BUDGETS[size].values())
