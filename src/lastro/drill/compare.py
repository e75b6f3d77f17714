"""Compares a life that was resumed with what it should have been, update by update. Pure.

A resumed life is compared with the earlier lives of its own arm, as far as these went: they had the very
state that was saved, whatever noise there is. Beyond that it is compared with the undisturbed lives: bit
for bit when these agree with each other, within their spread when they do not.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import field, replace

from lastro.drill.trace import Life, State, Update
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

#: State whose difference changes what the job delivers. Random states and schedulers show by their effects.
OUTCOME = frozenset({MODEL, FROZEN, BUFFERS, OPTIMIZER, SCALER, EMA, OBJECT, POSITION})
#: State that is compared to name a cause, and never makes a difference by itself.
_BESIDE = frozenset({RANDOM, SCHEDULER})
#: Of these, what noise does not touch between a save and the next update.
_HELD = frozenset({MODEL, FROZEN, OPTIMIZER, EMA, OBJECT, POSITION})
#: A loss is out of the natural noise when it is farther from the undisturbed ones than this many spreads.
SPREADS = 4.0
_SHARE_OUTSIDE = 0.2

DATA, IDS, RATES, LOSSES, GRADIENT, AFTER, STATE, LOSS_OUTSIDE = (
    "data", "ids", "rates", "losses", "gradient", "after", "state", "noise",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Reference:
    """The undisturbed lives.

    `exact`: they agree bit for bit. `fields`: those that do, when not all. `noisy`: names of variables and
    of random states that differ from one to the next, so that a difference in them says nothing.
    """

    lives: tuple[Life, ...]
    exact: bool
    fields: frozenset[str]
    noisy: frozenset[str]


@dataclass(frozen=True, kw_only=True)
class Gap:
    """Where a resumed life first differs. `partner`: the update that it was compared with.

    `fields`: what differs there. `groups`: names of differing state by kind, right after the restore where
    that is known. `variables`: plain variables that differ there and are the same in undisturbed lives.
    `first`: the first update of that life, as a restore shows best in it; `first_partner` its counterpart.
    """

    life: int
    step: int
    fields: tuple[str, ...]
    update: Update | None
    partner: Update | None
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    variables: tuple[str, ...] = ()
    first: Update | None = None
    first_partner: Update | None = None


def make_reference(lives: Sequence[Life]) -> Reference:
    """Learn the natural noise from undisturbed lives."""
    fields = {DATA, IDS, RATES, LOSSES, GRADIENT, AFTER, STATE}
    noisy: set[str] = set()
    first, *others = lives
    for other in others:
        for update in first.updates:
            partner = other.at(update.step)
            if partner is None:
                continue
            fields -= set(differing(update, partner, OUTCOME))
            noisy |= _differing_variables(update.variables, partner.variables)
            beside = groups_between(update.state, partner.state, _BESIDE)
            noisy |= {name for names in beside.values() for name in names}
    exact = len(lives) > 1 and fields == {DATA, IDS, RATES, LOSSES, GRADIENT, AFTER, STATE}
    return Reference(lives=tuple(lives), exact=exact, fields=frozenset(fields), noisy=frozenset(noisy))


def differing(one: Update, other: Update, kinds: frozenset[str]) -> tuple[str, ...]:
    """Return the fields in which two updates differ; state as far as it is of these kinds."""
    pairs = {
        STATE: ({}, groups_between(other.state, one.state, kinds)),
        IDS: (one.ids, other.ids),
        DATA: (one.inputs, other.inputs),
        RATES: (one.rates, other.rates),
        LOSSES: (_hex(one.losses), _hex(other.losses)),
        GRADIENT: (_hex([one.gradient]), _hex([other.gradient])),
        AFTER: _alike(one.after, other.after),
    }
    return tuple(name for name, (mine, theirs) in pairs.items() if mine != theirs)


def _alike(one: Mapping[str, str], other: Mapping[str, str]) -> tuple[object, object]:
    """Return the digests of models; without their names, where two lives call these otherwise."""
    return (one, other) if one.keys() == other.keys() else (sorted(one.values()), sorted(other.values()))


def _hex(values: Sequence[float | None]) -> list[str | None]:
    """Return numbers in a form in which NaN equals itself."""
    return [None if value is None else float(value).hex() for value in values]


def groups_between(saved: State, live: State, kinds: frozenset[str]) -> dict[str, tuple[str, ...]]:
    """Return the names of state that differs, by kind; what is on one side alone differs too.

    An object that no variable holds is called after its type, and a loop that loads several may leave one of
    them in a variable. Where two lives do not call the objects of a kind alike, these are known by what they
    hold.
    """
    found: dict[str, tuple[str, ...]] = {}
    for kind in sorted(kinds):
        one, other = _of_kind(saved, kind), _of_kind(live, kind)
        if one.keys() == other.keys():
            names = {name for name in one if one[name] != other[name]}
        else:
            names = _unmatched(one, other) | _unmatched(other, one)
        if names:
            found[kind] = tuple(sorted(names))
    return found


def _of_kind(state: State, kind: str) -> dict[str, str]:
    return {name: str(entry[1]) for name, entry in state.items() if entry[0] == kind}


def _unmatched(one: Mapping[str, str], other: Mapping[str, str]) -> set[str]:
    """Return the names whose digests one side has, and the other has not, or fewer times."""
    left = Counter(one.values()) - Counter(other.values())
    return {name for name, digest in one.items() if digest in left}


def _differing_variables(one: Mapping[str, str], other: Mapping[str, str]) -> set[str]:
    return {name for name in {*one, *other} if one.get(name) != other.get(name)}


def find_gap(lives: Sequence[Life], reference: Reference) -> Gap | None:
    """Return the first difference of an arm's resumed lives; None when there is none."""
    for index in range(1, len(lives)):
        gap = _gap_of(lives[index], lives[:index], reference)
        if gap is not None:
            return gap
    return None


