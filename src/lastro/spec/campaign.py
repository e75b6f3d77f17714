"""The campaign: one question, its control and variants, a decision rule, a window, a budget."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import timedelta
from decimal import Decimal
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema, model_validator

from lastro.locale import _
from lastro.records import dataclass
from lastro.rules import Best, CheckpointPolicy, StopKind, StopRule
from lastro.spec import command as commands
from lastro.spec.base import (
    AlsoWritten,
    Amount,
    Config,
    Contradiction,
    Duration,
    DurationOrZero,
    InsidePath,
    Name,
    Problem,
    Size,
    Strict,
    Text,
    as_tuple,
    shown,
    written_as,
)
from lastro.spec.data import DataSpec, TransferSpec
from lastro.spec.deliverable import Deliverable
from lastro.spec.move_on import MoveOnSpec
from lastro.spec.plan_b import PlanB
from lastro.spec.run_id import canonical_json
from lastro.spec.sbatch import check_sbatch
from lastro.spec.stage import IS_PERCENT, Priority, Stage, read_percent
from lastro.spec.want import check_want
from lastro.units import parse_duration

CONTROL = "control"

_STEPS = re.compile(r"([0-9]{1,15})\s*steps?")
_MARGIN = re.compile(r"([+-]?[0-9]{1,18}(?:\.[0-9]{1,18})?)(?:\s+over\s+(\S+))?")


@dataclass(frozen=True, kw_only=True)
class RunSpec:
    """One run of the campaign: control or a variant, with its configuration and its rendered command."""

    name: str
    priority: Priority
    config: Mapping[str, Any]
    changes: tuple[str, ...]
    command: str

    @property
    def argv(self) -> tuple[str, ...]:
        return commands.argv(self.command)


class DiskSpec(Strict):
    """The disk that outlives the machines. A text in the file is its path.

    `mirror`: where everything of value goes as it is published, for a disk that goes with its machine.
    """

    path: Text
    size: Size | None = None
    kind: Literal["attached", "host-bound", "replicated"] | None = None
    mirror: Annotated[
        Text | None,
        written_as("s3://bucket/campaign", "ssh://me@box/mirror", pattern=r"^(s3|ssh)://[^\s/]+.*$"),
    ] = None


class CorpusSpec(Strict):
    """The fixed input: a file or a folder beside the campaign file, and its rows when they are known."""

    path: InsidePath
    rows: Annotated[int, Field(ge=1)] | None = None


class Variant(Strict):
    """What a variant changes of the control's configuration."""

    changes: Config
    priority: Priority = "required"

    @model_validator(mode="after")
    def _changes_something(self) -> Variant:
        if not self.changes:
            raise Contradiction(
                Problem(("changes",), _("a variant that changes nothing is the control again"))
            )
        return self


def _adopt_if(value: object) -> object:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        value = f"{Decimal(repr(value)):f}"
    match = _MARGIN.fullmatch(value.strip()) if isinstance(value, str) else None
    if not match:
        raise ValueError(_("{value} is not a margin such as '+0.01 over control'").format(value=shown(value)))
    if match[2] not in (None, CONTROL):
        raise ValueError(_("variants are compared with the control, not with {other}").format(other=match[2]))
    return f"{match[1]} over {CONTROL}"


class Decision(Strict):
    """When a variant is adopted.

    `adopt_margin` is never negative: how much better than the control it has to be, in the direction of
    `better`. `unit` names what the cost is divided by; None: by nothing.
    """

    metric: Text
    better: Literal["higher", "lower"]
    adopt_if: Annotated[
        str,
        BeforeValidator(_adopt_if),
        written_as("+0.01 over control", pattern=rf"^\s*{_MARGIN.pattern}\s*$", type=["string", "number"]),
    ]
    unit: Annotated[str | None, BeforeValidator(lambda value: None if value == "none" else value)] = None

    @property
    def adopt_margin(self) -> Decimal:
        return abs(Decimal(self.adopt_if.split()[0]))

    @property
    def over(self) -> str:
        return CONTROL

    @model_validator(mode="after")
    def _sign_fits_direction(self) -> Decision:
        margin = Decimal(self.adopt_if.split()[0])
        if (margin > 0 and self.better == "lower") or (margin < 0 and self.better == "higher"):
            raise Contradiction(
                Problem(
                    ("adopt_if",),
                    _("with better: {better}, {margin} would adopt a variant that is worse").format(
                        better=self.better, margin=self.adopt_if
                    ),
                    _("change the sign, or better:"),
                )
            )
        return self


