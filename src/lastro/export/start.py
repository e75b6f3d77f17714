"""The part that every export has: which run, its environment, its working folder, its last save, its start.

POSIX shell. It leaves everything below STATE, laid out as on a disk of lastro's. Pure.
"""

from __future__ import annotations

import hashlib
import re
import shlex
from collections.abc import Iterable, Iterator
from dataclasses import asdict, fields
from pathlib import PurePosixPath
from typing import Any

from lastro import __version__, strictjson
from lastro.errors import SAVED_ON_REQUEST
from lastro.export import keys
from lastro.export.recipe import STATE, Recipe, Start
from lastro.export.spelling import below, pattern
from lastro.rules import CheckpointPolicy, Order, StopRule
from lastro.spec import command as commands

CONSTRAINTS = "constraints.txt"
#: Where PyTorch keeps its builds, by their local label: https://pytorch.org/get-started/previous-versions/
_BUILDS = "https://download.pytorch.org/whl/{label}"
_PIP = "python -m pip --disable-pip-version-check install"
#: What is no code, whatever the campaign: the record of git, environments, keys, what Python compiles.
NO_CODE = (".git", ".venv*", ".env", "__pycache__")

_PLACES = """\
[ -f "$root/{file}" ] || {{ echo "error: there is no {file} in $root" >&2; exit 2; }}

# What outlives the machine: outputs, checkpoints, the code as it was begun with, the environment.
STATE=${{STATE:-{state}}}
case $STATE in /*) ;; *) STATE=$(pwd)/$STATE ;; esac
mine=$STATE/campaigns/{campaign}/runs/$run
work=$mine/work
mkdir -p "$mine"
"""

_WORK = """\
# --- the working folder: a copy of the code, so that two runs never write over each other
commit=$(git -C "$root" rev-parse HEAD 2>/dev/null || echo unknown)
if [ ! -d "$work" ]; then
    case $STATE in "$root"/*) state=${{STATE#"$root"/}} ;; *) state=.git ;; esac
    rm -rf "$work.new"
    mkdir "$work.new"
    (
        cd "$root"
        tar -cf "$mine/code.tar" --exclude="./$state" \\
            {excluded} .
    )
    (cd "$work.new" && tar -xf "$mine/code.tar")
    rm "$mine/code.tar"
{corpus}    echo "$commit" >"$mine/commit"
    mv "$work.new" "$work"
fi
if [ "$commit" != "$(cat "$mine/commit")" ]; then
    echo "error: the run $run was begun with commit $(cat "$mine/commit"), and this is $commit" >&2
    echo "  next: STATE=another/folder begins anew, or go back to that commit" >&2
    exit 2
fi
cd "$work"
"""

_CORPUS = """\
    corpus={path}
    [ -e "$root/$corpus" ] || {{ echo "error: the corpus $corpus is not in $root" >&2; exit 2; }}
    mkdir -p "$work.new/$(dirname -- "$corpus")"
    ln -s "$root/$corpus" "$work.new/$corpus" 2>/dev/null || cp -R "$root/$corpus" "$work.new/$corpus"
"""

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
            echo "warning: this is $("$PYTHON" --version), and lastro.lock has Python {python}" >&2
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

_ATTEMPT = """\
# --- what lastro in the job reads, which is there as a library only: seed, stop rules, when to save
escaped() {{ printf '%s' "$1" | sed 's/[\\\\"]/\\\\&/g'; }}
number=1
while [ -e "$mine/attempts/$number" ]; do number=$((number + 1)); done
LASTRO_ATTEMPT=$mine/attempts/$number
export LASTRO_ATTEMPT
mkdir -p "$mine/attempts"
mkdir "$LASTRO_ATTEMPT"
{{
    printf '{{"number": %s, "token": "exported-%s", ' "$number" "$number"
    printf '"claimed_at": "%s", "committed_step": null, ' "$(date -u +%Y-%m-%dT%H:%M:%S.000000Z)"
    printf '"order": {{"workdir": "%s", ' "$(escaped "$work")"
    printf '"campaign_folder": "%s", ' "$(escaped "$STATE/campaigns/{campaign}")"
    printf '%s, ' "$order"
    cat <<'ORDER'
{common}}}}}
ORDER
}} >"$LASTRO_ATTEMPT/attempt.json"
"""

_RESUME = """\
# --- its own last save; that it is whole nobody has checked
latest=$({newest} | head -n 1)
if [ -n "$latest" ]; then
    echo "going on from $latest"
    set -- "$@" {words}
fi
"""

_LAUNCH = """\
# --- the job. A notice ({signals}) is handed on as TERM, so that it can save
LASTRO_OUTPUTS=$mine/outputs LASTRO_CHECKPOINTS=$mine/checkpoints LASTRO_RUN=$run PYTHONUNBUFFERED=1
export LASTRO_OUTPUTS LASTRO_CHECKPOINTS LASTRO_RUN PYTHONUNBUFFERED
mkdir -p "$LASTRO_OUTPUTS" "$LASTRO_CHECKPOINTS"
job=
told=
trap 'told=1; [ -z "$job" ] || kill -TERM "$job" 2>/dev/null || :' {signals}
"$@" &
job=$!
[ -z "$told" ] || kill -TERM "$job"
code=0
wait "$job" || code=$?
# A wait that a notice has ended is no end of the job.
while [ -n "$told" ]; do
    told=
    wait "$job" && again=0 || again=$?
    [ "$again" = 127 ] || code=$again
done
case $code in
    0) echo "$run is done; its outputs: $LASTRO_OUTPUTS" ;;
    {saved}) echo "$run has saved on request; the same line again goes on" ;;
    *) echo "$run ended with code $code; the same line again tries to go on" >&2 ;;
esac
exit "$code"
"""


