"""What looks like a key, so that none is written down: by its shape, or as the value of a variable named so.

A secret reaches a job through the environment that it inherits, and through nothing else. Whatever lastro
writes down goes through `redacted`; code and campaign files that hold one are refused before they are
copied. Standard library only.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

from lastro.locale import _
from lastro.records import dataclass

#: What stands in the place of a secret.
MARK = "[secret]"

#: Parts of the names of variables whose values are secrets: HF_TOKEN, AWS_SECRET_ACCESS_KEY, GH_PAT.
_NAME_PARTS = frozenset(
    {
        *("KEY", "KEYS", "APIKEY", "TOKEN", "SECRET", "SECRETS", "PASSWORD", "PASSWD", "PASSPHRASE"),
        *("CREDENTIAL", "CREDENTIALS", "PAT"),
    }
)
#: A shorter value is a switch or a word, and would be found by accident.
_SHORTEST = 8
#: From this length on a value is a secret whatever it is made of; a shorter one has two kinds of characters.
_LONG = 16
_KINDS = tuple(re.compile(kind) for kind in ("[a-z]", "[A-Z]", "[0-9]", "[^A-Za-z0-9]"))


@dataclass(frozen=True)
class Shape:
    """Keys that can be known by how they look. `literals`: one of them stands in each, for a quick look."""

    name: Callable[[], str]
    literals: tuple[str, ...]
    pattern: re.Pattern[str]


def _shape(name: Callable[[], str], literals: Iterable[str], pattern: str) -> Shape:
    return Shape(name, tuple(literals), re.compile(pattern))


#: From the issuers' own documentation of their formats.
SHAPES = (
    _shape(lambda: _("an AWS access key"), ("AKIA", "ASIA"), r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"),
    _shape(
        lambda: _("an AWS secret key"),
        ("aws_secret_access_key", "AWS_SECRET_ACCESS_KEY"),
        r"(?i:aws_secret_access_key)['\"]?\s*[=:]\s*['\"]?[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+])",
    ),
    _shape(lambda: _("a Hugging Face token"), ("hf_",), r"\bhf_[A-Za-z0-9]{30,}\b"),
    _shape(
        lambda: _("an API key that begins with sk-"),
        ("sk-",),
        # A digit and a capital letter: class names of web pages begin with sk- too.
        r"\bsk-(?=[\w-]*[0-9])(?=[\w-]*[A-Z])[A-Za-z0-9_-]{32,}",
    ),
    _shape(
        lambda: _("a GitHub token"),
        ("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"),
        r"\b(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{50,})\b",
    ),
    _shape(lambda: _("a Google API key"), ("AIza",), r"\bAIza[0-9A-Za-z_-]{35}(?![0-9A-Za-z_-])"),
    _shape(lambda: _("a Slack token"), ("xox",), r"\bxox[abeoprs]-[0-9A-Za-z-]{10,}"),
    _shape(
        lambda: _("a private key"),
        ("PRIVATE KEY-----",),
        r"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY-----(?:\s|\\n)(?:[A-Za-z0-9+/=:,\s-]|\\n){64,}",
    ),
    _shape(
        lambda: _("a signed web token (JWT)"),
        ("eyJ",),
        r"\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}",
    ),
)
#: The issuers' documentation marks its specimens with this word.
_SPECIMEN = "EXAMPLE"


@dataclass(frozen=True)
class Found:
    """A secret in a text: what it looks like, for people, and where it stands. Never the secret itself."""

    what: str
    start: int
    end: int


def is_secret_name(name: str) -> bool:
    """Tell whether an environment variable of that name holds a secret."""
    return not _NAME_PARTS.isdisjoint(name.upper().split("_"))


def secret_values(environment: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the variables (of this process by default) that hold secrets; names with their values."""
    variables = os.environ if environment is None else environment
    return {name: value for name, value in variables.items() if is_secret_name(name) and _is_value(value)}


def _is_value(value: str) -> bool:
    if len(value) < _SHORTEST or _is_path(value):
        return False
    return len(value) >= _LONG or sum(bool(kind.search(value)) for kind in _KINDS) > 1


def _is_path(value: str) -> bool:
    """GOOGLE_APPLICATION_CREDENTIALS and its like say where the secret is, not what it is."""
    return value[0] in "/~." and Path(value).expanduser().exists()


def find(text: str, values: Mapping[str, str] | None = None) -> list[Found]:
    """Return every secret in a text, in order.

    Args:
        text: any text.
        values: from `secret_values`, which is asked when this is None.
    """
    known = secret_values() if values is None else values
    found = [
        Found(shape.name(), match.start(), match.end())
        for shape in SHAPES
        if any(literal in text for literal in shape.literals)
        for match in shape.pattern.finditer(text)
        if _SPECIMEN not in match.group().upper()
    ]
    for name, value in known.items():
        start = text.find(value)
        while start >= 0:
            what = _("the value of the variable {name}").format(name=name)
            found.append(Found(what, start, start + len(value)))
            start = text.find(value, start + 1)
    return sorted(found, key=lambda item: (item.start, -item.end))


def redacted(text: str, values: Mapping[str, str] | None = None) -> str:
    """Return a text with `[secret]` in the place of each secret."""
    parts, done = [], 0
    for item in find(text, values):
        if item.start >= done:
            parts += [text[done : item.start], MARK]
        done = max(done, item.end)
    return "".join([*parts, text[done:]]) if parts else text


def all_redacted(value: Any, values: Mapping[str, str] | None = None) -> Any:
    """Return a value of JSON's kinds with every text in it redacted, keys too."""
    known = secret_values() if values is None else values
    if isinstance(value, str):
        return redacted(value, known)
    if isinstance(value, Mapping):
        return {all_redacted(key, known): all_redacted(item, known) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [all_redacted(item, known) for item in value]
    return value


_PIECE = 1 << 22
_OVERLAP = 1 << 14


def find_in_file(path: Path, values: Mapping[str, str]) -> tuple[str, int] | None:
    """Return what the first secret in a file looks like, and its line from 1; None when there is none.

    Raises:
        OSError: it cannot be read.
    """
    lines, kept = 1, ""
    with path.open("rb") as file:
        while piece := file.read(_PIECE):
            # Every byte is a character of this encoding, and keys are made of those that all have in common.
            text = kept + piece.decode("latin-1")
            found = find(text, _as_latin(values))
            if found:
                return found[0].what, lines + text.count("\n", 0, found[0].start)
            kept = text[-_OVERLAP:]
            lines += text.count("\n", 0, len(text) - len(kept))
    return None


def _as_latin(values: Mapping[str, str]) -> dict[str, str]:
    return {
        name: value.encode("utf-8", "surrogateescape").decode("latin-1") for name, value in values.items()
    }


def files_with_secrets(
    folder: Path, names: Collection[str], values: Mapping[str, str]
) -> list[tuple[str, int, str]]:
    """Return (name, line, what) of each file below a folder that holds a secret; links are not followed."""
    found = []
    for name in names:
        path = folder / name
        if not path.is_symlink() and (secret := find_in_file(path, values)) is not None:
            found.append((name, secret[1], secret[0]))
    return found