def _steps(value: object) -> int | None:
    """Read `200 steps` or 200; None when it is neither."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    match = _STEPS.fullmatch(value.strip()) if isinstance(value, str) else None
    return int(match[1]) if match else None


def _every(value: object) -> object:
    """Check `auto`, `30s` or `200 steps`, and keep it as it is written."""
    if value == "auto" or (isinstance(value, str) and (_steps(value) or 0) > 0):
        return value
    try:
        if isinstance(value, str) and parse_duration(value).total_seconds() > 0:
            return value
    except ValueError:
        pass
    raise ValueError(_("{value} is none of: auto, 30s, 200 steps").format(value=shown(value)))


def _milestones(value: object) -> object:
    """Check `1000 steps` or `6h`, and keep it as it is written."""
    try:
        if value != "auto":
            return _every(value)
    except ValueError:
        pass
    raise ValueError(_("{value} is none of: 6h, 1000 steps").format(value=shown(value)))


class BestCheckpoint(Strict):
    """The metric, as the job logs it, by which one checkpoint is the best."""

    metric: Text
    better: Literal["higher", "lower"]


class Checkpoint(Strict):
    """When to save, how much work may be lost, and which stay."""

    every: Annotated[str, BeforeValidator(_every), written_as("auto", "30s", "200 steps")] = "auto"
    max_loss: Duration | None = None
    keep: Annotated[int, Field(ge=1, le=1000)] = 2
    best: BestCheckpoint | None = None
    milestones: Annotated[str, BeforeValidator(_milestones), written_as("6h", "1000 steps")] | None = None
    older: Duration | None = None

    def policy(self) -> CheckpointPolicy:
        """Return it as the job reads it."""
        steps = None if self.every == "auto" else _steps(self.every)
        seconds = None if self.every == "auto" or steps else parse_duration(self.every).total_seconds()
        milestone_steps = _steps(self.milestones) if self.milestones else None
        timed = self.milestones if milestone_steps is None else None
        milestone_seconds = parse_duration(timed).total_seconds() if timed else None
        return CheckpointPolicy(
            every_steps=steps,
            every_seconds=seconds,
            max_loss_seconds=self.max_loss.total_seconds() if self.max_loss else None,
            keep=self.keep,
            best=Best(metric=self.best.metric, higher=self.best.better == "higher") if self.best else None,
            milestone_steps=milestone_steps,
            milestone_seconds=milestone_seconds,
            older_seconds=self.older.total_seconds() if self.older else None,
        )


def _stop_rule(value: object) -> StopRule:
    """Read one item of `stop`: a name, or a name with what it watches."""
    if isinstance(value, StopRule):
        return value
    if isinstance(value, str):
        name, what = value, None
    elif isinstance(value, Mapping) and len(value) == 1:
        name, what = next(iter(value.items()))
    else:
        raise ValueError(
            _("{value} is not one stop rule, such as 'non_finite: loss'").format(value=shown(value))
        )
    known = [kind.value for kind in StopKind]
    if name not in known:
        raise ValueError(
            _("{name!r} is not a stop rule; known are: {known}").format(name=name, known=", ".join(known))
        )
    kind = StopKind(name)
    if kind is StopKind.NON_FINITE:
        if not isinstance(what, str) or not what.strip():
            raise ValueError(_("non_finite has to name what it watches, such as 'non_finite: loss'"))
        return StopRule(kind=kind, metric=what)
    if kind is StopKind.FLOOR:
        return _floor(what)
    if what is not None:
        raise ValueError(_("{name} takes no value, but has {value}").format(name=name, value=shown(what)))
    return StopRule(kind=kind)


def _floor(what: object) -> StopRule:
    example = "floor: {metric: accuracy, below: 0.5, after: 200 steps}"
    if not isinstance(what, Mapping) or not {"metric", "below"} <= set(what) <= {"metric", "below", "after"}:
        raise ValueError(
            _("a floor has the keys metric, below and after, as in {example}").format(example=example)
        )
    below, after = what["below"], _steps(what.get("after", 0))
    if not isinstance(what["metric"], str) or not what["metric"].strip():
        raise ValueError(_("{value} is not the name of a metric").format(value=shown(what["metric"])))
    if isinstance(below, bool) or not isinstance(below, (int, float)):
        raise ValueError(_("below: {value} is not a number").format(value=shown(below)))
    if after is None or after < 0:
        raise ValueError(
            _("after: {value} is not a number of steps such as '200 steps'").format(
                value=shown(what["after"])
            )
        )
    return StopRule(kind=StopKind.FLOOR, metric=what["metric"], below=float(below), after_steps=after)


#: As editors are told of one stop rule.
_STOP_RULE: dict[str, Any] = {
    "anyOf": [
        {"enum": [StopKind.TRUNCATED_INPUT.value, StopKind.NO_USABLE_RESUME.value]},
        {
            "type": "object",
            "properties": {
                StopKind.NON_FINITE.value: {"type": "string", "examples": ["loss"]},
                StopKind.FLOOR.value: {
                    "type": "object",
                    "properties": {
                        "metric": {"type": "string"},
                        "below": {"type": "number"},
                        "after": {"type": ["string", "integer"], "examples": ["200 steps"]},
                    },
                    "required": ["metric", "below"],
                    "additionalProperties": False,
                },
                StopKind.TRUNCATED_INPUT.value: {"type": "null"},
                StopKind.NO_USABLE_RESUME.value: {"type": "null"},
            },
            "minProperties": 1,
            "maxProperties": 1,
            "additionalProperties": False,
        },
    ]
}


class Work(Strict):
    """What the campaign produces, counted: `{amount: 2, unit: corpus}`."""

    amount: Annotated[int, Field(ge=1)]
    unit: Text


class Interruption(Strict):
    """What a save and a new start were measured to take; None: not measured.

    `away`: how long it takes until another spot machine is to be had.
    """

    save: Duration | None = None
    restart: Duration | None = None
    away: DurationOrZero | None = None


def _provider(value: object) -> object:
    if isinstance(value, str) and (
        value in ("here", "local", "slurm") or re.fullmatch(r"(ssh|slurm)://[^\s/]+", value)
    ):
        return value
    raise ValueError(_("{value} is none of: here, local, ssh://user@host, slurm").format(value=shown(value)))


def _host(value: object) -> object:
    if isinstance(value, str) and re.fullmatch(r"(ssh://)?[^\s/,]+", value):
        return value
    raise ValueError(_("{value} is not an address such as ssh://user@host:port").format(value=shown(value)))


def _jurisdiction(value: object) -> object:
    if isinstance(value, str) and re.fullmatch(r"[A-Z]{2}", value):
        return value
    raise ValueError(_("{value} is not a country code such as BR, or EU").format(value=shown(value)))


class Campaign(Strict):
    """A campaign file. Only `campaign`, `command` and `control` have to be there."""

    campaign: Name
    question: Text | None = None
    window: Duration | None = None
    budget: Amount | None = None
    max_weather: Amount | None = None
    idle: Duration | None = None
    hang: Literal["off"] | Duration = timedelta(minutes=5)
    provider: Annotated[
        str,
        BeforeValidator(_provider),
        written_as("here", "local", pattern=r"^(here|local|slurm|(ssh|slurm)://[^\s/]+)$"),
    ] = "here"
    hosts: Annotated[
        tuple[Annotated[str, BeforeValidator(_host), written_as(pattern=r"^(ssh://)?[^\s/,]+$")], ...],
        BeforeValidator(as_tuple),
    ] = ()
    slurm: Annotated[
        dict[str, str],
        BeforeValidator(check_sbatch),
        AlsoWritten({"type": "object", "additionalProperties": {"type": ["string", "integer", "boolean"]}}),
    ] = Field(default_factory=dict)
    machines: Annotated[int, Field(ge=1, le=1000)] = 1
    silence: Duration = timedelta(minutes=2)
    disk: Annotated[
        DiskSpec | None,
        BeforeValidator(lambda value: {"path": value} if isinstance(value, str) else value),
        AlsoWritten({"type": "string"}),
    ] = None
    offers: Text | None = None
    corpus: CorpusSpec | None = None
    setup: Text | None = None
    command: Text
    resume: Literal["training", "items", "rerun"] = "training"
    seed: Annotated[int, Field(ge=0, lt=2**32)] = 0
    control: Config
    variants: dict[Name, Variant] = Field(default_factory=dict)
    stages: dict[Name, Stage] = Field(default_factory=dict)
    stop: Annotated[
        tuple[Annotated[StopRule, BeforeValidator(_stop_rule), WithJsonSchema(_STOP_RULE)], ...],
        BeforeValidator(as_tuple),
    ] = ()
    checkpoint: Checkpoint = Checkpoint()
    checkpoints: InsidePath | None = None
    resume_arg: Text | None = None
    deliverables: dict[Name, Deliverable] = Field(default_factory=dict)
    decision: Decision | None = None
    want: Annotated[dict[str, str], BeforeValidator(check_want)] = Field(default_factory=dict)
    jurisdictions: Annotated[
        tuple[
            Annotated[str, BeforeValidator(_jurisdiction), written_as("BR", "EU", pattern="^[A-Z]{2}$")], ...
        ],
        BeforeValidator(as_tuple),
    ] = ()
    smoke: Config = Field(default_factory=dict)
    max_late: Annotated[float, BeforeValidator(read_percent), IS_PERCENT] = 0.1
    data: DataSpec | None = None
    transfers: dict[Name, TransferSpec] = Field(default_factory=dict)
    interruption: Interruption = Interruption()
    plan_b: dict[Name, PlanB] = Field(default_factory=dict)
    move_on: MoveOnSpec = MoveOnSpec()
    work: Work | None = None
    uncertainties: Annotated[tuple[Text, ...], BeforeValidator(as_tuple)] = ()

    def runs(self) -> tuple[RunSpec, ...]:
        """Return the control and the variants, in the order of the file."""
        control = RunSpec(
            name=CONTROL,
            priority="required",
            config=dict(self.control),
            changes=(),
            command=commands.render(self.command, self.control),
        )
        return (control, *(self._variant(name, variant) for name, variant in self.variants.items()))

    def _variant(self, name: str, variant: Variant) -> RunSpec:
        config = {**self.control, **variant.changes}
        changed = tuple(
            key for key, value in variant.changes.items() if not _same(value, self.control.get(key))
        )
        return RunSpec(
            name=name,
            priority=variant.priority,
            config=config,
            changes=changed,
            command=commands.render(self.command, config),
        )

    @model_validator(mode="after")
    def _consistent(self) -> Campaign:
        problems = [*_command_problems(self), *_variant_problems(self)]
        # Two runs can only be compared when their commands can be written at all.
        problems += [*_same_runs(self)] if not problems else []
        problems += [*_stage_problems(self), *_deliverable_problems(self), *_smoke_problems(self)]
        problems += [*_resume_problems(self), *_host_problems(self)]
        if problems:
            raise Contradiction(*problems)
        return self


def _same(a: object, b: object) -> bool:
    """Say whether two values are the same in a run's identity; 1 and true are not, 1 and 1.0 are."""
    return canonical_json(a) == canonical_json(b)


