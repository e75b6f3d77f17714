"""Folders of transformers and peft at closing: good ones are not refused, planted ones are caught by name.

Where nothing hangs on the level, the loaders run in this process: a child would import the frameworks anew.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from peft import IA3Config, LoraConfig, get_peft_model
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast, TrainingArguments

from lastro.closeout.controls import refusals
from lastro.closeout.identity import content_digest
from lastro.closeout.inventory import Surroundings, collect
from lastro.closeout.judge import Verdict
from lastro.closeout.promise import Base, Deliverable
from lastro.closeout.reload.apart import Loaded, Request
from lastro.closeout.reload.model import answer_of
from lastro.closeout.reload.peft import PeftLoader
from lastro.closeout.reload.transformers import TransformersLoader
from lastro.storage.digest import digest_of
from tests.closeout.traps.delivery import Delivery

TOKENS = torch.tensor([[5, 1, 7, 3, 2, 9, 4, 8]])
SMALL: Mapping[str, Any] = {"vocab_size": 64, "bos_token_id": 0, "eos_token_id": 0, "pad_token_id": 0}
SHAPE: Mapping[str, Any] = {
    **SMALL, "hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4,
}  # fmt: skip
GROUPED: Mapping[str, Any] = {**SHAPE, "num_key_value_heads": 2}


def gpt2(**options: Any) -> Any:
    torch.manual_seed(7)
    config = GPT2Config(**SMALL, n_positions=32, n_embd=32, n_layer=2, n_head=4, **options)
    return GPT2LMHeadModel(config).eval()


def record(model: Any, path: Path, **inputs: torch.Tensor) -> None:
    """Write what a run records at its end."""
    given = inputs or {"input_ids": TOKENS}
    said = {f"output.{name}": value for name, value in answer_of(model, given).items() if name != "loss"}
    save_file(
        {
            **{f"input.{name}": value.contiguous() for name, value in given.items()},
            **{name: value.contiguous() for name, value in said.items()},
        },
        path,
    )


def loaded(folder: Path, recorded: Path | None = None) -> Loaded:
    assert TransformersLoader().reads(folder)
    return TransformersLoader().load(
        Request(path=str(folder), recorded=str(recorded) if recorded is not None else None)
    )


def refused(folder: Path, promised: Deliverable | None = None) -> list[str]:
    wanted = promised or Deliverable(name="model", path=folder.name)
    return [one.text for one in refusals(wanted, collect(folder.parent, folder.name, Surroundings()))]


# --- good ones ----------------------------------------------------------------------------------------


def built(kind: str, config: str, **options: Any) -> Callable[[], Any]:
    def build() -> Any:
        torch.manual_seed(7)
        return getattr(transformers, kind)(getattr(transformers, config)(**options)).eval()

    return build


GOOD: Mapping[str, Callable[[], Any]] = {
    "gpt2, tied": gpt2,
    "gpt2, not tied": lambda: gpt2(tie_word_embeddings=False),
    "gpt2, bfloat16": lambda: gpt2().bfloat16(),
    "llama": built("LlamaForCausalLM", "LlamaConfig", **GROUPED),
    "qwen2, tied": built("Qwen2ForCausalLM", "Qwen2Config", **GROUPED, tie_word_embeddings=True),
    "mistral": built("MistralForCausalLM", "MistralConfig", **GROUPED),
    "gemma": built("GemmaForCausalLM", "GemmaConfig", **GROUPED, head_dim=8),
    "opt": built(
        "OPTForCausalLM", "OPTConfig", **SMALL, hidden_size=32, ffn_dim=64, num_hidden_layers=2,
        num_attention_heads=4, max_position_embeddings=32, word_embed_proj_dim=32,
    ),
    "bert, masked": built("BertForMaskedLM", "BertConfig", **SHAPE, max_position_embeddings=32),
    "bert, classes": built("BertForSequenceClassification", "BertConfig", **SHAPE, num_labels=3),
    "roberta": built("RobertaModel", "RobertaConfig", **SHAPE, max_position_embeddings=40),
    "distilbert": built(
        "DistilBertModel", "DistilBertConfig", vocab_size=64, dim=32, hidden_dim=64, n_layers=2, n_heads=4,
        max_position_embeddings=32,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", GOOD)
def test_a_good_model_is_not_refused_and_says_what_was_recorded(tmp_path: Path, name: str) -> None:
    model = GOOD[name]()
    folder = tmp_path / "model"
    model.save_pretrained(folder, max_shard_size="20KB" if "llama" in name else "5GB")
    record(model, tmp_path / "recorded.safetensors")

    answer = loaded(folder, tmp_path / "recorded.safetensors")

    assert refused(folder) == []
    assert answer.problem is None
    assert answer.proof is not None
    assert "what was recorded" in answer.proof


def test_an_encoder_with_a_decoder_is_not_refused(tmp_path: Path) -> None:
    options = {"vocab_size": 64, "d_model": 32, "d_kv": 8, "d_ff": 64, "num_layers": 2, "num_heads": 4}
    model = built("T5ForConditionalGeneration", "T5Config", **options, decoder_start_token_id=0)()
    model.save_pretrained(tmp_path / "model")
    record(model, tmp_path / "r.safetensors", input_ids=TOKENS, decoder_input_ids=TOKENS[:, :3].clone())

    answer = loaded(tmp_path / "model", tmp_path / "r.safetensors")

    assert refused(tmp_path / "model") == []
    assert (answer.problem, answer.proof is not None) == (None, True)


def test_what_a_trainer_leaves_beside_a_model_is_not_refused(tmp_path: Path) -> None:
    folder = tmp_path / "model"
    gpt2().save_pretrained(folder)
    words = Tokenizer(models.WordLevel({"[UNK]": 0, "/usr/bin": 1, "</s>": 2, "~/": 3}, unk_token="[UNK]"))
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    PreTrainedTokenizerFast(tokenizer_object=words, unk_token="[UNK]").save_pretrained(folder)
    torch.save(TrainingArguments(str(tmp_path / "out")), folder / "training_args.bin")

    assert refused(folder) == []
    assert loaded(folder) == Loaded()


# --- planted models -----------------------------------------------------------------------------------


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A good folder, with what it said recorded beside it."""
    made = gpt2()
    made.save_pretrained(tmp_path / "model")
    record(made, tmp_path / "recorded.safetensors")
    return tmp_path / "model"


