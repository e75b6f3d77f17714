"""What exists at each provider that this home's campaigns use, also what no campaign knows.

Each provider is asked beside the others, and for so long at most: what has not answered by then is unknown,
which is not "nothing".
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from lastro.clock import Clock
from lastro.errors import LastroError
from lastro.flow.session import Session, known_sessions
from lastro.journal.views import CampaignView
from lastro.locale import _
from lastro.paths import Home
from lastro.providers.base import Adopts, Machine, MachineState, Trace
from lastro.providers.registry import places_of, provider_for
from lastro.records import dataclass

#: Seconds for all providers together: a controller or a computer that is away must not keep `status` waiting.
DEADLINE_SECONDS = 10.0


@dataclass(frozen=True, kw_only=True)
class Existing:
    """A machine that is there. `campaign` None: no campaign of this home knows it.

    `tag` and `state` None: this home has no record of it, only of its trace (`what`).
    """

    machine: str
    tag: str | None
    state: str | None
    campaign: str | None
    what: str | None


@dataclass(frozen=True, kw_only=True)
class Looked:
    """One provider. `trouble`: why it could not be asked, so that what exists there is unknown."""

    provider: str
    found: tuple[Existing, ...] = ()
    trouble: str | None = None

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def look_at_providers(
    session: Session, view: CampaignView, clock: Clock, away: str | None = None
) -> tuple[Looked, ...]:
    """Return what exists at the providers of a campaign, and of this home's others that are not closed.

    `away`: why this campaign's own provider has just not answered, so that it is not asked again.
    """
    others = [one for one in known_sessions(session.home, clock) if one.facts.key != session.facts.key]
    tags = {machine.tag: session.facts.name for machine in view.machines}
    keys = {one.facts.key: one.facts.name for one in others}
    names = {one.facts.provider for one in others if not one.is_closed()}
    if view.closed is None:
        names |= {session.facts.provider, *(one.provider for one in view.machines if one.state != "gone")}
    names = {place for name in names for place in places_of(name)}
    silent = [Looked(provider=name, trouble=away) for name in names & {session.facts.provider} if away]
    asked = names - {one.provider for one in silent}
    return (*silent, *look_at(asked, session.home, clock, lambda tag: _campaign(tag, tags, keys)))


def look_at(
    names: Collection[str],
    home: Home,
    clock: Clock,
    campaign: Callable[[str], str | None],
    *,
    seconds: float = DEADLINE_SECONDS,
) -> tuple[Looked, ...]:
    """Return what exists at providers, in the order of their names.

    Args:
        names: of the providers, as they stand in the journal.
        home: whose records of machines are read.
        clock: for the deadline.
        campaign: the name of the campaign of a machine's tag; None: none is known.
        seconds: for all of them together.
    """
    asked: dict[str, Looked] = {}

    def ask(name: str) -> None:
        try:
            provider = provider_for(name, home, clock)
            traces = provider.traces() if isinstance(provider, Adopts) else []
            found = tuple(existing(provider.machines(), traces, campaign))
            asked[name] = Looked(provider=name, found=found)
        except (LastroError, OSError) as error:
            asked[name] = Looked(provider=name, trouble=str(getattr(error, "message", error)))

    threads = [threading.Thread(target=ask, args=(name,), daemon=True) for name in sorted(names)]
    for thread in threads:
        thread.start()
    deadline = clock.monotonic() + seconds
    for thread in threads:
        thread.join(max(0.0, deadline - clock.monotonic()))
    late = _("no answer within {seconds:.0f} s").format(seconds=seconds)
    return tuple(asked.get(name) or Looked(provider=name, trouble=late) for name in sorted(names))


def existing(
    machines: Sequence[Machine], traces: Sequence[Trace], campaign: Callable[[str], str | None]
) -> Iterator[Existing]:
    """Give what exists at one provider, by its id. Pure.

    Args:
        machines: what this home has records of there.
        traces: what is alive there, whoever made it. A machine that is gone and alive all the same is told.
        campaign: the name of the campaign of a machine's tag; None: none is known.
    """
    alive = {trace.machine: trace.what for trace in traces}
    there = {one.id: one for one in machines if one.state is not MachineState.GONE or one.id in alive}
    for machine_id in sorted({*there, *alive}):
        machine = there.get(machine_id)
        tag = machine.tag if machine is not None else None
        yield Existing(
            machine=machine_id,
            tag=tag,
            state=machine.state.value if machine is not None else None,
            campaign=campaign(tag) if tag is not None else None,
            what=alive.get(machine_id),
        )


def _campaign(tag: str, tags: Mapping[str, str], keys: Mapping[str, str]) -> str | None:
    """Return the campaign of a tag: by its journal, and for others by that with which their tags begin."""
    if tag in tags:
        return tags[tag]
    return next((name for key, name in keys.items() if tag.startswith(f"{key}-")), None)


def told(looked: Sequence[Looked]) -> Iterator[str]:
    """Give a line for each machine that exists, and for each provider of which nothing is known."""
    for one in looked:
        if one.trouble is not None:
            yield _("at {provider}: what exists there is unknown: {why}").format(
                provider=one.provider, why=one.trouble
            )
        for each in one.found:
            yield _line(one.provider, each)


def _line(provider: str, found: Existing) -> str:
    if found.tag is None:
        return _("at {provider}: {id} ({what}) is of no campaign of this home").format(
            provider=provider, id=found.machine, what=found.what
        )
    if found.state == MachineState.GONE.value:
        return _("at {provider}: {id} counts as gone, and is alive all the same: {what}").format(
            provider=provider, id=found.machine, what=found.what
        )
    if found.campaign is None:
        return _("at {provider}: {id} is {state}, tag {tag}, which no campaign of this home knows").format(
            provider=provider, id=found.machine, state=found.state, tag=found.tag
        )
    return _("at {provider}: {id} is {state}, tag {tag}, of {campaign}").format(
        provider=provider, id=found.machine, state=found.state, tag=found.tag, campaign=found.campaign
    )
