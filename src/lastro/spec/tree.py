"""YAML 1.2 as a plain tree with the place of every key and value; strict, and bounded in every direction.

Works on the parser's events, so that nothing is constructed but JSON's kinds of values: no tags, no
merge keys, no dates, no yes and no that mean true and false.
"""

from __future__ import annotations

import math
import re
from dataclasses import field
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)

from lastro.errors import CampaignInvalid
from lastro.locale import _
from lastro.records import dataclass

#: The parser takes about a second for as much of the worst there is.
MAX_BYTES = 2**18
#: Of one text, and of anything between two blanks: some of it takes time that grows with the square.
MAX_TEXT = 2**15
MAX_DEPTH = 32
#: Values in all, those that aliases repeat counted each time.
MAX_VALUES = 10_000
#: A number with more digits than this is a mistake, and would be slow to read.
_MAX_DIGITS = 400

Path = tuple[str | int, ...]
Place = tuple[int, int]

# The core schema of YAML 1.2.2, section 10.3.2.
_NULL = re.compile(r"null|Null|NULL|~|")
_BOOL = re.compile(r"true|True|TRUE|false|False|FALSE")
_INT = re.compile(r"[-+]?[0-9]+")
_OCTAL = re.compile(r"0o[0-7]+")
_HEX = re.compile(r"0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
#: What a \\ud83d escape makes; JSON and UTF-8 have no place for it.
_HALF_CHARACTER = re.compile("[\ud800-\udfff]")
_LONG_WORD = re.compile(rf"\S{{{MAX_TEXT + 1}}}")
_NOT_FINITE = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")


@dataclass
class Tree:
    """A document: its value, and line and column (from 1) of keys and of values by their path."""

    value: Any = None
    keys: dict[Path, Place] = field(default_factory=dict)
    values: dict[Path, Place] = field(default_factory=dict)

    def place(self, path: Path, *, key: bool = False) -> Place | None:
        """Return where a value (or its key) stands; of the nearest one around it when it is not there."""
        while path:
            found = (self.keys.get(path) if key else None) or self.values.get(path)
            if found:
                return found
            path, key = path[:-1], False
        return self.values.get(())


@dataclass
class _Open:
    """A mapping or a list that is being read."""

    value: dict[str, Any] | list[Any]
    path: Path
    key: str | None = None
    anchor: str | None = None


def parse(text: str, file: str) -> Tree:
    """Read one YAML document.

    Raises:
        CampaignInvalid: with file, line and column, whatever the text is.
    """
    reader = _Reader(file)
    if (long := _LONG_WORD.search(text)) is not None:
        start = text.rfind("\n", 0, long.start()) + 1
        reader.refuse(
            _("a word of more than {count} characters").format(count=MAX_TEXT),
            (text.count("\n", 0, start) + 1, long.start() - start + 1),
            _("data belongs into files of their own"),
        )
    parser = YAML(typ="safe", pure=True)
    try:
        for event in parser.parse(text):
            reader.take(event)
    except CampaignInvalid:
        raise
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        reader.refuse(
            _("this is not YAML: {problem}").format(problem=error.problem or error.context or ""),
            (mark.line + 1, mark.column + 1) if mark else None,
            _("look at this line and the one above: indentation, quotes, colons"),
        )
    except YAMLError as error:
        reader.refuse(_("this is not YAML: {problem}").format(problem=str(error).splitlines()[0]), None)
    except Exception as error:  # noqa: BLE001 - the parser has no closed list of what odd text makes it raise
        reader.refuse(_("this is not YAML: {problem}").format(problem=error), None)
    return reader.finish()


class _Reader:
    """Builds the tree from events."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._tree = Tree()
        self._stack: list[_Open] = []
        self._anchors: dict[str, Any] = {}
        self._count = 0
        self._documents = 0

    def refuse(self, message: str, place: Place | None, hint: str | None = None) -> None:
        line, column = place or (None, None)
        raise CampaignInvalid(message, hint=hint, file=self._file, line=line, column=column)

    def finish(self) -> Tree:
        if self._documents == 0 or (self._tree.value is None and not self._stack):
            self.refuse(_("the file is empty"), None, _("`lastro init` writes one to begin with"))
        return self._tree

    def take(self, event: Any) -> None:
        place = (event.start_mark.line + 1, event.start_mark.column + 1) if event.start_mark else (1, 1)
        if isinstance(event, DocumentStartEvent):
            self._begin_document(event, place)
        elif isinstance(event, (MappingEndEvent, SequenceEndEvent)):
            self._close()
        elif isinstance(event, AliasEvent):
            self._alias(event.anchor, place)
        elif isinstance(event, (ScalarEvent, MappingStartEvent, SequenceStartEvent)):
            self._check_tag(event, place)
            if isinstance(event, ScalarEvent):
                self._scalar(event, place)
            else:
                self._open({} if isinstance(event, MappingStartEvent) else [], event.anchor, place)

    def _begin_document(self, event: Any, place: Place) -> None:
        self._documents += 1
        if self._documents > 1:
            self.refuse(_("a second document begins here; one file is one document"), place)
        if event.version is not None and tuple(event.version) != (1, 2):
            self.refuse(
                _("%YAML {version} is asked for; this file is read as YAML 1.2").format(
                    version=".".join(map(str, event.version))
                ),
                place,
                _("remove the line; `yes` and `no` are texts here"),
            )

    def _check_tag(self, event: Any, place: Place) -> None:
        if event.tag is not None:
            self.refuse(
                _("the tag {tag} is not known here").format(tag=event.tag), place, _("remove the tag")
            )

    def _scalar(self, event: Any, place: Place) -> None:
        if len(event.value) > MAX_TEXT:
            self.refuse(
                _("a text of more than {count} characters").format(count=MAX_TEXT),
                place,
                _("data belongs into files of their own"),
            )
        if _HALF_CHARACTER.search(event.value):
            self.refuse(
                _("half of a character stands here, which no file can hold"),
                place,
                _("write the character itself, or both halves as one \\U escape"),
            )
        here = self._stack[-1] if self._stack else None
        if here is not None and isinstance(here.value, dict) and here.key is None:
            self._key(here, event, place)
            return
        value = event.value if event.style else self._plain(event.value, place)
        if event.anchor:
            self._anchors[event.anchor] = value
        self._put(value, place)

    def _plain(self, text: str, place: Place) -> Any:
        if _NULL.fullmatch(text):
            return None
        if _BOOL.fullmatch(text):
            return text.lower() == "true"
        if len(text) > _MAX_DIGITS and (_INT.fullmatch(text) or _FLOAT.fullmatch(text)):
            self.refuse(_("a number of {count} digits").format(count=len(text)), place)
        if _INT.fullmatch(text):
            return int(text)
        if _OCTAL.fullmatch(text) or _HEX.fullmatch(text):
            return int(text, 0)
        if _NOT_FINITE.fullmatch(text) or (_FLOAT.fullmatch(text) and not math.isfinite(float(text))):
            self.refuse(
                _("{value} is not a finite number").format(value=text),
                place,
                _("write a number, or put it in quotes if it is a text"),
            )
        return float(text) if _FLOAT.fullmatch(text) else text

    def _key(self, here: _Open, event: Any, place: Place) -> None:
        name = event.value
        if not event.style and not isinstance(self._plain(name, place), str):
            self.refuse(
                _("the key {key} is not a text").format(key=name or "null"), place, _("write it in quotes")
            )
        if name == "<<" and not event.style:
            self.refuse(
                _("the merge key << is not part of YAML 1.2"), place, _("write the keys out, or use an alias")
            )
        path = (*here.path, name)
        if path in self._tree.keys:
            first = self._tree.keys[path]
            self.refuse(
                _("the key {key!r} was given before, in line {line}").format(key=name, line=first[0]),
                place,
                _("keep one of the two"),
            )
        here.key = name
        self._tree.keys[path] = place

    def _put(self, value: Any, place: Place) -> Path:
        """Add a value to what is open; return its path."""
        self._count += 1
        if self._count > MAX_VALUES:
            self.refuse(_("the file has more than {count} values").format(count=MAX_VALUES), place)
        path: Path = ()
        if self._stack:
            here = self._stack[-1]
            if isinstance(here.value, list):
                path = (*here.path, len(here.value))
                here.value.append(value)
            elif here.key is None:
                self.refuse(_("a mapping or a list cannot be a key"), place)
            else:
                path = (*here.path, here.key)
                here.value[here.key] = value
                here.key = None
        else:
            self._tree.value = value
        self._tree.values[path] = place
        return path

    def _open(self, value: dict[str, Any] | list[Any], anchor: str | None, place: Place) -> None:
        if len(self._stack) >= MAX_DEPTH:
            self.refuse(_("the file is nested more than {depth} deep").format(depth=MAX_DEPTH), place)
        self._stack.append(_Open(value=value, path=self._put(value, place), anchor=anchor))

    def _close(self) -> None:
        done = self._stack.pop()
        # Known only from here on: an alias inside would make the value contain itself.
        if done.anchor:
            self._anchors[done.anchor] = done.value

    def _alias(self, name: str, place: Place) -> None:
        if name not in self._anchors:
            self.refuse(_("the alias *{name} stands for nothing yet").format(name=name), place)
        value = self._anchors[name]
        self._count += _size(value)
        self._put(value, place)
        if _depth(value) + len(self._stack) > MAX_DEPTH:
            self.refuse(_("the file is nested more than {depth} deep").format(depth=MAX_DEPTH), place)


def _items(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []


def _size(value: Any) -> int:
    """Return how many values lie in a value that fits the limits; stops counting beyond them."""
    count, waiting = 0, [value]
    while waiting and count <= MAX_VALUES:
        inner = _items(waiting.pop())
        count += len(inner)
        waiting.extend(inner)
    return count


def _depth(value: Any) -> int:
    return 1 + max((_depth(item) for item in _items(value)), default=0)
