"""Outputs that are what they should be, made by the libraries that people use: none is refused.

The folders of transformers and peft stand in tests/adapters/test_models.py.
"""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from lastro.closeout.controls import refusals
from lastro.closeout.identity import content_digest
from lastro.closeout.inventory import Surroundings, collect
from lastro.closeout.judge import Verdict
from lastro.closeout.promise import Deliverable, MetricRule
from lastro.closeout.reload.apart import Loaded, Request
from lastro.closeout.reload.torch import TorchLoader
from lastro.sandbox.interpreter import interpreter
from tests.closeout.traps.delivery import Delivery
from tests.closeout.traps.pictures import gradient, png

#: The run's own folders and machines, which no good output names.
AROUND = Surroundings(folders=("/srv/disk7", "/home/ana"), hosts=("local-350ef2e90d", "gpu-box-17"))


def network() -> torch.nn.Module:
    return torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.LayerNorm(8), torch.nn.Linear(8, 2))


def safetensors(path: Path) -> None:
    save_file(network().state_dict(), path, metadata={"format": "pt", "source": "hf://org/model"})


def safetensors_short(path: Path) -> None:
    save_file({name: value.bfloat16() for name, value in network().state_dict().items()}, path)


def torch_weights(path: Path) -> None:
    torch.save(network().state_dict(), path)


def torch_legacy(path: Path) -> None:
    torch.save(network().state_dict(), path, _use_new_zipfile_serialization=False)


def torch_checkpoint(path: Path) -> None:
    model = network()
    optimizer = torch.optim.AdamW(model.parameters())
    model(torch.ones(1, 4)).sum().backward()
    optimizer.step()
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": 7}, path)


def torch_parameters(path: Path) -> None:
    torch.save({"embedding": torch.nn.Parameter(torch.randn(3, 2)), "half": torch.ones(2).half()}, path)


def shards(path: Path) -> None:
    path.mkdir()
    said = {}
    for place, (name, value) in enumerate(network().state_dict().items(), start=1):
        file = f"model-{place:05d}-of-00006.safetensors"
        save_file({name: value}, path / file)
        said[name] = file
    index = {"metadata": {"total_size": 1}, "weight_map": said}
    (path / "model.safetensors.index.json").write_text(json.dumps(index))


def with_bystanders(path: Path) -> None:
    """A folder as trainers leave it: optimizer and random states in pickles beside the weights."""
    path.mkdir()
    safetensors(path / "model.safetensors")
    torch.save({"cpu": torch.get_rng_state(), "numpy": np.random.get_state()}, path / "rng_state.pth")
    torch.save({"state": {}, "param_groups": [{"lr": 1e-3, "params": [0]}]}, path / "optimizer.pt")
    (path / "README.md").write_text("---\nlicense: mit\n---\nStarted with `python /home/ana/train.py`.\n")
    (path / "vocab.json").write_text(json.dumps({"/usr/bin": 0, "</s>": 1, "~/": 2, "file:///": 3}))
    (path / "config.yaml").write_text(
        "optimizer: {lr: 1e-3, betas: [0.9, 0.95]}\nurl: https://example.org/a\n"
    )


def corpus_csv(path: Path) -> None:
    """Texts that speak of paths and machines, as generated ones do."""
    texts = [
        "see /usr/bin/env and ~/.bashrc",
        "http://localhost:8000 answers",
        "a/b",
        "5/6",
        "R$ 3,50",
        "é\n!",
    ]
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "text"])
        writer.writerows(enumerate(texts))


