"""Every text that a user can read is there in Brazilian Portuguese, whole, with the same placeholders."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from babel.messages.catalog import Message

from tests.docs.sources import ROOT
from tools.messages import TRANSLATED, differences, folder, load, mo_bytes, problems


@pytest.mark.parametrize("language", TRANSLATED)
def test_nothing_is_missing_fuzzy_left_over_or_otherwise_than_its_text(language: str) -> None:
    """Mend it by `python tools/messages.py extract`, then `missing pt_BR`, `fill pt_BR FILE`, `check`."""
    assert problems(language) == []


@pytest.mark.parametrize("language", TRANSLATED)
def test_what_programs_read_is_what_people_edit(language: str) -> None:
    assert (folder(language) / "lastro.mo").read_bytes() == mo_bytes(load(language))


@pytest.mark.parametrize(
    ("text", "said", "wrong"),
    [
        ("{name} is gone", "{name} se foi", None),
        ("{name} is gone", "{nome} se foi", "other placeholders"),
        ("{name!r} is gone", "{name} se foi", "other placeholders"),
        ("{name} is gone", "se foi", "other placeholders"),
        ("{share:.0%} of {all}", "{share:.1%} de {all}", None),
        ("%(prog)s, version %(version)s", "%(prog)s, versão %(versao)s", "other placeholders"),
        ("write {{ and }}", "escreva {{ e }}", None),
        ("write {{ and }}", "escreva { e }", "other placeholders"),
        ("  next: {hint}", "em seguida: {hint}", "other space at its ends"),
        ("a\n\n\b\nb", "a\n\nb", "other blocks that click must not join"),
        (("{n} file", "{n} files"), ("{n} arquivo", "{n} arquivos"), None),
        (("{n} file", "{n} files"), ("{n} arquivo", "{x} arquivos"), "other placeholders"),
    ],
)
def test_a_translation_that_would_break_a_text_is_found(
    text: str | tuple[str, str], said: str | tuple[str, str], wrong: str | None
) -> None:
    assert next(differences(Message(text, said)), None) == wrong


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--help"], "Levar a campanha, ou uma execução dela, até o fim."),
        (["status", "--help"], "Só lê: pode ser pedido a qualquer momento"),
        (["--nope"], "Não existe a opção '--nope'."),
        (["status"], "nenhuma campanha foi iniciada a partir de"),
    ],
)
def test_help_and_errors_speak_it(tmp_path: os.PathLike[str], arguments: list[str], said: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "lastro.cli", *arguments, "--lang", "pt_BR"],
        cwd=tmp_path,
        env={**os.environ, "LASTRO_HOME": str(tmp_path), "COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=False,
    )

    assert said in done.stdout + done.stderr


def test_the_catalogue_is_in_the_package() -> None:
    """A wheel takes every file below src/lastro that git does not ignore."""
    ignored = subprocess.run(
        ["git", "check-ignore", "-q", str(folder("pt_BR") / "lastro.mo")], cwd=ROOT, check=False
    )

    assert ignored.returncode == 1
