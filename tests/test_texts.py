"""Every text for people can be translated: it is a literal, and it goes through the catalogue."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from lastro import errors
from tests.docs.sources import bare_messages, module_name, modules, untranslatable

ERRORS = frozenset(
    name for name, kind in vars(errors).items() if isinstance(kind, type) and issubclass(kind, Exception)
)

#: What is no literal, or goes through no catalogue, and need not: (module, what stands there) -> why.
ALLOWED = {
    ("cli.lazy", "_(command.text)"): "the literals stand in the table of cli.commands",
    ("cli.options", "_(shown.help)"): "docstrings of commands and `help=` of options, literals both",
    (
        "locale.__init__",
        "catalogue(name).ngettext(singular, plural, count)",
    ): "the one place that looks texts up",
}


def not_allowed(file: Path, found: Iterable[str]) -> list[str]:
    return [text for text in found if (module_name(file), text.split(": ", 1)[1]) not in ALLOWED]


@pytest.mark.parametrize("file", modules(), ids=module_name)
def test_each_text_can_be_extracted(file: Path) -> None:
    assert not_allowed(file, untranslatable(file.read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize("file", modules(), ids=module_name)
def test_each_error_goes_through_the_catalogue(file: Path) -> None:
    assert not_allowed(file, bare_messages(file.read_text(encoding="utf-8"), ERRORS)) == []


def test_nothing_is_allowed_that_is_not_there() -> None:
    found = {
        (module_name(file), text.split(": ", 1)[1])
        for file in modules()
        for code in [file.read_text(encoding="utf-8")]
        for text in [*untranslatable(code), *bare_messages(code, ERRORS)]
    }

    assert set(ALLOWED) - found == set()


@pytest.mark.parametrize(
    "code",
    [
        '_(f"{name} is gone")',
        "_(text)",
        '_("one" + name)',
        '_("{name} is gone".format(name=name))',
        'ngettext("{n} file", plural, n)',
        "_()",
    ],
)
def test_a_text_that_nobody_can_extract_would_be_found(code: str) -> None:
    assert len(list(untranslatable(code))) == 1


def test_a_literal_text_is_well() -> None:
    code = '_("{name} is gone").format(name=name); ngettext("{n} file", "{n} files", n); gettext.other(x)'

    assert list(untranslatable(code)) == []


@pytest.mark.parametrize(
    "code",
    [
        'raise UsageError("it is gone")',
        'raise UsageError(f"{name} is gone")',
        'raise errors.UsageError("it is gone".format())',
        'raise UsageError(_("it is gone"), hint="look for it")',
        'raise UsageError("it is gone: " + _("by itself"))',
        'error = CampaignInvalid("bad" if worse else _("good"))',
    ],
)
def test_a_bare_message_would_be_found(code: str) -> None:
    assert len(list(bare_messages(code, ERRORS))) == 1


@pytest.mark.parametrize(
    "code",
    [
        'raise UsageError(_("{a} is gone").format(a=a["b"]), hint=_("look for it"))',
        'raise UsageError("; ".join(texts))',
        'raise UsageError(f"{file}: {why}")',
        'raise ValueError("a bug in this program")',
    ],
)
def test_a_message_of_translated_parts_is_well(code: str) -> None:
    assert list(bare_messages(code, ERRORS)) == []
