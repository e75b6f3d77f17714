"""The variables that point a program's caches to where they belong, and what is wrong with others. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

from lastro.disk.caches.table import BESIDE, CACHES, CREDENTIALS, LEGACY, PARTS, Where
from lastro.locale import _
from lastro.records import dataclass


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One variable that does not do what it seems to."""

    variable: str
    text: str

    def as_json(self) -> dict[str, str]:
        return vars(self)


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What is to be set, and what was found of what is set already."""

    variables: Mapping[str, str]
    findings: tuple[Finding, ...]

    def as_json(self) -> dict[str, Any]:
        return {
            "variables": dict(self.variables),
            "findings": [finding.as_json() for finding in self.findings],
        }


@dataclass(frozen=True, kw_only=True)
class Places:
    """Absolute folders: caches on the disk; on the machine compiled kernels, staging, and home."""

    disk: str
    carried: str
    machine: str
    home: str


def settings_for(places: Places, base: Mapping[str, str]) -> Settings:
    """Return the variables to set beside `base`, the environment that a program would have otherwise.

    What a person has set is left as it is, and named where it leads off the disk; an empty value is none,
    because programs take it for the folder that they run in.
    """
    variables: dict[str, str] = {}
    for cache in CACHES:
        if not base.get(cache.variable):
            root = {Where.DISK: places.disk, Where.CARRIED: places.carried, Where.MACHINE: places.machine}
            variables[cache.variable] = f"{root[cache.where]}/{cache.folder}"
            if cache.variable in BESIDE and BESIDE[cache.variable][0] not in base:
                name, value = BESIDE[cache.variable]
                variables[name] = value
    if "HF_HOME" in variables:
        before = _expanded("~/.cache/huggingface", places.home)
        if base.get("XDG_CACHE_HOME"):
            before = f"{base['XDG_CACHE_HOME'].rstrip('/')}/huggingface"
        for name, file in CREDENTIALS.items():
            if not base.get(name):
                variables[name] = f"{before}/{file}"
    return Settings(variables=variables, findings=tuple(_findings(places, base)))


def _expanded(path: str, home: str) -> str:
    return f"{home}{path[1:]}" if path == "~" or path.startswith("~/") else path


def _findings(places: Places, base: Mapping[str, str]) -> Iterator[Finding]:
    for cache in CACHES:
        value = base.get(cache.variable)
        if value == "":
            yield Finding(
                variable=cache.variable,
                text=_("it is empty, which some programs take for the folder that they run in: it is set"),
            )
        elif value is not None and cache.where is Where.DISK and not _is_on_disk(value, places):
            yield Finding(
                variable=cache.variable,
                text=_("it was set to {value}, which is not on the disk: it is left so").format(value=value),
            )
    for name, newer in LEGACY.items():
        if name in base:
            yield Finding(
                variable=name,
                text=_("it is an old name of {newer}; versions that still read it look in {value}").format(
                    newer=newer, value=base[name]
                ),
            )
    for name, whole in PARTS.items():
        value = base.get(name)
        if value and not _is_on_disk(value, places):
            text = _("it contradicts {whole}: this part goes to {value}, which is not on the disk")
            yield Finding(variable=name, text=text.format(whole=whole, value=value))


def _is_on_disk(value: str, places: Places) -> bool:
    """Tell whether a path lies on the disk: below the folder that holds the folder of caches."""
    disk = PurePosixPath(places.disk).parent
    return PurePosixPath(_expanded(value, places.home)).is_relative_to(disk)


# --- what a program really has --------------------------------------------------------------------------


def differences(told: Mapping[str, str], found: Mapping[str, str]) -> dict[str, str | None]:
    """Return the variables that a program has otherwise than it was told; None: it does not have them."""
    return {name: found.get(name) for name, value in told.items() if found.get(name) != value}