def _command_problems(campaign: Campaign) -> Iterator[Problem]:
    try:
        used = commands.placeholders(campaign.command)
        commands.argv(commands.render(campaign.command, campaign.control))
    except ValueError as error:
        yield Problem(
            ("command",), str(error), _("a name in braces stands for a key of control; literal braces: {{ }}")
        )
        return
    for key in campaign.control:
        if used and key not in used:
            yield Problem(
                ("control", key),
                _("{key} is not used: the command has no {{{key}}}").format(key=key),
                _("add it to the command or remove it; without any name in braces the job reads them itself"),
            )


def _variant_problems(campaign: Campaign) -> Iterator[Problem]:
    for name, variant in campaign.variants.items():
        if name == CONTROL:
            yield Problem(("variants", name), _("a variant cannot have the name of the control"))
        for key, value in variant.changes.items():
            path = ("variants", name, "changes", key)
            if key not in campaign.control:
                yield Problem(
                    path,
                    _("{key} is not a key of control; known are: {known}").format(
                        key=key, known=", ".join(campaign.control) or _("none")
                    ),
                    _("a variant changes what the control states: add the key to control first"),
                )
                continue
            try:
                commands.render(campaign.command, {**campaign.control, key: value})
            except ValueError as error:
                yield Problem(path, str(error))


