"""Files made to break a reader: each is an error with its place, soon, and never a traceback."""

from __future__ import annotations

from pathlib import Path

import pytest

from lastro.errors import CampaignInvalid
from lastro.spec.load import load_campaign, load_faults, load_offers
from lastro.spec.tree import MAX_BYTES, MAX_TEXT

#: What fits into the largest file that is read at all, a head of some lines left out.
ROOM = MAX_BYTES - 200
HEAD = "campaign: c\ncommand: t\ncontrol: {}\n"

FILES = {
    "brackets": "a: " + "[" * ROOM,
    "dashes": "- " * (ROOM // 2),
    "deeper and deeper": "".join(" " * level + "a:\n" for level in range(700)),
    "aliases of aliases": "a0: &a0 {x: 1, y: 1}\n"
    + "".join(f"a{n}: &a{n} {{x: *a{n - 1}, y: *a{n - 1}}}\n" for n in range(1, 31)),
    "aliases in depth": "a0: &a0 [1]\n" + "".join(f"a{n}: &a{n} [*a{n - 1}]\n" for n in range(1, 4000)),
    "one alias many times": "a: &a [1]\nb: [" + "*a, " * (ROOM // 4) + "]",
    "an alias of itself": "a: &a {b: *a}",
    "a tag without end": "a: !" + "x" * ROOM + " 1",
    "a tag that constructs": "a: !!python/object/apply:os.system ['touch hostile']",
    "a tag that names a module": "a: !!python/name:os.system",
    "a binary tag": "a: !!binary aGVsbG8=",
    "digits": "a: " + "9" * ROOM,
    "many digits": "a: " + "9" * 5000,
    "hexadecimal digits": "a: 0x" + "f" * ROOM,
    "an exponent": "a: 1e" + "9" * 300,
    "keys that are not numbers": ".nan: 1\n.nan: 2",
    "a key in another": "? {a: 1}\n: b",
    "keys twice": "a: 1\n" * (ROOM // 5),
    "unknown keys": HEAD + "".join(f"comand{number}: 1\n" for number in range(9000)),
    "values": "".join(f"k{number}: 1\n" for number in range(ROOM // 12)),
    "documents": "---\n" * (ROOM // 4),
    "open quotes": "a: '" + "\n" * ROOM,
    "escapes": 'a: "' + "\\" * ROOM,
    "blank lines": "\n" * ROOM,
    "folded lines": "a: >\n" + "  x\n\n" * (ROOM // 5),
    "nul": "a: \0",
    "half a character": HEAD + 'question: "\\ud800"',
    "an endless duration": HEAD + f"window: {'9' * 5000}h",
    "a duration of parts": HEAD + f"window: '{'1h ' * (MAX_TEXT // 3)}x'",
    "endless money": HEAD + f"budget: {'9' * 5000} USD",
    "endless bytes": HEAD + f"disk: {{path: d, size: {'9' * 5000} GB}}",
    "endless steps": HEAD + f"checkpoint: {{every: {'9' * 5000} steps}}",
    "an endless margin": HEAD + f"decision: {{metric: m, better: higher, adopt_if: '{'9' * 5000}'}}",
    "braces": HEAD.replace("t\n", "'" + "{" * (MAX_TEXT - 1) + "'\n"),
    "a text without end": HEAD + "question: '" + "word " * (ROOM // 5) + "'",
    "stages in a circle": HEAD
    + "stages:\n"
    + "".join(f"  s{n}: {{person: 1h, after: s{(n + 1) % 1500}}}\n" for n in range(1500)),
    "variants of nothing": HEAD
    + "variants:\n"
    + "".join(f"  v{n}: {{changes: {{k{n}: 1}}}}\n" for n in range(2400)),
}


@pytest.mark.timeout(30)
@pytest.mark.parametrize("name", FILES)
def test_a_hostile_file_is_an_error_with_its_place(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "file.yaml"
    path.write_text(FILES[name])
    assert path.stat().st_size <= MAX_BYTES

    for load in (load_campaign, load_offers, load_faults):
        with pytest.raises(CampaignInvalid) as caught:
            load(path)
        assert str(caught.value).startswith(str(path))
        assert len(str(caught.value)) < 20_000
    assert [each.name for each in tmp_path.iterdir()] == ["file.yaml"]


@pytest.mark.timeout(30)
def test_a_large_and_honest_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "campaign.yaml"
    stages = "".join(f"  s{number}: {{person: 1h}}\n" for number in range(3000))
    path.write_text(f"{HEAD}stages:\n{stages}")

    assert len(load_campaign(path).spec.stages) == 3000
