"""`lastro export skypilot`: a task for each run, and what it starts. Pure.

Written by hand as YAML, so that it reads as a person writes it; SkyPilot's own library reads it in a test.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Sequence

from lastro.billing import LeaseKind
from lastro.export.head import head, sealed
from lastro.export.recipe import Recipe, Start
from lastro.export.shell import START, start_script, with_constraints
from lastro.records import dataclass
from lastro.spec.want import parse_card, parse_count

#: A machine on which nothing runs ends itself after so long, as one of lastro's does.
_IDLE_MINUTES = 15
#: GiB of the machine's own disk, where the campaign does not say how large its disk is: SkyPilot's default.
_DISK_GIB = 256
#: Cards whose smallest memory SkyPilot's catalogue does not name.
_UNNAMED_MEMORY = {"A100-40GB": "A100", "V100-16GB": "V100", "H100-80GB": "H100", "H200-141GB": "H200"}
_MEMORY = re.compile(r"[ -]*([0-9]+) ?gb?$", re.I)
_MAKERS = re.compile(r"\b(nvidia|geforce|tesla|amd)\b", re.I)


@dataclass(frozen=True, kw_only=True)
class Machines:
    """What machines are asked for, best first. `cards` empty: nobody has said which. `why`: who says so."""

    cards: tuple[str, ...]
    count: int
    why: str


@dataclass(frozen=True, kw_only=True)
class Spot:
    """Whether spot machines are taken, and why."""

    use: bool
    why: str


def skypilot(recipe: Recipe) -> dict[str, str]:
    """Return the files, by their names in the folder of the export."""
    lost = [
        "budget and deadline: a machine ends only when nothing has run on it for the time of `autostop`",
        "STATE is a bucket that is mounted: it renames slowly and locks nothing; a volume is better",
        "changing between spot and on demand: `sky jobs launch` takes another machine of the same kind",
    ]
    files = {f"{one.name}.yaml": _task(recipe, one, lost) for one in recipe.starts}
    use = [f"sh {recipe.here}/{START} RUN       what the tasks call"]
    return with_constraints(
        recipe,
        "skypilot",
        {**files, START: start_script(recipe, "skypilot", "What a task starts", use, lost)},
    )


def machines_of(recipe: Recipe) -> Machines:
    """Return which cards are asked for: those the campaign wants, else those of its offers; then plan B's."""
    spec = recipe.spec
    count = max((stage.gpu for stage in spec.stages.values()), default=0)
    if "gpus" in spec.want:
        count = parse_count(spec.want["gpus"])
    named, why = _named(recipe)
    if not named:
        return Machines(cards=(), count=count, why=why)
    second = [one.gpu for one in spec.plan_b.values() if one.gpu is not None]
    cards = dict.fromkeys(sky_name(name) for name in [*named, *second])
    if second:
        why += ", then those of plan_b"
    return Machines(cards=tuple(cards), count=max(1, count), why=why)


def _named(recipe: Recipe) -> tuple[list[str], str]:
    if "gpu" in recipe.spec.want:
        return list(parse_card(recipe.spec.want["gpu"])), "the cards of want"
    if not any(stage.gpu for stage in recipe.spec.stages.values()):
        return [], "no stage holds a card"
    offered = [offer.gpu for offer in recipe.offers if offer.gpu is not None and offer.gpus]
    return list(dict.fromkeys(offered)), "the cards of the offers" if offered else "nobody says which card"


def sky_name(card: str) -> str:
    """Return a card as SkyPilot's catalogue spells it: `RTX 4090` is RTX4090, `A100 80GB` is A100-80GB.

    Source: https://docs.skypilot.co/en/latest/overview.html and `sky show-gpus --all`.
    """
    bare = _MAKERS.sub("", card).strip()
    memory = _MEMORY.search(bare)
    model = re.sub(r"[^A-Za-z0-9]", "", bare[: memory.start()] if memory else bare)
    if memory is None or model.upper().startswith(("RTX", "L4", "T4")):
        return model
    name = f"{model}-{memory[1]}GB"
    return _UNNAMED_MEMORY.get(name, name)


