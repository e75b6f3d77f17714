"""What a campaign wants of a machine: `python: ">=3.10"`, `gpu: "RTX 4090"`, `memory: ">=2 GB"`."""

from __future__ import annotations

import re
from collections.abc import Mapping

from packaging.specifiers import InvalidSpecifier, SpecifierSet

from lastro.locale import _
from lastro.records import dataclass
from lastro.spec.base import Contradiction, Problem, shown
from lastro.units import parse_bytes

#: Wants that are sizes.
SIZES = ("memory", "shared_memory", "disk", "gpu_memory")
#: Wants about GPUs: the name of the card, how many, the memory of each, versions of the driver and of CUDA.
OF_GPU = ("gpu", "gpus", "gpu_memory", "driver", "cuda")
#: Every want that is not the version of Python or of a package.
OF_MACHINE = (*SIZES, *(name for name in OF_GPU if name not in SIZES))

_SIZE = re.compile(r"\s*(>=|)\s*(.+)")
_COUNT = re.compile(r"\s*(?:>=)?\s*([1-9][0-9]{0,3})\s*")
_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?")


@dataclass(frozen=True)
class AtLeast:
    """A size, in bytes, that has to be there."""

    bytes: int


def parse_size(text: str) -> AtLeast:
    """Read `>=2 GB` or `2 GB`. Raises ValueError with a sentence for the user."""
    match = _SIZE.fullmatch(text)
    if not match:
        raise ValueError(_("{text!r} is not a size such as '>=2 GB'").format(text=text))
    return AtLeast(parse_bytes(match[2]))


def parse_count(text: str) -> int:
    """Read `2` or `>=2`. Raises ValueError with a sentence for the user."""
    match = _COUNT.fullmatch(text)
    if not match:
        raise ValueError(_("{text!r} is not a number of GPUs such as '>=2'").format(text=text))
    return int(match[1])


def parse_card(text: str) -> tuple[str, ...]:
    """Read the name of a card, or several with `or` between them. Raises ValueError for an empty one."""
    names = tuple(part.strip() for part in re.split(r"\s+or\s+", text.strip()))
    if not all(names):
        raise ValueError(_("it is empty"))
    return names


def parse_version(text: str) -> SpecifierSet:
    """Read `>=3.10`, `2.13.*` or `==2.13.0`. Raises ValueError with a sentence for the user.

    A bare version means that one and no other. Pre-releases count: what is installed is what is judged.
    """
    bare = text.strip()[:1].isdigit()
    try:
        specifier = SpecifierSet(f"=={text.strip()}" if bare else text, prereleases=True)
    except InvalidSpecifier as error:
        raise ValueError(
            _("{text!r} is not a version such as '>=3.10' or '2.13.*'").format(text=text)
        ) from error
    if not len(specifier):
        raise ValueError(_("it is empty"))
    return specifier


def check_want(value: object) -> object:
    """Check every want of a campaign file by its name; the texts are kept."""
    if not isinstance(value, Mapping):
        raise ValueError(
            _("{value} is not a mapping such as {{python: '>=3.10'}}").format(value=shown(value))
        )
    problems = []
    for name, wanted in value.items():
        message = _wrong(name, wanted)
        if message:
            problems.append(Problem((name,), message))
    if problems:
        raise Contradiction(*problems)
    return dict(value)


def _wrong(name: str, wanted: object) -> str | None:
    if not _NAME.fullmatch(name):
        return _("{name!r} is not the name of a package").format(name=name)
    if not isinstance(wanted, str):
        return _("{value} has to be written in quotes, such as '>=3.10'").format(value=shown(wanted))
    try:
        if name in SIZES:
            parse_size(wanted)
        elif name == "gpus":
            parse_count(wanted)
        elif name == "gpu":
            parse_card(wanted)
        else:
            parse_version(wanted)
    except ValueError as error:
        return str(error)
    return None
