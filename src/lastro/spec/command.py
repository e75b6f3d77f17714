"""Commands as users write them: placeholders filled in, and split as a process needs them."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from string import Formatter

from lastro.locale import _

_ASSIGNMENT = re.compile(r"\s*[A-Za-z_][A-Za-z0-9_]*=")
#: What only a shell can do, when it stands outside all quotes.
_OPERATORS = frozenset("|&;<>()*?[~#\n")


def placeholders(command: str) -> tuple[str, ...]:
    """Return the names in braces, in order. `{{` and `}}` are literal braces.

    Raises:
        ValueError: with a sentence for the user, when a brace has no partner or a name is no name.
    """
    names = []
    try:
        pieces = list(Formatter().parse(command))
    except ValueError as error:
        raise ValueError(
            _("the braces of {command!r} do not match: {error}; a literal brace is written twice").format(
                command=command, error=error
            )
        ) from error
    for _literal, name, form, conversion in pieces:
        if name is None:
            continue
        if form or conversion or not re.fullmatch(r"\w+(?:-\w+)*", name):
            written = name + (f"!{conversion}" if conversion else "") + (f":{form}" if form else "")
            raise ValueError(
                _("{{{name}}} is not a placeholder; a literal brace is written twice: {{{{ and }}}}").format(
                    name=written
                )
            )
        names.append(name)
    return tuple(names)


def _spelled(name: str, value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, str):
        return shlex.quote(value)
    raise ValueError(
        _("{{{name}}} stands for {value!r}, which cannot be written on a command line").format(
            name=name, value=value
        )
    )


def render(command: str, values: Mapping[str, object]) -> str:
    """Fill in the placeholders: numbers as Python spells them, true/false, texts quoted for the shell.

    Raises:
        ValueError: with a sentence for the user: unknown placeholder, or a value that is no word.
    """
    for name in placeholders(command):
        if name not in values:
            raise ValueError(
                _("{{{name}}} stands for nothing; known are: {known}").format(
                    name=name, known=", ".join(values) or _("none")
                )
            )
    spelled = {name: _spelled(name, values[name]) for name in placeholders(command)}
    return "".join(
        literal + (spelled[name] if name is not None else "")
        for literal, name, _form, _conversion in Formatter().parse(command)
    )


def needs_shell(command: str) -> bool:
    """Say whether a command uses what only a shell understands: pipes, variables, patterns, assignments."""
    if _ASSIGNMENT.match(command):
        return True
    quote, escaped = "", False
    for character in command:
        if escaped:
            escaped = False
        elif character == "\\" and quote != "'":
            escaped = True
        elif quote:
            if character == quote:
                quote = ""
            elif quote == '"' and character in "$`":
                return True
        elif character in "'\"":
            quote = character
        elif character in "$`" or character in _OPERATORS:
            return True
    return False


def argv(command: str) -> tuple[str, ...]:
    """Return the words of a command, or `/bin/sh -c` with it when it needs a shell.

    Raises:
        ValueError: with a sentence for the user: no word at all, or a quote that is never closed.
    """
    split = words(command)
    if not split:
        raise ValueError(_("the command is empty"))
    return ("/bin/sh", "-c", command) if needs_shell(command) else split


def words(command: str) -> tuple[str, ...]:
    """Return the words of a command or a part of one.

    Raises:
        ValueError: with a sentence for the user: a quote is never closed.
    """
    try:
        return tuple(shlex.split(command))
    except ValueError as error:
        raise ValueError(
            _("{command!r} cannot be split into words: {error}").format(command=command, error=error)
        ) from error