def start(recipe: Recipe, where: str, *, signals: str = "TERM INT HUP") -> str:
    """Return a script's body.

    Args:
        recipe: of the campaign.
        where: lines that set `root` (the campaign's folder), `here` (that of the export) and `run`.
        signals: what is handed on to the job.
    """
    parts = [
        "set -eu\n",
        where,
        "".join(f': "{keys.set_it(name)}"\n' for name in recipe.variables),
        _table(recipe),
        _PLACES.format(
            file=recipe.file,
            campaign=recipe.name,
            state=f"{below(recipe.disk, 'root')}/{STATE}",
        ),
        _work(recipe),
        _environment(recipe),
        '[ "${ONLY:-}" != environment ] || exit 0\n',
        _attempt(recipe) if recipe.uses_lastro else "",
        _resume(recipe),
        _LAUNCH.format(signals=signals, saved=SAVED_ON_REQUEST),
    ]
    return "\n".join(part for part in parts if part)


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


def no_code(recipe: Recipe) -> tuple[str, ...]:
    """Return what of the campaign's folder is not copied: patterns, relative to it."""
    names = list(NO_CODE)
    if not recipe.disk.startswith(("/", "~")) and ".." not in PurePosixPath(recipe.disk).parts:
        names.append(PurePosixPath(recipe.disk).as_posix())
    if recipe.spec.corpus is not None:
        names.append(recipe.spec.corpus.path)
    return tuple(names)


def _table(recipe: Recipe) -> str:
    """Return the runs as a table: the command of each, and what lastro in the job reads of it."""
    lines = ["# --- the runs: control and variants, each with its configuration", 'case "$run" in']
    for one in recipe.starts:
        lines.append(f"    {one.name})")
        lines.append(f"        set -- {' '.join(one.words)}")
        if recipe.uses_lastro:
            lines.append(f"        order={shlex.quote(_own_order(one))}")
        lines.append("        ;;")
    names = ", ".join(one.name for one in recipe.starts)
    lines += [f'    *) echo "error: there is no run $run; known are: {names}" >&2; exit 2 ;;', "esac"]
    return "\n".join(lines) + "\n"


def _work(recipe: Recipe) -> str:
    excluded = " ".join(f"--exclude={shlex.quote(_as_tar(name))}" for name in no_code(recipe))
    corpus = ""
    if recipe.spec.corpus is not None:
        corpus = _CORPUS.format(path=shlex.quote(recipe.spec.corpus.path))
    return _WORK.format(excluded=excluded, corpus=corpus)


def _as_tar(name: str) -> str:
    return name if name in NO_CODE[1:] else f"./{name}"


def _environment(recipe: Recipe) -> str:
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


def _setup(recipe: Recipe) -> str:
    if recipe.setup is None:
        return ""
    held = f'PIP_CONSTRAINT="$here/{CONSTRAINTS}" ' if constraints(recipe) is not None else ""
    setup = shlex.quote(recipe.setup)
    return _SETUP.format(sum=_short(recipe.setup + held), constraint=held, setup=setup)


def _attempt(recipe: Recipe) -> str:
    common = _common_order(recipe)
    return _ATTEMPT.format(campaign=recipe.name, common=strictjson.dumps(common)[1:-1])


def _own_order(one: Start) -> str:
    own = {
        "run": one.name,
        "name": one.name,
        "command": [one.name],
        "config": dict(one.config),
    }
    return strictjson.dumps(own)[1:-1]


def _common_order(recipe: Recipe) -> dict[str, Any]:
    """Return what an order says of every run, without what it would say by itself."""
    spec = recipe.spec
    outputs = tuple(deliverable.path for deliverable in spec.deliverables.values())
    told = Order(
        campaign=spec.campaign, run="", name="", command=(), config={}, seed=spec.seed, resume=spec.resume,
        workdir="", campaign_folder="", machine="exported", node="exported", home_stream="", home_head="",
        stop=recipe.stop, checkpoint=recipe.checkpoint, outputs=outputs,
    )  # fmt: skip
    kept = ("campaign", "seed", "resume", "machine", "node", "home_stream", "home_head")
    return {
        **{name: getattr(told, name) for name in kept},
        "outputs": list(told.outputs),
        "stop": [_unusual(rule, StopRule(kind=rule.kind)) | {"kind": rule.kind.value} for rule in told.stop],
        "checkpoint": _unusual(told.checkpoint, CheckpointPolicy()),
    }


def _unusual(value: Any, usual: Any) -> dict[str, Any]:
    """Return the fields of a record that are not as usual, in JSON's kinds."""
    said, by_itself = asdict(value), asdict(usual)
    names: Iterable[str] = (field.name for field in fields(value))
    return {name: said[name] for name in names if said[name] != by_itself[name]}


def _resume(recipe: Recipe) -> str:
    spec = recipe.spec
    if spec.checkpoints is None or spec.resume_arg is None:
        return ""
    words = [word.split("{latest}") for word in shlex.split(spec.resume_arg)]
    spelled = ['"$work/$latest"'.join(shlex.quote(part) if part else "" for part in word) for word in words]
    if commands.needs_shell(spec.command):
        # A shell takes what follows its text as $0, $1 and so on.
        spelled = ["sh", *spelled]
    return _RESUME.format(newest=_newest(spec.checkpoints), words=" ".join(spelled))


def _newest(found: str) -> str:
    if "**" not in found:
        return f"ls -td -- {pattern(found)} 2>/dev/null"
    one = shlex.quote("./" + found.replace("**/", "*"))
    return f"find . -path {one} -exec ls -td -- {{}} + 2>/dev/null"


def _short(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:8]
