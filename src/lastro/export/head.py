"""What stands at the head of an exported file: its use, what is pinned, what is only here, what is lost.

Everything is a comment that begins with `#`, which shells, YAML, container files and pip all read over. The
last line is a seal over all others, by which a file that somebody has edited is known. Pure.
"""

from __future__ import annotations

import hashlib
import textwrap
from collections.abc import Iterable, Iterator, Sequence

from lastro.export.recipe import Recipe, lost_of

_WIDTH = 100
_SEAL = "# seal: "


def head(recipe: Recipe, target: str, what: str, use: Sequence[str], lost: Iterable[str] = ()) -> str:
    """Return the head of a file that starts runs.

    Args:
        recipe: of the campaign.
        target: as `lastro export` names it.
        what: the file, in a few words.
        use: lines to type in the campaign's folder.
        lost: what is lost with this target beside what every export loses.
    """
    lines = [
        *_folded(
            f"{what} of the campaign {recipe.name}. Made by `lastro export {target}` from {recipe.file}; "
            f"made again and not edited: `lastro export {target} --check` compares it."
        ),
        "#",
        "# Use, in the folder of the campaign file:",
        *(f"#   {line}" for line in use),
        "#",
        "# Pinned:",
        *_items(_pinned(recipe)),
    ]
    sections = {
        "Not pinned, so it can change from day to day:": recipe.pins.unpinned,
        "Set before, because it is a key and no key is written down:": recipe.variables,
        "Of one provider only, and what to do elsewhere:": [
            f"{part.what} -> {part.elsewhere}" for part in recipe.parts
        ],
        "Lost without lastro:": [*lost_of(recipe), *lost],
    }
    for title, items in sections.items():
        if items:
            lines += ["#", f"# {title}", *_items(items)]
    return "\n".join(lines) + "\n"


def short_head(recipe: Recipe, target: str, what: str) -> str:
    """Return the head of a file that belongs to another one, which says the rest."""
    return f"# {what}, of the campaign {recipe.name}. Made by `lastro export {target}`; not edited.\n"


def sealed(text: str) -> str:
    """Return a text with its seal at the end."""
    return f"{text}{_SEAL}{_sum(text)}\n"


def is_as_made(text: str) -> bool:
    """Tell whether a text carries a seal that is right: nobody has edited it since it was made."""
    body, found, _seal = text.rpartition(_SEAL)
    return bool(found) and sealed(body) == text


def _sum(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _pinned(recipe: Recipe) -> Iterator[str]:
    pins = recipe.pins
    if pins.python:
        yield f"Python {pins.python}"
    if pins.packages:
        yield f"{len(pins.packages)} packages, in constraints.txt"
    for name, version in (("CUDA", pins.cuda), ("cuDNN", pins.cudnn)):
        if version and pins.packages:
            yield f"{name} {version}"
    if pins.requirements is not None:
        exact = "with digests" if pins.hashed else f"{len(pins.requirements.loose)} of its lines left open"
        yield f"{pins.requirements.name}, {exact}"
    if not pins.packages:
        yield "nothing by lastro.lock: there is none beside the campaign file"


def _items(texts: Iterable[str]) -> Iterator[str]:
    for text in texts:
        yield from textwrap.wrap(
            text, _WIDTH, initial_indent="#   ", subsequent_indent="#     ", break_on_hyphens=False
        )


def _folded(text: str) -> list[str]:
    return textwrap.wrap(text, _WIDTH, initial_indent="# ", subsequent_indent="# ", break_on_hyphens=False)