def _same_runs(campaign: Campaign) -> Iterator[Problem]:
    seen: dict[tuple[bytes, str], str] = {}
    for run in campaign.runs():
        identity = (canonical_json(dict(run.config)), run.command)
        if identity in seen:
            yield Problem(
                ("variants", run.name),
                _("{name} is the same run as {other}: same command, same configuration").format(
                    name=run.name, other=seen[identity]
                ),
                _("change something, or remove it"),
            )
        seen.setdefault(identity, run.name)


def _host_problems(campaign: Campaign) -> Iterator[Problem]:
    if campaign.hosts and "provider" in campaign.model_fields_set:
        yield Problem(
            ("hosts",),
            _("both `provider` and `hosts` say where it runs"),
            _("remove one of them"),
        )


def _resume_problems(campaign: Campaign) -> Iterator[Problem]:
    """Say what is wrong with the argument by which a program goes on from its own save."""
    if campaign.resume_arg is None:
        return
    path = ("resume_arg",)
    if campaign.checkpoints is None:
        hint = _("add checkpoints: with the pattern of the program's own saves, such as out/checkpoint-*")
        yield Problem(path, _("nothing says what the program could go on from"), hint)
    try:
        names = commands.placeholders(campaign.resume_arg)
        commands.words(campaign.resume_arg)
    except ValueError as error:
        yield Problem(path, str(error))
        return
    if set(names) - {"latest"}:
        yield Problem(
            path, _("only {save} stands for something here: the path of the save").format(save="{latest}")
        )
    if commands.needs_shell(campaign.command) and "$@" not in campaign.command:
        yield Problem(
            path,
            _("the command needs a shell, so lastro cannot tell where the argument belongs"),
            _('write "$@" at its place in the command, as in: python train.py "$@" | tee log.txt'),
        )


