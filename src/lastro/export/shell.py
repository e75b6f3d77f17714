"""`lastro export shell`: one script, for any machine with a POSIX shell and tar. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lastro.export.environment import CONSTRAINTS, constraints
from lastro.export.head import head, sealed, short_head
from lastro.export.recipe import Recipe
from lastro.export.spelling import quoted
from lastro.export.start import start

START = "start.sh"

_WHERE = """\
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
root=$(CDPATH='' cd -- "$here/{root}" && pwd)
run=${{1:-{first}}}
"""


def shell(recipe: Recipe) -> dict[str, str]:
    """Return the files, by their names in the folder of the export."""
    names = ", ".join(one.name for one in recipe.starts)
    use = [f"sh {recipe.here}/{START} RUN", f"where RUN is one of: {names}"]
    if recipe.uses_lastro:
        use.append("LASTRO_SOURCE=FOLDER before it where no index has lastro, which the job imports")
    return with_constraints(recipe, "shell", {START: start_script(recipe, "shell", "A start", use)})


def start_script(recipe: Recipe, target: str, what: str, use: Sequence[str], lost: Sequence[str] = ()) -> str:
    """Return the script that starts one run, from its head to its end."""
    where = _WHERE.format(root=quoted(recipe.root), first=recipe.starts[0].name)
    return sealed("#!/bin/sh\n" + head(recipe, target, what, use, lost) + "\n" + start(recipe, where))


def with_constraints(recipe: Recipe, target: str, files: Mapping[str, str]) -> dict[str, str]:
    """Return the files, with the one that holds the versions of the locked machine where there is a lock."""
    lines = constraints(recipe)
    if lines is None:
        return dict(files)
    return {**files, CONSTRAINTS: sealed(short_head(recipe, target, "The versions of lastro.lock") + lines)}
