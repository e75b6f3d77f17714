"""Files that users write, read with the place of everything: the only way YAML comes into lastro."""

from __future__ import annotations

import difflib
import types
import typing
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from lastro.errors import CampaignInvalid
from lastro.locale import _
from lastro.records import dataclass
from lastro.spec import tree as yaml_tree
from lastro.spec.base import Contradiction, Problem, shown
from lastro.spec.campaign import Campaign
from lastro.spec.faults import Faults, FaultSpec
from lastro.spec.offers import Offer, Offers

M = TypeVar("M", bound=BaseModel)

#: What was done with providers; it says nothing of what a run does.
CHECKLIST = "checklist.yaml"
#: Where `lastro export` puts its files: what starts a campaign elsewhere is no part of its code.
EXPORTED = ("export/container", "export/shell", "export/skypilot", "export/slurm")
#: More than this many problems at once help nobody.
_SHOWN = 12
#: Characters of one problem.
_LONGEST = 1000


@dataclass(frozen=True)
class LoadedCampaign:
    """A campaign file that is valid, with where it lies. `text` is what was read, to be frozen as it is.

    `code`: the files that are the code, relative to the folder; None: all but what git ignores.
    """

    spec: Campaign
    folder: Path
    path: Path
    text: str
    code: tuple[str, ...] | None = None

    @property
    def offers_path(self) -> Path | None:
        """Where the offers file is, absolute; None when the campaign names none."""
        return self.folder / self.spec.offers if self.spec.offers else None

    @property
    def disk_path(self) -> Path | None:
        """Where the campaign's disk is, absolute; None when the campaign names none."""
        if self.spec.disk is None:
            return None
        return _resolved(self.folder / Path(self.spec.disk.path).expanduser())

    def left_out(self, *others: Path | None) -> tuple[str, ...]:
        """Return what lies in the campaign's folder and is not code, as relative POSIX paths.

        The campaign, offers, lock and checklist files, exports, the corpus, the outputs, the disk, and
        `others` (the disk that is really used, a faults file); what lies elsewhere needs no leaving out.
        """
        files = [self.path, self.offers_path, self.disk_path, self.folder / "lastro.lock", *others]
        names = {name for path in files if path is not None and (name := _below(path, self.folder))}
        names.update(("faults.yaml", CHECKLIST, *EXPORTED))
        names.update(deliverable.path for deliverable in self.spec.deliverables.values())
        if self.spec.corpus is not None:
            names.add(self.spec.corpus.path)
        return tuple(sorted(names))


def _resolved(path: Path) -> Path:
    """Return a path without links in its folder; that the file itself is a link changes nothing."""
    return path.parent.resolve() / path.name


def _below(path: Path, folder: Path) -> str | None:
    """Return `path` relative to `folder`; None when it lies elsewhere or is the folder itself."""
    try:
        name = _resolved(path).relative_to(folder).as_posix()
    except ValueError:
        return None
    return None if name == "." else name


def load_campaign(path: Path) -> LoadedCampaign:
    """Read a campaign file.

    Raises:
        CampaignInvalid: for whatever is wrong with it: file, line, column, value, next step.
    """
    absolute = _resolved(path)
    text = _read(path, what=_("a campaign file"), hint=_("`lastro init` writes one; or name another file"))
    return LoadedCampaign(
        spec=_load(Campaign, text, str(path)), folder=absolute.parent, path=absolute, text=text
    )


def made_in_code(model: type[M], values: Mapping[str, Any]) -> M:
    """Return a model of values that stand in no file. Raises CampaignInvalid, with all that is wrong."""
    try:
        return model.model_validate(dict(values))
    except ValidationError as error:
        problems = [problem for item in error.errors() for problem in _problems(model, item, {})]
        told = "\n".join(_named(problem.path, False, problem.message) for problem in problems)
        raise CampaignInvalid(told, hint=problems[0].hint) from error


def load_offers(path: Path) -> tuple[Offer, ...]:
    """Read the offers of an offers file. Raises CampaignInvalid."""
    return load_offers_file(path).offers


def load_offers_file(path: Path) -> Offers:
    """Read an offers file with its disks, egress, rates and balances. Raises CampaignInvalid."""
    hint = _("write it, or remove `offers:` from the campaign file; docs/campaign-file.md shows one")
    text = _read(path, what=_("an offers file"), hint=hint)
    return _load(Offers, text, str(path))