def _gap_of(life: Life, past: Sequence[Life], reference: Reference) -> Gap | None:
    every = OUTCOME | _BESIDE
    first = life.updates[0] if life.updates else None
    first_partner = _same_state(life.resumed_at + 1, past, reference)
    groups: Mapping[str, tuple[str, ...]] = {}
    variables: set[str] = set()
    if life.restored is not None:
        before = _same_state(life.resumed_at, past, reference)
        if before is not None:
            groups = groups_between(before.state, life.restored, every)
            # What the loop itself binds is not there yet when the state is put back.
            both = set(before.variables) & set(life.restored_variables)
            variables = both & _differing_variables(before.variables, life.restored_variables)
    elif first is not None and first_partner is not None:
        groups = groups_between(first_partner.state, first.state, every)
        variables = _differing_variables(first_partner.variables, first.variables)

    def gap(step: int, fields: Sequence[str], update: Update | None, partner: Update | None) -> Gap:
        named = {
            kind: tuple(name for name in names if name not in reference.noisy)
            for kind, names in groups.items()
        }
        return Gap(
            life=life.number, step=step, fields=tuple(fields), update=update, partner=partner,
            groups={kind: names for kind, names in named.items() if names},
            variables=tuple(sorted(variables - reference.noisy)), first=first, first_partner=first_partner,
        )  # fmt: skip

    if life.restored is not None and set(groups) & _kinds(reference):
        return gap(life.resumed_at, [STATE], None, None)
    for update in life.updates:
        partner, own = _partner(update.step, past, reference)
        if partner is None:
            continue
        update = _without_setting_up(update, partner) if update is first else update  # noqa: PLW2901
        # Of a job that attaches, the state of a line is that after its update: noise is in it already.
        at_restore = own and first is not None and update.step == first.step and life.restored is None
        fields = _fields_that_count(update, partner, reference, at_restore)
        if fields:
            return gap(update.step, fields, update, partner)
    outside = None if reference.exact else _outside_noise(life, reference)
    return gap(outside, [LOSS_OUTSIDE], life.at(outside), None) if outside is not None else None


def _without_setting_up(update: Update, partner: Update) -> Update:
    """Leave out of a life's first update the passes that were made before its loop began."""
    extra = max(0, len(update.inputs) - len(partner.inputs))
    return replace(update, inputs=update.inputs[extra:]) if extra else update


def _kinds(reference: Reference) -> frozenset[str]:
    return OUTCOME if reference.exact else _HELD


def _fields_that_count(update: Update, partner: Update, reference: Reference, at_restore: bool) -> list[str]:
    """Return the fields that differ and are not noise."""
    kinds = OUTCOME if reference.exact else (_HELD if at_restore else frozenset())
    differ = differing(update, partner, kinds)
    if reference.exact:
        return list(differ)
    return [name for name in differ if name in reference.fields or (name == STATE and at_restore)]


def _partner(step: int, past: Sequence[Life], reference: Reference) -> tuple[Update | None, bool]:
    """Return the update to compare with, and whether it is of an earlier life of the same arm."""
    for life in reversed(past):
        if (update := life.at(step)) is not None:
            return update, True
    return reference.lives[0].at(step), False


def _same_state(step: int, past: Sequence[Life], reference: Reference) -> Update | None:
    """Return the update to compare state with: noise makes that of another arm useless."""
    partner, own = _partner(step, past, reference)
    return partner if own or reference.exact else None


def _outside_noise(life: Life, reference: Reference) -> int | None:
    """Return the first update from which on losses leave the spread of the undisturbed lives, if they do.

    A loss is outside when it is more than `SPREADS` of the widest spread seen so far beyond all of theirs,
    better or worse; one in five of a life has to be.
    """
    outside: list[int] = []
    widest = 0.0
    counted = 0
    for update in reference.lives[0].updates:
        losses = [sum(found.losses) for one in reference.lives if (found := one.at(update.step)) is not None]
        widest = max(widest, max(losses) - min(losses))
        mine = life.at(update.step)
        if mine is None or not mine.losses:
            continue
        counted += 1
        loss = sum(mine.losses)
        beyond = max(loss - max(losses), min(losses) - loss)
        if beyond > SPREADS * widest or math.isnan(loss):
            outside.append(update.step)
    return outside[0] if outside and len(outside) >= max(2, _SHARE_OUTSIDE * counted) else None
