"""Names what was not restored, from where a resumed life first differs. Pure."""

from __future__ import annotations

from collections.abc import Callable

from lastro.drill.compare import DATA, GRADIENT, IDS, LOSSES, RATES, Gap, Reference
from lastro.locale import _
from lastro.probe.objects import (
    BUFFERS,
    EMA,
    FROZEN,
    MODEL,
    OBJECT,
    OPTIMIZER,
    POSITION,
    RANDOM,
    SCALER,
    SCHEDULER,
)
from lastro.records import dataclass

ACCUMULATION, AUGMENTATION, ORDER, VARIABLE = "accumulation", "augmentation", "data", "variable"


@dataclass(frozen=True, kw_only=True)
class Cause:
    """What was not restored. `kind`: one of the constants here and of `probe.objects`; `names`: of objects.

    `also`: other state that differed right after the restore. `remedy`: what to do about it.
    """

    kind: str
    why: str
    names: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    remedy: str | None = None


def _words(kind: str) -> tuple[str, str]:
    """Return what was not restored, and what to do about it."""
    return {
        MODEL: (
            _("the trained weights are not those that were saved"),
            _("load them whole, before the first update"),
        ),
        FROZEN: (
            _("a frozen part of the model is not what it was"),
            _("save it too, or make it from a fixed source"),
        ),
        BUFFERS: (
            _("the model's buffers (running statistics) are not those that were saved"),
            _("save state_dict(), not the parameters alone"),
        ),
        OPTIMIZER: (
            _("the optimizer's state is not what was saved"),
            _("save and load optimizer.state_dict()"),
        ),
        SCALER: (_("the loss scaler begins anew"), _("save and load scaler.state_dict()")),
        EMA: (_("the averaged weights are not what was saved"), _("save and load the average too")),
        SCHEDULER: (
            _("the learning rate goes on from another point"),
            _("save and load scheduler.state_dict(), and do not step it again"),
        ),
        RANDOM: (
            _("the random states are not what they were"),
            _("save the states of Python, NumPy and PyTorch, and put them back after everything else"),
        ),
        ORDER: (
            _("the data go on from another place"),
            _("save the position in the epoch, and its order"),
        ),
        AUGMENTATION: (
            _("the same samples come with other random changes"),
            _("draw augmentation from the seed, the epoch and the sample's number"),
        ),
        ACCUMULATION: (
            _("the gradients that were gathered in the middle of an update are lost"),
            _("save only between updates"),
        ),
        OBJECT: (_("an object that is tracked is not what it was"), _("look at its load_state_dict")),
        POSITION: (_("the position in the work is not what was saved"), _("restore it with the rest")),
        VARIABLE: (_("something that no save holds has begun anew"), _("save these values too")),
    }[kind]


def name_cause(gap: Gap, reference: Reference) -> Cause:
    """Return what most likely was not restored.

    State that no forward pass changes is asked for first: when it differs, it was not restored. Running
    statistics and random states come after the data, which change them.
    """
    for holds, kind in _RULES:
        if holds(gap, reference):
            return _told(kind, gap)
    return _told(VARIABLE, gap)


def _told(kind: str, gap: Gap) -> Cause:
    why, remedy = _words_of_batches() if kind == RANDOM and drew_batches(gap) else _words(kind)
    names = gap.groups.get(kind, ())
    if kind == VARIABLE:
        names = gap.variables[:5]
    also = tuple(sorted(set(gap.groups) - {kind}))
    return Cause(kind=kind, why=why, names=names, also=also, remedy=remedy)


def drew_batches(gap: Gap) -> bool:
    """Tell whether the batches are others: then random numbers may have made them."""
    return bool({DATA, IDS} & set(gap.fields))


def _words_of_batches() -> tuple[str, str]:
    """Return what to say of random states that batches were drawn from: an order is drawn once an epoch."""
    return (
        _("other batches are drawn: the random states are not what they were"),
        _(
            "save the order of the epoch, or the states that it was drawn from; and put those of now back"
            " after everything else"
        ),
    )


