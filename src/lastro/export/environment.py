"""The environment of a start: which Python, what pip installs into it, and the campaign's set-up. Pure."""

from __future__ import annotations

import hashlib
import re
import shlex
from collections.abc import Iterator

from lastro import __version__
from lastro.export.recipe import Recipe

CONSTRAINTS = "constraints.txt"
#: Where PyTorch keeps its builds, by their local label: https://pytorch.org/get-started/previous-versions/
_BUILDS = "https://download.pytorch.org/whl/{label}"
_PIP = "python -m pip --disable-pip-version-check install"

_ENVIRONMENT = """\
# --- the environment. PREPARED=1: it is there already, and first on PATH
if [ -z "${{PREPARED:-}}" ]; then
    VENV=${{VENV:-$STATE/venv}}
    PYTHON=${{PYTHON:-$({interpreters})}}
    mkdir -p "$(dirname -- "$VENV")"
{index}    # Several runs may begin at once, and one of them makes it.
    exec 9>"$VENV.lock"
    if command -v flock >/dev/null; then flock 9; fi
    if [ ! -e "$VENV/.ready-{sum}" ]; then
{check}        "$PYTHON" -m venv{options} "$VENV"
        PATH=$VENV/bin:$PATH
{installs}        : >"$VENV/.ready-{sum}"
    fi
    PATH=$VENV/bin:$PATH
    export PATH
{setup}    exec 9>&-
fi
"""

_INDEX = """\
    # Where the locked build of PyTorch is.
    PIP_EXTRA_INDEX_URL=${{PIP_EXTRA_INDEX_URL:-{index}}}
    export PIP_EXTRA_INDEX_URL
"""

_CHECK = """\
        "$PYTHON" -c 'import platform, sys; sys.exit(platform.python_version() != "{python}")' ||
            echo "warning: this is $("$PYTHON" --version), and Python {python} is pinned" >&2
"""

_SETUP = """\
    if [ ! -e "$mine/setup-{sum}-$(uname -n)" ]; then
        {constraint}sh -c {setup}
        : >"$mine/setup-{sum}-$(uname -n)"
    fi
"""

_ONLY_SETUP = """\
# --- the set-up, once for each run and machine. PREPARED=1: it was done
if [ -z "${{PREPARED:-}}" ]; then
{setup}fi
"""


def environment(recipe: Recipe) -> str:
    """Return the lines that make it and put it first on PATH; "" where a run needs none."""
    setup = _setup(recipe)
    if not recipe.uses_python:
        return _ONLY_SETUP.format(setup=setup) if setup else ""
    commands_ = list(installs(recipe, f'"$here/{CONSTRAINTS}"'))
    index = index_of(recipe) if recipe.installs else None
    python = recipe.pins.python
    minor = "python" + ".".join(python.split(".")[:2]) if python else None
    names = [name for name in (minor, "python3", "python") if name]
    lines = "".join(f"        {line}\n" for line in commands_)
    return _ENVIRONMENT.format(
        interpreters=" || ".join([*(f"command -v {name}" for name in names), "echo python3"]),
        sum=_short("\n".join([*commands_, index or "", python or "", constraints(recipe) or ""])),
        check=_CHECK.format(python=python) if python else "",
        index=_INDEX.format(index=index) if index else "",
        options="" if recipe.installs else " --without-pip",
        installs=lines,
        setup=setup,
    )


def constraints(recipe: Recipe) -> str | None:
    """Return the versions of the locked machine, a line each; None where nothing is locked or digests are."""
    pins = recipe.pins
    if not pins.packages or pins.hashed:
        return None
    lines = [
        f"{name}=={version}" + (f"  # build: {pins.builds[name]}" if name in pins.builds else "")
        for name, version in sorted(pins.packages.items())
    ]
    return "\n".join(lines) + "\n"


def installs(recipe: Recipe, constraint: str) -> Iterator[str]:
    """Yield the commands that install what the campaign itself does not: without set-up, or for lastro.

    Args:
        recipe: of the campaign.
        constraint: where the file with constraints lies then, spelled for a shell.
    """
    pins = recipe.pins
    held = f" --constraint {constraint}" if constraints(recipe) is not None else ""
    if recipe.setup is None and pins.requirements is not None:
        digests = " --require-hashes" if pins.hashed else ""
        yield f"{_PIP}{digests} --requirement {shlex.quote(pins.requirements.name)}{held}"
    elif recipe.setup is None and pins.wanted:
        yield f"{_PIP} {shlex.join(pins.wanted)}{held}"
    if recipe.uses_lastro:
        yield f'{_PIP} "${{LASTRO_SOURCE:-{lastro_of(recipe)}}}"{held}'


def lastro_of(recipe: Recipe) -> str:
    """Return the requirement of lastro itself: as locked, else the one that makes the export."""
    return f"lastro=={recipe.pins.packages.get('lastro', __version__)}"


def index_of(recipe: Recipe) -> str | None:
    """Return the address of the index that has the locked build of PyTorch; None for a build of no label."""
    label = recipe.pins.builds.get("torch", "")
    return _BUILDS.format(label=label) if re.fullmatch(r"cpu|cu[0-9]+|rocm[0-9.]+", label) else None


def _setup(recipe: Recipe) -> str:
    if recipe.setup is None:
        return ""
    held = f'PIP_CONSTRAINT="$here/{CONSTRAINTS}" ' if constraints(recipe) is not None else ""
    setup = shlex.quote(recipe.setup)
    return _SETUP.format(sum=_short(recipe.setup + held), constraint=held, setup=setup)


def _short(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:8]
