"""`lastro export slurm`: one batch script, an array over the runs. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterator

from lastro.export.environment import constraints
from lastro.export.head import head, sealed
from lastro.export.recipe import Recipe
from lastro.export.shell import with_constraints
from lastro.export.spelling import quoted
from lastro.export.start import start
from lastro.providers.slurm.script import NOTICE_SECONDS, option_line
from lastro.records import dataclass
from lastro.spec.campaign import Campaign
from lastro.spec.stage import Stage

_WHERE = """\
# Slurm runs a copy of this script, so the campaign's folder is the one that it was submitted in.
root=${{SLURM_SUBMIT_DIR:-$(pwd)}}
{here}case ${{SLURM_ARRAY_TASK_ID:-0}} in
{runs}
    *) echo "error: this array has no run $SLURM_ARRAY_TASK_ID" >&2; exit 2 ;;
esac
"""
_GPU_OPTIONS = frozenset({"gres", "gpus", "gpus-per-node", "gpus-per-task", "gpus-per-socket"})


@dataclass(frozen=True, kw_only=True)
class TimeLimit:
    """How long Slurm lets a run last: minutes, None where nobody knows. `why` says which stages say so."""

    minutes: int | None
    why: str


def slurm(recipe: Recipe) -> dict[str, str]:
    """Return the files, by their names in the folder of the export."""
    name = f"{recipe.name}.sbatch"
    last = len(recipe.starts) - 1
    use = [
        f"sbatch {recipe.here}/{name}",
        f"sbatch --array=0 {recipe.here}/{name}       only {recipe.starts[0].name}",
    ]
    limit = time_limit(recipe.spec)
    lost = [
        "requeue: Slurm starts nothing again (--no-requeue); submitted again, it goes on with what was saved",
        f"notice: {NOTICE_SECONDS} s before its limit the job hears TERM; scancel gives it KillWait only",
    ]
    where = _WHERE.format(
        here=f'here="$root/{quoted(recipe.here)}"\n' if constraints(recipe) is not None else "",
        runs="\n".join(f"    {place}) run='{one.name}' ;;" for place, one in enumerate(recipe.starts)),
    )
    directives = "\n".join(
        [
            *(option_line(key, value) for key, value in _options(recipe, limit).items()),
            f"# Array: 0 to {last}, the runs below; at most so many at once as the campaign has machines.",
            f"# Time: {limit.why}.",
        ]
    )
    text = "".join(
        [
            "#!/bin/bash\n",
            directives + "\n",
            head(recipe, "slurm", "A batch script", use, lost),
            "\n",
            start(recipe, where, signals="USR1 TERM INT"),
        ]
    )
    return with_constraints(recipe, "slurm", {name: sealed(text)})


def time_limit(spec: Campaign) -> TimeLimit:
    """Return the high hours of the stages that one run needs, of the run that needs most."""
    longest, said = 0.0, []
    for run in ("control", *spec.variants):
        hours, names = 0.0, []
        for name, stage in spec.stages.items():
            high = _high(stage, run, spec)
            if high is not None:
                hours += high
                names.append(name)
        if hours > longest:
            longest, said = hours, names
    if not said:
        return TimeLimit(minutes=None, why="no stage says how long a run takes, so the partition's own limit")
    stages = ", ".join(said)
    return TimeLimit(
        minutes=max(1, math.ceil(longest * 60)), why=f"the high hours of {stages}, in whole minutes"
    )


def _high(stage: Stage, run: str, spec: Campaign) -> float | None:
    if stage.hours is None or not (stage.gpu or stage.cpu) or not (stage.each or stage.run == run):
        return None
    hours = stage.hours.on(spec.want.get("gpu"))
    known = [hours] if hours else list(stage.hours.on_card.values())
    return max((one.high for one in known), default=None)


def _options(recipe: Recipe, limit: TimeLimit) -> dict[str, str]:
    """Return what sbatch is told: the campaign's own options win over what its stages say."""
    spec = recipe.spec
    asked = dict(_partition(spec))
    asked.update(spec.slurm)
    told = {
        "job-name": recipe.name,
        "array": f"0-{len(recipe.starts) - 1}%{min(spec.machines, len(recipe.starts))}",
        "output": f"{recipe.name}-%A-%a.log",
        "no-requeue": "",
        "signal": f"B:USR1@{NOTICE_SECONDS}",
    }
    cards = max((stage.gpu for stage in spec.stages.values()), default=0)
    if cards and not _GPU_OPTIONS & set(asked):
        told["gpus-per-node"] = str(cards)
    if limit.minutes is not None and "time" not in asked:
        told["time"] = _spelled(limit.minutes)
    return {**told, **asked}


def _partition(spec: Campaign) -> Iterator[tuple[str, str]]:
    scheme, _sign, partition = spec.provider.partition("://")
    if scheme == "slurm" and partition:
        yield "partition", partition


def _spelled(minutes: int) -> str:
    """Return minutes as sbatch takes them: days-hours:minutes:seconds."""
    days, rest = divmod(minutes, 24 * 60)
    return (f"{days}-" if days else "") + f"{rest // 60:02}:{rest % 60:02}:00"
