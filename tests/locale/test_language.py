"""Which language is spoken: what was asked for, then the environment, else English."""

from __future__ import annotations

import pytest

from lastro.cli import main
from lastro.cli.language import without_language
from lastro.locale import known_language, language


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("pt_BR", "pt_BR"),
        ("pt-BR", "pt_BR"),
        ("pt_PT.UTF-8", "pt_BR"),
        ("PT", "pt_BR"),
        ("en_GB.UTF-8", "en"),
        ("ca_ES@valencia", None),
        ("ptx", None),
    ],
)
def test_a_language_is_known_by_its_first_part(name: str, known: str | None) -> None:
    assert known_language(name) == known


def test_lastro_lang_wins_over_the_locale(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LASTRO_LANG", "en")
    monkeypatch.setenv("LC_ALL", "pt_BR.UTF-8")

    assert language() == "en"


@pytest.mark.parametrize(("locale", "spoken"), [("pt_BR.UTF-8", "pt_BR"), ("C.UTF-8", "en"), ("xx_YY", "en")])
def test_without_it_the_locale_names_the_language(
    monkeypatch: pytest.MonkeyPatch, locale: str, spoken: str
) -> None:
    monkeypatch.delenv("LASTRO_LANG")
    for name in ("LC_ALL", "LC_MESSAGES"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LANG", locale)

    assert language() == spoken


@pytest.mark.parametrize(
    ("given", "asked", "others"),
    [
        (["--lang", "pt", "status"], "pt", ["status"]),
        (["status", "--lang=pt"], "pt", ["status"]),
        (["run", "--", "train", "--lang", "pt"], None, ["run", "--", "train", "--lang", "pt"]),
        (["status", "--lang"], None, ["status", "--lang"]),
    ],
)
def test_lang_may_stand_anywhere_before_the_job(
    given: list[str], asked: str | None, others: list[str]
) -> None:
    assert without_language(given) == (asked, others)


def test_a_language_without_texts_is_refused_with_those_that_there_are(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("LASTRO_LANG", "en")
    with pytest.raises(SystemExit) as left:
        main(["status", "--lang", "xx"])

    assert left.value.code == 2
    assert "en, pt_BR" in capsys.readouterr().err
