"""How much of everything there is: what the disk has to hold, and what leaves a place and may be billed."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema, model_validator

from lastro.locale import _
from lastro.spec.base import (
    AlsoWritten,
    Contradiction,
    Duration,
    InsidePath,
    Problem,
    Size,
    Strict,
    Text,
    as_tuple,
    shown,
)
from lastro.spec.stage import HOME, IS_PERCENT, MACHINE, read_percent

#: Ten exabytes: larger is a mistake.
_ABSURD = 10**19
_REPOSITORY = r"[A-Za-z0-9][\w.-]{0,95}(/[A-Za-z0-9][\w.-]{0,95})?"
_REVISION = r"[A-Za-z0-9][\w./-]{0,127}"
_FUNCTION = r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*"


def _matching(pattern: str, wanted: Callable[[], str]) -> BeforeValidator:
    def check(value: object) -> object:
        if value is None or (isinstance(value, str) and re.fullmatch(pattern, value) and ".." not in value):
            return value
        raise ValueError(_("{value} is not {wanted}").format(value=shown(value), wanted=wanted()))

    return BeforeValidator(check)


class Hub(Strict):
    """A repository of the Hugging Face hub. Its sizes are asked with `--online` only.

    `only`: patterns of the files that are wanted, such as `*.safetensors`; none: all of them.
    """

    repository: Annotated[
        str,
        _matching(_REPOSITORY, lambda: _("a repository such as owner/name")),
        WithJsonSchema({"type": "string", "pattern": f"^{_REPOSITORY}$"}),
    ]
    revision: Annotated[
        str,
        _matching(_REVISION, lambda: _("a branch, a tag or a commit")),
        WithJsonSchema({"type": "string", "pattern": f"^{_REVISION}$"}),
    ] = "main"
    kind: Literal["model", "dataset"] = "model"
    only: Annotated[tuple[Text, ...], BeforeValidator(as_tuple)] = ()


def _hub(value: object) -> object:
    return {"repository": value} if isinstance(value, str) else value


class Stored(Strict):
    """Something that lies on the disk: of a size, or as large as a file, a folder or a repository is.

    `files`: how many; None: not known, or counted where it is looked at. `source`: where it can be had again.
    """

    size: Size | None = None
    path: InsidePath | None = None
    hub: Annotated[Hub | None, BeforeValidator(_hub), AlsoWritten({"type": "string"})] = None
    files: Annotated[int, Field(ge=1)] | None = None
    source: Text | None = None

    @model_validator(mode="after")
    def _has_a_size(self) -> Stored:
        given = [key for key in ("size", "path", "hub") if getattr(self, key) is not None]
        if len(given) != 1:
            raise Contradiction(
                Problem(
                    (),
                    _("one of size, path and hub says how large it is"),
                    _("for example size: 14 GB, or path: weights"),
                )
            )
        if self.size is not None and not 0 < self.size <= _ABSURD:
            text = _("{value} bytes are nothing, or more than any disk holds")
            raise Contradiction(Problem(("size",), text.format(value=self.size)))
        return self


class Model(Strict):
    """A model whose state is predicted: its weights, what of them is trained, what the optimizer keeps.

    Either `parameters`, or `weights`: a name in `data.weights` whose safetensors say how many there are.
    `dtype` is that of the weights; None: as the files say, else float32. `trained_dtype`: of what is trained;
    None: the same, and float32 where the weights are quantised. `master`: the optimizer keeps a copy of what
    is trained in float32. `saves`: what each checkpoint holds; None: see `plan.state.predicted`.
    """

    parameters: Annotated[float, Field(gt=0, le=1e15)] | None = None
    weights: Text | None = None
    trainable: Annotated[float, Field(gt=0, le=1e15)] | None = None
    dtype: Literal["float32", "bfloat16", "float16", "float8", "int8", "int4"] | None = None
    trained_dtype: Literal["float32", "bfloat16", "float16"] | None = None
    optimizer: Literal["none", "sgd", "momentum", "adam", "adamw", "adam8bit"] = "adamw"
    master: bool = False
    saves: Literal["all", "trained"] | None = None

    @model_validator(mode="after")
    def _trains_what_it_has(self) -> Model:
        if (self.parameters is None) == (self.weights is None):
            raise Contradiction(
                Problem(
                    (),
                    _("either parameters or weights says how large the model is"),
                    _("for example parameters: 7.0e+9, or weights: NAME, one of data.weights"),
                )
            )
        if self.trainable is not None and self.parameters is not None and self.trainable > self.parameters:
            raise Contradiction(Problem(("trainable",), _("more is trained than the model has")))
        return self


class StateSpec(Strict):
    """The size of one checkpoint: declared, or told by a function of the campaign's own code.

    `origin` is `module:function`, which builds model and optimizer. It is called in a process of its own, in
    which tensors have shapes and no memory, and which is killed after `within`.
    """

    size: Size | None = None
    origin: Annotated[
        str | None,
        _matching(_FUNCTION, lambda: _("a function such as train:build")),
        WithJsonSchema({"type": "string", "pattern": f"^{_FUNCTION}$", "examples": ["train:build"]}),
        Field(alias="from"),
    ] = None
    within: Duration = timedelta(minutes=1)

    @model_validator(mode="after")
    def _one_way(self) -> StateSpec:
        if (self.size is None) == (self.origin is None):
            raise Contradiction(
                Problem(
                    (),
                    _("either its size, or a function says how large a checkpoint is"),
                    _("for example state: 12 GB, or state: {example}").format(
                        example='{from: "train:build"}'
                    ),
                )
            )
        if self.size is not None and not 0 < self.size <= _ABSURD:
            text = _("{value} bytes are nothing, or more than any disk holds")
            raise Contradiction(Problem(("size",), text.format(value=self.size)))
        return self


def _stored(value: object) -> object:
    return {"size": value} if isinstance(value, (str, int)) and not isinstance(value, bool) else value


def _slack(value: object) -> object:
    return 0.0 if value in ("0 %", "0%") else read_percent(value)


#: A size alone, or a mapping of size, files and source.
AStored = Annotated[Stored, BeforeValidator(_stored), AlsoWritten({"type": "string"})]
AState = Annotated[StateSpec, BeforeValidator(_stored), AlsoWritten({"type": "string"})]


class DataSpec(Strict):
    """What the disk has to hold. What is not said is unknown, not nothing.

    `dataset` counts once, `unpacked` beside it while it is unpacked. `state`: the size of one checkpoint, or
    the code that tells it; `model`: what it is predicted from otherwise. `results`: of each run. `slack`:
    added to the sum.
    """

    weights: dict[str, AStored] = Field(default_factory=dict)
    dataset: AStored | None = None
    unpacked: AStored | None = None
    state: AState | None = None
    model: Model | None = None
    results: Size | None = None
    caches: Size | None = None
    slack: Annotated[float, BeforeValidator(_slack), IS_PERCENT] = 0.2

    @model_validator(mode="after")
    def _one_state(self) -> DataSpec:
        if self.model is None:
            return self
        if self.state is not None and self.state.size is not None:
            raise Contradiction(Problem(("model",), _("state and model both say how large a checkpoint is")))
        name = self.model.weights
        if name is not None and name not in self.weights:
            text = _("{name} is none of data.weights; known are: {known}").format(
                name=name, known=", ".join(self.weights) or _("none")
            )
            raise Contradiction(Problem(("model", "weights"), text))
        return self


class TransferSpec(Strict):
    """Bytes that leave a place beside the calendar: what a run reads from a store, what is brought home.

    `times`: how often; an epoch that streams its data reads all of it. `requests`: in all, where they are
    billed.
    """

    size: Size
    origin: Annotated[Text, Field(alias="from")] = MACHINE
    to: Text = HOME
    times: Annotated[int, Field(ge=1, le=10**6)] = 1
    requests: Annotated[int, Field(ge=0)] | None = None

    @model_validator(mode="after")
    def _goes_somewhere(self) -> TransferSpec:
        if self.origin == self.to:
            raise Contradiction(Problem(("to",), _("from {place} to itself").format(place=shown(self.to))))
        if not 0 < self.size <= _ABSURD:
            text = _("{value} bytes are nothing, or more than any disk holds")
            raise Contradiction(Problem(("size",), text.format(value=self.size)))
        return self
