"""What the steps of a burn-in say of a machine. Pure."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from lastro.locale import _
from lastro.preflight.budget import Measured, Yielded
from lastro.preflight.check import Finding, Level
from lastro.preflight.lock import Value
from lastro.units import show_bytes

#: A card that is slower at the end than at the beginning by more than this gets hot, or is held back.
FADES = 0.9
#: A card that makes less than this of what the locked one made, or its own siblings make: DCGM's share.
LEAST_PACE = 0.75
#: Of the figures in the lock.
PACES = "burn"


def judge_burn(steps: Sequence[Mapping[str, Any]], told: Sequence[Mapping[str, Any]]) -> tuple[Finding, ...]:
    """Return a finding for each step; one that nobody heard of has no answer.

    Args:
        steps: what was asked for.
        told: what came back, in that order, as far as it came.
    """
    return tuple(
        finding
        for number, step in enumerate(steps)
        for finding in _of_step(step, told[number] if number < len(told) else None)
    )


def _of_step(step: Mapping[str, Any], told: Mapping[str, Any] | None) -> Iterator[Finding]:
    code, fact = f"burn_{step['kernel']}", _fact(step)
    if told is None:
        yield _silent(code, fact, _("no answer in its time"))
    elif "error" in told:
        yield _silent(code, fact, str(told["error"])[:200])
    else:
        yield _wrong(code, fact, told) if told["wrong"] else _right(code, fact, told)
        yield from _of_pace(fact, told)
        yield from _of_sense(fact, told)


def _fact(step: Mapping[str, Any]) -> str:
    names = {
        "memory": _("memory of {device} holds what is written").format(device=step["device"]),
        "matmul": _("matrices of {dtype} on {device}").format(
            dtype=step.get("dtype"), device=step["device"]
        ),
        "transfer": _("copies to {device} and back").format(device=step["device"]),
        "reduce": _("sums over {world} devices ({backend})").format(
            world=step.get("world"), backend=step.get("backend")
        ),
    }  # fmt: skip
    return names[step["kernel"]]


def _silent(code: str, fact: str, why: str) -> Finding:
    return Finding(
        code=code,
        level=Level.NO_ANSWER,
        fact=fact,
        value=why,
        consequence=_("nobody knows whether it computes right"),
        next_step=_("look at the driver and at the job's torch; run the burn-in again, or give it back"),
        required=True,
    )


def _wrong(code: str, fact: str, told: Mapping[str, Any]) -> Finding:
    return Finding(
        code=code,
        level=Level.FAIL,
        fact=fact,
        value=_("{wrong} of them are wrong{first}").format(wrong=told["wrong"], first=_first(told)),
        expected=_("not one"),
        consequence=_("what is trained here is wrong, and nothing else would show it"),
        next_step=_("give the machine back, and note it: lastro preflight --note NODE TEXT"),
    )


def _first(told: Mapping[str, Any]) -> str:
    first = told.get("first")
    if first is None:
        return ""
    if told["kernel"] == "memory":
        return _("; the first at byte {byte} in pattern {pattern}: {found} instead of {expected}").format(
            **first
        )
    return _("; the first at time {time}, row {row}, column {column}: {found} instead of {expected}").format(
        **first
    )


def _right(code: str, fact: str, told: Mapping[str, Any]) -> Finding:
    value = {
        "memory": lambda: _("{size}, {count} patterns").format(
            size=show_bytes(told["bytes"]), count=len(told["patterns"])
        ),
        "matmul": lambda: _("{times} times the same result; {pace:.3g} TFLOP/s").format(
            times=told["times"], pace=told["last_third"] / 1e12
        ),
        "transfer": lambda: _("{there} and {back} a second").format(
            there=show_bytes(int(told["there"])), back=show_bytes(int(told["back"]))
        ),
        "reduce": lambda: _("{times} times the right sum; {pace} a second").format(
            times=told["times"], pace=show_bytes(int(told["pace"]))
        ),
    }[told["kernel"]]()
    return Finding(code=code, level=Level.PASS, fact=fact, value=value, expected=_("not one wrong"))


def _of_pace(fact: str, told: Mapping[str, Any]) -> Iterator[Finding]:
    """On a GPU: the pace of a processor is its neighbours' too, and has a check of its own."""
    if told["kernel"] != "matmul" or told["device"] == "cpu":
        return
    kept = told["last_third"] / told["first_third"]
    if kept < FADES:
        yield Finding(
            code="burn_fades",
            level=Level.WARN,
            fact=fact,
            value=_("{kept:.0%} of its pace are left at the end").format(kept=kept),
            expected=_("at least {least:.0%}").format(least=FADES),
            consequence=_("every hour here does less than the first minute promises"),
            next_step=_("look at its temperature and throttle reasons; take another machine"),
        )


def _of_sense(fact: str, told: Mapping[str, Any]) -> Iterator[Finding]:
    if told["kernel"] != "matmul" or told["far"] <= 1:
        return
    yield Finding(
        code="burn_matmul",
        level=Level.FAIL,
        fact=fact,
        value=_("the first result lies {far:.3g} times as far from the exact one as rounding allows").format(
            far=told["far"]
        ),
        expected=_("at most as far"),
        consequence=_("what is trained here is wrong, and nothing else would show it"),
        next_step=_("give the machine back, and note it: lastro preflight --note NODE TEXT"),
    )


def judge_paces(told: Sequence[Mapping[str, Any]], locked: Mapping[str, Value] | None) -> Iterator[Yielded]:
    """Return what cards make beside the locked ones and beside each other, and the figures to be locked.

    Nothing of a processor, whose pace is its neighbours' too.

    Args:
        told: what the steps of a burn-in have shown.
        locked: figures of the machine that was proven; None: it has none.
    """
    found = {name: pace for one in told if "error" not in one for name, pace in _paces(one)}
    if not found:
        return
    for (what, device), pace in found.items():
        siblings = [other for (same, _device), other in found.items() if same == what]
        beside = {_("its siblings in the middle"): statistics.median(siblings) if len(siblings) > 1 else None}
        before = (locked or {}).get(_named(what, device))
        if isinstance(before, (int, float)) and not isinstance(before, bool):
            beside[_("the locked one")] = float(before)
        for whose, usual in beside.items():
            if usual is not None and pace < LEAST_PACE * usual:
                yield _slow(what, device, pace, usual, whose)
    yield Measured(name=PACES, values={_named(*key): pace for key, pace in found.items()})


def _paces(told: Mapping[str, Any]) -> Iterator[tuple[tuple[str, str], float]]:
    """Give what a step has measured: ((what, device), FLOP or bytes a second)."""
    if told["device"] == "cpu" or told.get("backend") == "gloo":
        return
    device = str(told["device"])
    if told["kernel"] == "matmul":
        yield (f"matmul {told['dtype']}", device), float(told["last_third"])
    if told["kernel"] == "transfer":
        yield ("there", device), float(told["there"])
        yield ("back", device), float(told["back"])
    if told["kernel"] == "reduce":
        yield ("reduce", device), float(told["pace"])


def _named(what: str, device: str) -> str:
    return f"{what} {device}"


def _slow(what: str, device: str, pace: float, usual: float, whose: str) -> Finding:
    return Finding(
        code="burn_pace",
        level=Level.WARN,
        fact=_("pace of {device}: {what}").format(device=device, what=what),
        value=_("{share:.0%} of {whose}").format(share=pace / usual, whose=whose),
        expected=_("at least {least:.0%}").format(least=LEAST_PACE),
        consequence=_("every step takes so much longer, at the same price"),
        next_step=_("look at its link, its clock and its neighbours; take another machine"),
    )
