"""A terminal, or one command, on a machine of a campaign: asked for, held, and what became of it."""

from __future__ import annotations

import contextlib
import secrets
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from lastro import strictjson
from lastro.clock import Clock
from lastro.errors import LastroError, ProviderError, UsageError
from lastro.flow.hearing import heard
from lastro.flow.limits import limits_of
from lastro.flow.ownership import require_owner
from lastro.flow.refresh import refresh
from lastro.flow.session import Session, find_session, known_sessions
from lastro.flow.shell_choice import choose_machine, entry, run_on
from lastro.journal.events import EventType
from lastro.journal.streams import parse_stream, read_stream
from lastro.journal.views import CampaignView, MachineView
from lastro.locale import _, language
from lastro.paths import Disk, Home, stream_of_shell
from lastro.plan.model import Plan
from lastro.providers.base import Machine
from lastro.providers.doors.door import Door, Forward, Way, parse_forward, require_free
from lastro.providers.doors.registry import door_of
from lastro.providers.registry import provider_for, traits_of
from lastro.records import dataclass
from lastro.rules.shell import ShellOrder
from lastro.stack.versions import is_python

#: How often home gives a sign within the silence that a machine bears, and at most so many seconds apart.
_SIGNS = 5
_SECONDS_APART = 5.0
#: What ssh ends with when the connection has broken, and some commands do on their own.
_BROKEN = 255

#: What Ctrl-C and Ctrl-\\ send to everything in a terminal's foreground.
_OF_A_TERMINAL = (signal.SIGINT, signal.SIGQUIT)

Tell = Callable[[str], None]


@dataclass(frozen=True, kw_only=True)
class Wish:
    """What was asked for. `machine` None: the one there is. `command` None: a terminal.

    `forwards`: as they were typed. `terminal`: standard input and output are one. `aside`: what the command
    prints goes to standard error, because standard output is somebody else's.
    """

    campaign_file: Path
    machine: str | None = None
    command: tuple[str, ...] | None = None
    forwards: tuple[str, ...] = ()
    terminal: bool = False
    aside: bool = False


@dataclass(frozen=True, kw_only=True)
class Left:
    """How it ended. `seconds` on the machine; None: not told. `why` None: nothing but itself ended it."""

    machine: str
    code: int
    seconds: float | None
    why: str | None

    def as_json(self) -> dict[str, Any]:
        return vars(self)


def open_shell(wish: Wish, home: Home, clock: Clock, tell: Tell) -> Left:
    """Open a terminal on a machine, or run one command there, and return when that has ended.

    Raises:
        UsageError: no such machine, no terminal, no such port.
        ProviderError: the machine is gone or does not answer, or the connection was lost.
        StorageError: the campaign's disk is not there.
        Fenced: another home drives the campaign.
    """
    forwards = tuple(parse_forward(text) for text in wish.forwards)
    if wish.command is None and not wish.terminal:
        raise UsageError(
            _("there is no terminal here to open a shell in"),
            hint=_("give a command to run there: lastro shell -- COMMAND"),
        )
    require_free(forwards)
    session = find_session(home, clock, wish.campaign_file)
    stale = refresh(session, reading=True)
    view = session.view()
    machine = _choose(session, view, wish.machine, home, clock)
    if session.link is None:
        session.require_disk()
    require_owner(session)
    provider = provider_for(machine.provider, home, clock)
    try:
        found, door = door_of(provider, str(machine.id), home, session.disk, clock)
    except ProviderError as error:
        raise ProviderError(stale or error.message, hint=error.hint) from error
    try:
        return _Opening(session, view, machine, found, door, clock, tell).carry_out(wish, forwards)
    finally:
        door.close()


def _choose(session: Session, view: CampaignView, name: str | None, home: Home, clock: Clock) -> MachineView:
    try:
        return choose_machine(view, name)
    except UsageError as error:
        others = [one for one in known_sessions(home, clock) if one.facts.key != session.facts.key]
        theirs = [one for one in others if name is not None and _has(one, name)]
        if not theirs:
            raise
        raise UsageError(
            _("{name!r} is a machine of the campaign {campaign}").format(
                name=name, campaign=theirs[-1].facts.name
            ),
            hint=_("name that: --campaign {file}").format(file=theirs[-1].facts.campaign_file),
        ) from error


def _has(session: Session, machine: str) -> bool:
    with contextlib.suppress(LastroError, OSError):
        return any(one.id == machine for one in session.view().machines)
    return False


