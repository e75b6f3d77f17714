"""Is a core as fast as it was, and does the job get all of it? Two questions, two findings."""

from __future__ import annotations

import contextlib
import hashlib
import math
import os
import statistics
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from lastro import atomic, strictjson
from lastro.errors import LastroError
from lastro.locale import _
from lastro.paths import Home, home_root
from lastro.preflight.check import Finding, Level, Subject
from lastro.preflight.lent import lent_command
from lastro.preflight.speed.law import MOST_PAIRS, SLOW, Answer, Bounds, Judged, judge
from lastro.procs.child import run_with_deadline
from lastro.records import dataclass
from lastro.stack import Stack, cgroup_limits

#: A core of which a busy program gets less than this is shared with somebody.
SHARE = 0.8
#: Beside earlier runs, in CPU time of the reference alone; only half the speed is more than noise.
WHOLE = 0.5
_KEPT_RUNS = 20


@dataclass(frozen=True, kw_only=True)
class Usual:
    """What earlier runs on processors like this one gave: medians of pairs, and seconds of the reference."""

    pairs: Mapping[str, Sequence[float]]
    reference: Sequence[float]

    def task(self) -> dict[str, Any]:
        """Return what the kernels are told."""
        return {"usual": {name: [statistics.median(runs), len(runs)] for name, runs in self.pairs.items()}}


def check(subject: Subject, seconds: float) -> Iterator[Finding]:
    """Run the kernels in the job's Python, compare them with earlier runs of this home, and keep them.

    They take about 5 s of CPU with the import of torch, of which a full box gives little; after `seconds`
    they are ended.
    """
    record = Home(home_root()).speed(_key(subject.stack))
    usual = read_usual(record)
    told = _run(subject.versions.path, usual, seconds)
    if isinstance(told, str):
        yield Finding(code="cpu_speed", level=Level.NO_ANSWER, fact=_("speed of a core"), value=told)
        return
    yield judge_share(told, cgroup_limits().cpus)
    found = judge_speed(told, usual)
    if all(finding.level is not Level.FAIL and finding.level is not Level.WARN for finding in found):
        keep(record, usual, told)
    yield from found


def _key(stack: Stack) -> str:
    return hashlib.sha256(f"{stack.cpu_model} {stack.node}".encode()).hexdigest()[:16]


def _run(python: str | None, usual: Usual, seconds: float) -> Mapping[str, Any] | str:
    """Return what the kernels say; a text: why they say nothing."""
    if python is None:
        return _("the job's Python is not known")
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    try:
        done = run_with_deadline(
            lent_command(python, "lastro.preflight.speed.child"),
            seconds=seconds,
            cwd=Path("/"),
            env=environment,
            input=strictjson.dumps(usual.task()).encode(),
        )
        if done.timed_out:
            return _("no answer in {seconds:.0f} s").format(seconds=seconds)
        answer: Mapping[str, Any] = strictjson.loads(done.out)
    except (LastroError, ValueError) as error:
        return str(error)
    return answer


# --- the judgement ------------------------------------------------------------------------------------


def judge_speed(told: Mapping[str, Any], usual: Usual) -> tuple[Finding, ...]:
    """Return a finding for each kernel, and one for all of the core. Pure.

    Work for each CPU second is judged, so neither a quota nor a busy neighbour makes a core slow here.
    """
    found = [_of_kernel(name, one, usual) for name, one in told["kernels"].items()]
    return (*found, *_of_core(told, usual))


def _of_kernel(name: str, one: Mapping[str, Any], usual: Usual) -> Finding:
    fact = _("speed of a core: {kernel} ({of})").format(kernel=name, of=one["of"])
    runs = usual.pairs.get(f"{name}, {one['of']}", ())
    if not runs:
        return Finding(
            code=f"cpu_speed.{name}",
            level=Level.PASS,
            fact=fact,
            value=_("{ratio:.3g} times the reference; nothing to compare with yet").format(ratio=_ratio(one)),
        )
    judged = judge([pair - statistics.median(runs) for pair in one["pairs"]], Bounds.after(len(runs)))
    return _finding(name, fact, judged, len(runs))


def _ratio(one: Mapping[str, Any]) -> float:
    return math.exp(statistics.median(one["pairs"]))


