"""Names of files as bytes: how they are shown, and which of them belong to one sample."""

from __future__ import annotations

from typing import AnyStr


def shown(name: bytes) -> str:
    """Return a name as text that any terminal and any JSON can hold; what is not UTF-8 is escaped."""
    text = name.decode("utf-8", "backslashreplace")
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)


def split(name: bytes) -> tuple[bytes, bytes]:
    """Return the key of the sample that a file belongs to, and its extension (without the dot).

    WebDataset's rule: a name is cut at the first dot of its last part; a dot at its very beginning is no cut.
    """
    return _cut(name, b".", b"/")


def split_text(name: str) -> tuple[str, str]:
    """Return the same of a name as text."""
    return _cut(name, ".", "/")


def _cut(name: AnyStr, dot: AnyStr, slash: AnyStr) -> tuple[AnyStr, AnyStr]:
    at = name.find(dot, name.rfind(slash) + 2)
    return (name, name[:0]) if at < 0 else (name[:at], name[at + 1 :])
