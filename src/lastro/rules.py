"""What is decided about a run while it lives: stop, restart, notice, as pure functions of frozen values.

Standard library only: the job, the supervisor and the closing all call these, on machines where nothing
else is installed. Each decision comes with its reason.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import Enum
from typing import Any

from lastro.errors import SAVED_ON_REQUEST, Fenced
from lastro.locale import _


class StopKind(str, Enum):
    """The stop rules that a campaign can write down before its runs."""

    NON_FINITE = "non_finite"
    FLOOR = "floor"
    TRUNCATED_INPUT = "truncated_input"
    NO_USABLE_RESUME = "no_usable_resume"


@dataclass(frozen=True, kw_only=True)
class StopRule:
    """One stop rule of the frozen plan.

    `metric` is what non_finite and floor watch; a floor holds from step `after_steps` on.
    """

    kind: StopKind
    metric: str | None = None
    below: float | None = None
    after_steps: int = 0


@dataclass(frozen=True, kw_only=True)
class Stop:
    """A stop rule that has spoken. `value` is a float, a count or a digest, as the rule compares them."""

    kind: StopKind
    why: str
    step: int | None = None
    metric: str | None = None
    value: float | int | str | None = None


@dataclass(frozen=True, kw_only=True)
class CheckpointPolicy:
    """When to save. With neither steps nor seconds the job derives the interval from measured costs."""

    every_steps: int | None = None
    every_seconds: float | None = None
    max_loss_seconds: float | None = None
    keep: int = 2


@dataclass(frozen=True, kw_only=True)
class RestartPolicy:
    """How many starts in a row may end without verified progress before a run is given up."""

    starts_without_progress: int = 2


@dataclass(frozen=True, kw_only=True)
class Corpus:
    """The fixed input of a campaign: path relative to the code folder, rows when declared, digest."""

    path: str
    digest: str
    rows: int | None = None


@dataclass(frozen=True, kw_only=True)
class CodeIdentity:
    """The code of a run: its digest, and how a machine comes by it.

    With `unpack` the archive is unpacked into an empty workdir and `links` (relative path -> absolute
    path on the disk) are put beside it. Without, the code lies in the workdir already (provider `here`)
    and its digest is checked again before each attempt, `excludes` left out.
    """

    digest: str
    unpack: bool
    excludes: tuple[str, ...] = ()
    links: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Order:
    """What home asks a supervisor to carry out: one run, for as many attempts as the rules allow.

    Paths are absolute and belong to the machine that carries out the order.
    """

    campaign: str
    run: str
    name: str
    command: tuple[str, ...]
    config: Mapping[str, Any]
    seed: int
    resume: str
    workdir: str
    campaign_folder: str
    machine: str
    node: str
    home_stream: str
    home_head: str
    environment: Mapping[str, str] = field(default_factory=dict)
    stop: tuple[StopRule, ...] = ()
    checkpoint: CheckpointPolicy = field(default_factory=CheckpointPolicy)
    restart: RestartPolicy = field(default_factory=RestartPolicy)
    corpus: Corpus | None = None
    outputs: tuple[str, ...] = ()
    grace_seconds: float = 30.0
    leave_out: tuple[str, ...] = ()
    code: CodeIdentity | None = None

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Order:
        """Read what `as_json` wrote. Raises KeyError, TypeError or ValueError for anything else."""
        fields = dict(value)
        fields["command"] = tuple(fields["command"])
        fields["outputs"] = tuple(fields.get("outputs", ()))
        fields["leave_out"] = tuple(fields.get("leave_out", ()))
        fields["stop"] = tuple(
            StopRule(**{**rule, "kind": StopKind(rule["kind"])}) for rule in fields.get("stop", ())
        )
        fields["checkpoint"] = CheckpointPolicy(**fields.get("checkpoint", {}))
        fields["restart"] = RestartPolicy(**fields.get("restart", {}))
        fields["corpus"] = Corpus(**fields["corpus"]) if fields.get("corpus") else None
        if fields.get("code"):
            code = fields["code"]
            fields["code"] = CodeIdentity(**{**code, "excludes": tuple(code.get("excludes", ()))})
        return cls(**fields)


@dataclass(frozen=True, kw_only=True)
class Attempt:
    """`attempt.json`: an order with the number and the token of one claimed life of the process.

    `committed_step` is the highest step that any earlier attempt has committed; None when none has.
    """

    number: int
    token: str
    order: Order
    claimed_at: str
    committed_step: int | None = None

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Attempt:
        """Read what `as_json` wrote. Raises KeyError, TypeError or ValueError for anything else."""
        return cls(**{**value, "order": Order.from_json(value["order"])})


# --- stop ---------------------------------------------------------------------------------------------


def judge_values(rules: Sequence[StopRule], step: int, values: Mapping[str, float]) -> Stop | None:
    """Return the first rule that these measured values of one step break."""
    for rule in rules:
        if rule.metric is None or rule.metric not in values:
            continue
        value = values[rule.metric]
        if rule.kind is StopKind.NON_FINITE and not math.isfinite(value):
            why = _("{metric} is {value} at step {step}").format(metric=rule.metric, value=value, step=step)
            return Stop(kind=rule.kind, why=why, step=step, metric=rule.metric, value=value)
        if rule.kind is StopKind.FLOOR and _under_floor(rule, step, value):
            why = _("{metric} is {value:.6g} at step {step}, below the floor of {below:g}").format(
                metric=rule.metric, value=value, step=step, below=rule.below
            )
            return Stop(kind=rule.kind, why=why, step=step, metric=rule.metric, value=value)
    return None


def _under_floor(rule: StopRule, step: int, value: float) -> bool:
    """Tell whether a floor is broken; a value that is not a number is under every floor."""
    return rule.below is not None and step >= rule.after_steps and not value >= rule.below


def judge_input(
    rules: Sequence[StopRule], corpus: Corpus | None, rows: int | None, digest: str | None
) -> Stop | None:
    """Return a stop when the input that was really read is less than, or other than, the fixed corpus."""
    if corpus is None or all(rule.kind is not StopKind.TRUNCATED_INPUT for rule in rules):
        return None
    if rows is not None and corpus.rows is not None and rows != corpus.rows:
        why = _("{rows} rows of {path} were read, the plan says {expected}").format(
            rows=rows, path=corpus.path, expected=corpus.rows
        )
        return Stop(kind=StopKind.TRUNCATED_INPUT, why=why, value=rows)
    if digest is not None and digest != corpus.digest:
        why = _("{path} has digest {digest}, the plan froze {expected}").format(
            path=corpus.path, digest=digest[:16], expected=corpus.digest[:16]
        )
        return Stop(kind=StopKind.TRUNCATED_INPUT, why=why, value=digest)
    return None


def judge_resume(committed_step: int | None, usable_step: int | None) -> Stop | None:
    """Return a stop when earlier attempts committed a checkpoint and none of them can be used.

    Always in force: going on from step 0 as if nothing had been saved is never what anybody wants.
    """
    if committed_step is None or usable_step is not None:
        return None
    why = _("step {step} was committed before, but no checkpoint can be used here").format(
        step=committed_step
    )
    return Stop(kind=StopKind.NO_USABLE_RESUME, why=why, step=committed_step)


# --- why an attempt ended -------------------------------------------------------------------------------


class End(str, Enum):
    """Why one attempt ended."""

    DONE = "done"
    NOTICE = "notice"
    LOST = "lost"
    ASKED = "asked"
    STOP_RULE = "stop_rule"
    SAVED = "saved"
    CRASHED = "crashed"
    KILLED = "killed"
    FENCED = "fenced"


@dataclass(frozen=True, kw_only=True)
class Cause:
    """The end of one attempt. `failure` is the exception's type and message when the job told one."""

    end: End
    why: str
    exit_code: int | None = None
    signal: int | None = None
    step: int | None = None
    failure: str | None = None
    stop: Stop | None = None

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, kw_only=True)
class Ended:
    """What is known of a job's end when its cause is decided."""

    exit_code: int | None
    signal: int | None
    step: int | None
    noticed: bool = False
    asked: bool = False
    stop: Stop | None = None
    failure: str | None = None
    grace_over: bool = False