def change(folder: Path, how: Callable[[dict[str, torch.Tensor]], object]) -> None:
    weights = load_file(folder / "model.safetensors")
    how(weights)
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})


def test_a_dropped_tied_weight_is_named(model: Path) -> None:
    change(model, lambda weights: weights.pop("transformer.wte.weight"))

    answer = loaded(model, model.parent / "recorded.safetensors")

    assert answer.problem == (
        "2 weights of the model are not in the files: lm_head.weight, transformer.wte.weight"
    )


def test_tied_weights_with_different_values_are_named(model: Path) -> None:
    """The library unties them with a warning; what was trained was tied."""
    change(model, lambda weights: weights.update({"lm_head.weight": torch.zeros(64, 32)}))

    answer = loaded(model)

    assert answer.problem == (
        "lm_head.weight and transformer.wte.weight are tied, and have different values in the files"
    )


@pytest.mark.parametrize(
    ("how", "problem"),
    [
        (
            lambda weights: weights.pop("transformer.ln_f.bias"),
            "1 weights of the model are not in the files: transformer.ln_f.bias",
        ),
        (
            lambda weights: weights.update(extra=torch.ones(2)),
            "1 weights of the files are not of the model: extra",
        ),
        (
            lambda weights: weights.update({"transformer.ln_f.bias": torch.ones(2)}),
            "1 weights have another shape than the model's: ",
        ),
        (
            lambda weights: weights["transformer.ln_f.bias"].fill_(float("nan")),
            "tensor 'transformer.ln_f.bias' holds NaN or infinity",
        ),
    ],
)
def test_weights_that_do_not_fit_the_model_are_named(
    model: Path, how: Callable[[dict[str, torch.Tensor]], object], problem: str
) -> None:
    change(model, how)

    assert str(loaded(model).problem).startswith(problem)


