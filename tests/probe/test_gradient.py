"""The norm of the gradient is the same in whatever order an optimizer holds its parameters."""

from __future__ import annotations

import torch

from lastro.probe.recorder import _norm


def test_the_order_of_the_parameters_changes_no_bit_of_it() -> None:
    """1e16 + 1 + 1 is 1e16 when it is summed up from the left, and 1e16 + 2 from the right."""
    parameters = [torch.nn.Parameter(torch.zeros(1)) for _number in range(3)]
    for parameter, value in zip(parameters, (1e8, 1.0, 1.0), strict=True):
        parameter.grad = torch.tensor([value])

    norms = [_norm(torch.optim.SGD(some, lr=1.0)) for some in (parameters, parameters[::-1])]

    assert norms[0] == norms[1] == (1e16 + 2) ** 0.5


def test_without_a_gradient_there_is_none() -> None:
    assert _norm(torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=1.0)) is None
