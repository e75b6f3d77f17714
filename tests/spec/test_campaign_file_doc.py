"""docs/campaign-file.md: every key is explained, and every example is valid."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from lastro.spec.campaign import Campaign
from lastro.spec.load import load_campaign, load_faults, load_offers

DOCUMENT = (Path(__file__).parents[2] / "docs" / "campaign-file.md").read_text()
EXAMPLES = re.findall(r"```yaml\n(.*?)```", DOCUMENT, re.DOTALL)
NEEDED = {
    "campaign": "campaign: tiny\n",
    "command": "command: python train.py --width {width}\n",
    "control": "control: {width: 64}\n",
}


def test_every_key_has_its_section_and_its_line_in_the_table() -> None:
    sections = re.findall(r"^### (\w+)$", DOCUMENT, re.MULTILINE)
    table = re.findall(r"^\| \[`(\w+)`\]\(#\1\) \| (yes)? ?\|", DOCUMENT, re.MULTILINE)

    assert sorted(sections) == sorted(Campaign.model_fields)
    assert [name for name, _needed in table] == list(Campaign.model_fields)
    assert [name for name, needed in table if needed] == list(NEEDED)


def test_every_section_has_an_example_of_its_key() -> None:
    for name in Campaign.model_fields:
        section = DOCUMENT.split(f"### {name}\n", 1)[1].split("\n#", 1)[0]
        assert re.search(rf"```yaml\n{name}:", section), name


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda text: text.split(":", 1)[0])
def test_every_example_loads(tmp_path: Path, example: str) -> None:
    path = tmp_path / "file.yaml"
    if example.startswith(("offers:\n", "faults:\n")):
        path.write_text(example)
        assert load_offers(path) if example.startswith("offers") else load_faults(path)
        return
    given = set(re.findall(r"^(\w+):", example, re.MULTILINE))
    path.write_text(example + "".join(text for name, text in NEEDED.items() if name not in given))
    assert load_campaign(path).spec.campaign