class _Opening:
    """One shell, seen from home."""

    def __init__(
        self,
        session: Session,
        view: CampaignView,
        rented: MachineView,
        machine: Machine,
        door: Door,
        clock: Clock,
        tell: Tell,
    ) -> None:
        if view.plan is None:
            raise UsageError(_("this campaign has no frozen plan"), hint=_("run it with `lastro run`"))
        self._session, self._view, self._plan = session, view, Plan.from_json(view.plan)
        self._rented, self._machine, self._door = rented, machine, door
        self._clock, self._tell = clock, tell
        self._token = secrets.token_hex(8)
        self._limits = limits_of(self._plan, view, rented)
        self._there = Disk(door.disk).campaign(self._plan.campaign)

    def carry_out(self, wish: Wish, forwards: Sequence[Forward]) -> Left:
        order = self._order(wish)
        folder = self._there.shell(self._token)
        way = self._door.way(["-m", "lastro.run.shell", str(folder.root)], forwards, terminal=wish.terminal)
        self._door.put(self._below(folder.order), strictjson.pretty(order.as_json()).encode())
        for line in (*entry(self._rented, self._limits, self._clock.now()), *way.told):
            self._tell(line)
        every = min(_SECONDS_APART, order.silence_seconds / _SIGNS)
        with heard(self._door, self._below(folder.heard), every), _beside(way):
            code = _in_foreground(way, terminal=wish.terminal, aside=wish.aside)
        left = self._left(way, code)
        self._door.drop(self._below(folder.order))  # of one that could not begin
        if left.why is not None:
            self._tell(left.why)
        return left

    def _below(self, path: Path) -> str:
        return path.relative_to(self._door.disk).as_posix()

    def _order(self, wish: Wish) -> ShellOrder:
        machine, run = self._machine, run_on(self._view, self._machine.id)
        traits = traits_of(self._rented.provider)
        own = traits is not None and traits.own_workdir
        command = self._plan.run(run.id).command if run is not None else self._plan.runs[0].command
        return ShellOrder(
            token=self._token,
            campaign=self._plan.campaign,
            machine=machine.id,
            node=machine.node,
            campaign_folder=str(self._there.root),
            workdir=str(machine.workdir / run.id if own and run is not None else machine.workdir),
            command=wish.command,
            home_stream=self._session.stream_name,
            home_head=_head(self._session),
            python=command[0] if is_python(command[0]) else None,
            environment={
                "LASTRO_CAMPAIGN": str(self._there.root),
                "LASTRO_DISK": str(self._door.disk),
                "LASTRO_LANG": language(),
            },
            limits=self._limits,
            silence_seconds=self._plan.silence_seconds,
        )

    def _left(self, way: Way, code: int) -> Left:
        """Say how it ended, as the machine has recorded it; where it has not, as it was seen from here."""
        machine = self._machine.id
        facts = self._recorded(way, code)
        if facts is not None:
            by_itself = facts.get("ended_by") == "left"
            return Left(
                machine=machine,
                code=int(facts["code"]),
                seconds=float(facts["seconds"]),
                why=None if by_itself else str(facts["why"]),
            )
        if way.far and code == _BROKEN:
            raise self._lost(_("it broke"))
        why = _("what became of it on {machine} was not recorded").format(machine=machine)
        return Left(machine=machine, code=code, seconds=None, why=why)

    def _recorded(self, way: Way, code: int) -> Mapping[str, Any] | None:
        name = stream_of_shell(self._token)
        try:
            data = self._door.read(self._below(self._there.stream(name)))
        except ProviderError as error:
            if way.far and code == _BROKEN:
                raise self._lost(error.message) from error
            return None
        events = parse_stream(name, data or b"").events
        return next((event.facts for event in events if event.type is EventType.SHELL_ENDED), None)

    def _lost(self, why: str) -> ProviderError:
        return ProviderError(
            _("the connection to {machine} was lost: {why}").format(machine=self._machine.id, why=why),
            hint=_("the shell there is ended within {seconds:.0f} s; runs go on").format(
                seconds=self._plan.silence_seconds
            ),
        )


def _head(session: Session) -> str:
    """Return the head of home's stream as it is here."""
    return read_stream(session.at_home.stream(session.stream_name)).head.digest


@contextlib.contextmanager
def _beside(way: Way) -> Iterator[None]:
    """Keep the command running that leads ports there, where one is needed."""
    if way.beside is None:
        yield
        return
    process = subprocess.Popen(way.beside, stdin=subprocess.DEVNULL, start_new_session=True)
    try:
        yield
    finally:
        process.terminate()
        process.wait()


def _in_foreground(way: Way, *, terminal: bool, aside: bool) -> int:
    """Run the command here. It hears a terminal's Ctrl-C by itself; what else would end this ends it."""
    main = threading.current_thread() is threading.main_thread()
    out = sys.stderr.fileno() if aside else None
    with subprocess.Popen(way.argv, env=dict(way.environment), cwd=way.cwd, stdout=out) as child:

        def pass_on(number: int, _frame: object) -> None:
            if not terminal or number not in _OF_A_TERMINAL:
                child.send_signal(number)

        numbers = (*_OF_A_TERMINAL, signal.SIGTERM, signal.SIGHUP) if main else ()
        before = {number: signal.signal(number, pass_on) for number in numbers}
        try:
            code = child.wait()
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
    return code if code >= 0 else 128 - code
