"""All that the files of an export are made from: runs, places, pins, what is left behind.

An export starts the runs of a campaign where lastro is not: it carries no plan and no record.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from lastro.errors import UsageError
from lastro.export import keys
from lastro.export.parts import Part, parts_of
from lastro.export.pins import Pins, read_pins
from lastro.locale import _
from lastro.records import dataclass
from lastro.rules import CheckpointPolicy, StopKind, StopRule
from lastro.spec.campaign import Campaign
from lastro.spec.load import LoadedCampaign, load_offers
from lastro.spec.offers import Offer
from lastro.storage.snapshot import code_files

#: Below the campaign's folder, where nothing else is said.
EXPORTS = "export"
#: On the disk, so that what an export leaves never mixes with what lastro keeps there.
STATE = "exported"
_DISK = "lastro-disk"
_PYTHON = re.compile(r"(?<![\w.-])python[0-9.]*(?![\w-])")
_LASTRO = re.compile(r"(?<![\w.-])lastro(?![\w-])")
_IMPORTS = re.compile(r"^[ \t]*(?:import|from)[ \t]+lastro\b", re.M)


@dataclass(frozen=True, kw_only=True)
class Start:
    """One run: its name, and its command as words that are spelled for a shell."""

    name: str
    words: tuple[str, ...]
    config: Mapping[str, Any]
    priority: str


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """A campaign as it is started without lastro.

    `root`: the campaign's folder, seen from that of the export; `here`: that of the export, seen from the
    campaign's folder. Both are relative. `disk`: as the campaign file has it. `uses_lastro`: the job imports
    it, or its command names it. `variables`: with keys, that have to be set. `offers`: as far as there are.
    """

    spec: Campaign
    root: str
    here: str
    disk: str
    starts: tuple[Start, ...]
    setup: str | None
    pins: Pins
    parts: tuple[Part, ...]
    variables: tuple[str, ...]
    uses_lastro: bool
    uses_python: bool
    offers: tuple[Offer, ...]
    file: str

    @property
    def name(self) -> str:
        return self.spec.campaign

    @property
    def installs(self) -> bool:
        """Whether anything has to be installed before a run."""
        asked = (self.setup, self.pins.requirements, self.pins.wanted)
        return self.uses_lastro or any(asked)

    @property
    def checkpoint(self) -> CheckpointPolicy:
        return self.spec.checkpoint.policy()

    @property
    def stop(self) -> tuple[StopRule, ...]:
        """The rules that a job judges by itself; those about the corpus need its digest, which a plan has."""
        return tuple(rule for rule in self.spec.stop if rule.kind is not StopKind.TRUNCATED_INPUT)


def read_recipe(loaded: LoadedCampaign, out: Path, *, strict: bool = False) -> Recipe:
    """Read what an export of a campaign is made from.

    Args:
        loaded: the campaign.
        out: the folder that the export is going to be in; need not be there.
        strict: whatever cannot be pinned is an error.

    Raises:
        UsageError: `out` does not lie in the campaign's repository.
        CampaignInvalid: the lock or the offers file cannot be used.
        StorageError: the folder of the code cannot be listed.
        NotProven: strict, and something cannot be pinned.
    """
    spec = loaded.spec
    top = repository_of(loaded.folder)
    out = Path(os.path.realpath(out))
    if not out.is_relative_to(top) or out == top:
        raise UsageError(
            _("{path} does not lie in {repository}, so nothing could be found from there").format(
                path=out, repository=top
            ),
            hint=_("an export lives in the repository of its campaign; --out names a folder in it"),
        )
    pins = read_pins(loaded, strict=strict)
    path = loaded.offers_path
    offers = load_offers(path) if path is not None and path.is_file() else ()
    starts = tuple(
        Start(
            name=run.name,
            words=keys.words_without_keys(spec.command, run.config),
            config=keys.config_without_keys(run.config),
            priority=run.priority,
        )
        for run in spec.runs()
    )
    setup = keys.without_keys(spec.setup) if spec.setup else None
    shown = [word for start in starts for word in start.words]
    config = [str(value) for start in starts for value in start.config.values()]
    programs = " ".join([spec.command, spec.setup or ""])
    uses_lastro = bool(_LASTRO.search(spec.command)) or _imports_lastro(loaded)
    return Recipe(
        spec=spec,
        root=_relative(loaded.folder, out),
        here=_relative(out, loaded.folder),
        disk=spec.disk.path if spec.disk else _DISK,
        starts=starts,
        setup=setup,
        pins=pins,
        parts=parts_of(spec, offers, pins),
        variables=keys.variables_in([*shown, *config, setup or ""]),
        uses_lastro=uses_lastro,
        uses_python=uses_lastro or bool(_PYTHON.search(programs) or pins.requirements or pins.wanted),
        offers=offers,
        file=loaded.path.name,
    )


def repository_of(folder: Path) -> Path:
    """Return the top of the git repository that a folder lies in; the folder itself where there is none."""
    folder = Path(os.path.realpath(folder))
    return next((path for path in (folder, *folder.parents) if (path / ".git").exists()), folder)


def lost_of(recipe: Recipe) -> Iterator[str]:
    """Yield what lastro does and nobody does here, each in a sentence. Pure."""
    yield "restart decisions: a run that dies is started again by you; nobody asks whether it makes progress"
    if recipe.spec.checkpoints is not None:
        yield "verified checkpoints: the newest save is taken as it is, whole or not"
    yield "fencing: start no run twice at the same time; nothing forbids it"
    yield "the guard: what of value lies beside STATE goes with the machine, and nobody says so"
    yield "caches on the disk: models and packages are fetched again, unless you point their variables there"
    limits = {
        "budget": recipe.spec.budget,
        "window": recipe.spec.window,
        "idle": recipe.spec.idle,
        "decision points": any(stage.decide for stage in recipe.spec.stages.values()) or None,
    }
    named = [name for name, value in limits.items() if value is not None]
    if named:
        yield f"limits ({', '.join(named)}): nothing ends at them"
    rules = [rule.kind.value for rule in recipe.spec.stop]
    judged = [rule.kind.value for rule in recipe.stop] if recipe.uses_lastro else []
    if unjudged := [rule for rule in dict.fromkeys(rules) if rule not in judged]:
        yield f"stop rules that nobody judges: {', '.join(unjudged)}"
    if judged:
        yield f"stop rules that the job still judges itself: {', '.join(dict.fromkeys(judged))}"
    yield "the checks of a machine (preflight), the journal and its costs, reloading outputs, the conclusion"


def _imports_lastro(loaded: LoadedCampaign) -> bool:
    """Tell whether a script of the campaign's code imports lastro."""
    names = code_files(loaded.folder, loaded.left_out())
    scripts = (loaded.folder / name for name in names if name.endswith(".py"))
    return any(_IMPORTS.search(path.read_text(encoding="utf-8", errors="replace")) for path in scripts)


def _relative(path: Path, start: Path) -> str:
    return PurePosixPath(os.path.relpath(os.path.realpath(path), os.path.realpath(start))).as_posix()
