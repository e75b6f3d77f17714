"""`.lastroignore`: what of a folder is no code, in the words of `.gitignore`, with git and without it. Pure.

The rules are those of gitignore(5): `#` begins a comment, `!` takes back, a `/` at the end means folders,
one elsewhere ties the pattern to the folder of the file; `*`, `?` and `[...]` stop at a `/`, and `**`
does not. The last pattern that fits decides; what lies in a folder that is left out cannot be taken back.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

from lastro.errors import StorageError
from lastro.locale import _
from lastro.records import dataclass

#: Beside the campaign file. It is no code itself.
NAME = ".lastroignore"


@dataclass(frozen=True)
class Pattern:
    """One line. `back`: it takes back; `folders`: it means folders only."""

    fits: re.Pattern[str]
    back: bool
    folders: bool


@dataclass(frozen=True)
class Ignored:
    """What a file leaves out. Names are relative to its folder, with `/`."""

    patterns: tuple[Pattern, ...] = ()

    def folder(self, name: str) -> bool:
        """Tell whether a folder is left out, given that those above it are not."""
        return self._last(name, is_folder=True)

    def file(self, name: str) -> bool:
        """Tell whether a file is left out, by itself or with a folder."""
        if not self.patterns:
            return False
        above = [str(parent) for parent in PurePosixPath(name).parents][-2::-1]
        return any(map(self.folder, above)) or self._last(name, is_folder=False)

    def _last(self, name: str, *, is_folder: bool) -> bool:
        for pattern in reversed(self.patterns):
            if (is_folder or not pattern.folders) and pattern.fits.fullmatch(name):
                return not pattern.back
        return False


NOTHING = Ignored()


def read_ignored(folder: Path) -> Ignored:
    """Return what a folder's file leaves out; nothing where it has none.

    Raises:
        StorageError: it cannot be read.
    """
    path = folder / NAME
    try:
        return parse(path.read_text(encoding="utf-8", errors="surrogateescape").splitlines())
    except FileNotFoundError:
        return NOTHING
    except OSError as error:
        raise StorageError(
            _("{path} cannot be read: {error}").format(path=path, error=error.strerror),
            hint=_("without it, it is not known what is code"),
        ) from error


def parse(lines: Iterable[str]) -> Ignored:
    """Read patterns, one a line."""
    found = []
    for line in lines:
        text = re.sub(r"(?<!\\) +$", "", line)
        if not text or text.startswith("#"):
            continue
        back = text.startswith("!")
        text = text.removeprefix("!")
        folders = text.endswith("/")
        text = text.removesuffix("/")
        if text:
            found.append(Pattern(_compiled(text), back, folders))
    return Ignored(tuple(found))


def _compiled(pattern: str) -> re.Pattern[str]:
    """Return what fits a pattern; one such as `[z-a]` fits nothing."""
    try:
        return re.compile(_regex(pattern), re.DOTALL)
    except re.error:
        return re.compile(r"(?!)")


def _regex(pattern: str) -> str:
    tied = "/" in pattern
    text = pattern.removeprefix("/")
    words = "" if tied else "(?:.*/)?"
    place = 0
    while place < len(text):
        if text.startswith("**/", place) and (place == 0 or text[place - 1] == "/"):
            words, place = words + "(?:.*/)?", place + 3
        elif text[place:] == "**" and place and text[place - 1] == "/":
            words, place = words + ".+", place + 2
        else:
            word, place = _word(text, place)
            words += word
    return words


def _word(text: str, place: int) -> tuple[str, int]:
    """Return one part of a pattern as a regular expression, and where the next one begins."""
    one = text[place]
    if one == "*":
        return "[^/]*", place + 1
    if one == "?":
        return "[^/]", place + 1
    if one == "\\" and place + 1 < len(text):
        return re.escape(text[place + 1]), place + 2
    if one == "[":
        end = text.find("]", place + 2 + (text[place + 1 : place + 2] in "!^"))
        if end > 0:
            inner = text[place + 1 : end].replace("\\", "\\\\").replace("[", "\\[")
            inner = f"^{inner[1:]}" if inner[:1] in "!^" else inner
            return f"(?!/)[{inner}]", end + 1
    return re.escape(one), place + 1
