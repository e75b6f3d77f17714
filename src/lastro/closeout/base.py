"""The model that an output was made from: what the output says of it, where it is, and its licence."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lastro import strictjson
from lastro.closeout.promise import Base
from lastro.errors import LastroError
from lastro.locale import _
from lastro.records import dataclass
from lastro.storage.digest import digest_of

#: Written by peft beside every adapter.
ADAPTER = "adapter_config.json"
_COMMIT = re.compile(r"[0-9a-f]{40}")
_CARD = "README.md"
#: The block of settings that a model card begins with.
_FRONT_MATTER = re.compile(r"\A---\n(.*?)\n---\n", re.DOTALL)
_LICENCE = re.compile(r"^license:\s*['\"]?([\w.+-]+)", re.MULTILINE)
_GATED = re.compile(r"^extra_gated_\w+:|^gated:\s*['\"]?(?:true|auto|manual)", re.MULTILINE)


@dataclass(frozen=True)
class NamedBase:
    """The base that an adapter names for itself. `revision` None: it does not say which."""

    name: str
    revision: str | None

    @property
    def is_commit(self) -> bool:
        return self.revision is not None and _COMMIT.fullmatch(self.revision) is not None


def named_base(folder: Path) -> NamedBase | None:
    """Return the base that an adapter's configuration names; None for what is no adapter."""
    try:
        said = strictjson.read(folder / ADAPTER)
        name, revision = said.get("base_model_name_or_path"), said.get("revision")
    except (OSError, LastroError, ValueError, AttributeError):
        return None
    return NamedBase(str(name or ""), str(revision) if revision else None)


@dataclass(frozen=True, kw_only=True)
class FoundBase:
    """A base as it lies here. `place` None: it is not here, or not the one that is meant; `why` says it.

    `root`: what has to be shown so that `place`, which may hold links, can be read. `wrong`: it is here, and
    has other bytes than were promised.
    """

    place: Path | None
    root: Path | None = None
    why: str | None = None
    wrong: bool = False


def find_base(promised: Base | None, named: NamedBase | None, code: Path, cache: Path) -> FoundBase:
    """Look for a base among code and inputs, or in the cache of a hub's files on this computer.

    Args:
        promised: what the plan says of it; without it what the output names.
        named: what the output names.
        code: the run's code with its inputs.
        cache: as `hub_cache` returns it.
    """
    if promised is not None and promised.path is not None:
        return _beside(promised, code / promised.path)
    name = promised.hub if promised is not None else named.name if named is not None else None
    revision = promised.revision if promised is not None else named.revision if named is not None else None
    if name is None or revision is None:
        return FoundBase(place=None, why=_("nothing says which base it was made from"))
    snapshot = cache / f"models--{name.replace('/', '--')}" / "snapshots" / revision
    if not snapshot.is_dir():
        why = _("the base {name} at {revision} is not in this computer's cache").format(
            name=name, revision=revision[:12]
        )
        return FoundBase(place=None, why=why)
    return FoundBase(place=snapshot, root=snapshot.parent.parent)


def _beside(promised: Base, place: Path) -> FoundBase:
    try:
        found = digest_of(place)
    except LastroError as error:
        return FoundBase(place=None, why=_("the base {name}: {why}").format(name=promised.name, why=error))
    if found != promised.sha256:
        why = _("the base {name} has the SHA-256 {found}, {promised} was promised").format(
            name=promised.name, found=found[:16], promised=str(promised.sha256)[:16]
        )
        return FoundBase(place=None, why=why, wrong=True)
    return FoundBase(place=place, root=place)


def hub_cache(environment: Mapping[str, str]) -> Path:
    """Return where the Hugging Face libraries keep what they have fetched."""
    if chosen := environment.get("HF_HUB_CACHE"):
        return Path(chosen)
    home = environment.get("HF_HOME")
    cache = environment.get("XDG_CACHE_HOME") or os.path.join("~", ".cache")  # noqa: PTH118
    return (Path(home) if home else Path(cache).expanduser() / "huggingface") / "hub"


@dataclass(frozen=True, kw_only=True)
class BaseFacts:
    """What is recorded of a base. `licence`, `gated`: None where neither plan nor model card says so."""

    name: str
    revision: str | None
    sha256: str | None
    licence: str | None
    gated: bool | None
    source: str | None

    def as_facts(self) -> dict[str, Any]:
        """Return it as a `deliverable.judged` event holds it."""
        return dict(vars(self))

    @property
    def warning(self) -> str | None:
        """Say that nothing is known of what may be done with it; None when something is."""
        if self.licence is not None:
            return None
        return _("no licence is known of the base {name}: add licence: to its base in the plan").format(
            name=self.name
        )


def base_facts(promised: Base | None, named: NamedBase | None, place: Path | None) -> BaseFacts | None:
    """Return what is known of the base of an output; None when it has none."""
    if promised is None and named is None:
        return None
    licence, gated = _of_card(place / _CARD if place is not None and place.is_dir() else None)
    source = _CARD if licence is not None or gated is not None else None
    if promised is not None and (promised.licence is not None or promised.gated is not None):
        licence = promised.licence if promised.licence is not None else licence
        gated = promised.gated if promised.gated is not None else gated
        source = "plan"
    return BaseFacts(
        name=promised.name if promised is not None else named.name if named is not None else "",
        revision=(promised.revision if promised else None) or (named.revision if named else None),
        sha256=promised.sha256 if promised is not None else None,
        licence=licence,
        gated=gated,
        source=source,
    )


def _of_card(card: Path | None) -> tuple[str | None, bool | None]:
    try:
        text = card.read_text(encoding="utf-8", errors="replace") if card is not None else ""
    except OSError:
        return None, None
    found = _FRONT_MATTER.match(text)
    if found is None:
        return None, None
    licence = _LICENCE.search(found[1])
    return licence[1] if licence else None, True if _GATED.search(found[1]) else None
