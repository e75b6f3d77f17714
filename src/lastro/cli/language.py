"""`--lang`, which every command takes at any place before `--`, and click's own texts in that language."""

from __future__ import annotations

import importlib
import os
from collections.abc import Sequence

from lastro import locale
from lastro.errors import UsageError
from lastro.locale import _

#: The modules of click that show texts. They look them up by the environment alone, for the whole process.
CLICK = ("core", "decorators", "exceptions", "formatting", "parser", "types")


def without_language(arguments: Sequence[str]) -> tuple[str | None, list[str]]:
    """Return the language that was asked for and the other arguments; what stands after `--` is left alone.

    A `--lang` without a word after it is returned as an argument, for click to refuse.
    """
    end = arguments.index("--") if "--" in arguments else len(arguments)
    asked, others, place = None, [], 0
    while place < end:
        word = arguments[place]
        if word == "--lang" and place + 1 < end:
            place += 1
            asked = arguments[place]
        elif word.startswith("--lang="):
            asked = word.removeprefix("--lang=")
        else:
            others.append(word)
        place += 1
    return asked, [*others, *arguments[end:]]


def speak(asked: str | None) -> None:
    """Speak the language that was asked for, here and in what is started from here.

    Raises:
        UsageError: there are no texts in that language.
    """
    if asked is not None:
        known = locale.known_language(asked)
        if known is None:
            raise UsageError(
                _("there are no texts in the language '{name}'").format(name=asked),
                hint=_("languages are: {names}").format(names=", ".join(locale.LANGUAGES)),
            )
        os.environ["LASTRO_LANG"] = known
    _speak_for_click()


def _speak_for_click() -> None:
    """Let click look its texts up where ours are: it has no setting for a language."""
    for name in CLICK:
        module = vars(importlib.import_module(f"click.{name}"))
        for lookup in ("_", "ngettext"):
            if lookup in module:
                module[lookup] = getattr(locale, lookup)
