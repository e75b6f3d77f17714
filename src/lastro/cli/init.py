"""`lastro init`."""

from __future__ import annotations

import re
from pathlib import Path

import click

from lastro import atomic
from lastro.cli.options import as_json_option, command, option
from lastro.cli.render import print_json
from lastro.clock import SystemClock
from lastro.errors import UsageError
from lastro.locale import _
from lastro.paths import Home, home_root

#: Names under which training scripts are usually found, the likeliest first.
SCRIPTS = ("train.py", "main.py", "run.py", "finetune.py")

TEMPLATE = """\
# A campaign: one question, a control and its variants, a rule that decides, a window and a budget.
# Every key is explained in docs/campaign-file.md. Lines that begin with '# ' can be taken in as they are.
campaign: {name}
# question: Does a wider layer beat the control by one point of accuracy?

# Where it runs: here (this box), local (machines of this box, for rehearsals).
provider: here
# disk: ./lastro-disk                  # outlives the machine: checkpoints, outputs, the record
# window: 72h                          # when it has to be over
# budget: 60 USD                       # what it may cost
# offers: offers.yaml                  # what can be rented, and for how much

# What is run. {{name}} stands for a key of control.
command: {command}
control: {control}
# variants:                            # what each changes of the control
#   wide: {{changes: {{width: 256}}, priority: required}}

# corpus: {{path: data/train.npz, rows: 1797}}   # the fixed input: a changed one is another run
# seed: 0

# How long things take, low / likely / high, so that `lastro plan` can lay out a calendar.
# stages:
#   prepare: {{person: 2h}}
#   run: {{each: run, gpu: 1, hours: [8, 10, 14]}}
#   collect: {{cpu: 1, hours: 1}}

# When to stop before the end. Written before the first run, so that nobody argues afterwards.
stop:
  - non_finite: loss
  - truncated_input
  - no_usable_resume
checkpoint: {{every: auto, keep: 2}}

# What each run has to deliver. It counts when another process has reloaded it.
# deliverables:
#   predictions:
#     {{path: predictions.csv, key: id, rows: 360, metric: {{name: accuracy, truth: data/test.csv}}}}
#   model: {{path: model.safetensors, reload: "python reload.py {{path}}", compare: predictions}}
# decision: {{metric: accuracy, better: higher, adopt_if: +0.01 over control}}

# What the machine has to have.
# want: {{python: ">=3.10", torch: "2.13.*", memory: ">=2 GB"}}
"""


@command()
@click.argument("folder", type=click.Path(path_type=Path), default=Path(), metavar="[FOLDER]")
@option(
    "--from",
    "earlier",
    type=click.Path(path_type=Path, exists=True),
    metavar="CAMPAIGN",
    help="Begin with an earlier one: its file, or its folder on a disk.",
)
@as_json_option
def init(folder: Path, earlier: Path | None, as_json: bool) -> None:
    """Write a commented campaign.yaml beside your own script. Never overwrites one.

    With --from it is the file of an earlier campaign, with hours as they were measured there and the doubts
    that nobody has settled.

    \b
    Example:
      lastro init
      lastro init my-project
      lastro init next --from disk/campaigns/digits
    """
    path = folder / "campaign.yaml"
    script = _find_script(folder)
    if earlier is not None:
        from lastro.flow.following import following  # late: a first campaign reads no journal

        write(path, following(earlier, Home(home_root()), SystemClock()))
    else:
        write(path, template(_name(folder), script))
    step = f"lastro plan {path}" if folder != Path() else "lastro plan"
    if as_json:
        print_json({"file": str(path), "script": script, "next": step, "exit_code": 0})
        return
    click.echo(_("wrote {path}").format(path=path))
    if script is None and earlier is None:
        click.echo(_("  no training script was found: put your own command in, at `command:`"))
    click.echo(_("  next: look through it, then `{command}`").format(command=step))


def write(path: Path, text: str) -> None:
    """Write the file unless one is there. Raises UsageError."""
    if not path.parent.is_dir():
        raise UsageError(
            _("there is no folder {folder}").format(folder=path.parent), hint=_("create it, or name another")
        )
    try:
        written = atomic.claim(path, text.encode())
    except OSError as error:
        raise UsageError(
            _("{path} cannot be written: {error}").format(path=path, error=error.strerror),
            hint=_("check the folder's permissions"),
        ) from error
    if not written:
        raise UsageError(
            _("{path} is there already; nothing was changed").format(path=path),
            hint=_("`lastro plan {path}` shows what it plans; remove it first to begin anew").format(
                path=path
            ),
        )


def template(name: str, script: str | None) -> str:
    """Return a campaign file that is valid as it is, with the rest in comments."""
    command = f"python {script} --width {{width}}" if script else "python train.py --width {width}"
    return TEMPLATE.format(name=name, command=command, control="{width: 64}")


def _find_script(folder: Path) -> str | None:
    found = [name for name in SCRIPTS if (folder / name).is_file()]
    scripts = sorted(path.name for path in folder.glob("*.py"))
    return found[0] if found else scripts[0] if len(scripts) == 1 else None


def _name(folder: Path) -> str:
    """Return a campaign's name from its folder's."""
    name = re.sub(r"[^A-Za-z0-9]+", "-", folder.resolve().name).strip("-").lower()[:64].strip("-")
    return name or "campaign"
