"""Write docs/schema/*.json: what editors check campaign, offers and faults files against as they are typed.

Made from the models that lastro itself reads these files with. A schema knows less than they do (that two
keys contradict each other, for example): what is valid for lastro is valid for it, not the other way.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from lastro.spec.campaign import Campaign
from lastro.spec.faults import Faults
from lastro.spec.offers import Offers

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "docs" / "schema"
MODELS: dict[str, type[BaseModel]] = {"campaign": Campaign, "offers": Offers, "faults": Faults}
DIALECT = "https://json-schema.org/draft/2020-12/schema"

_DOC = ROOT / "docs" / "campaign-file.md"
_SECTION = re.compile(r"^### (\w+)\n\n((?:(?!```|\||#|\n\n).+\n)+)", re.M)
_LINK = re.compile(r"\[([^\]]+)\]\([^)]*\)")


def schema_of(name: str) -> dict[str, Any]:
    """Return the JSON Schema of one kind of file, each key of a campaign with what the documentation says."""
    schema = {"$schema": DIALECT, "title": f"lastro: {name} file", **_plain(MODELS[name].model_json_schema())}
    if name == "campaign":
        for key, text in _SECTION.findall(_DOC.read_text(encoding="utf-8")):
            if key in schema["properties"]:
                schema["properties"][key]["description"] = _LINK.sub(r"\1", " ".join(text.split()))
    return schema


def _plain(value: Any, *, names: bool = False) -> Any:
    """Leave out what speaks of the code: titles made from names, docstrings, defaults in Python's words."""
    if isinstance(value, dict):
        kept = value if names else {key: item for key, item in value.items() if not _is_noise(key, item)}
        inner = ("properties", "$defs")
        return {key: _plain(item, names=not names and key in inner) for key, item in kept.items()}
    return [_plain(item) for item in value] if isinstance(value, list) else value


def _is_noise(key: str, item: Any) -> bool:
    if key == "default":
        return item is None or (isinstance(item, str) and item.startswith("PT"))
    return key in ("title", "description") and isinstance(item, str)


def text_of(name: str) -> str:
    """Return the file's text."""
    return json.dumps(schema_of(name), ensure_ascii=False, indent=2) + "\n"


def main() -> int:
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name in MODELS:
        (FOLDER / f"{name}.json").write_text(text_of(name), encoding="utf-8")
        print(f"wrote {FOLDER / name}.json")
    return 0


if __name__ == "__main__":
    sys.exit(main())
