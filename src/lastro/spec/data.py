"""How much of everything there is: what the disk has to hold, and what leaves a place and may be billed."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, model_validator

from lastro.locale import _
from lastro.spec.base import AlsoWritten, Contradiction, InsidePath, Problem, Size, Strict, Text, shown
from lastro.spec.stage import HOME, IS_PERCENT, MACHINE, read_percent

#: Ten exabytes: larger is a mistake.
_ABSURD = 10**19


class Stored(Strict):
    """Something that lies on the disk: of a size, or as large as a file or folder here is.

    `files`: how many; None: not known, or counted where `path` is. `source`: where it can be had again.
    """

    size: Size | None = None
    path: InsidePath | None = None
    files: Annotated[int, Field(ge=1)] | None = None
    source: Text | None = None

    @model_validator(mode="after")
    def _has_a_size(self) -> Stored:
        if (self.size is None) == (self.path is None):
            raise Contradiction(
                Problem(
                    (),
                    _("either its size or a path here says how large it is"),
                    _("for example size: 14 GB, or path: weights"),
                )
            )
        if self.size is not None and self.size > _ABSURD:
            raise Contradiction(
                Problem(("size",), _("{value} is larger than any disk").format(value=self.size))
            )
        return self


class Model(Strict):
    """A model whose state is predicted: parameters, those that are trained, and what the optimizer keeps.

    `dtype` is that of the weights; `master`: the optimizer keeps a copy of what is trained in float32.
    """

    parameters: Annotated[float, Field(gt=0, le=1e15)]
    trainable: Annotated[float, Field(gt=0, le=1e15)] | None = None
    dtype: Literal["float32", "bfloat16", "float16", "float8", "int8", "int4"] = "float32"
    optimizer: Literal["none", "sgd", "momentum", "adam", "adamw", "adam8bit"] = "adamw"
    master: bool = False

    @model_validator(mode="after")
    def _trains_what_it_has(self) -> Model:
        if self.trainable is not None and self.trainable > self.parameters:
            raise Contradiction(Problem(("trainable",), _("more is trained than the model has")))
        return self


def _stored(value: object) -> object:
    return {"size": value} if isinstance(value, (str, int)) and not isinstance(value, bool) else value


def _slack(value: object) -> object:
    return 0.0 if value in ("0 %", "0%") else read_percent(value)


#: A size alone, or a mapping of size, files and source.
AStored = Annotated[Stored, BeforeValidator(_stored), AlsoWritten({"type": "string"})]


class DataSpec(Strict):
    """What the disk has to hold. What is not said is unknown, not nothing.

    `dataset` counts once, `unpacked` beside it while it is unpacked. `state`: the size of one checkpoint; or
    `model`, from which it is predicted. `results`: of each run. `slack`: added to the sum.
    """

    weights: dict[str, AStored] = Field(default_factory=dict)
    dataset: AStored | None = None
    unpacked: AStored | None = None
    state: Size | None = None
    model: Model | None = None
    results: Size | None = None
    caches: Size | None = None
    slack: Annotated[float, BeforeValidator(_slack), IS_PERCENT] = 0.2

    @model_validator(mode="after")
    def _one_state(self) -> DataSpec:
        if self.state is not None and self.model is not None:
            raise Contradiction(Problem(("model",), _("state and model both say how large a checkpoint is")))
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
        return self