def test_a_later_model_does_not_say_what_an_earlier_one_recorded(model: Path) -> None:
    change(model, lambda weights: weights["transformer.h.1.mlp.c_proj.weight"].mul_(1.5))

    assert "it does not say what was recorded: logits differs by" in str(
        loaded(model, model.parent / "recorded.safetensors").problem
    )


def test_a_model_with_code_of_its_own_is_only_looked_at(model: Path) -> None:
    config = json.loads((model / "config.json").read_text())
    config["auto_map"] = {"AutoModelForCausalLM": "modeling.Mine"}
    (model / "config.json").write_text(json.dumps(config))
    (model / "modeling.py").write_text("raise SystemExit('executed')\n")

    answer = loaded(model)

    assert answer.problem is None
    assert "code of an output is not executed" in str(answer.weaker)


# --- adapters -----------------------------------------------------------------------------------------


@pytest.fixture
def base(tmp_path: Path) -> Path:
    gpt2().save_pretrained(tmp_path / "base")
    return tmp_path / "base"


def adapter(base: Path, folder: Path, config: Any | None = None, *, trained: bool = True) -> Any:
    """Save an adapter of the base, with weights as training would have left them; return the model."""
    wanted = config or LoraConfig(r=4, target_modules=["c_attn"], fan_in_fan_out=True)
    made = get_peft_model(GPT2LMHeadModel.from_pretrained(base), wanted)
    if trained:
        torch.manual_seed(11)
        with torch.no_grad():
            for value in made.parameters():
                if value.requires_grad:
                    value.add_(torch.randn_like(value) * 0.3)
    made.save_pretrained(folder)
    said = json.loads((folder / "adapter_config.json").read_text())
    (folder / "adapter_config.json").write_text(json.dumps({**said, "base_model_name_or_path": "base"}))
    return made.eval()


def put_on(folder: Path, base: Path, recorded: Path | None = None) -> Loaded:
    assert PeftLoader().reads(folder)
    asked = str(recorded) if recorded is not None else None
    return PeftLoader().load(Request(path=str(folder), base=str(base), recorded=asked))


CONFIGS: Mapping[str, Callable[[], Any]] = {
    "lora": lambda: LoraConfig(r=4, target_modules=["c_attn"], fan_in_fan_out=True),
    "dora": lambda: LoraConfig(r=4, target_modules=["c_attn"], fan_in_fan_out=True, use_dora=True),
    "rslora, two layers": lambda: LoraConfig(
        r=8, target_modules=["c_attn", "c_proj"], fan_in_fan_out=True, use_rslora=True
    ),
    "ia3": lambda: IA3Config(target_modules=["c_attn"], feedforward_modules=[], fan_in_fan_out=True),
}


@pytest.mark.parametrize("name", CONFIGS)
def test_a_good_adapter_is_not_refused_and_says_what_was_recorded(
    tmp_path: Path, base: Path, name: str
) -> None:
    made = adapter(base, tmp_path / "adapter", CONFIGS[name]())
    record(made, tmp_path / "recorded.safetensors")
    promised = Deliverable(name="a", path="adapter", base=Base(path="base", sha256=digest_of(base)))

    assert refused(tmp_path / "adapter", promised) == []
    answer = put_on(tmp_path / "adapter", base, tmp_path / "recorded.safetensors")
    assert (answer.problem, answer.proof is not None) == (None, True)


def test_an_adapter_on_another_base_does_not_say_what_was_recorded(tmp_path: Path, base: Path) -> None:
    record(adapter(base, tmp_path / "adapter"), tmp_path / "recorded.safetensors")
    torch.manual_seed(8)
    other = GPT2LMHeadModel(GPT2Config(**SMALL, n_positions=32, n_embd=32, n_layer=2, n_head=4))
    other.save_pretrained(tmp_path / "other")

    answer = put_on(tmp_path / "adapter", tmp_path / "other", tmp_path / "recorded.safetensors")

    assert "it does not say what was recorded" in str(answer.problem)


def test_an_adapter_that_changes_nothing_is_told(tmp_path: Path, base: Path) -> None:
    adapter(base, tmp_path / "adapter", trained=False)

    assert put_on(tmp_path / "adapter", base).problem == (
        "the base says the same without it: it changes nothing"
    )


