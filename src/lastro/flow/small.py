"""A campaign in small: the same path with tiny inputs, on this computer's processors."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping

from lastro.rules import StopKind
from lastro.spec.campaign import Campaign, Variant
from lastro.spec.move_on import MoveOnSpec
from lastro.spec.want import OF_MACHINE

#: What a job finds in its environment: it may take less of its input by it, and sees no GPU.
ENVIRONMENT = {"LASTRO_SMOKE": "1", "CUDA_VISIBLE_DEVICES": ""}
#: Rules about values and rows would only say that the inputs are tiny.
_RULES_KEPT = (StopKind.NON_FINITE, StopKind.NO_USABLE_RESUME)


def tiny(campaign: Campaign) -> Campaign:
    """Return a campaign in small: the values of `smoke` in every run, on one local machine, without money.

    What is said of time, money, room and levels of a metric is left out: it was written for the real one. So
    is the mirror, which holds what the real one does.
    """
    control = {**campaign.control, **campaign.smoke}
    variants: dict[str, Variant] = {}
    for name, variant in campaign.variants.items():
        changes = {key: value for key, value in variant.changes.items() if key not in campaign.smoke}
        if changes and all(changes != other.changes for other in variants.values()):
            variants[name] = variant.model_copy(update={"changes": changes})
    return campaign.model_copy(
        update={
            "control": control,
            "variants": variants,
            "provider": "local",
            "machines": 1,
            "window": None,
            "budget": None,
            "max_weather": None,
            "idle": None,
            "offers": None,
            "stages": {},
            "plan_b": {},
            "move_on": MoveOnSpec(),
            "disk": campaign.disk.model_copy(update={"mirror": None}) if campaign.disk else None,
            "stop": tuple(rule for rule in campaign.stop if rule.kind in _RULES_KEPT),
            "want": {name: wanted for name, wanted in campaign.want.items() if name not in OF_MACHINE},
        }
    )


@contextlib.contextmanager
def with_environment(values: Mapping[str, str]) -> Iterator[None]:
    """Set variables that machines, jobs and reloads inherit, for as long as this takes."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
