"""What `lastro preflight` does instead of checking this machine: profile, history, note, probe, checklist."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import click

from lastro.cli.given import given_by
from lastro.cli.options import DEFAULT_FILE, command_after_dashes, option
from lastro.cli.preflight_modes_text import checklist_text, history_text, probed_text, profile_text
from lastro.cli.render import narrator, print_json, show
from lastro.clock import Clock, SystemClock
from lastro.errors import NotProven, UsageError
from lastro.flow.checking_off import checklist_of, write_template
from lastro.flow.job_copy import JobWish
from lastro.flow.machine_memory import remember, write_note
from lastro.flow.probing import ProbeWish, probe_machines
from lastro.flow.profiling import Effort, profile_job
from lastro.locale import _
from lastro.paths import Home, home_root
from lastro.preflight.profile.law import Bound
from lastro.units import parse_duration, parse_money

_MODES = ("profile", "history", "note", "probe", "checklist")
#: Options of the check itself, which none of them does.
_OF_CHECK = ("cpu", "canary", "full", "burn_in", "relock", "why", "disk")
#: Options that belong to one of them.
_OF = {"max_spend": "probe", "every": "probe", "init": "checklist"}

_OPTIONS = (
    option("--profile", is_flag=True, help="Look into a job's loop: does it wait for input, or compute?"),
    option("--history", is_flag=True, help="What this home knows of machines: times, faults, notes."),
    option("--note", nargs=2, metavar="NODE TEXT", default=None, help="Keep a note on a machine."),
    option("--probe", type=click.IntRange(min=1), metavar="N", help="Take N machines, only to time it."),
    option(
        "--max-spend",
        metavar="MONEY",
        callback=given_by(parse_money),
        help="With --probe: what they may cost at most, as in '2 USD'.",
    ),
    option(
        "--every",
        metavar="TIME",
        callback=given_by(parse_duration),
        help="With --probe: from one to the next, as in 6h.",
    ),
    option("--checklist", is_flag=True, help="What is open with the providers of this campaign."),
    option("--init", is_flag=True, help="With --checklist: write checklist.yaml, to be filled in."),
)


def with_modes(check: Callable[..., None]) -> Callable[..., None]:
    """Give the command these options; with one of them it does that, and does not check the machine."""

    @functools.wraps(check)
    def either(**given: Any) -> None:
        ctx = click.get_current_context()
        modes = {name: given.pop(name) for name in (*_MODES, *_OF)}
        asked = [name for name in _MODES if modes[name]]
        _refuse_mixtures(asked, modes, command_after_dashes(ctx))
        if not asked:
            check(**given)
            return
        _refuse_of_check(asked[0], given)
        as_json = given["as_json"]
        code = _RUN[asked[0]](given["campaign_file"], modes, as_json)
        ctx.exit(code)

    for add in reversed(_OPTIONS):
        either = add(either)
    return either


def _refuse_mixtures(asked: list[str], modes: Mapping[str, Any], command: tuple[str, ...] | None) -> None:
    if len(asked) > 1:
        names = " ".join(f"--{name}" for name in asked)
        raise UsageError(_("{names}: one at a time").format(names=names), hint=_("leave all but one out"))
    for name, mode in _OF.items():
        if modes[name] and not modes[mode]:
            raise UsageError(
                _("--{name} goes with --{mode}").format(name=name.replace("_", "-"), mode=mode),
                hint=_("add --{mode}, or leave it out").format(mode=mode),
            )
    if command is not None and "profile" not in asked:
        raise UsageError(
            _("a command after `--` is for --profile"),
            hint=_("for example: lastro preflight --profile -- python train.py"),
        )


def _refuse_of_check(mode: str, given: Mapping[str, Any]) -> None:
    wrong = [name for name in _OF_CHECK if given.get(name)]
    if wrong:
        raise UsageError(
            _("--{mode} checks no machine, so {names} says nothing").format(
                mode=mode, names=" ".join(f"--{name.replace('_', '-')}" for name in wrong)
            ),
            hint=_("type it without, or leave --{mode} out").format(mode=mode),
        )


def _home() -> tuple[Home, Clock]:
    return Home(home_root()), SystemClock()


def _profile(campaign_file: Path, _modes: Mapping[str, Any], as_json: bool) -> int:
    command = command_after_dashes(click.get_current_context())
    if command is not None and campaign_file != DEFAULT_FILE:
        raise UsageError(
            _("there is a campaign file ({file}) and a command; it can only be one of them").format(
                file=campaign_file
            ),
            hint=_("a command after `--` needs no campaign file"),
        )
    wish = JobWish(command=command, folder=Path.cwd().resolve(), campaign_file=campaign_file)
    profile = profile_job(wish, *_home(), Effort(), narrator(stderr=as_json))
    code = NotProven.exit_code if profile.judged.bound is Bound.UNKNOWN else 0
    if as_json:
        print_json({**profile.as_json(), "exit_code": code})
    else:
        show(profile_text(profile))
    return code


def _history(_campaign_file: Path, _modes: Mapping[str, Any], as_json: bool) -> int:
    memory = remember(*_home())
    if as_json:
        print_json({**memory.as_json(), "exit_code": 0})
    else:
        show(history_text(memory))
    return 0


def _note(_campaign_file: Path, modes: Mapping[str, Any], as_json: bool) -> int:
    node, text = modes["note"]
    note = write_note(*_home(), node, text)
    if as_json:
        print_json({"node": node, "at": note.at, "text": note.text, "exit_code": 0})
    else:
        click.echo(_("noted of {node}: {text}").format(node=node, text=note.text))
    return 0


def _probe(campaign_file: Path, modes: Mapping[str, Any], as_json: bool) -> int:
    if modes["max_spend"] is None:
        raise UsageError(
            _("--probe needs --max-spend: what the machines may cost at most"),
            hint=_('for example: lastro preflight --probe 3 --max-spend "2 USD"'),
        )
    if modes["max_spend"].amount <= 0:
        raise UsageError(
            _("--max-spend {cap}: for that no machine can be taken").format(cap=modes["max_spend"]),
            hint=_('for example: lastro preflight --probe 3 --max-spend "2 USD"'),
        )
    wish = ProbeWish(
        campaign_file=campaign_file,
        count=modes["probe"],
        max_spend=modes["max_spend"],
        every_seconds=modes["every"].total_seconds() if modes["every"] else 0.0,
    )
    probed = probe_machines(wish, *_home(), narrator(stderr=as_json))
    code = NotProven.exit_code if probed.why is not None else 0
    if as_json:
        print_json({**probed.as_json(), "exit_code": code})
    else:
        show(probed_text(probed))
    return code


def _checklist(campaign_file: Path, modes: Mapping[str, Any], as_json: bool) -> int:
    if modes["init"]:
        path = write_template(campaign_file, SystemClock())
        if as_json:
            print_json({"path": str(path), "exit_code": 0})
        else:
            click.echo(_("written, to be filled in: {path}").format(path=path))
        return 0
    listed = checklist_of(campaign_file, SystemClock())
    code = NotProven.exit_code if any(state.is_open for state in listed.states) else 0
    if as_json:
        items = [state.as_json() for state in listed.states]
        print_json({"path": str(listed.path), "items": items, "days": listed.days, "exit_code": code})
    else:
        show(checklist_text(listed))
    return code


_RUN: Mapping[str, Callable[[Path, Mapping[str, Any], bool], int]] = {
    "profile": _profile,
    "history": _history,
    "note": _note,
    "probe": _probe,
    "checklist": _checklist,
}
