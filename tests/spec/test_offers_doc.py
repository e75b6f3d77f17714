"""docs/offers.md: every key of an offers file, and examples that lastro takes."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from pydantic import BaseModel

from lastro.spec import tree
from lastro.spec.disks import Disk
from lastro.spec.egress import Egress, Tier, Traffic
from lastro.spec.load import load_offers_file
from lastro.spec.offers import Offer
from lastro.spec.rates import Balance, Rate
from tests.spec.test_offers import offers_file
from tools.schema import FOLDER

DOC = (Path(__file__).parents[2] / "docs" / "offers.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```yaml\n(.*?)```", DOC, re.S)


@pytest.mark.parametrize("model", [Offer, Disk, Egress, Tier, Traffic, Rate, Balance])
def test_every_key_is_told(model: type[BaseModel]) -> None:
    keys = {field.alias or name for name, field in model.model_fields.items()}

    assert {
        key for key in keys if f"`{key}`" not in DOC and f"{{{key}:" not in DOC and f", {key}:" not in DOC
    } == set()


@pytest.mark.parametrize("block", BLOCKS, ids=range(len(BLOCKS)))
def test_every_example_is_taken_by_lastro_and_by_editors(block: str, tmp_path: Path) -> None:
    load_offers_file(offers_file(tmp_path, block))

    schema = Draft202012Validator(json.loads((FOLDER / "offers.json").read_text()))
    assert list(schema.iter_errors(tree.parse(block, "offers.md").value)) == []


def test_the_examples_show_all_kinds_of_rows() -> None:
    assert len(BLOCKS) == 4
