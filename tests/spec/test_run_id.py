from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from lastro.spec.run_id import canonical_json, run_id

DOCUMENT = Path(__file__).parents[2] / "docs" / "run-id.md"


def vectors() -> list[dict[str, Any]]:
    """Return the published test vectors: the JSON blocks of the document."""
    return [json.loads(block) for block in re.findall(r"```json\n(.*?)```", DOCUMENT.read_text(), re.DOTALL)]


@pytest.mark.parametrize("vector", vectors(), ids=lambda vector: vector["id"])
def test_every_published_vector_has_its_id(vector: dict[str, Any]) -> None:
    assert run_id(**vector["input"]) == vector["id"]


def test_the_vectors_cover_a_campaign_without_corpus_and_text_beyond_ascii() -> None:
    published = json.dumps(vectors(), ensure_ascii=False)

    assert len(vectors()) >= 3
    assert '"corpus_digest": null' in published
    assert "ç" in published


def test_the_order_of_keys_is_no_part_of_a_run() -> None:
    rest: dict[str, Any] = {"command": "t", "corpus_digest": None, "code_digest": "0" * 64}

    assert run_id(config={"a": 1, "b": 2}, **rest) == run_id(config={"b": 2, "a": 1}, **rest)


def test_every_part_of_the_identity_changes_the_id() -> None:
    base: dict[str, Any] = {
        "config": {"a": 1},
        "command": "t",
        "corpus_digest": "c" * 64,
        "code_digest": "d" * 64,
    }
    changes: list[dict[str, Any]] = [
        {"config": {"a": 2}},
        {"command": "u"},
        {"corpus_digest": None},
        {"code_digest": "e" * 64},
        {"seed": 1},
    ]

    ids = {run_id(**{**base, **change}) for change in [{}, *changes]}

    assert len(ids) == 6


def test_canonical_json_is_the_one_of_the_standard() -> None:
    """Shortened from RFC 8785, section 3.2.2: sorted keys, shortest numbers, few escapes."""
    value = {
        "numbers": [333333333.33333329, 1e30, 4.5, 2e-3, 1e-27],
        "string": '€$\x0f\nA\'B"\\\\"/',
        "literals": [None],
    }

    assert canonical_json(value).decode() == (
        '{"literals":[null],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],'
        '"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}'
    )
