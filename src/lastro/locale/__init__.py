"""Texts for people. English texts are the ids; a catalogue translates them, else the id is shown.

Every text that a user reads goes through `_` (or `ngettext` for plurals), with values put in afterwards::

    _("{name} has {count} checkpoints").format(name=name, count=count)

JSON keys, codes and file names stay in English: they are translated by nobody.
"""

from __future__ import annotations

import gettext
import os
from functools import cache

DOMAIN = "lastro"


def language() -> str:
    """Return the user's language as a locale name such as `pt_BR`; `en` when none is set.

    `LASTRO_LANG` wins over `LC_ALL`, `LC_MESSAGES` and `LANG`.
    """
    for name in ("LASTRO_LANG", "LC_ALL", "LC_MESSAGES", "LANG"):
        value = os.environ.get(name, "").split(".")[0].replace("-", "_")
        if value and value not in ("C", "POSIX"):
            return value
    return "en"


@cache
def catalogue(language_name: str) -> gettext.NullTranslations:
    """Return the catalogue of one language; the ids themselves where there is none."""
    here = os.path.dirname(__file__)  # noqa: PTH120 - pathlib would be a twentieth of `lastro --help`
    return gettext.translation(DOMAIN, here, [language_name], fallback=True)


def _(message: str) -> str:
    """Translate one text."""
    return catalogue(language()).gettext(message)


def ngettext(singular: str, plural: str, count: int) -> str:
    """Translate one text that depends on a count."""
    return catalogue(language()).ngettext(singular, plural, count)
