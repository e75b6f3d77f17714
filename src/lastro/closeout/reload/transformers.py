"""A folder that transformers has saved: configuration, weights, tokenizer."""

from __future__ import annotations

from pathlib import Path

from lastro.closeout.reload.apart import Loaded, Request
from lastro.closeout.reload.model import (
    NeedsOwnCode,
    answer_of,
    check_tokenizer,
    configuration,
    dtype_of,
    load_model,
)
from lastro.closeout.reload.recorded import compare_recorded, read_recorded


class TransformersLoader:
    """Loads the model by its own class, and compares its answer with the recorded one."""

    name = "transformers"
    packages: tuple[str, ...] = ("torch", "transformers", "safetensors")
    only_jailed = False

    def reads(self, path: Path) -> bool:
        return path.is_dir() and configuration(path) is not None

    def load(self, request: Request) -> Loaded:
        folder = Path(request.path)
        try:
            model, faults = load_model(folder)
        except NeedsOwnCode as error:
            return Loaded(weaker=str(error))
        check_tokenizer(folder)
        if faults:
            return Loaded(problem="; ".join(faults))
        if request.recorded is None:
            return Loaded()
        recorded = read_recorded(request.recorded)
        problem, proof = compare_recorded(recorded, answer_of(model, recorded.inputs), dtype_of(model))
        return Loaded(problem=problem, proof=proof or None)
