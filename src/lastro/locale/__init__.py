"""Texts for people. English texts are the ids; a catalogue translates them, else the id is shown.

Every text that a user reads goes through `_` (or `ngettext` for plurals), with values put in afterwards::

    _("{name} has {count} checkpoints").format(name=name, count=count)

JSON keys, codes and file names stay in English: they are translated by nobody. How numbers, money and dates
are written is in `lastro.locale.forms`. Catalogues are made by `tools/messages.py`.
"""

from __future__ import annotations

import gettext
import os
import re
from functools import cache

DOMAIN = "lastro"

#: The languages that texts are to be had in. English needs no catalogue.
LANGUAGES = ("en", "pt_BR")


def known_language(name: str) -> str | None:
    """Return which of `LANGUAGES` serves a locale name such as `pt-BR` or `pt_PT.UTF-8`; None for none."""
    first = re.split(r"[-_.@]", name, maxsplit=1)[0].lower()
    return next((one for one in LANGUAGES if one.partition("_")[0] == first), None)


def language() -> str:
    """Return the user's language, one of `LANGUAGES`; `en` when none is set or there is no such catalogue.

    `LASTRO_LANG` (which `--lang` sets) wins over `LC_ALL`, `LC_MESSAGES` and `LANG`.
    """
    for name in ("LASTRO_LANG", "LC_ALL", "LC_MESSAGES", "LANG"):
        value = os.environ.get(name, "")
        if value and value.partition(".")[0] not in ("C", "POSIX"):
            return known_language(value) or "en"
    return "en"


@cache
def catalogue(language_name: str) -> gettext.NullTranslations:
    """Return the catalogue of one language; the ids themselves where there is none."""
    here = os.path.dirname(__file__)  # noqa: PTH120 - pathlib would be a twentieth of `lastro --help`
    return gettext.translation(DOMAIN, here, [language_name], fallback=True)


class _WithComma(str):
    """A text whose `format` writes decimal fractions with a comma, as its language does."""

    __slots__ = ()

    def format(self, *given: object, **named: object) -> str:
        from lastro.locale.comma import Comma  # late: English, and a help, do without

        return Comma().vformat(self, given, named)


def _(message: str) -> str:
    """Translate one text."""
    name = language()
    return _spoken(catalogue(name).gettext(message), name)


def ngettext(singular: str, plural: str, count: int) -> str:
    """Translate one text that depends on a count."""
    name = language()
    return _spoken(catalogue(name).ngettext(singular, plural, count), name)


def _spoken(text: str, name: str) -> str:
    return text if name == "en" else _WithComma(text)