def cause_of(ended: Ended) -> Cause:
    """Say why a job ended, in words, from what was seen of it."""
    late = _(" (killed when the grace was over)") if ended.grace_over else ""
    crash = _("the command ended with exit code {code}").format(code=ended.exit_code)
    first_that_holds = (
        (ended.stop is not None, End.STOP_RULE, ended.stop.why if ended.stop else ""),
        (ended.exit_code == 0, End.DONE, _("the command ended with exit code 0")),
        (ended.exit_code == Fenced.exit_code, End.FENCED, _("a later attempt owns this run")),
        (ended.asked, End.ASKED, _("stopped on request") + late),
        (ended.noticed, End.NOTICE, _("the machine announced that it would be taken away") + late),
        (
            ended.exit_code == SAVED_ON_REQUEST,
            End.SAVED,
            _("the job saved and asked to be run again (exit code {code})").format(code=SAVED_ON_REQUEST),
        ),
        (
            ended.signal is not None,
            End.KILLED,
            _("the job was killed by signal {signal}").format(signal=ended.signal),
        ),
        (
            ended.exit_code is None,
            End.KILLED,
            _("the job and its parent vanished without an exit status"),
        ),
        (True, End.CRASHED, f"{crash}: {ended.failure}" if ended.failure else crash),
    )
    end, why = next((end, why) for holds, end, why in first_that_holds if holds)
    return Cause(
        end=end,
        why=why,
        exit_code=ended.exit_code,
        signal=ended.signal,
        step=ended.step,
        failure=ended.failure,
        stop=ended.stop,
    )