def corpus_jsonl(path: Path) -> None:
    rows = [{"id": row, "text": f"cd /tmp/x{row} && ls", "score": row / 7, "tags": ["a"]} for row in range(9)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def frames(path: Path) -> None:
    path.mkdir()
    for filters in range(5):
        (path / f"{filters}.png").write_bytes(png(gradient(), filters=[filters] * 4))
    (path / "9.png").write_bytes(png(gradient(), kind=2, filters=[4, 3, 2, 1]))


OF_TORCH: list[tuple[str, Callable[[Path], None]]] = [
    ("weights.pt", torch_weights),
    ("weights.bin", torch_legacy),
    ("checkpoint.ckpt", torch_checkpoint),
    ("parameters.pth", torch_parameters),
]
GOOD: list[tuple[str, Callable[[Path], None]]] = [
    OF_TORCH[0],
    ("model.safetensors", safetensors),
    ("short.safetensors", safetensors_short),
    ("sharded", shards),
    ("trained", with_bystanders),
    ("corpus.csv", corpus_csv),
    ("corpus.jsonl", corpus_jsonl),
    ("frames", frames),
]


def test_none_of_the_good_ones_is_refused(tmp_path: Path) -> None:
    delivery = Delivery(tmp_path)
    for path, make in GOOD:
        make(delivery.outputs / path)

    judged = delivery.judged(*(Deliverable(name=path, path=path) for path, _make in GOOD), around=AROUND)

    assert {one.path: one.why for one in judged.values() if one.verdict is Verdict.REJECTED} == {}
    assert judged["frames"].verdict is Verdict.ACCEPTED
    assert judged["weights.pt"].loader == "torch"
    assert judged["weights.pt"].versions["torch"] == torch.__version__
    assert "rng_state.pth" in judged["trained"].warnings[0]


@pytest.mark.parametrize(("path", "make"), OF_TORCH)
def test_what_torch_saves_is_known_as_tensors_and_loads(
    tmp_path: Path, path: str, make: Callable[[Path], None]
) -> None:
    """Without a process each, which would import torch each time."""
    make(tmp_path / path)
    promised = Deliverable(name="w", path=path)

    assert refusals(promised, collect(tmp_path, path, AROUND)) == ()
    assert TorchLoader().reads(tmp_path / path)
    assert TorchLoader().load(Request(path=str(tmp_path / path))) == Loaded()


def test_weights_of_torch_that_are_not_finite_have_a_problem(tmp_path: Path) -> None:
    torch.save({"layer": [{"w": torch.tensor([1.0, float("nan")])}]}, tmp_path / "w.pt")
    torch.save({"step": 3}, tmp_path / "none.pt")

    assert TorchLoader().load(Request(path=str(tmp_path / "w.pt"))).problem == (
        "tensor 'layer[0].w' holds NaN or infinity"
    )
    assert TorchLoader().load(Request(path=str(tmp_path / "none.pt"))).problem == "it holds no tensor"


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".jsonl"])
def test_predictions_are_accepted_in_each_format_and_are_the_same_content(
    tmp_path: Path, suffix: str
) -> None:
    delivery = Delivery(tmp_path)
    (delivery.code / "test.csv").write_text("id,label\n0,1\n1,0\n2,1\n")
    rows = [(0, 1, 0.75), (1, 0, 0.5), (2, 0, 1e-9)]
    text = {
        ".csv": "id,prediction,score\n" + "".join(f"{a},{b},{c}\n" for a, b, c in rows),
        ".tsv": "score\tid\tprediction\n" + "".join(f"{c}\t{a}\t{b}\n" for a, b, c in reversed(rows)),
        ".jsonl": "".join(json.dumps({"prediction": b, "id": a, "score": c}) + "\n" for a, b, c in rows),
    }
    (delivery.outputs / f"p{suffix}").write_text(text[suffix])
    (tmp_path / "p.csv").write_text(text[".csv"])
    promised = Deliverable(
        name="p", path=f"p{suffix}", key="id", rows=3, metric=MetricRule(name="accuracy", truth="test.csv")
    )

    judged = delivery.judge(promised)

    assert judged.verdict is Verdict.ACCEPTED
    assert judged.metric == pytest.approx(2 / 3)
    assert judged.content == content_digest(tmp_path / "p.csv")


def test_a_bystander_that_calls_something_is_refused_all_the_same(tmp_path: Path) -> None:
    delivery = Delivery(tmp_path)
    with_bystanders(delivery.outputs / "model")
    (delivery.outputs / "model" / "training_args.bin").write_bytes(b"cos\nsystem\n(S'true'\ntR.")

    assert "calls os.system" in delivery.judge(Deliverable(name="model", path="model")).why


def test_without_torch_weights_of_torch_are_only_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The Python that lastro runs with is replaced by the system's, which has no torch."""
    bare = interpreter("python3", {"PATH": "/usr/bin:/bin"})
    if bare is None or "torch" in bare.versions:
        pytest.skip("the system has no Python, or one with torch")
    delivery = Delivery(tmp_path)
    torch_weights(delivery.outputs / "weights.pt")
    monkeypatch.setattr(sys, "executable", bare.executable)

    judged = delivery.judge(Deliverable(name="w", path="weights.pt"))

    assert judged.verdict is Verdict.PRODUCED
    assert "torch is not installed where lastro is" in judged.why


def test_bytes_that_are_no_pickle_are_not_taken_for_one(tmp_path: Path) -> None:
    """`.bin` says nothing of what is inside, and random bytes are no pickle."""
    delivery = Delivery(tmp_path)
    (delivery.outputs / "raw.bin").write_bytes(bytes(range(255, 0, -1)))
    (delivery.outputs / "vectors.npy").write_bytes(b"\x93NUMPY" + bytes(64))

    judged = delivery.judged(
        Deliverable(name="raw", path="raw.bin"), Deliverable(name="vectors", path="vectors.npy")
    )

    assert {one.verdict for one in judged.values()} == {Verdict.PRODUCED}
