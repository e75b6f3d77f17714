"""What the tests of texts and documentation read from the sources, without running them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "lastro"


def modules() -> list[Path]:
    """Return every module of lastro."""
    return sorted(PACKAGE.rglob("*.py"))


def module_name(file: Path) -> str:
    """Return a module's name below lastro: `run.watch`."""
    return ".".join(file.relative_to(PACKAGE).with_suffix("").parts)


def calls(code: str) -> Iterator[ast.Call]:
    """Yield every call in a piece of code."""
    return (node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Call))


def called_name(call: ast.Call) -> str:
    """Return the last part of the name that is called; "" for anything else that can be called."""
    match call.func:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return ""


# --- events -------------------------------------------------------------------------------------------


@dataclass
class Written:
    """How the sources write one type of event.

    `open`: some facts are handed over as a whole (`**facts`), so `facts` need not be all of them.
    """

    facts: set[str] = field(default_factory=set)
    modules: set[str] = field(default_factory=set)
    open: bool = False


@cache
def written_events() -> dict[str, Written]:
    """Return, by the name of each event type, who writes it with which facts."""
    found: dict[str, Written] = {}
    for file in modules():
        for call in calls(file.read_text(encoding="utf-8")):
            match call:
                case ast.Call(args=[ast.Attribute(value=ast.Name(id="EventType"), attr=name), *_rest]) if (
                    called_name(call) in ("append", "_append")
                ):
                    event = found.setdefault(name, Written())
                    event.modules.add(module_name(file))
                    event.facts |= {keyword.arg for keyword in call.keywords if keyword.arg}
                    event.open |= any(keyword.arg is None for keyword in call.keywords)
                    if called_name(call) == "_append":
                        event.facts.add("signal")  # see Watch._append
    return found


# --- texts --------------------------------------------------------------------------------------------


def untranslatable(code: str) -> Iterator[str]:
    """Yield each call of `_` or `ngettext` whose text cannot be extracted: it has to be a literal."""
    for call in calls(code):
        name = called_name(call)
        if name not in ("_", "ngettext"):
            continue
        texts = call.args[: 2 if name == "ngettext" else 1]
        if not texts or not all(
            isinstance(text, ast.Constant) and isinstance(text.value, str) for text in texts
        ):
            yield f"line {call.lineno}: {ast.unparse(call)}"


def bare_messages(code: str, errors: frozenset[str]) -> Iterator[str]:
    """Yield each message or hint of an error of these classes that no catalogue can have."""
    for call in calls(code):
        if called_name(call) not in errors:
            continue
        hints = [keyword.value for keyword in call.keywords if keyword.arg in ("hint", "message")]
        for text in [*call.args[:1], *hints]:
            if any(_is_text(part) for part in _outside_gettext(text)):
                yield f"line {call.lineno}: {ast.unparse(text)}"


def _is_text(node: ast.AST) -> bool:
    match node:
        case ast.Constant(value=str(text)):
            return any(letter.isalpha() for letter in text)
    return False


def _outside_gettext(node: ast.AST) -> Iterator[ast.AST]:
    """Yield a node and all below it, but nothing of what is handed to a function."""
    yield node
    if isinstance(node, ast.Call):
        if isinstance(node.func, ast.Attribute):
            yield from _outside_gettext(node.func.value)
        return
    if isinstance(node, ast.Subscript | ast.Compare):
        return  # a key, or a value that is compared, is not shown
    for child in ast.iter_child_nodes(node):
        yield from _outside_gettext(child)