# --- restart --------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Life:
    """One attempt as the restart policy sees it: verified step before, verified step after, and its end."""

    number: int
    cause: Cause
    progress_before: int | None
    progress_after: int | None

    @property
    def progressed(self) -> bool:
        return (self.progress_after if self.progress_after is not None else -1) > (
            self.progress_before if self.progress_before is not None else -1
        )


class Verdict(str, Enum):
    """What becomes of a run after an attempt."""

    RESTART = "restart"
    COMPLETED = "completed"
    INTERRUPTED = "interrupted"
    PAUSED = "paused"
    STOPPED = "stopped"
    FAILED = "failed"
    FENCED = "fenced"


@dataclass(frozen=True, kw_only=True)
class Next:
    """What to do after an attempt, and why. INTERRUPTED means: go on, on another machine."""

    verdict: Verdict
    why: str


_FINAL = {
    End.DONE: Verdict.COMPLETED,
    End.STOP_RULE: Verdict.STOPPED,
    End.ASKED: Verdict.PAUSED,
    End.FENCED: Verdict.FENCED,
}
_WEATHER = (End.NOTICE, End.LOST)


def after_attempt(lives: Sequence[Life], policy: RestartPolicy) -> Next:
    """Decide what becomes of a run whose last attempt has just ended.

    Progress is a verified checkpoint. A machine that was taken away is weather, not a failure: it never
    counts against the run. The same exception at the same step twice stops at once, whatever was saved.

    Args:
        lives: all attempts of the run, oldest first; at least one.
        policy: how many starts in a row may bring nothing.
    """
    last = lives[-1]
    cause = last.cause
    if cause.end in _FINAL:
        return Next(verdict=_FINAL[cause.end], why=cause.why)
    if cause.end in _WEATHER:
        return Next(verdict=Verdict.INTERRUPTED, why=cause.why)
    if cause.failure is not None:
        for earlier in lives[:-1]:
            if earlier.cause.failure == cause.failure and earlier.cause.step == cause.step:
                why = _("the same failure at the same step twice (attempts {a} and {b}): {failure}").format(
                    a=earlier.number, b=last.number, failure=cause.failure
                )
                return Next(verdict=Verdict.FAILED, why=why)
    barren = 0
    for life in reversed(lives):
        if life.progressed:
            break
        barren += life.cause.end not in _WEATHER
    if barren >= policy.starts_without_progress:
        why = _("{count} starts without a new verified checkpoint; the last: {why}").format(
            count=barren, why=cause.why
        )
        return Next(verdict=Verdict.FAILED, why=why)
    return Next(verdict=Verdict.RESTART, why=cause.why)
