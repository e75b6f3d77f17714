"""One campaign on several computers with disks of their own: one copy at home, and the ways to all of them.

What is written on one of them comes to home, and from there to the next one when a run moves. So a run that
has saved moves only when home has a checkpoint of it, read again.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from lastro import atomic
from lastro.checkpoint.store import BASE, names
from lastro.clock import Clock
from lastro.errors import Fenced, ProviderError, StorageError
from lastro.locale import _
from lastro.paths import CampaignFolder, Disk, RunFolder, stream_of_attempt
from lastro.procs.identity import ProcessId
from lastro.providers.base import Copy
from lastro.providers.ssh.keeper import Keeper
from lastro.providers.ssh.replica import Replica
from lastro.providers.ssh.share import last_attempt, place_of_attempt, place_of_run, writer_of

#: Seconds of each exchange that checkpoints may be copied for.
COPY_SECONDS = 1.0


class Links:
    """The ways to several computers.

    Args:
        local: the copy.
        members: the way to each, by its address.
        place_of: the address of a machine by its id; None where it is not known.
        clock: for waits.
    """

    def __init__(
        self,
        local: Disk,
        members: Mapping[str, Replica],
        place_of: Callable[[str], str | None],
        clock: Clock,
    ) -> None:
        self.local = local
        self._members, self._place_of, self._clock = members, place_of, clock
        self._keepers = {place: Keeper(member, clock) for place, member in members.items()}

    @property
    def trouble(self) -> str | None:
        """Why none of them answers; None while one does."""
        troubles = [member.trouble for member in self._members.values()]
        return None if None in troubles else troubles[0]

    # --- opening --------------------------------------------------------------------------------------

    def open(self, declared: str | None) -> None:
        """Open the disks; that of the first computer, which the campaign is known by, has to be there once.

        Raises what a computer says without which nothing can begin.
        """
        errors: dict[str, ProviderError | StorageError] = {}
        for place, member in self._members.items():
            try:
                member.open(declared)
            except (ProviderError, StorageError) as error:
                member.stand_back(error.message)
                errors[place] = error
        first, member = next(iter(self._members.items()))
        if first in errors and (len(errors) == len(self._members) or not self.local.facts.exists()):
            raise errors[first]
        if not self.local.facts.exists():
            atomic.make_folder(self.local.facts.parent)
            atomic.write_bytes(self.local.facts, member.marker.read_bytes())

    def proof(self, machine: str) -> Mapping[str, Any]:
        return self._member(machine).proof(machine)

    def uuid(self, machine: str) -> str:
        return self._member(machine).uuid(machine)

    def close(self) -> None:
        """Hang up everywhere."""
        for member in self._members.values():
            member.close()

    # --- exchanging -----------------------------------------------------------------------------------

    def exchange(
        self,
        campaign: CampaignFolder,
        mine: str,
        processes: Collection[ProcessId],
        *,
        now: bool = False,
        reading: bool = False,
    ) -> None:
        """Exchange with each of them; whoever cannot be asked, or whose disk is wrong, keeps nobody waiting.

        Raises:
            Fenced: another home has taken the campaign over.
        """
        for place, member in self._members.items():
            try:
                member.exchange(campaign, mine, processes, now=now, reading=reading)
                if member.trouble is None and not reading:
                    self._keepers[place].work(self._runs_at(campaign, place), COPY_SECONDS)
            except Fenced:
                raise
            except (ProviderError, StorageError) as error:
                member.stand_back(error.message)

    def _runs_at(self, campaign: CampaignFolder, place: str) -> Iterator[RunFolder]:
        for path in sorted(campaign.runs.iterdir()) if campaign.runs.is_dir() else ():
            run = RunFolder(path)
            last = last_attempt(run)
            if last and place_of_attempt(run, last, self._place_of) == place:
                yield run

    def alive(self, process: ProcessId) -> bool | None:
        """Return whether a process lives; None while the computer that it may be on was not asked."""
        told = [member.alive(process) for member in self._members.values()]
        if True in told:
            return True
        return None if None in told else False

    def arrived(self) -> Sequence[Copy]:
        return [copy for keeper in self._keepers.values() for copy in keeper.arrived()]

    # --- large files ----------------------------------------------------------------------------------

    def carry(self, paths: Sequence[Path], machine: str) -> None:
        self._member(machine).carry(paths, machine)

    def rescue(self, machine: str, seconds: float) -> Mapping[str, Any]:
        return self._member(machine).rescue(machine, seconds)

    def bring(self, run: RunFolder, machine: str) -> None:
        """Bring what a run was, and its checkpoint here, to a machine on which its last attempt was not."""
        last = last_attempt(run)
        if not last or place_of_attempt(run, last, self._place_of) == self._place_of(machine):
            return
        campaign = CampaignFolder(run.root.parent.parent)
        streams = (campaign.stream(stream_of_attempt(run.root.name, number)) for number in range(1, last + 1))
        newest = names(run.checkpoints)[:1]
        # The manifest makes a checkpoint exist, and comes after its files: `carry` goes by name.
        saves = [run.checkpoints / BASE, *(_manifest_last(newest[0]) if newest else ())]
        parts = [*streams, run.attempts, *saves, run.claims]
        self.carry([path for path in parts if path.exists()], machine)

    def fetch(self, campaign: CampaignFolder) -> None:
        """Bring here what runs have delivered. Raises ProviderError where a computer with some is away."""
        needed = {place_of_run(RunFolder(path), self._place_of) for path in _runs(campaign)}
        for place, member in self._members.items():
            if place in needed:
                member.fetch(campaign)

    def place(self, path: Path) -> str:
        campaign = self._campaign_of(path)
        name = path.relative_to(campaign.root).as_posix()
        where = writer_of(campaign, name, self._place_of) if path != campaign.root else None
        known = self._members.get(where or "")
        chosen = [known] if known is not None else list(self._members.values())
        return ", ".join(member.place(path) for member in chosen)

    def unlike(self, files: Sequence[tuple[Path, int, str]]) -> str | None:
        """Have each file read again where it was written; see `Link`."""
        shares: dict[str, list[tuple[Path, int, str]]] = {}
        for one in files:
            campaign = self._campaign_of(one[0])
            name = one[0].relative_to(campaign.root).as_posix()
            where = writer_of(campaign, name, self._place_of) or self._answering()
            shares.setdefault(where, []).append(one)
        for where, share in shares.items():
            if where not in self._members:
                return _("{place} is not among the hosts any more").format(place=where)
            found = self._members[where].unlike(share)
            if found is not None:
                return found
        return None

    def _answering(self) -> str:
        return next((place for place, one in self._members.items() if one.trouble is None), "")

    def _campaign_of(self, path: Path) -> CampaignFolder:
        name = path.relative_to(self.local.root).parts[1]
        return self.local.campaign(name)

    def _member(self, machine: str) -> Replica:
        member = self._members.get(self._place_of(machine) or "")
        if member is None:
            raise ProviderError(
                _("machine {id} is not on one of the hosts of this campaign").format(id=machine),
                hint=_("add its host to `hosts:` again"),
            )
        return member


def _manifest_last(folder: Path) -> list[Path]:
    return sorted(folder.iterdir(), key=lambda path: (path.name == "manifest.json", path.name))


def _runs(campaign: CampaignFolder) -> list[Path]:
    return sorted(campaign.runs.iterdir()) if campaign.runs.is_dir() else []
