"""What the steps of a burn-in say of a machine. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from lastro.locale import _
from lastro.preflight.check import Finding, Level
from lastro.units import show_bytes

#: A card that is slower at the end than at the beginning by more than this gets hot, or is held back.
FADES = 0.9


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
