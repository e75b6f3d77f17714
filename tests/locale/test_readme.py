"""The README in Portuguese is of the same program: the same commands and code, links that lead somewhere."""

from __future__ import annotations

import re

from tests.docs.sources import ROOT

ENGLISH, PORTUGUESE = ((ROOT / name).read_text(encoding="utf-8") for name in ("README.md", "README.pt-BR.md"))


def blocks(text: str, language: str) -> list[str]:
    """Return the code of a language without comments: these are translated."""
    found = re.findall(rf"^```{language}\n(.*?)^```$", text, re.M | re.S)
    return [re.sub(r"\s*#.*", "", block) for block in found]


def test_its_commands_are_those_of_the_readme() -> None:
    assert blocks(PORTUGUESE, "sh") == blocks(ENGLISH, "sh")
    assert len(blocks(PORTUGUESE, "sh")) >= 5


def test_its_code_is_that_of_the_readme() -> None:
    assert blocks(PORTUGUESE, "python") == blocks(ENGLISH, "python")


def test_each_heading_of_the_readme_has_its_own() -> None:
    """One more: how to choose the language."""
    assert PORTUGUESE.count("\n## ") == ENGLISH.count("\n## ") + 1


def test_its_links_lead_somewhere() -> None:
    for target in re.findall(r"\]\((?!http)([^)#]+)", PORTUGUESE):
        assert (ROOT / target).exists(), target
