"""Where an item lies: its id, put into a name template as a name that every file system takes. Pure."""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Iterable
from pathlib import PurePosixPath

from lastro.errors import UsageError
from lastro.locale import _

#: Stands for the item's id in a name template.
ID = "{id}"
#: Where items lie when nothing else is asked for.
DEFAULT_NAME = f"items/{ID}"
#: Bytes of one name that Linux, macOS and Windows take.
LONGEST = 255
_SAFE = frozenset("-_.+=@,")
_DIGEST = 32


def check_template(name: str, room: int) -> None:
    """Refuse a template that has no place for the id, or leads out of the folder of outputs.

    Args:
        name: relative, `/` between folders, `{id}` in it at least once.
        room: bytes that have to stay free beside a name, for its temporary neighbour.

    Raises:
        UsageError: it cannot name items.
    """
    path = PurePosixPath(name)
    if ID not in name:
        raise UsageError(
            _("the name {name!r} has no {id}, so all items would have one name").format(name=name, id=ID),
            hint=_("write {id} where the item's id belongs, such as 'frames/{id}.png'").format(id=ID),
        )
    if path.is_absolute() or ".." in path.parts or name.endswith("/"):
        raise UsageError(
            _("the name {name!r} leads out of the folder of outputs").format(name=name),
            hint=_("name items relative to that folder, such as 'frames/{id}.png'").format(id=ID),
        )
    for part in path.parts:
        if len(part.replace(ID, "").encode()) > LONGEST - room - 2 * _DIGEST:
            raise UsageError(
                _("the name {name!r} leaves no room for an id").format(name=name),
                hint=_("shorten it"),
            )


class Names:
    """Gives each id its path, none twice, also where upper and lower case are the same.

    Args:
        template: see `check_template`.
        taken: paths that are somebody's already.
        room: bytes that have to stay free beside a name.
    """

    def __init__(self, template: str, taken: Iterable[str], room: int) -> None:
        self._parts = PurePosixPath(template).parts
        self._room = room
        self._taken = {_folded(path) for path in taken}

    def take(self, item: str) -> str:
        """Return the path of a new item, relative to the outputs, and keep it from all others."""
        path = self._path(escaped(item), item)
        if _folded(path) in self._taken:
            path = self._path(escaped(item, everything=True), item)
        self._taken.add(_folded(path))
        return path

    def _path(self, name: str, item: str) -> str:
        return "/".join(self._part(part, name, item) for part in self._parts)

    def _part(self, part: str, name: str, item: str) -> str:
        whole = part.replace(ID, name)
        if len(whole.encode()) <= LONGEST - self._room:
            return whole
        each = (LONGEST - self._room - len(part.replace(ID, "").encode())) // part.count(ID)
        return part.replace(ID, _shortened(name, item, each))


def _folded(path: str) -> str:
    return unicodedata.normalize("NFC", path.casefold())


def escaped(item: str, *, everything: bool = False) -> str:
    """Return an id as part of a name: what is no letter, digit or one of `-_.+=@,` as in URLs, `%2F`.

    `urllib.parse.unquote` gives the id back. Letters with two spellings in Unicode are escaped as well.

    Args:
        item: the id.
        everything: escape all of it, so that the name is different also where case does not count.
    """
    plain = not everything and unicodedata.is_normalized("NFC", item)
    parts = [letter if _is_safe(letter, plain) and not everything else _as_in_urls(letter) for letter in item]
    if item.startswith(".") and not everything:
        parts[0] = _as_in_urls(".")  # no hidden file, no `..`, no temporary name
    return "".join(parts)


def _is_safe(letter: str, plain: bool) -> bool:
    return letter in _SAFE or (letter.isalnum() and (letter.isascii() or plain))


def _as_in_urls(letter: str) -> str:
    return "".join(f"%{byte:02X}" for byte in letter.encode())


def _shortened(name: str, item: str, room: int) -> str:
    """Return the beginning of a name and a digest of the id, which the index then gives back."""
    mark = "~" + hashlib.sha256(item.encode()).hexdigest()[:_DIGEST]
    return name.encode()[: room - len(mark)].decode(errors="ignore") + mark