def test_an_adapter_that_lacks_a_weight_is_told(tmp_path: Path, base: Path) -> None:
    adapter(base, tmp_path / "adapter")
    file = tmp_path / "adapter" / "adapter_model.safetensors"
    weights = load_file(file)
    weights.pop(sorted(weights)[0])
    save_file(weights, file)

    assert "its weights are not those that its configuration asks for" in str(
        put_on(tmp_path / "adapter", base).problem
    )


# --- the whole way, once for each, in processes of their own --------------------------------------------


def test_a_model_and_an_adapter_are_accepted_in_a_jail_with_their_versions(
    tmp_path: Path, base: Path
) -> None:
    delivery = Delivery(tmp_path)
    shutil.copytree(base, delivery.code / "base")
    (delivery.code / "base" / "README.md").write_text("---\nlicense: mit\n---\n")
    made = gpt2()
    made.save_pretrained(delivery.outputs / "model")
    record(made, delivery.outputs / "model-said.safetensors")
    record(adapter(base, delivery.outputs / "adapter"), delivery.outputs / "adapter-said.safetensors")
    sum_of_base = digest_of(delivery.code / "base")

    judged = delivery.judged(
        Deliverable(name="model", path="model", recorded="model-said.safetensors"),
        Deliverable(
            name="adapter",
            path="adapter",
            recorded="adapter-said.safetensors",
            base=Base(path="base", sha256=sum_of_base),
        ),
    )

    assert {one.name: one.verdict for one in judged.values()} == {
        "model": Verdict.ACCEPTED,
        "adapter": Verdict.ACCEPTED,
    }, [one.why for one in judged.values()]
    assert judged["model"].loader == "transformers"
    assert judged["adapter"].loader == "peft"
    assert judged["adapter"].versions["transformers"] == transformers.__version__
    (facts,) = judged["adapter"].bases
    assert (facts["name"], facts["sha256"], facts["licence"]) == ("base", sum_of_base, "mit")


def test_a_base_of_a_hub_is_taken_from_the_cache_at_its_commit(
    tmp_path: Path, base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The cache keeps files aside and links to them; without network the commit has to be there."""
    commit = "c" * 40
    cached = tmp_path / "cache" / "models--org--base"
    (cached / "snapshots" / commit).mkdir(parents=True)
    shutil.copytree(base, cached / "blobs")
    for file in (cached / "blobs").iterdir():
        (cached / "snapshots" / commit / file.name).symlink_to(Path("../../blobs") / file.name)
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "cache"))
    delivery = Delivery(tmp_path)
    record(adapter(base, delivery.outputs / "adapter"), delivery.outputs / "said.safetensors")
    said = json.loads((delivery.outputs / "adapter" / "adapter_config.json").read_text())
    told = {**said, "base_model_name_or_path": "org/base", "revision": commit}
    (delivery.outputs / "adapter" / "adapter_config.json").write_text(json.dumps(told))
    promised = Deliverable(name="a", path="adapter", recorded="said.safetensors")

    judged = delivery.judge(promised)

    assert judged.verdict is Verdict.ACCEPTED, judged.why
    assert "no licence is known of the base org/base" in judged.warnings[0]
    shutil.rmtree(cached)
    without = delivery.judge(promised)
    assert without.verdict is Verdict.PRODUCED
    assert "the base org/base at cccccccccccc is not in this computer's cache" in without.why


def test_the_same_model_with_another_card_counts_once(tmp_path: Path) -> None:
    """Sharded, with a card and another version of its library: the same weights and configuration."""
    digests = []
    for name, size in (("r1", "5GB"), ("r2", "20KB")):
        folder = tmp_path / name
        gpt2().save_pretrained(folder, max_shard_size=size)
        config = json.loads((folder / "config.json").read_text())
        (folder / "config.json").write_text(json.dumps({**config, "transformers_version": name}))
        (folder / "README.md").write_text(name)
        digests.append((digest_of(folder), content_digest(folder)))

    (first, one), (second, other) = digests
    assert first != second
    assert one == other
