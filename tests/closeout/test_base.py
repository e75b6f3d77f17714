from __future__ import annotations

from pathlib import Path

import pytest

from lastro.closeout.base import BaseFacts, NamedBase, base_facts, find_base, hub_cache, named_base
from lastro.closeout.promise import Base
from lastro.storage.digest import digest_of

COMMIT = "c" * 40
CARD = "---\nlanguage: en\nlicense: llama3.1\nextra_gated_prompt: ask\n---\n# A model\nlicense: none\n"


@pytest.mark.parametrize(
    ("card", "licence", "gated"),
    [
        (CARD, "llama3.1", True),
        ("---\nlicense: 'mit'\n---\n", "mit", None),
        ("---\ngated: auto\n---\n", None, True),
        ("# license: mit\n", None, None),
        ("", None, None),
    ],
)
def test_licence_and_gating_are_read_from_the_card_of_the_base(
    tmp_path: Path, card: str, licence: str | None, gated: bool | None
) -> None:
    (tmp_path / "README.md").write_text(card)

    facts = base_facts(Base(hub="org/base", revision=COMMIT), None, tmp_path)

    assert facts is not None
    assert (facts.licence, facts.gated) == (licence, gated)
    assert (facts.warning is None) == (licence is not None)


def test_what_the_plan_says_of_a_licence_wins_over_the_card(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text(CARD)

    facts = base_facts(Base(hub="org/base", revision=COMMIT, licence="mit"), None, tmp_path)

    assert facts == BaseFacts(
        name="org/base", revision=COMMIT, sha256=None, licence="mit", gated=True, source="plan"
    )
    assert base_facts(None, None, tmp_path) is None


def test_an_adapter_names_its_base_and_only_a_commit_says_which(tmp_path: Path) -> None:
    (tmp_path / "adapter_config.json").write_text(
        '{"base_model_name_or_path": "org/base", "revision": "main"}'
    )

    assert named_base(tmp_path) == NamedBase("org/base", "main")
    assert not NamedBase("org/base", "main").is_commit
    assert NamedBase("org/base", COMMIT).is_commit
    assert named_base(tmp_path / "elsewhere") is None


def test_a_base_beside_the_code_has_to_have_the_promised_bytes(tmp_path: Path) -> None:
    (tmp_path / "base").mkdir()
    (tmp_path / "base" / "w").write_bytes(b"w")
    right = Base(path="base", sha256=digest_of(tmp_path / "base"))

    found = find_base(right, None, tmp_path, tmp_path / "cache")
    other = find_base(Base(path="base", sha256="0" * 64), None, tmp_path, tmp_path / "cache")
    absent = find_base(Base(path="gone", sha256="0" * 64), None, tmp_path, tmp_path / "cache")

    assert found.place == found.root == tmp_path / "base"
    assert (other.place, other.wrong) == (None, True)
    assert (absent.place, absent.wrong) == (None, False)


def test_the_cache_of_a_hub_is_where_its_libraries_have_it() -> None:
    assert hub_cache({"HF_HUB_CACHE": "/a"}) == Path("/a")
    assert hub_cache({"HF_HOME": "/b"}) == Path("/b/hub")
    assert hub_cache({"XDG_CACHE_HOME": "/c"}) == Path("/c/huggingface/hub")
    assert hub_cache({}) == Path.home() / ".cache" / "huggingface" / "hub"
