"""Where this process stands: the attempt that a supervisor started, or a plain local one made by hand."""

from __future__ import annotations

import contextlib
import os
import secrets
import socket
import sys
from collections.abc import Sequence
from dataclasses import field
from pathlib import Path

from lastro import atomic, strictjson
from lastro.checkpoint import store
from lastro.clock import SystemClock, iso
from lastro.errors import StorageError, UsageError
from lastro.job.item_index import has_items
from lastro.job.ranks import Ranks, ranks_of
from lastro.locale import _
from lastro.paths import AttemptFolder, CampaignFolder, Disk, RunFolder
from lastro.records import dataclass
from lastro.rules import Attempt, Order

#: What `lastro run` sets in the environment of a job: the folder of its attempt.
VARIABLE = "LASTRO_ATTEMPT"

#: Where a script keeps its work that was started by hand.
BY_HAND = "lastro-run"


@dataclass(frozen=True)
class Place:
    """An attempt and its folder. `by_hand`: nobody supervises it. `ranks`: who trains together in it."""

    attempt: Attempt
    folder: AttemptFolder
    by_hand: bool
    ranks: Ranks = field(default_factory=Ranks)

    @property
    def signals(self) -> Path:
        """What this process says; the supervisor listens to the first one."""
        ranks = self.ranks
        return self.folder.signals if ranks.first else self.folder.rank_signals(ranks.rank)

    @property
    def heartbeat(self) -> Path:
        ranks = self.ranks
        return self.folder.heartbeat if ranks.first else self.folder.rank_heartbeat(ranks.rank)

    @property
    def disk(self) -> Disk:
        """The disk that everything of the run lies on; by hand the run's own folder stands for it."""
        run = self.folder.run
        return Disk(run.root) if self.by_hand else CampaignFolder(run.root.parent.parent).disk

    def require_disk(self) -> None:
        """See that the disk is still there: an empty place where it was would take everything, and lose it.

        Raises:
            StorageError: this attempt's own record is not there any more.
        """
        if not self.folder.attempt.exists():
            raise StorageError(
                _("the disk is gone: {path} is not there any more").format(path=self.folder.attempt),
                hint=_("attach it again; what was committed before lies on it"),
            )

    def still_mine(self) -> bool:
        """Tell whether the highest claim of the run is this attempt's; a run without claims has one owner."""
        claims = self.folder.run.claims
        numbers = [int(path.stem) for path in claims.glob("*.json") if path.stem.isdigit()]
        if not numbers:
            return True
        if max(numbers) != self.attempt.number:
            return False
        token = strictjson.read(self.folder.run.claim(self.attempt.number)).get("token")
        return bool(token == self.attempt.token)


def find_place(*, items: tuple[str, Sequence[str]] | None = None) -> Place:
    """Return the attempt that the environment names, else a local one in `./lastro-run`.

    Args:
        items: for a command that makes items: the template of their names, and the command. One folder can
            hold the items of several templates, but those of one template are made by one command.

    Raises:
        StorageError: the named folder cannot be read.
        UsageError: `./lastro-run` belongs to another command.
    """
    named = os.environ.get(VARIABLE)
    if not named and items is None and ranks_of().several:
        raise UsageError(
            _("{count} processes were started together, by hand: each would begin a run of its own").format(
                count=ranks_of().count
            ),
            hint=_("start them by `lastro run -- torchrun ...`"),
        )
    return _told(AttemptFolder(Path(named))) if named else _by_hand(Path.cwd(), items)


def _told(folder: AttemptFolder) -> Place:
    try:
        attempt = Attempt.from_json(strictjson.read(folder.attempt))
    except (OSError, KeyError, TypeError, ValueError) as error:
        raise StorageError(
            _("{variable} names {folder}, whose attempt.json cannot be read: {error}").format(
                variable=VARIABLE, folder=folder.root, error=error
            ),
            hint=_("unset {variable} to run the script by hand").format(variable=VARIABLE),
        ) from error
    return Place(attempt, folder, by_hand=False, ranks=ranks_of())


def _by_hand(here: Path, items: tuple[str, Sequence[str]] | None) -> Place:
    run = RunFolder(here / BY_HAND)
    atomic.make_folder(run.claims)
    if items is None:
        _check_command(run)
    else:
        _check_items(run, items[0], list(items[1]))
    token = secrets.token_hex(8)
    number = 1 + max((int(path.stem) for path in run.claims.glob("*.json") if path.stem.isdigit()), default=0)
    while not atomic.claim(run.claim(number), strictjson.pretty({"number": number, "token": token}).encode()):
        number += 1
    order = Order(
        campaign="",
        run=BY_HAND,
        name=Path(sys.argv[0]).stem,
        command=tuple(sys.argv),
        config={},
        seed=0,
        resume="training",
        workdir=str(here),
        campaign_folder=str(run.root),
        machine=socket.gethostname(),
        node=socket.gethostname(),
        home_stream="",
        home_head="",
    )
    attempt = Attempt(
        number=number,
        token=token,
        order=order,
        claimed_at=iso(SystemClock().now()),
        committed_step=_committed_step(run.checkpoints),
    )
    folder = run.attempt(number)
    atomic.make_folder(folder.root)
    atomic.write_text(folder.attempt, strictjson.pretty(attempt.as_json()))
    return Place(attempt, folder, by_hand=True)


def _check_command(run: RunFolder) -> None:
    """One folder holds one run: going on with other arguments would mix two."""
    mine = [str(Path(sys.argv[0]).absolute()), *sys.argv[1:]]
    with contextlib.suppress(FileNotFoundError):
        _require_same(run, strictjson.read(run.config).get("command"), mine)
        return
    atomic.write_text(run.config, strictjson.pretty({"command": mine}))


def _check_items(run: RunFolder, template: str, mine: Sequence[str]) -> None:
    """Items that another command has made are no items of this one; where none was made, nothing is lost."""
    commands: dict[str, Sequence[str]] = {}
    with contextlib.suppress(FileNotFoundError):
        known = strictjson.read(run.config)
        if "items" not in known:
            _require_same(run, known.get("command"), mine)
        commands = known["items"]
    if commands.get(template) == mine:
        return
    if template in commands and has_items(run.items_index, template):
        _require_same(run, commands[template], mine)
    atomic.write_text(run.config, strictjson.pretty({"items": {**commands, template: mine}}))


def _require_same(run: RunFolder, theirs: Sequence[str] | None, mine: Sequence[str]) -> None:
    if theirs != mine:
        raise UsageError(
            _("{folder} holds the work of `{theirs}`, not of `{mine}`").format(
                folder=run.root, theirs=" ".join(theirs or ["?"]), mine=" ".join(mine)
            ),
            hint=_("move {folder} away to begin anew, or give the same arguments to go on").format(
                folder=run.root
            ),
        )


def _committed_step(checkpoints: Path) -> int | None:
    manifests = (store.committed(folder) for folder in store.names(checkpoints))
    return max((each.step for each in manifests if isinstance(each, store.Manifest)), default=None)