def load_file(model: type[M], path: Path, *, what: str, hint: str) -> M:
    """Read a file of some other kind: `what` it is, `hint` for when it is missing. Raises CampaignInvalid."""
    return _load(model, _read(path, what=what, hint=hint), str(path))


def load_faults(path: Path, runs: Collection[str] | None = None) -> tuple[FaultSpec, ...]:
    """Read a faults file. Raises CampaignInvalid, also for a run that is not one of `runs`."""
    text = _read(path, what=_("a faults file"), hint=_("name another file with --faults"))
    tree = yaml_tree.parse(text, str(path))
    faults = _validate(Faults, tree, str(path)).specs()
    if runs is not None:
        problems = [
            Problem(
                ("faults", fault.index, "run"),
                _("{run!r} is not a run of this campaign{guess}; known are: {known}").format(
                    run=fault.run, guess=_guess(_near(fault.run, runs)), known=", ".join(runs)
                ),
            )
            for fault in faults
            if fault.create is None and fault.run not in runs
        ]
        if problems:
            raise _told(problems, tree, str(path))
    return faults


def _read(path: Path, *, what: str, hint: str) -> str:
    def refuse(message: str, next_step: str) -> CampaignInvalid:
        return CampaignInvalid(message, hint=next_step, file=str(path))

    try:
        with path.open("rb") as file:
            data = file.read(yaml_tree.MAX_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise refuse(_("there is no such file"), hint) from error
    except IsADirectoryError as error:
        raise refuse(_("this is a folder, not {what}").format(what=what), _("name the file in it")) from error
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise refuse(
            _("it cannot be read: {error}").format(error=reason), _("check its permissions")
        ) from error
    if len(data) > yaml_tree.MAX_BYTES:
        raise refuse(
            _("it is larger than 256 KiB, so it is hardly {what}").format(what=what), _("name another file")
        )
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise refuse(
            _("it is no text in UTF-8 (byte {position})").format(position=error.start + 1),
            _("save it as UTF-8, or name another file"),
        ) from error


def _load(model: type[M], text: str, file: str) -> M:
    return _validate(model, yaml_tree.parse(text, file), file)


def _validate(model: type[M], tree: yaml_tree.Tree, file: str) -> M:
    if not isinstance(tree.value, dict):
        kind = _("a list") if isinstance(tree.value, list) else shown(tree.value)
        keys = ", ".join(list(model.model_fields)[:3])
        place = tree.place(())
        raise CampaignInvalid(
            _("{kind} stands here, but the file has to be a mapping with keys such as {keys}").format(
                kind=kind, keys=keys
            ),
            hint=_("write one `key: value` a line"),
            file=file,
            line=place[0] if place else None,
            column=place[1] if place else None,
        )
    try:
        return model.model_validate(tree.value)
    except ValidationError as error:
        items = error.errors()
        unknown = [item for item in items if item["type"] == "extra_forbidden"]
        # More guesses than are shown would only take time: a hostile file has thousands.
        meant = {item["loc"]: _meant(model, item) for item in unknown[: 2 * _SHOWN]}
        misspelt = set(meant.values())
        kept = [item for item in items if item["type"] != "missing" or item["loc"] not in misspelt]
        problems = [problem for item in kept for problem in _problems(model, item, meant)]
        raise _told(problems, tree, file) from error


# --- what pydantic found, in lastro's words ---------------------------------------------------------


def _problems(
    model: type[BaseModel], item: Mapping[str, Any], meant: Mapping[yaml_tree.Path, yaml_tree.Path]
) -> list[Problem]:
    path: tuple[str | int, ...] = item["loc"]
    cause = item.get("ctx", {}).get("error")
    if isinstance(cause, Contradiction):
        return [Problem((*path, *inner.path), inner.message, inner.hint) for inner in cause.problems]
    if item["type"] == "missing":
        text = _("the key {key!r} is missing").format(key=path[-1])
        return [Problem(path[:-1], text, _("add it; docs/campaign-file.md has an example of every key"))]
    if item["type"] == "extra_forbidden":
        near = meant.get(path, ())
        guess = _guess(str(near[-1])) if near else ""
        text = _("unknown key {key!r}{guess}").format(key=path[-1], guess=guess)
        known = ", ".join(_keys_at(model, path[:-1]))
        return [Problem((*path, _KEY), text, _("known keys here: {known}").format(known=known))]
    return [Problem(path, str(cause) if cause else _in_words(item))]


#: Marks a problem with a key itself rather than with its value.
_KEY = "\0key"


def _in_words(item: Mapping[str, Any]) -> str:
    """Return the sentence for a value that has the wrong type or lies outside its range."""
    context = item.get("ctx", {})
    wanted = {
        "int_type": _("a whole number"),
        "float_type": _("a number"),
        "string_type": _("a text; write it in quotes"),
        "bool_type": _("true or false"),
        "dict_type": _("a mapping"),
        "model_type": _("a mapping"),
        "tuple_type": _("a list"),
        "literal_error": _("one of: {expected}").format(expected=context.get("expected", "")),
        "greater_than": _("more than {limit}").format(limit=context.get("gt")),
        "greater_than_equal": _("at least {limit}").format(limit=context.get("ge")),
        "less_than_equal": _("at most {limit}").format(limit=context.get("le")),
        "less_than": _("less than {limit}").format(limit=context.get("lt")),
    }.get(item["type"])
    if wanted is None:
        return f"{shown(item['input'])}: {item['msg']}"
    return _("{value} has to be {wanted}").format(value=shown(item["input"]), wanted=wanted)


def _near(word: str, known: Collection[str]) -> str | None:
    near = difflib.get_close_matches(word, list(known), n=1)
    return near[0] if near else None


def _guess(near: str | None) -> str:
    return _(", did you mean {near!r}?").format(near=near) if near else ""


def _meant(model: type[BaseModel], item: Mapping[str, Any]) -> yaml_tree.Path:
    """Return the path of the key that an unknown one was probably meant to be; () when none is near."""
    path: yaml_tree.Path = item["loc"]
    near = _near(str(path[-1]), _keys_at(model, path[:-1]))
    return (*path[:-1], near) if near else ()


def _keys_at(model: type[BaseModel], path: tuple[str | int, ...]) -> tuple[str, ...]:
    """Return the keys that the model at `path` below `model` knows."""
    here: Any = model
    for part in path:
        if isinstance(here, type) and issubclass(here, BaseModel):
            field = _fields(here).get(str(part))
            here = field.annotation if field else None
        else:  # the value type of dict[str, X] or tuple[X, ...]
            inner = [kind for kind in typing.get_args(here) if kind is not Ellipsis]
            here = inner[-1] if inner else None
        here = _plain(here)
    return tuple(_fields(here)) if isinstance(here, type) and issubclass(here, BaseModel) else ()


def _fields(model: type[BaseModel]) -> Mapping[str, FieldInfo]:
    """Return the fields of a model by their keys in the file: `from` is no name that Python allows."""
    return {field.alias or name: field for name, field in model.model_fields.items()}


def _plain(annotation: Any) -> Any:
    """Return the type inside Annotated and Optional."""
    while True:
        origin = typing.get_origin(annotation)
        if origin is typing.Annotated:
            annotation = typing.get_args(annotation)[0]
        elif origin in (typing.Union, types.UnionType):
            annotation = next(kind for kind in typing.get_args(annotation) if kind is not type(None))
        else:
            return annotation


def _told(problems: list[Problem], tree: yaml_tree.Tree, file: str) -> CampaignInvalid:
    """Return one error that tells all problems, in the order of the file; the first one carries the place."""
    placed = []
    for problem in problems:
        key = problem.path[-1:] == (_KEY,)
        path = problem.path[:-1] if key else problem.path
        placed.append((tree.place(path, key=key) or (1, 1), _named(path, key, problem.message), problem.hint))
    placed.sort(key=lambda item: item[0])
    (line, column), message, hint = placed[0]
    lines = [message]
    lines += [f"{file}:{at[0]}:{at[1]}: {text}" for at, text, _hint in placed[1:_SHOWN]]
    if len(placed) > _SHOWN:
        lines.append(_("and {count} more").format(count=len(placed) - _SHOWN))
    return CampaignInvalid(
        "\n".join(lines),
        hint=hint or _("docs/campaign-file.md has an example of every key"),
        file=file,
        line=line,
        column=column,
    )


def _named(path: tuple[str | int, ...], key: bool, message: str) -> str:
    """Put the path of the value before the message, as in `stop[1]: ...`; what nobody reads is cut off."""
    message = message if len(message) <= _LONGEST else message[:_LONGEST] + "..."
    owner = path[:-1] if key else path
    text = ""
    for part in owner:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else str(part)
    return f"{text}: {message}" if text else message
