"""`lastro drill`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from lastro.cli.drill_text import drill_text
from lastro.cli.options import (
    DEFAULT_FILE,
    WithCommand,
    as_json_option,
    checkpoints_option,
    command_after_dashes,
    option,
    refuse_saves_without_command,
    resume_arg_option,
    seconds_of,
)
from lastro.cli.render import console, narrator, print_json, show
from lastro.clock import SystemClock
from lastro.drill.drill import EVERY_STEPS, Effort
from lastro.errors import UsageError
from lastro.flow.drilling import DrillWish, drill_job
from lastro.locale import _
from lastro.paths import Home, home_root


@click.command(cls=WithCommand)
@click.argument("run", required=False, metavar="[RUN]")
@option(
    "--campaign",
    "campaign_file",
    type=click.Path(path_type=Path),
    default=DEFAULT_FILE,
    show_default=True,
    help="The campaign file that RUN is of.",
)
@checkpoints_option
@resume_arg_option
@option("--steps", type=click.IntRange(min=4), help="Updates of each life. By itself: until two saves.")
@option(
    "--every",
    type=click.IntRange(min=2),
    default=EVERY_STEPS,
    show_default=True,
    help="Save every so many updates, in a job that uses lastro's API.",
)
@option("--full", is_flag=True, help="Every kill that is possible, however long it takes.")
@option(
    "--budget",
    metavar="TIME",
    help="As much as fits into this time, as in 20min; one kill at least. By itself 5 % of the plan's pilot.",
)
@option("--workers", type=click.IntRange(min=0), help="So many workers of each DataLoader once resumed.")
@option("--longest", metavar="TIME", default="1h", show_default=True, help="End a life after so long.")
@as_json_option
@click.pass_context
def drill(
    ctx: click.Context,
    /,
    steps: int | None,
    full: bool,
    budget: str | None,
    longest: str,
    workers: int | None,
    as_json: bool,
    **job: Any,
) -> None:
    """Kill a job and resume it on purpose, and prove that the result equals no kill.

    The job runs undisturbed three times, which shows its natural noise; then it is killed in different ways
    and resumed in a new process. Every update is compared: samples, learning rate, loss, gradient, weights.
    When something differs, what was not restored is named. All of it happens on this computer, in copies of
    your code. The job needs no change: a probe in its process sees what PyTorch does.

    Ends with 0 (exact, or within the natural noise), 10 (different) or 11 (not proven).

    \b
    Example:
      lastro drill -- python train.py
      lastro drill --checkpoints 'out/step-*.pt' --resume-arg '--resume {latest}' -- python train.py
      lastro drill control --full
    """
    wish = _understood(command_after_dashes(ctx), **job)
    effort = Effort(
        steps=steps,
        full=full,
        budget_seconds=None if budget is None else seconds_of("--budget", budget),
        seconds=seconds_of("--longest", longest),
        workers=workers,
    )
    shown = _Shown(stderr=as_json)
    try:
        result = drill_job(wish, Home(home_root()), SystemClock(), effort, shown)
    except KeyboardInterrupt:
        shown.interrupted()
        raise
    finally:
        shown.ends()
    if as_json:
        print_json({**result.as_json(), "exit_code": result.exit_code})
    else:
        show(drill_text(result))
    ctx.exit(result.exit_code)


def _understood(
    command: tuple[str, ...] | None,
    *,
    run: str | None,
    campaign_file: Path,
    checkpoints: str | None,
    resume_arg: str | None,
    every: int,
) -> DrillWish:
    """Return what is to be drilled: the command after `--`, or a run of a campaign file."""
    if command is not None and run is not None:
        raise UsageError(
            _("there is a run ({run}) and a command; it can only be one of them").format(run=run),
            hint=_("a command after `--` needs no campaign file"),
        )
    if command is None:
        refuse_saves_without_command(checkpoints, resume_arg)
    return DrillWish(
        command=command,
        folder=Path.cwd().resolve(),
        campaign_file=campaign_file,
        run=run,
        checkpoints=checkpoints,
        resume_arg=resume_arg,
        every_steps=every,
    )


class _Shown:
    """Tells of each life in a line and, on a terminal, of each update in a line that is written over."""

    def __init__(self, *, stderr: bool) -> None:
        self._tell = narrator(stderr=stderr)
        self._screen = console(stderr=True)
        self._status = self._screen.status("") if self._screen.is_terminal else None

    def begins(self, what: str, part: int, parts: int) -> None:
        self._tell(f"[{part}/{parts}] {what}")

    def moves(self, step: int, until: int | None) -> None:
        if self._status is None:
            return
        told = (
            _("update {step}").format(step=step)
            if until is None
            else _("update {step} of {until}").format(step=step, until=until)
        )
        self._status.update(told)
        self._status.start()

    def interrupted(self) -> None:
        """Say what is left after Ctrl-C."""
        self._tell(_("interrupted: the job is ended, nothing is left of this drill, and nothing was proven"))

    def ends(self) -> None:
        """Leave nothing of the line that is written over."""
        if self._status is not None:
            self._status.stop()
