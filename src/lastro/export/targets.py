"""The targets of `lastro export`, and how their files are written into a repository and compared there."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from itertools import zip_longest
from pathlib import Path

from lastro import atomic
from lastro.errors import UsageError
from lastro.export.container import container
from lastro.export.head import is_as_made
from lastro.export.keys import refuse_keys
from lastro.export.recipe import EXPORTS, Recipe, read_recipe
from lastro.export.shell import shell
from lastro.export.skypilot import skypilot
from lastro.export.slurm import slurm
from lastro.locale import _
from lastro.records import dataclass
from lastro.spec.load import EXPORTED, LoadedCampaign

#: Each makes its files, by their names, of a recipe.
TARGETS: Mapping[str, Callable[[Recipe], dict[str, str]]] = {
    "slurm": slurm,
    "skypilot": skypilot,
    "container": container,
    "shell": shell,
}


@dataclass(frozen=True, kw_only=True)
class Export:
    """Files that start a campaign without lastro. `files`: their texts, by their names in `folder`."""

    target: str
    folder: Path
    files: Mapping[str, str]
    recipe: Recipe

    @property
    def counts_as_code(self) -> bool:
        """Whether the files lie among the code of the runs, so that other ones make other runs."""
        return not self.recipe.here.startswith("../") and self.recipe.here not in EXPORTED


@dataclass(frozen=True, kw_only=True)
class Difference:
    """Where a file in the repository is not what the campaign makes now.

    `line`: the first that differs, from 1; 0: the file is not there. `there` and `made` None: no such line.
    """

    path: Path
    line: int
    there: str | None
    made: str | None


def make_export(
    loaded: LoadedCampaign, target: str, out: Path | None = None, *, strict: bool = False
) -> Export:
    """Make the files of one target; nothing is written. The same campaign and lock make the same bytes.

    Args:
        loaded: the campaign.
        target: one of `TARGETS`.
        out: the folder that they are for; None: `export/<target>` beside the campaign file.
        strict: whatever cannot be pinned is an error.

    Raises:
        UsageError: there is no such target, or `out` lies outside the repository.
        CampaignInvalid: the lock or the offers file cannot be used, or a key would be written down.
        NotProven: strict, and something cannot be pinned.
    """
    if target not in TARGETS:
        near = difflib.get_close_matches(target, list(TARGETS), n=1)
        guess = _(" Did you mean '{name}'?").format(name=near[0]) if near else ""
        raise UsageError(
            _("nothing can be exported to '{target}'.").format(target=target) + guess,
            hint=_("known are: {known}").format(known=", ".join(TARGETS)),
        )
    folder = out if out is not None else loaded.folder / EXPORTS / target
    recipe = read_recipe(loaded, folder, strict=strict)
    files = TARGETS[target](recipe)
    for name, text in files.items():
        refuse_keys(name, text)
    return Export(target=target, folder=folder, files=files, recipe=recipe)


def compare(export: Export) -> tuple[Difference, ...]:
    """Return where the files in the repository differ from what was made; other files there are let be."""
    found = (_difference(export.folder / name, text) for name, text in export.files.items())
    return tuple(one for one in found if one is not None)


def write_export(export: Export, *, force: bool = False) -> tuple[Path, ...]:
    """Write the files that are not there as they are; return them.

    Args:
        export: what was made.
        force: overwrite what somebody has edited, too.

    Raises:
        UsageError: a file was edited since it was made, or is no export at all; nothing was written.
    """
    changed = [difference.path for difference in compare(export)]
    edited = [path for path in changed if path.exists() and not is_as_made(_text(path) or "")]
    if edited and not force:
        raise UsageError(
            _("{path} was edited by hand, or is no export; nothing was written").format(path=edited[0]),
            hint=_("put the change into the campaign file, or overwrite it with --force"),
        )
    atomic.make_folder(export.folder)
    for path in changed:
        atomic.write_text(path, export.files[path.name])
    return tuple(changed)


def _difference(path: Path, made: str) -> Difference | None:
    there = _text(path)
    if there == made:
        return None
    if there is None:
        return Difference(path=path, line=0, there=None, made=None)
    pairs = zip_longest(there.split("\n"), made.split("\n"))
    line, (old, new) = next(
        (number, pair) for number, pair in enumerate(pairs, start=1) if pair[0] != pair[1]
    )
    return Difference(path=path, line=line, there=old, made=new)


def _text(path: Path) -> str | None:
    """Return what a file says, to the byte; None when it is not there, or is no file."""
    try:
        return path.read_bytes().decode("utf-8", errors="replace")
    except (FileNotFoundError, IsADirectoryError, NotADirectoryError):
        return None