def spot_of(recipe: Recipe) -> Spot:
    """Return whether spot is used: where it is all that is offered, and no stage of a run refuses it."""
    refusing = [name for name, stage in recipe.spec.stages.items() if stage.never_spot]
    if refusing:
        return Spot(use=False, why=f"never_spot of {', '.join(refusing)}")
    kinds = {offer.kind for offer in recipe.offers if offer.gpus}
    if kinds == {LeaseKind.SPOT}:
        return Spot(use=True, why="nothing else is offered")
    if LeaseKind.SPOT in kinds:
        names = ", ".join(offer.name for offer in recipe.offers if offer.kind is LeaseKind.SPOT)
        return Spot(use=False, why=f"{names} would be spot; a job that resumes may say true")
    return Spot(use=False, why="no spot is offered" if recipe.offers else "nothing is offered")


def _task(recipe: Recipe, one: Start, lost: Sequence[str]) -> str:
    name = re.sub(r"[^a-z0-9-]", "-", f"{recipe.name}-{one.name}".lower())
    keys = "".join(f"--secret {variable} " for variable in recipe.variables)
    use = [
        f"sky launch {keys}-c {name} {recipe.here}/{one.name}.yaml",
        f"sky jobs launch {keys}{recipe.here}/{one.name}.yaml       taken up again when a spot machine goes",
    ]
    lines = [
        f"name: {name}",
        "workdir: .",
        *_resources(recipe),
        "envs:",
        "  # Buckets share their names with the whole world: take one that is yours.",
        f"  BUCKET: {_bucket(recipe)}",
        *_secrets(recipe),
        "file_mounts:",
        "  /state:",
        "    name: ${BUCKET}",
        "    mode: MOUNT_CACHED",
        "setup: |",
        f'  ONLY=environment VENV="$HOME/venv" STATE=/state sh {recipe.here}/{START} {one.name}',
        "run: |",
        f'  VENV="$HOME/venv" STATE=/state sh {recipe.here}/{START} {one.name}',
    ]
    text = head(recipe, "skypilot", f"A SkyPilot task for the run {one.name}", use, lost)
    return sealed(text + "\n" + "\n".join(lines) + "\n")


def _resources(recipe: Recipe) -> Iterator[str]:
    machines, spot = machines_of(recipe), spot_of(recipe)
    disk = recipe.spec.disk.size if recipe.spec.disk else None
    yield "resources:"
    yield f"  # {machines.why}"
    if len(machines.cards) > 1:
        yield "  ordered:"
        yield from (
            f"    - accelerators: {json.dumps(f'{card}:{machines.count}')}" for card in machines.cards
        )
    elif machines.cards:
        yield f"  accelerators: {json.dumps(f'{machines.cards[0]}:{machines.count}')}"
    yield f"  # {spot.why}"
    yield f"  use_spot: {'true' if spot.use else 'false'}"
    yield f"  disk_size: {_DISK_GIB if disk is None else max(50, math.ceil(disk / 2**30))}"
    idle = recipe.spec.idle
    minutes = _IDLE_MINUTES if idle is None else max(1, math.ceil(idle.total_seconds() / 60))
    yield "  autostop:"
    yield f"    idle_minutes: {minutes}"
    yield "    down: true"


def _secrets(recipe: Recipe) -> Iterator[str]:
    if recipe.variables:
        yield "secrets:"
        yield from (f"  {name}: null" for name in recipe.variables)


def _bucket(recipe: Recipe) -> str:
    """Return a name that stores take: small letters, digits and hyphens, 63 at most."""
    return re.sub(r"[^a-z0-9-]", "-", f"{recipe.name}-state".lower())[:63].strip("-")
