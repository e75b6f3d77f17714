"""One offer of a plan's ladder, as a frozen value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lastro.billing import Lease, LeaseKind
from lastro.records import dataclass
from lastro.units import Money


@dataclass(frozen=True, kw_only=True)
class Rung:
    """One offer of the ladder, its price copied, and why it stands there.

    `lease` None: machines are rented under none, so there is no other rung. `cost`: the whole campaign on it;
    None: unknown. `end_hours`: when that ends; `slack_hours`: of the window; None: unknown, or there is no
    window. `gpu` and `region` as the offers file has them. `place`: the host or partition at which its
    machines are had; None: wherever the campaign runs.
    """

    offer: str
    lease: Lease | None
    why: str
    cost: Money | None
    end_hours: float | None = None
    slack_hours: float | None = None
    boot_seconds: float = 0.0
    gpu: str | None = None
    region: str | None = None
    place: str | None = None

    @property
    def kind(self) -> LeaseKind | None:
        """How it is paid; None: nobody says."""
        return self.lease.kind if self.lease is not None else None

    def as_json(self) -> dict[str, Any]:
        """Return it as `plan.json` holds it."""
        told = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return {
            **told,
            "lease": self.lease.as_json() if self.lease else None,
            "cost": self.cost.as_json() if self.cost else None,
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Rung:
        """Read what `as_json` wrote."""
        cost = Money.from_json(dict(value["cost"])) if value["cost"] else None
        lease = Lease.from_json(value["lease"]) if value["lease"] else None
        return cls(**{**value, "lease": lease, "cost": cost})
