"""What each run promises: its outputs, and how closing finds out whether they are what they should be."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema, model_validator

from lastro.locale import _
from lastro.spec import command as commands
from lastro.spec.base import Contradiction, InsidePath, Name, Problem, Strict, Text, shown

_HEX = "0123456789abcdef"
#: A commit of git, and a SHA-256: both say which bytes are meant, which a branch or a tag does not.
_COMMIT, _SHA256 = 40, 64
#: What `storage.digest` computes of a folder, in a shell.
_HOW_TO_SUM = r"find . -type f -printf '%P\0' | LC_ALL=C sort -z | xargs -0 sha256sum | sha256sum"


def _hex(value: object, length: int) -> object:
    if not isinstance(value, str) or len(value) != length or set(value) - set(_HEX):
        raise ValueError(
            _("{value} is not {length} digits of 0-9 and a-f, in quotes").format(
                value=shown(value), length=length
            )
        )
    return value


def _hex_schema(length: int) -> WithJsonSchema:
    return WithJsonSchema({"type": "string", "pattern": f"^[0-9a-f]{{{length}}}$"})


Commit = Annotated[str, BeforeValidator(lambda value: _hex(value, _COMMIT)), _hex_schema(_COMMIT)]
Sha256 = Annotated[str, BeforeValidator(lambda value: _hex(value, _SHA256)), _hex_schema(_SHA256)]


class MetricSpec(Strict):
    """A metric that closing recomputes from the predictions, against the truth beside the code.

    `claimed`: a JSON file of the outputs in which the run itself tells the metric by its name.
    """

    name: Text
    truth: InsidePath
    claimed: InsidePath | None = None


class BaseSpec(Strict):
    """A model that an output was made from.

    `path`: beside the code or among the inputs; or `hub`: its name there.
    `revision` is a commit, `sha256` of the file, or of the sums of a folder's files.
    """

    path: InsidePath | None = None
    hub: Text | None = None
    revision: Commit | None = None
    sha256: Sha256 | None = None
    licence: Text | None = None
    gated: bool | None = None

    @model_validator(mode="after")
    def _says_which_bytes(self) -> BaseSpec:
        if (self.path is None) == (self.hub is None):
            raise Contradiction(
                Problem((), _("a base is either a path or a name on a hub"), _("give it path: or hub:"))
            )
        if self.hub is not None and self.revision is None:
            raise Contradiction(
                Problem(
                    ("hub",),
                    _("a name on a hub means other weights tomorrow"),
                    _("add revision: with the commit of {digits} digits").format(digits=_COMMIT),
                )
            )
        if self.path is not None and self.sha256 is None:
            raise Contradiction(
                Problem(
                    ("path",),
                    _("nothing says which bytes are meant"),
                    _("add sha256: of the file; of a folder what this prints in it: {command}").format(
                        command=_HOW_TO_SUM
                    ),
                )
            )
        return self


class Deliverable(Strict):
    """An output that each run promises. `path`, a file or a folder, is below the run's outputs.

    `recorded`: a file of the outputs with a small input and what the model said to it. `pickle`: whether one
    may be loaded, after a scan and only in a jail.
    """

    path: InsidePath
    key: Text | None = None
    rows: Annotated[int, Field(ge=1)] | None = None
    metric: MetricSpec | None = None
    reload: Text | None = None
    compare: Name | None = None
    recorded: InsidePath | None = None
    base: BaseSpec | None = None
    pickle: Literal["refused", "jailed"] = "refused"

    @model_validator(mode="after")
    def _reload_names_the_file(self) -> Deliverable:
        if self.compare and not self.reload:
            raise Contradiction(
                Problem(
                    ("compare",),
                    _("nothing is reloaded that could be compared with {other}").format(other=self.compare),
                    _('give it reload: "python reload.py {path}"'),
                )
            )
        if self.reload is None:
            return self
        try:
            names = commands.placeholders(self.reload)
            commands.argv(self.reload)
        except ValueError as error:
            raise Contradiction(Problem(("reload",), str(error))) from error
        if set(names) != {"path"}:
            raise Contradiction(
                Problem(
                    ("reload",),
                    _("the command has to name the reloaded file as {{path}}, and nothing else in braces"),
                )
            )
        return self
