"""Preflight of a machine before the first attempt on it, as the driver calls it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Any

from lastro.clock import Clock
from lastro.errors import UsageError
from lastro.flow.freeze import Draft
from lastro.flow.machine_check import CheckWish, check_machine
from lastro.locale import _
from lastro.paths import Home
from lastro.preflight.check import Finding, Level
from lastro.preflight.risk import decide
from lastro.providers.base import Machine
from lastro.records import dataclass


@dataclass(frozen=True, kw_only=True)
class Accepted:
    """Risks that a person takes upon himself: codes of findings, and why."""

    codes: tuple[str, ...] = ()
    why: str | None = None

    def reasons(self) -> Mapping[str, str]:
        """Return the reason by code.

        Raises:
            UsageError: there is no reason, or nothing that it is the reason for.
        """
        if self.codes and not self.why:
            raise UsageError(
                _("a risk that is accepted needs its reason"),
                hint=_("add --why with the reason; it stands in the report"),
            )
        if self.why and not self.codes:
            raise UsageError(
                _("--why gives the reason for --accept-risk, and there is none"),
                hint=_("add --accept-risk with the code of the finding"),
            )
        return dict.fromkeys(self.codes, self.why or "")


@dataclass(frozen=True, kw_only=True)
class Trusting:
    """How machines are trusted. `locking`: by the lock beside the campaign file, if there is a file."""

    draft: Draft
    home: Home
    clock: Clock
    tell: Callable[[str], None]
    locking: bool = True
    accepted: Mapping[str, str] = field(default_factory=dict)


def preflight_of(trusting: Trusting) -> Callable[[Machine], Mapping[str, Any]]:
    """Return what checks a machine for this campaign and gives the facts of `preflight.done`.

    Machines of `here` and `local` are this box, so the checks run in this process.
    """
    draft = trusting.draft
    provider = draft.plan.provider
    wish = CheckWish(
        loaded=draft.loaded,
        disk=draft.disk,
        provider=provider,
        # What rehearses on this box is billed by an offer, and has none of its cards.
        lease=draft.plan.lease if provider != "local" else None,
        locking=trusting.locking,
    )

    def check(machine: Machine) -> Mapping[str, Any]:
        if machine.finding is not None:
            return _scripted(machine.node, machine.finding, trusting.accepted)
        checked = check_machine(wish, trusting.home, trusting.clock)
        trust = decide(checked.report.findings, trusting.accepted)
        if checked.lock is not None:
            trusting.tell(_("lastro.lock was written: it belongs into the repository of the campaign"))
        return {
            **checked.report.as_json(),
            "trusted": trust.trusted,
            "trust_why": trust.why,
            "accepted": dict(trust.accepted),
        }

    return check


def _scripted(node: str, code: str, accepted: Mapping[str, str]) -> Mapping[str, Any]:
    """Return the facts where a script says what preflight finds: of the machine, and not of this box."""
    found = Finding(
        code=code,
        level=Level.FAIL,
        fact=_("a script of faults"),
        value=_("it says that preflight finds {code} here").format(code=code),
        consequence=_("this is a rehearsal"),
        source="declared",
    )
    trust = decide([found], accepted)
    return {
        "verdict": Level.FAIL.value,
        "summary": found.text,
        "findings": [found.as_json()],
        "stack": {},
        "node_id": node,
        "trusted": trust.trusted,
        "trust_why": trust.why,
        "accepted": dict(trust.accepted),
    }