def _stage_problems(campaign: Campaign) -> Iterator[Problem]:
    runs = (CONTROL, *campaign.variants)
    for name, stage in campaign.stages.items():
        if stage.run is not None and stage.run not in runs:
            yield Problem(
                ("stages", name, "run"),
                _("{run} is not a run; known are: {known}").format(run=stage.run, known=", ".join(runs)),
            )
        for index, before in enumerate(stage.after or ()):
            if before not in campaign.stages or before == name:
                yield Problem(
                    ("stages", name, "after", index),
                    _("{before} is not another stage; known are: {known}").format(
                        before=before, known=", ".join(other for other in campaign.stages if other != name)
                    ),
                )
    for name in campaign.plan_b:
        if name not in campaign.stages:
            yield Problem(
                ("plan_b", name),
                _("{name} is not a stage; known are: {known}").format(
                    name=name, known=", ".join(campaign.stages) or _("none")
                ),
            )
    yield from _stage_circles(campaign.stages)


def waits_for(stages: Mapping[str, Stage], name: str) -> tuple[str, ...]:
    """Return the stages that one stage waits for: those it names, else the one above it."""
    after = stages[name].after
    if after is not None:
        return after
    names = list(stages)
    index = names.index(name)
    return (names[index - 1],) if index else ()


def _stage_circles(stages: Mapping[str, Stage]) -> Iterator[Problem]:
    left = {name: {before for before in waits_for(stages, name) if before in stages} for name in stages}
    following: dict[str, list[str]] = {name: [] for name in stages}
    for name, before in left.items():
        for other in before:
            following[other].append(name)
    free = [name for name, before in left.items() if not before]
    while free:
        done = free.pop()
        del left[done]
        for name in following[done]:
            left[name].discard(done)
            if not left[name]:
                free.append(name)
    if left:
        yield Problem(
            ("stages", next(iter(left)), "after"),
            _("these stages wait for each other: {names}").format(names=", ".join(left)),
            _("`after: []` waits for nothing"),
        )


def _deliverable_problems(campaign: Campaign) -> Iterator[Problem]:
    paths: dict[str, str] = {}
    for name, deliverable in campaign.deliverables.items():
        if deliverable.path in paths:
            yield Problem(
                ("deliverables", name, "path"),
                _("{path} is the path of {other} as well").format(
                    path=deliverable.path, other=paths[deliverable.path]
                ),
            )
        paths.setdefault(deliverable.path, name)
        others = [other for other in campaign.deliverables if other != name]
        if deliverable.compare is not None and deliverable.compare not in others:
            yield Problem(
                ("deliverables", name, "compare"),
                _("{compare} is not another deliverable; known are: {known}").format(
                    compare=deliverable.compare, known=", ".join(others) or _("none")
                ),
            )


def _smoke_problems(campaign: Campaign) -> Iterator[Problem]:
    for key in campaign.smoke:
        if key not in campaign.control:
            yield Problem(
                ("smoke", key),
                _("{key} is not a key of control; known are: {known}").format(
                    key=key, known=", ".join(campaign.control) or _("none")
                ),
                _("smoke gives keys of control small values"),
            )
