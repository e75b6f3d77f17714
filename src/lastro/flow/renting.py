"""How a driver comes by machines: where it asks, what it records of that, and which are not used."""

from __future__ import annotations

import secrets
from collections.abc import Collection
from datetime import timedelta
from pathlib import Path

from lastro.billing import Lease
from lastro.errors import CapacityRefused
from lastro.flow import policy
from lastro.flow.driven import Drive
from lastro.flow.inherited import Inherited
from lastro.flow.lease_choice import lease_at
from lastro.flow.machine_events import note_created
from lastro.flow.moving_on import Choice, Moving, boot_of, despair, place_in
from lastro.flow.orders import unattended_seconds
from lastro.flow.refusals import Refusals
from lastro.journal.events import EventType
from lastro.journal.views import CampaignView
from lastro.locale import _
from lastro.providers.base import Machine, MachineRequest
from lastro.units import show_duration


class Renting:
    """Asks for machines as the policy says, and knows who had none to give, and when to ask again."""

    def __init__(self, drive: Drive, inherited: Inherited) -> None:
        self._d = drive
        self._inherited = inherited
        self._moving = Moving(drive.plan, drive.provider, drive.writer, drive.tell)
        self._refusals = Refusals()
        self._recalled: set[str] = set()
        self._ask_again_at = 0.0

    # --- what is known ------------------------------------------------------------------------------------

    def choose(self, view: CampaignView, going: Collection[str]) -> Choice:
        """Return which offer is asked now. `going`: machines that are about to be taken away."""
        return self._moving.choose(view, going)

    def used(self) -> None:
        """Note that a machine may be used."""
        self._moving.used()

    @property
    def refusals(self) -> int:
        """How often in a row nobody had a machine."""
        places = self._d.provider.places
        return self._refusals.fewest(places) if places else self._moving.refusals

    @property
    def shut(self) -> frozenset[str]:
        """The places that had no machine a short while ago."""
        return self._refusals.shut(self._d.clock.monotonic())

    @property
    def barred(self) -> frozenset[str]:
        """The places that are not asked again."""
        return self._refusals.barred

    @property
    def retry_in(self) -> float:
        """The seconds until it is worth asking for a machine again."""
        now, places = self._d.clock.monotonic(), self._d.provider.places
        return self._refusals.wait(places, now) if places else max(0.0, self._ask_again_at - now)

    def _count_refusal(self, place: str) -> tuple[int, float]:
        """Count a refusal; return how many that makes in a row, and the seconds until the next question."""
        now = self._d.clock.monotonic()
        if self._d.provider.places:
            return self._refusals.note(place, now)
        wait = self._moving.refused()
        self._ask_again_at = now + wait
        return self._moving.refusals, wait

    # --- asking -------------------------------------------------------------------------------------------

    def rent(self, view: CampaignView, action: policy.Action) -> None:
        """Ask for a machine, after its intent."""
        assert isinstance(action, policy.Rent)
        tag = f"{self._d.session.facts.key}-{len(view.machines) + 1}-{secrets.token_hex(3)}"
        place = action.place or self._d.provider.name
        lease = self._moving.choose(view).lease
        if action.place is not None:
            lease = lease_at(self._d.plan, view, place, lease)
        self._d.writer.append(
            EventType.MACHINE_INTENDED,
            tag=tag,
            provider=place,
            lease=lease.as_json() if lease else None,
            why=action.why,
        )
        self._create(tag, lease, place)

    def recover(self, view: CampaignView, action: policy.Action) -> None:
        """Find the machine of an intent that was never confirmed, or make it."""
        assert isinstance(action, policy.Recover)
        intended = next(machine for machine in view.machines if machine.tag == action.tag)
        if (theirs := self._inherited.recover(action.tag)) is not None:
            self._note_created(action.tag, theirs, intended.provider)
        else:
            self._create(action.tag, intended.lease, intended.provider)

    def _create(self, tag: str, lease: Lease | None, place: str) -> None:
        """Make the machine of an intent; called again with the same tag it finds the one that was made."""
        self._d.session.mirror()
        request = MachineRequest(
            tag=tag,
            campaign=self._d.plan.campaign,
            disk=self._d.session.disk.root,
            lease=lease,
            boot_seconds=boot_of(self._d.plan, lease),
            faults=self._d.faults,
            workdir=Path(self._d.session.facts.campaign_file).parent,
            unattended_seconds=unattended_seconds(self._d.plan, lease),
            sbatch=self._d.plan.sbatch,
            place=place if self._d.provider.places else self._place_of(lease),
        )
        try:
            machine = self._d.provider.create(request)
        except CapacityRefused as error:
            self._refused(tag, place, error)
            return
        self._moving.had()
        self._refusals.forget(place)
        self._note_created(tag, machine, request.place or place)

    def _place_of(self, lease: Lease | None) -> str | None:
        """Return where a machine of a lease is asked for, where that goes by its offer."""
        return place_in(self._d.plan, lease) if self._d.provider.traits.takes_places else None

    def _note_created(self, tag: str, machine: Machine, place: str) -> None:
        note_created(self._d.writer, tag, machine)
        self._d.tell(_("machine {id} was taken from '{provider}'").format(id=machine.id, provider=place))
        self.recall(machine.id, machine.node, avoid=True)

    def recall(self, machine: str, node: str, *, avoid: bool = False) -> None:
        """Name a machine that something speaks against, before it is used again.

        With `avoid` it is let go where the plan has another offer to go to: this box is left to others.
        """
        record = self._d.recall(node)
        if record is None or machine in self._recalled:
            return
        self._recalled.add(machine)
        self._d.writer.append(
            EventType.MACHINE_RECALLED,
            machine=machine,
            node=record.node,
            why=record.bad,
            faults=len(record.faults),
            hours=record.hours,
            notes=len(record.notes),
        )
        self._d.tell(
            _("careful: {id} is {node}, which this home knows: {why}").format(
                id=machine, node=record.node, why=record.bad
            )
        )
        if avoid and self._moving.choose(self._d.session.view()).has_other:
            why = _("machine {id} is {node}, which this home knows: {why}").format(
                id=machine, node=record.node, why=record.bad
            )
            self.turn_away(machine, "node", why)

    def _refused(self, tag: str, place: str, error: CapacityRefused) -> None:
        """Record that nothing was made, and ask again later; the wait grows with each refusal in a row."""
        tries, wait = self._count_refusal(place)
        self._d.writer.append(
            EventType.MACHINE_REFUSED,
            tag=tag,
            why=error.message,
            tries=tries,
            wait_seconds=wait,
        )
        self._d.tell(
            _("{why}; asked again in {time}").format(
                why=error.message, time=show_duration(timedelta(seconds=wait))
            )
            + self._moving.while_waiting
        )

    def despair(self, view: CampaignView, action: policy.Action) -> None:
        """Raise the error with which a command ends that gets no machine."""
        assert isinstance(action, policy.Despair)
        raise despair(self._d.plan, action.end, self._d.provider.name, self.refusals)

    def reject(self, view: CampaignView, action: policy.Action) -> None:
        """Record that a machine is not used, as the policy says."""
        assert isinstance(action, policy.Reject)
        self.turn_away(action.machine, action.what, action.why)

    def turn_away(self, machine: str, what: str, why: str, *, by_offer: bool = False) -> None:
        """Record that a machine is not used; one of several computers is not taken again by this command."""
        self._moving.reject(machine, what, why, by_offer=by_offer)
        if self._d.provider.places:
            view = self._d.session.view()
            self._refusals.bar(next(one.provider for one in view.machines if one.id == machine))

    def leave_offer(self, view: CampaignView, action: policy.Action) -> None:
        """Go on to the next offer."""
        assert isinstance(action, policy.LeaveOffer)
        self._moving.leave(action.move)
        self._ask_again_at = 0.0

    def note_spent(self, view: CampaignView, action: policy.Action) -> None:
        """Record that no further offer is left."""
        self._moving.spent(self._moving.choose(view))
