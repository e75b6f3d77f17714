"""Rehearses a plan: in small, on machines of this box, twice: undisturbed, and with faults that were drawn.

The real campaign is read and never touched: both have a home and a disk of their own, below the real home.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path

from lastro import atomic, strictjson
from lastro.clock import Clock
from lastro.errors import NotProven, StorageError
from lastro.flow.alone import alone
from lastro.flow.campaign import Outcome, Wish, run_campaign
from lastro.flow.driven import Tell
from lastro.flow.freeze import Draft, changes_between, draw_up
from lastro.flow.own_home import end_machines, key_of, own_home
from lastro.flow.quick import exit_code_of as run_code
from lastro.flow.rehearsal_end import ended_with_me
from lastro.flow.rehearsal_seen import answer_of, lives_of, outputs_of, runs_of, steps_seen
from lastro.flow.rehearsal_small import as_file, from_file, in_small, is_shortened, machines_in_small
from lastro.flow.session import Session, known_sessions
from lastro.flow.small import ENVIRONMENT, tiny, with_environment
from lastro.flow.smoke import exit_code_of, tell_left_out, what_failed
from lastro.journal.views import CampaignView
from lastro.locale import _
from lastro.paths import Disk, Home, RehearsalFolder
from lastro.plan.model import Plan
from lastro.plan.possible import require_possible
from lastro.plan.rehearsal_account import Blow, blows_of
from lastro.plan.rehearsal_draw import Drawn, Forecast, draw_faults, within
from lastro.plan.rehearsal_promises import Answer, Promise, Seen, promises_of, verdict_of
from lastro.plan.rehearsal_scale import Scale, scale_of
from lastro.plan.rehearsal_shape import Shape, shape_of
from lastro.plan.rehearsal_weather import Weather, weather_of
from lastro.providers.base import MachineState
from lastro.providers.local import Local
from lastro.records import dataclass
from lastro.spec.campaign import Campaign
from lastro.spec.load import LoadedCampaign, load_campaign, load_faults, load_offers
from lastro.spec.offers import Offer

_ITEMS = "items"


@dataclass(frozen=True, kw_only=True)
class RehearsalWish:
    """What a person asked for. `faults`: a file of faults in the place of what would be drawn by the seed.

    `budget_seconds`: how long it may take; drawn faults that do not fit are left out. None: however long.
    """

    campaign_file: Path
    seed: int = 0
    faults: Path | None = None
    budget_seconds: float | None = None
    keep: bool = False


@dataclass(frozen=True, kw_only=True)
class Played:
    """A rehearsal that was played to its end. `seconds`: undisturbed, and with faults."""

    weather: Weather | None
    forecast: Forecast
    shape: Shape
    scale: Scale
    blows: tuple[Blow, ...]
    promises: tuple[Promise, ...]
    machines: int
    seconds: tuple[float, float]

    @property
    def verdict(self) -> Answer:
        """What the promises come to."""
        return verdict_of(self.promises)


@dataclass(frozen=True, kw_only=True)
class Rehearsal:
    """How it went. `failed`: what does not work in small without a single fault; then nothing was played.

    `plan`: the digest of what was rehearsed, `frozen`: whether that is the frozen plan. `folder`: what is
    left of it; None: nothing.
    """

    campaign: str
    seed: int | None
    plan: str
    frozen: bool
    notes: tuple[str, ...]
    failed: tuple[str, ...]
    played: Played | None
    folder: Path | None
    exit_code: int


@dataclass(frozen=True, kw_only=True)
class _Stage:
    """What a rehearsal is played with."""

    wish: RehearsalWish
    loaded: LoadedCampaign
    plan: Plan
    offer: Offer | None
    place: RehearsalFolder
    clock: Clock
    tell: Tell


def rehearse(wish: RehearsalWish, home: Home, clock: Clock, tell: Tell) -> Rehearsal:
    """Rehearse the plan of a campaign file: the frozen one, or a fresh one where none is frozen.

    Raises:
        LastroError: with the exit code of its kind; nothing of the rehearsal is left running.
    """
    loaded = load_campaign(wish.campaign_file)
    draft = draw_up(loaded, clock, faults=wish.faults)
    plan, frozen, notes = _planned(draft)
    require_possible(plan)
    if wish.faults is not None:
        load_faults(wish.faults, [run.name for run in plan.runs])  # before anything is begun
    for note in notes:
        tell(note)
    tell_left_out(loaded.spec, tell)
    place = home.rehearsal(key_of(loaded.spec.campaign, loaded.folder))
    busy = _("another `lastro rehearse` of this campaign is under way")
    with alone(place.root, busy), ended_with_me((place.undisturbed, place.disturbed)):
        for left in (place.undisturbed, place.disturbed):
            end_machines(Home(left), clock)
        if place.root.exists():
            atomic.remove_tree(place.root)
        atomic.make_folder(place.root)
        stage = _Stage(
            wish=wish,
            loaded=loaded,
            plan=plan,
            offer=_taken(loaded, plan),
            place=place,
            clock=clock,
            tell=tell,
        )
        failed: tuple[str, ...] = ()
        played, code, kept = None, 0, wish.keep
        try:
            undisturbed = _undisturbed(stage)
            failed, code = undisturbed.failed, undisturbed.exit_code
            if not failed:
                played = _play(stage, undisturbed)
                code = 0 if played.verdict is Answer.HELD else NotProven.exit_code
            kept |= bool(failed)
        finally:
            for left in (place.undisturbed, place.disturbed):
                end_machines(Home(left), clock)
            if not kept:
                atomic.remove_tree(place.root)
    return Rehearsal(
        campaign=plan.campaign,
        seed=wish.seed if wish.faults is None else None,
        plan=plan.digest(),
        frozen=frozen,
        notes=notes,
        failed=failed,
        played=played,
        folder=place.root if kept else None,
        exit_code=code,
    )


# --- what is rehearsed --------------------------------------------------------------------------------


def _planned(draft: Draft) -> tuple[Plan, bool, tuple[str, ...]]:
    """Return the plan to rehearse, whether it is the frozen one, and what is to be said of that."""
    path = Disk(draft.disk).campaign(draft.plan.campaign).plan
    try:
        frozen = strictjson.read(path)
        rules = changes_between(frozen, draft.plan.as_json()).rules
        if not rules:
            return Plan.from_json(frozen), True, ()
    except (OSError, StorageError):
        return draft.plan, False, ()
    note = _("{file} differs from the frozen plan in {keys}: what is rehearsed is the file").format(
        file=draft.loaded.path.name, keys=", ".join(rules)
    )
    return draft.plan, False, (note,)


def _taken(loaded: LoadedCampaign, plan: Plan) -> Offer | None:
    """Return the offer that the plan takes, as the offers file has it; None where it takes none."""
    if loaded.offers_path is None or plan.lease is None:
        return None
    return next((one for one in load_offers(loaded.offers_path) if one.name == plan.lease.offer), None)


# --- in small -----------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class _Undisturbed:
    """The campaign in small without a fault."""

    failed: tuple[str, ...]
    exit_code: int
    session: Session
    seconds: float


def _undisturbed(stage: _Stage) -> _Undisturbed:
    stage.tell(_("1 of 2: in small and undisturbed"))
    runs = len(tiny(stage.loaded.spec).runs())
    machines = machines_in_small(stage.plan.machines, runs)
    with _apart(stage, stage.place.undisturbed) as own:
        outcome, seconds = _carry(
            stage, own, lambda spec: tiny(spec).model_copy(update={"machines": machines})
        )
        assert outcome is not None, "without faults none is missed"
        session = known_sessions(own, stage.clock)[-1]
        failed = what_failed(outcome.page, outcome.halted)
        return _Undisturbed(
            failed=failed,
            exit_code=_code_of(session.view(), exit_code_of(outcome, failed)),
            session=session,
            seconds=seconds,
        )


def _code_of(view: CampaignView, code: int) -> int:
    """Return the code of what failed in small: of a command that failed or was stopped, else as it closed."""
    ended = [run for run in view.runs if run.status in ("failed", "stopped")]
    return run_code(ended[0]) if ended else code


def _play(stage: _Stage, undisturbed: _Undisturbed) -> Played:
    spec, calm = stage.loaded.spec, undisturbed.session.view()
    shape = shape_of(spec, stage.plan, stage.offer)
    scale = scale_of(shape, steps_seen(calm), shortened=is_shortened(spec))
    weather, forecast, file = _faults(stage, shape, scale, undisturbed.seconds)
    machines = machines_in_small(stage.plan.machines, len(calm.runs))
    stage.tell(_("2 of 2: in small, with {count} faults").format(count=len(forecast.faults)))
    with _apart(stage, stage.place.disturbed) as own:
        _outcome, seconds = _carry(stage, own, in_small(machines, scale.every), file)
        session = known_sessions(own, stage.clock)[-1]
        view = session.view()
        blows = blows_of(forecast.faults, lives_of(session), scale, shape.pauses, items=spec.resume == _ITEMS)
        seen = Seen(
            blows=blows,
            runs=runs_of(view),
            outputs=outputs_of(view),
            answers=(answer_of(calm), answer_of(view)),
            rented=tuple(
                machine.id
                for machine in Local(own, stage.clock).machines()
                if machine.state is not MachineState.GONE
            ),
            unseen=scale.unseen,
            cut=forecast.cut,
        )
    return Played(
        weather=weather,
        forecast=forecast,
        shape=shape,
        scale=scale,
        blows=blows,
        promises=promises_of(shape, scale, seen),
        machines=machines,
        seconds=(undisturbed.seconds, seconds),
    )


def _faults(
    stage: _Stage, shape: Shape, scale: Scale, undisturbed: float
) -> tuple[Weather | None, Forecast, Path]:
    """Return what happens: as the user's own file says, else as it is drawn; and the file that plays it.

    `undisturbed`: the seconds that the small campaign takes without a fault.
    """
    if stage.wish.faults is not None:
        specs = load_faults(stage.wish.faults, [run.name for run in stage.plan.runs])
        return None, Forecast(faults=from_file(specs), expected=None, cut=False), stage.wish.faults
    weather = weather_of(stage.offer)
    forecast = draw_faults(shape, scale, weather, stage.wish.seed)
    if stage.wish.budget_seconds is not None:
        forecast = within(forecast, stage.wish.budget_seconds - 2 * undisturbed)
    atomic.write_text(stage.place.faults, as_file(forecast.faults, stage.loaded.spec.interruption.save))
    return weather, forecast, stage.place.faults


@contextlib.contextmanager
def _apart(stage: _Stage, place: Path) -> Iterator[Home]:
    """Give an empty home in which nothing of the real one is found; its machines are gone afterwards."""
    with (
        own_home(place, stage.clock) as own,
        with_environment({**ENVIRONMENT, "LASTRO_HOME": str(own.root)}),
    ):
        yield own


def _carry(
    stage: _Stage, own: Home, adapt: Callable[[Campaign], Campaign], faults: Path | None = None
) -> tuple[Outcome | None, float]:
    """Carry the campaign out in small; return how it ended, None when a fault never came, and the seconds."""
    began = stage.clock.monotonic()
    file, disk = stage.wish.campaign_file, own.root / "disk"
    outcome = None
    with contextlib.suppress(NotProven):  # which one it was stands in the account
        wish = Wish(campaign_file=file, disk=disk, adapt=adapt, faults=faults)
        outcome = run_campaign(wish, own, stage.clock, stage.tell)
    return outcome, stage.clock.monotonic() - began


def drawn_of(played: Played, index: int | None) -> Drawn | None:
    """Return what was drawn under an index; None for what nobody has drawn."""
    return next((one for one in played.forecast.faults if one.index == index), None)