def _differs(kind: str) -> Callable[[Gap, Reference], bool]:
    return lambda gap, _reference: kind in gap.groups


def _skipped_updates(gap: Gap, _reference: Reference) -> bool:
    """The right batch came first and made no update, nor others after it, where a loss is scaled.

    A scaler that begins anew skips until its scale is what it was: then its state shows nothing any more.
    """
    if gap.first is None or gap.first_partner is None:
        return False
    mine, whole = gap.first.inputs, gap.first_partner.inputs
    scaled = any(kind == SCALER for kind, _digest in gap.first.state.values())
    return scaled and 0 < len(whole) < len(mine) and mine[: len(whole)] == whole


def _lost_window(gap: Gap, _reference: Reference) -> bool:
    """The first update after the restore is made of fewer passes, the last ones of what it should be."""
    if gap.first is None or gap.first_partner is None:
        return False
    mine, whole = gap.first.inputs, gap.first_partner.inputs
    return 0 < len(mine) < len(whole) and mine == whole[-len(mine) :]


def _other_samples(gap: Gap, reference: Reference) -> bool:
    """Other samples than they should be: by what the loader drew, or rows that came elsewhere."""
    update, partner = gap.update, gap.partner
    if update is None or partner is None or DATA not in gap.fields:
        return IDS in gap.fields
    if IDS in gap.fields or len(update.rows) != len(partner.rows):
        return True
    if update.ids and update.ids == partner.ids:
        return False
    known = {row for life in reference.lives for one in life.updates for row in one.rows}
    return bool(update.rows) and all(row in known for row in update.rows)


def _shuffled_by_chance(gap: Gap, reference: Reference) -> bool:
    """Other samples, in an order that no undisturbed life has, while random states differ."""
    if RANDOM not in gap.groups or not _other_samples(gap, reference) or gap.update is None:
        return False
    seen = {tuple(one.inputs) for life in reference.lives for one in life.updates}
    drawn = {tuple(one.ids) for life in reference.lives for one in life.updates if one.ids}
    known = tuple(gap.update.inputs) in seen or (bool(gap.update.ids) and tuple(gap.update.ids) in drawn)
    return not known


def _changed_by_chance(gap: Gap, _reference: Reference) -> bool:
    """Other bytes, while random states differ that draw them: not what workers drew, in either life."""
    made_here = all(one.workers == 0 for one in (gap.update, gap.partner) if one is not None)
    return DATA in gap.fields and RANDOM in gap.groups and made_here


def _other_changes(gap: Gap, _reference: Reference) -> bool:
    return DATA in gap.fields


def _other_rates(gap: Gap, _reference: Reference) -> bool:
    return RATES in gap.fields


def _other_results(gap: Gap, _reference: Reference) -> bool:
    """The same data and weights give another loss or gradient, and random states differ."""
    return RANDOM in gap.groups and bool({LOSSES, GRADIENT} & set(gap.fields))


#: In the order in which they are asked. The first that holds is the cause.
_RULES: tuple[tuple[Callable[[Gap, Reference], bool], str], ...] = (
    (_differs(MODEL), MODEL),
    (_differs(FROZEN), FROZEN),
    (_differs(OPTIMIZER), OPTIMIZER),
    (_differs(OBJECT), OBJECT),
    (_differs(POSITION), POSITION),
    (_differs(SCALER), SCALER),
    (_skipped_updates, SCALER),
    (_differs(EMA), EMA),
    (_lost_window, ACCUMULATION),
    (_shuffled_by_chance, RANDOM),
    (_other_samples, ORDER),
    (_changed_by_chance, RANDOM),
    (_other_changes, AUGMENTATION),
    (_other_rates, SCHEDULER),
    (_differs(BUFFERS), BUFFERS),
    (_other_results, RANDOM),
)
