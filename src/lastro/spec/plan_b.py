"""What is done when the first choice cannot be had: another card, region or offer, prepared before."""

from __future__ import annotations

from typing import Annotated

from pydantic import BeforeValidator, model_validator

from lastro.locale import _
from lastro.spec.base import Contradiction, Problem, Strict, Text
from lastro.spec.durations import BY_CARD, Durations, one_or_three, read_durations


class PlanB(Strict):
    """The second path of a stage. At least one of `offer`, `gpu` and `region` says where it leads.

    `hours` None: those of the stage itself on that card. `image`: the digest of the container image there.
    `data` and `checkpoint`: how they get there, in the user's words; None has a finding.
    """

    offer: Text | None = None
    gpu: Text | None = None
    region: Text | None = None
    hours: Annotated[
        Durations | None, BeforeValidator(read_durations), one_or_three("number", [[8, 10, 14]], BY_CARD)
    ] = None
    image: Text | None = None
    data: Text | None = None
    checkpoint: Text | None = None

    @model_validator(mode="after")
    def _leads_somewhere(self) -> PlanB:
        if self.offer is None and self.gpu is None and self.region is None:
            raise Contradiction(
                Problem(
                    (),
                    _("nothing says where it leads"),
                    _("name at least one of offer, gpu and region"),
                )
            )
        return self
