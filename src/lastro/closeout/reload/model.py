"""A model in a folder, as transformers saves it: every key in its place, tied weights really tied."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from lastro.closeout.reload.values import fault_of
from lastro.locale import _

CONFIGURATION = "config.json"
_TOKENIZER = ("tokenizer_config.json", "tokenizer.json")
#: How many keys a sentence names.
_NAMED = 3


class NeedsOwnCode(Exception):
    """The folder asks for code that is not in transformers; nothing of it is executed."""


def configuration(folder: Path) -> Mapping[str, Any] | None:
    """Return the configuration of a model's folder; None for what is none."""
    try:
        said = json.loads((folder / CONFIGURATION).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return said if isinstance(said, dict) and {"model_type", "architectures"} & said.keys() else None


def load_model(folder: Path) -> tuple[Any, list[str]]:
    """Load a model without network and without code of its own; return it with its faults.

    Raises:
        NeedsOwnCode: transformers has no class of that name.
    """
    import transformers

    said = configuration(folder) or {}
    names = said.get("architectures") or []
    kind = getattr(transformers, names[0], None) if names else None
    if kind is None or said.get("auto_map"):
        raise NeedsOwnCode(
            _("{name} is not in this transformers, and code of an output is not executed").format(
                name=", ".join(names) or said.get("model_type")
            )
        )
    transformers.logging.set_verbosity_error()
    model, report = kind.from_pretrained(
        folder,
        local_files_only=True,
        trust_remote_code=False,
        output_loading_info=True,
        # Listed by the report then, instead of the first one being raised.
        ignore_mismatched_sizes=True,
        dtype="auto",
    )
    model.eval()
    return model, [*_key_faults(report), *_tied_faults(model), *_value_faults(model)]


def _key_faults(report: Mapping[str, Any]) -> Iterator[str]:
    sentences = {
        "missing_keys": _("{count} weights of the model are not in the files: {names}"),
        "unexpected_keys": _("{count} weights of the files are not of the model: {names}"),
        "mismatched_keys": _("{count} weights have another shape than the model's: {names}"),
        "error_msgs": _("{count} errors while loading: {names}"),
    }
    for kind, sentence in sentences.items():
        if found := sorted(str(key) for key in report.get(kind) or ()):
            yield sentence.format(count=len(found), names=_some(found))


def _tied_faults(model: Any) -> Iterator[str]:
    """Yield weights that the configuration ties, and the files do not. transformers only warns of them."""
    import torch

    if not getattr(model.config.get_text_config(), "tie_word_embeddings", False):
        return
    tied = type(model)._tied_weights_keys
    values = model.state_dict()
    for one, other in tied.items() if isinstance(tied, Mapping) else ():
        if one in values and other in values and not torch.equal(values[one], values[other]):
            yield _("{one} and {other} are tied, and have different values in the files").format(
                one=one, other=other
            )


def _value_faults(model: Any) -> Iterator[str]:
    if (fault := fault_of(model.state_dict())) is not None:
        yield fault


def answer_of(model: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a model says to an input: tensors by name."""
    import torch

    with torch.inference_mode():
        said = model(**inputs)
    return {name: one for name, one in said.items() if isinstance(one, torch.Tensor)}


def check_tokenizer(folder: Path) -> None:
    """Load the tokenizer, when there is one. Raises what its library raises."""
    if any((folder / name).exists() for name in _TOKENIZER):
        import transformers

        transformers.AutoTokenizer.from_pretrained(folder, local_files_only=True, trust_remote_code=False)


def dtype_of(model: Any) -> str:
    """Return the type of a model's weights, such as `float32`."""
    return str(model.dtype).removeprefix("torch.")


def _some(names: list[str]) -> str:
    shown = ", ".join(names[:_NAMED])
    return shown if len(names) <= _NAMED else f"{shown}, ..."
