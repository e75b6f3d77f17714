"""An adapter that peft has saved, on the base that it belongs to."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lastro.closeout.base import ADAPTER
from lastro.closeout.reload.apart import Loaded, Request
from lastro.closeout.reload.model import NeedsOwnCode, answer_of, dtype_of, load_model
from lastro.closeout.reload.recorded import compare_recorded, read_recorded, share_of_gap
from lastro.closeout.reload.values import fault_of
from lastro.locale import _

_WEIGHTS = "adapter_model.safetensors"


class PeftLoader:
    """Puts the adapter onto its base: every weight has its place, and the answer is not the base's."""

    name = "peft"
    packages: tuple[str, ...] = ("torch", "transformers", "peft", "safetensors")
    only_jailed = False

    def reads(self, path: Path) -> bool:
        return (path / ADAPTER).is_file()

    def load(self, request: Request) -> Loaded:
        folder = Path(request.path)
        if request.base is None:
            return Loaded(weaker=_("its base is not here"))
        if not (folder / _WEIGHTS).is_file():
            return Loaded(problem=_("{file} is not there").format(file=_WEIGHTS))
        try:
            base, faults = load_model(Path(request.base))
        except NeedsOwnCode as error:
            return Loaded(weaker=str(error))
        if faults:
            return Loaded(weaker=_("its base does not load whole: {why}").format(why="; ".join(faults)))
        recorded = read_recorded(request.recorded) if request.recorded is not None else None
        inputs = recorded.inputs if recorded is not None else base.dummy_inputs
        before = answer_of(base, inputs)
        adapted, fault = _put_on(base, folder)
        if fault is not None:
            return Loaded(problem=fault)
        after = answer_of(adapted, inputs)
        if _same(before, after):
            return Loaded(problem=_("the base says the same without it: it changes nothing"))
        if recorded is None:
            return Loaded()
        problem, proof = compare_recorded(recorded, after, dtype_of(base))
        return Loaded(problem=problem, proof=proof or None)


def _put_on(base: Any, folder: Path) -> tuple[Any, str | None]:
    import peft
    import torch
    from safetensors.torch import load_file

    adapted = peft.PeftModel.from_pretrained(base, folder, local_files_only=True)
    adapted.eval()
    # Without the embeddings, about which peft would ask the hub; a saved one stands in the model by its name.
    wanted = peft.get_peft_model_state_dict(adapted, save_embedding_layers=False)
    there, values = load_file(folder / _WEIGHTS), adapted.state_dict()
    strange = [name for name in there if name not in wanted and name not in values]
    if wrong := sorted([*(wanted.keys() - there.keys()), *strange]):
        return adapted, _("its weights are not those that its configuration asks for: {names}").format(
            names=", ".join(wrong[:3])
        )
    # A weight that has found no place keeps the value that it was made with.
    lost = [
        name
        for name, value in there.items()
        if not torch.equal(value.to(now := wanted.get(name, values.get(name))), now)
    ]
    if lost:
        return adapted, _("its weights did not get into the model: {names}").format(names=", ".join(lost[:3]))
    return adapted, fault_of(there)


def _same(before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
    return all(
        name in after and after[name].shape == value.shape and share_of_gap(after[name], value) == 0.0
        for name, value in before.items()
    )
