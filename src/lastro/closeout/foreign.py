"""Paths inside an output that mean something only on the machine that wrote it. Pure."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator, Sequence
from pathlib import PurePath

#: Folders that stand at the root of machines. Inside running text only these make a path absolute, since
#: `and/or`, `/r/python` and `n/a` are text.
_ROOTS = (
    "Users|Volumes|content|data|dev|etc|home|kaggle|media|mnt|opt|private|proc|root|run|scratch|srv|tmp|usr"
    "|var|workspace"
)
_IN_TEXT = re.compile(rf"(?<![\w./~\-])/(?:{_ROOTS})/[^\s'\"<>|,;()\[\]{{}}]+")
#: A whole value: `/a/b`, `/tmp`, `~/a`, `~user/a`, `file:///a`, `C:\a`.
_WHOLE = re.compile(rf"/(?:{_ROOTS})/?|(?:/[\w.@+\-]+)(?:/[\w.@+\-]+)+/?|~[\w.\-]*/\S*|[A-Za-z]:\\\S+")
_ANYWHERE = re.compile(r"file://\S+|(?<![\w./~\-])~[\w.\-]*/[\w.\-]+\S*")
#: What stands around a value in YAML, TOML and plain lists.
_AROUND = " \t\r\n'\"`,;[]{}()"

_SETTINGS = frozenset({".yaml", ".yml", ".toml", ".ini", ".cfg"})
#: Files whose values steer a program, files of data, and text for people.
CONFIGURATION = _SETTINGS | {".json"}
DATA = frozenset({".csv", ".tsv", ".jsonl"})
PROSE = frozenset({".txt", ".md"})
#: Lists of tokens: one that looks like a path is a token.
VOCABULARIES = frozenset(
    {
        "tokenizer.json",
        "vocab.json",
        "vocab.txt",
        "merges.txt",
        "added_tokens.json",
        "special_tokens_map.json",
    }
)


def foreign_path(value: str, prefixes: Sequence[str], *, inside: bool = True) -> str | None:
    """Return the first path in `value` that another machine does not have; None when there is none.

    Args:
        value: one value (a cell, a JSON string, a line).
        prefixes: absolute folders of the run itself: refused wherever they stand.
        inside: whether paths count that are only a part of the value. In data they do not: a predicted text
            may well speak of a path.
    """
    stripped = value.strip()
    if _WHOLE.fullmatch(stripped) or (not inside and _ANYWHERE.fullmatch(stripped)):
        return stripped
    for prefix in prefixes:
        found = re.search(rf"(?<![\w./~\-]){re.escape(prefix)}(?![\w.\-])[^\s'\"]*", value)
        if found:
            return found[0]
    found = (_ANYWHERE.search(value) or _IN_TEXT.search(value)) if inside else None
    return found[0] if found else None


def usable_prefixes(folders: Sequence[str]) -> tuple[str, ...]:
    """Return the absolute folders that say something: not the root, no relative ones, longest first."""
    absolute = {str(PurePath(folder)) for folder in folders if PurePath(folder).is_absolute()}
    return tuple(sorted(absolute - {"/"}, key=lambda folder: (-len(folder), folder)))


def values_in(text: str, suffix: str) -> Iterator[str]:
    """Yield the values that a text file holds, by what its suffix says it is.

    JSON that does not parse is read line by line, as any other text.
    """
    if suffix in (".csv", ".tsv"):
        for row in csv.reader(text.splitlines(), delimiter="\t" if suffix == ".tsv" else ","):
            yield from row
    elif suffix == ".json":
        yield from _json_or_lines(text)
    elif suffix == ".jsonl":
        for line in text.splitlines():
            yield from _json_or_lines(line)
    else:
        for line in text.splitlines():
            yield line
            if suffix in _SETTINGS:
                # `key: value`, `key = value`, `- value`
                yield re.split(r"[:=]\s|\s-\s|^\s*-\s", line)[-1].strip(_AROUND)


def _json_or_lines(text: str) -> Iterator[str]:
    try:
        yield from strings_in(json.loads(text))
    except ValueError:
        yield from text.splitlines()


def strings_in(value: object) -> Iterator[str]:
    """Yield every text in a JSON value, keys included."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield str(key)
            yield from strings_in(item)
    elif isinstance(value, list):
        for item in value:
            yield from strings_in(item)