def _finding(name: str, fact: str, judged: Judged, runs: int) -> Finding:
    value = _("{speed:.2f} of what {runs} earlier runs gave ({pairs} pairs)").format(
        speed=judged.speed, runs=runs, pairs=judged.pairs
    )
    expected = _("surely more than {least:.1f}").format(least=math.exp(-SLOW))
    if judged.answer is Answer.SLOW:
        return Finding(
            code=f"cpu_speed.{name}",
            level=Level.FAIL,
            fact=fact,
            value=value,
            expected=expected,
            consequence=_("the same work takes longer here, at the same price"),
            next_step=_("look at its clock and temperature and at the library's build; or give it back"),
        )
    if judged.answer is Answer.OPEN:
        return Finding(
            code=f"cpu_speed.{name}",
            level=Level.NO_ANSWER,
            fact=fact,
            value=value,
            expected=_("not enough evidence in {most} pairs").format(most=MOST_PAIRS),
        )
    return Finding(code=f"cpu_speed.{name}", level=Level.PASS, fact=fact, value=value, expected=expected)


def _of_core(told: Mapping[str, Any], usual: Usual) -> Iterator[Finding]:
    """A core that is slower at everything is slower at the reference too: only its own time tells."""
    now = _reference(told)
    if not usual.reference or now is None:
        return
    speed = statistics.median(usual.reference) / now
    slow = speed < WHOLE
    yield Finding(
        code="cpu_speed.core",
        level=Level.WARN if slow else Level.PASS,
        fact=_("speed of a core: the reference"),
        value=_("{speed:.2f} of what {runs} earlier runs gave").format(
            speed=speed, runs=len(usual.reference)
        ),
        expected=_("at least {least} of it in CPU time; less is within the noise").format(least=WHOLE),
        consequence=_("everything takes at least twice as long here") if slow else None,
        next_step=_("look at its clock and temperature; ask who rents it out, or give it back")
        if slow
        else None,
    )


def _reference(told: Mapping[str, Any]) -> float | None:
    seconds = [float(one["reference_seconds"]) for one in told["kernels"].values()]
    return statistics.median(seconds) if seconds else None


def judge_share(told: Mapping[str, Any], quota: float | None) -> Finding:
    """Say how much of one core a busy program got, and who took the rest. Pure.

    Args:
        told: seconds of CPU and of wall time, and those for which a quota held it back.
        quota: cores that the container may use; None: no limit is set.
    """
    share = min(1.0, told["cpu_seconds"] / told["wall_seconds"]) if told["wall_seconds"] > 0 else 1.0
    held = told["throttled_seconds"] or 0.0
    by_quota = (quota is not None and quota < 1) or held > 0.1 * told["wall_seconds"]
    short = share < SHARE
    value = _("{share:.0%} of one").format(share=share)
    if by_quota and quota is not None:
        value = _("{value}; the container may use {quota:g}").format(value=value, quota=quota)
    return Finding(
        code="cpu_share",
        level=Level.WARN if short else Level.PASS,
        fact=_("share of a core"),
        value=value,
        expected=_("at least {least:.0%}").format(least=SHARE),
        consequence=_("everything takes longer, though the core is not slow") if short else None,
        next_step=None
        if not short
        else _("rent a larger part of the machine, or raise the container's CPU limit")
        if by_quota
        else _("see what else runs here (`top`); on a machine that is shared with others, take another one"),
    )


# --- what is kept -------------------------------------------------------------------------------------


def read_usual(path: Path) -> Usual:
    """Return what earlier runs gave; nothing where there were none, or their record cannot be read."""
    with contextlib.suppress(LastroError, OSError, ValueError, KeyError, TypeError, AttributeError):
        value = strictjson.read(path)
        pairs = {str(name): [float(run) for run in runs] for name, runs in value["pairs"].items() if runs}
        return Usual(pairs=pairs, reference=[float(seconds) for seconds in value["reference"]])
    return Usual(pairs={}, reference=())


def keep(path: Path, usual: Usual, told: Mapping[str, Any]) -> None:
    """Keep a healthy run beside the earlier ones; the oldest go."""
    pairs = dict(usual.pairs)
    for name, one in told["kernels"].items():
        key = f"{name}, {one['of']}"
        pairs[key] = [*pairs.get(key, ()), statistics.median(one["pairs"])][-_KEPT_RUNS:]
    seconds = _reference(told)
    reference = [*usual.reference, *([seconds] if seconds is not None else [])][-_KEPT_RUNS:]
    atomic.make_folder(path.parent)
    atomic.write_text(path, strictjson.pretty({"pairs": pairs, "reference": reference}))
