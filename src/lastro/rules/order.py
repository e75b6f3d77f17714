"""What a supervisor is told (`order.json`), and what one life of a job is told (`attempt.json`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, field
from typing import Any

from lastro.records import dataclass
from lastro.rules.corpus import Corpus
from lastro.rules.hang import HangPolicy
from lastro.rules.limits import Limits
from lastro.rules.stop import StopKind, StopRule


@dataclass(frozen=True, kw_only=True)
class Best:
    """The metric by which one checkpoint is the best of all, and whether higher or lower is better."""

    metric: str
    higher: bool


@dataclass(frozen=True, kw_only=True)
class CheckpointPolicy:
    """When to save, and which checkpoints stay. Without steps and seconds the job derives the interval.

    interruption_seconds: mean time between interruptions of the machine; None where nobody has told it.
    keep: the latest that stay. best: the best one by a metric stays too. milestone_steps, milestone_seconds:
    of each so many steps, or of each such time by the clock, one stays for good. older_seconds: one stays
    that is so much older than the latest: it was made before trouble that shows so late.
    """

    every_steps: int | None = None
    every_seconds: float | None = None
    max_loss_seconds: float | None = None
    keep: int = 2
    interruption_seconds: float | None = None
    best: Best | None = None
    milestone_steps: int | None = None
    milestone_seconds: float | None = None
    older_seconds: float | None = None

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> CheckpointPolicy:
        """Read what `asdict` made of one. Raises KeyError or TypeError for anything else."""
        best = value.get("best")
        return cls(**{**value, "best": Best(**best) if best else None})


@dataclass(frozen=True, kw_only=True)
class ExpectedSave:
    """How large a checkpoint is going to be.

    `bytes`: of each. `once`: written a single time beside all of them. `why`: who says so.
    """

    bytes: int
    once: int
    why: str


@dataclass(frozen=True, kw_only=True)
class RestartPolicy:
    """How many starts in a row may end without verified progress before a run is given up."""

    starts_without_progress: int = 2


@dataclass(frozen=True, kw_only=True)
class CodeIdentity:
    """The code of a run: its digest, and how a machine comes by it.

    With `unpack` the archive is unpacked into an empty workdir and `links` (relative path -> absolute
    path on the disk) are put beside it. Without, the code lies in the workdir already (provider `here`)
    and its digest is checked again before each attempt, `excludes` left out; with `only`, exactly these
    files are the code, whatever else is there.
    """

    digest: str
    unpack: bool
    excludes: tuple[str, ...] = ()
    links: Mapping[str, str] = field(default_factory=dict)
    only: tuple[str, ...] | None = None


@dataclass(frozen=True, kw_only=True)
class Order:
    """What home asks a supervisor to carry out: one run, for as many attempts as the rules allow.

    `disk`: uuid of the disk that everything lies on, None where it was never marked. `committed_step`: the
    highest step that home has seen committed, so that a disk without it is no beginning at step 0.

    Paths are absolute and belong to the machine that carries out the order. `checkpoints` is the pattern,
    below the workdir, of the saves of a program that lastro knows nothing of; `resume_arg` what its command
    gets to go on from one of them. `expected_save`: how large a checkpoint is going to be, None where nobody
    knows before the first one. `unattended_seconds`: how long the machine waits for a word of home after
    everything on it has ended, before it lets itself go.
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
    hang: HangPolicy = field(default_factory=HangPolicy)
    code: CodeIdentity | None = None
    disk: str | None = None
    committed_step: int | None = None
    checkpoints: str | None = None
    resume_arg: str | None = None
    limits: Limits = field(default_factory=Limits)
    setup: str | None = None
    unattended_seconds: float = 900.0
    expected_save: ExpectedSave | None = None

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "limits": self.limits.as_json()}

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
        fields["checkpoint"] = CheckpointPolicy.from_json(fields.get("checkpoint", {}))
        fields["hang"] = HangPolicy(**fields.get("hang", {}))
        fields["restart"] = RestartPolicy(**fields.get("restart", {}))
        fields["limits"] = Limits.from_json(fields["limits"]) if fields.get("limits") else Limits()
        fields["corpus"] = Corpus(**fields["corpus"]) if fields.get("corpus") else None
        expected = fields.get("expected_save")
        fields["expected_save"] = ExpectedSave(**expected) if expected else None
        if fields.get("code"):
            code = fields["code"]
            only = tuple(code["only"]) if code.get("only") is not None else None
            excludes = tuple(code.get("excludes", ()))
            fields["code"] = CodeIdentity(**{**code, "excludes": excludes, "only": only})
        return cls(**fields)


@dataclass(frozen=True, kw_only=True)
class Attempt:
    """`attempt.json`: an order with the number and the token of one claimed life of the process.

    `committed_step` is the highest step that any earlier attempt has committed; None when none has.
    `inherited` names the checkpoints that were there when the number was claimed: what an earlier attempt
    publishes after that is not used. None: not written down.
    """

    number: int
    token: str
    order: Order
    claimed_at: str
    committed_step: int | None = None
    inherited: tuple[str, ...] | None = None

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "order": self.order.as_json()}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Attempt:
        """Read what `as_json` wrote. Raises KeyError, TypeError or ValueError for anything else."""
        names = value.get("inherited")
        inherited = None if names is None else tuple(names)
        return cls(**{**value, "order": Order.from_json(value["order"]), "inherited": inherited})
