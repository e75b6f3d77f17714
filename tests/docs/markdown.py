"""The few things of Markdown that the tests of the documentation look at."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.M | re.S)
_LINK = re.compile(r"\]\(([^)\s]+)\)|(?:src|srcset|href)=\"([^\"]+)\"")
_HEADING = re.compile(r"^(#+) +(.*)$", re.M)


@dataclass(frozen=True)
class Fence:
    """A block of code: its language ("" when it names none), text, and first line in the file."""

    language: str
    text: str
    line: int


def fences(text: str) -> list[Fence]:
    """Return the fenced blocks of a page."""
    return [
        Fence(match[1], match[2], text.count("\n", 0, match.start()) + 2) for match in _FENCE.finditer(text)
    ]


def prose(text: str) -> str:
    """Return a page without its fenced blocks."""
    return _FENCE.sub("", text)


def headings(text: str, level: int) -> list[str]:
    """Return the headings of one level, without the marks of code."""
    return [title.replace("`", "") for marks, title in _HEADING.findall(prose(text)) if len(marks) == level]


def anchors(text: str) -> set[str]:
    """Return the anchors of a page's headings, as GitHub makes them."""
    return {anchor(title) for _marks, title in _HEADING.findall(prose(text))}


def anchor(title: str) -> str:
    """Return the anchor of one heading: lower case, dashes for blanks, no other punctuation."""
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def rows(text: str) -> Iterator[list[str]]:
    """Yield the cells of every row of the page's tables, but not their heads."""
    for line in prose(text).splitlines():
        if line.startswith("|") and not re.fullmatch(r"[|\-: ]+", line):
            yield [cell.strip() for cell in line.strip("|").split("|")]


def links(text: str) -> list[str]:
    """Return the targets of the page's links and pictures."""
    bare = re.sub(r"`[^`]*`", "", prose(text))
    return [one or other for one, other in _LINK.findall(bare)]


def broken_links(page: Path) -> list[str]:
    """Return the links of a page to files and headings that are not there; other sites are not asked."""
    broken = []
    for target in links(page.read_text(encoding="utf-8")):
        if re.match(r"[a-z]+:", target):
            continue
        name, _hash, heading = target.partition("#")
        file = page.parent / name if name else page
        if not file.exists() or (heading and heading not in anchors(file.read_text(encoding="utf-8"))):
            broken.append(target)
    return broken
