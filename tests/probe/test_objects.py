"""What a training process holds is found, known by its kind, and fingerprinted bit for bit."""

from __future__ import annotations

import sys

import pytest
import torch

from lastro.probe.fingerprint import digest, rows
from lastro.probe.objects import Objects, kind_of, of_optimizer


def test_a_digest_tells_bits_apart_and_nothing_else() -> None:
    values = torch.tensor([0.0, 1.0, float("nan")])

    assert digest({"b": values, "a": 1}) == digest({"a": 1, "b": values.clone()})
    assert digest(values) != digest(torch.tensor([-0.0, 1.0, float("nan")]))
    assert digest(values) != digest(values.double())
    assert digest([1, 2]) != digest([2, 1])
    assert digest(object()) == digest(object()), "an address is no value"


def test_the_rows_of_a_batch_are_told_apart_wherever_they_stand() -> None:
    batch = torch.arange(12.0).reshape(4, 3)

    assert rows((batch[[2, 0]], torch.ones(2))) == [rows(batch)[2], rows(batch)[0]]
    assert rows("no tensor") == []


@pytest.mark.parametrize(
    ("name", "item", "kind"),
    [
        ("net", torch.nn.Linear(2, 2), "model"),
        ("criterion", torch.nn.CrossEntropyLoss(), None),
        ("ema_net", torch.nn.Linear(2, 2), "ema"),
        ("shadow", {"weight": torch.ones(2)}, "ema"),
        ("schema", {"weight": torch.ones(2)}, None),
        ("chance", torch.Generator(), "random"),
        ("scaler", torch.amp.GradScaler("cpu"), "scaler"),
        ("step", 3, None),
    ],
)
def test_an_object_is_known_by_its_type_and_name(name: str, item: object, kind: str | None) -> None:
    assert kind_of(name, item) == kind


def test_state_that_went_to_another_parameter_is_another_state() -> None:
    one, two = torch.nn.Parameter(torch.zeros(2)), torch.nn.Parameter(torch.ones(2))
    optimizer = torch.optim.Adam([one, two])
    one.grad, two.grad = torch.ones(2), torch.full((2,), 3.0)
    optimizer.step()
    before = of_optimizer(optimizer)
    same = torch.optim.Adam([two, one])
    same.state[one], same.state[two] = optimizer.state[one], optimizer.state[two]

    assert of_optimizer(same) == before, "the order of the parameters is the optimizer's own affair"
    optimizer.state[one], optimizer.state[two] = optimizer.state[two], optimizer.state[one]
    assert of_optimizer(optimizer) != before


def test_what_is_in_sight_is_found_by_its_name_and_parts_belong_to_their_whole() -> None:
    model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.BatchNorm1d(2))
    model[0].weight.requires_grad_(False)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    found = Objects()

    found.look(sys._getframe(), {"tracked": optimizer})
    state = found.state()

    assert {name: state[name][0] for name in ("model", "model.frozen", "model.buffers", "tracked")} == {
        "model": "model", "model.frozen": "frozen", "model.buffers": "buffers", "tracked": "optimizer",
    }  # fmt: skip
    assert "optimizer" not in state, "the job's own name for it counts"
