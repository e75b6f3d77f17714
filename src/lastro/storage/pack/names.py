"""Names of files as bytes: how they are shown, and which of them belong to one sample."""

from __future__ import annotations


def shown(name: bytes) -> str:
    """Return a name as text that any terminal and any JSON can hold; what is not UTF-8 is escaped."""
    text = name.decode("utf-8", "backslashreplace")
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)


def split(name: bytes) -> tuple[bytes, bytes]:
    """Return the key of the sample that a file belongs to, and its extension (without the dot).

    WebDataset's rule: a name is cut at the first dot of its last part; a dot at its very beginning is no cut.
    """
    dot = name.find(b".", name.rfind(b"/") + 2)
    return (name, b"") if dot < 0 else (name[:dot], name[dot + 1 :])
