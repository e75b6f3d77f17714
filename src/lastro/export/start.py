"""The part that every export has: which run, its environment, its working folder, its last save, its start.

POSIX shell. It leaves everything below STATE, laid out as on a disk of lastro's. Pure.
"""

from __future__ import annotations

import shlex
from pathlib import PurePosixPath

from lastro.errors import SAVED_ON_REQUEST
from lastro.export import keys
from lastro.export.attempt import attempt, order_of
from lastro.export.environment import environment
from lastro.export.recipe import STATE, Recipe
from lastro.export.spelling import below, pattern
from lastro.spec import command as commands

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
[ -z "$told" ] || kill -TERM "$job" 2>/dev/null || :
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
        environment(recipe),
        '[ "${ONLY:-}" != environment ] || exit 0\n',
        attempt(recipe) if recipe.uses_lastro else "",
        _resume(recipe),
        _LAUNCH.format(signals=signals, saved=SAVED_ON_REQUEST),
    ]
    return "\n".join(part for part in parts if part)


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
            lines.append(f"        order={shlex.quote(order_of(one))}")
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
