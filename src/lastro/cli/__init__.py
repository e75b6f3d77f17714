"""The command line: parse, call, print. No decision is taken here, so the library can do all of it too."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

import click

from lastro import __version__
from lastro.cli.commands import COMMANDS
from lastro.cli.language import speak, without_language
from lastro.cli.lazy import LazyGroup
from lastro.cli.options import Option, option
from lastro.cli.render import fail, print_json, unread
from lastro.cli.typed import mark
from lastro.errors import LastroError, StorageError, UsageError
from lastro.locale import _

#: What a shell reports for a program ended by Ctrl-C.
INTERRUPTED = 130


@click.group(
    cls=LazyGroup,
    table=COMMANDS,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@option(
    "--lang", "language_name", metavar="LANGUAGE", help="Speak this language: en, pt_BR. For every command."
)
@click.version_option(__version__, prog_name="lastro", help="Show the version and exit.", cls=Option)
def cli(language_name: str | None) -> None:
    """Make work on rented GPUs predictable: plan, prove, run, resume, close.

    \b
    Example:
      lastro init       write a campaign.yaml beside your script
      lastro plan       what it will cost and when it ends; rents nothing
      lastro run        run it to its report, whatever vanishes
    """


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit with the code of `lastro.errors.EXIT_CODES`."""
    mark()
    asked, given = without_language(list(sys.argv[1:] if arguments is None else arguments))
    as_json = "--json" in (given[: given.index("--")] if "--" in given else given)
    _open_closed_output()
    try:
        speak(asked)
        code = cli.main(args=given, prog_name="lastro", standalone_mode=False)
        sys.exit(code if isinstance(code, int) else 0)
    except LastroError as error:
        fail(error, as_json=as_json)
        sys.exit(error.exit_code)
    except click.ClickException as error:
        if as_json:
            fail(UsageError(error.format_message(), hint=_("see `lastro --help`")), as_json=True)
        else:
            error.show()
        sys.exit(error.exit_code)
    except (KeyboardInterrupt, click.Abort):
        if as_json:
            told = {"kind": "Interrupted", "message": _("interrupted"), "next": _("type it again to go on")}
            print_json({"error": told, "exit_code": INTERRUPTED})
        sys.exit(INTERRUPTED)
    except BrokenPipeError:
        # Whoever read the output has gone (`lastro logs | head`): not an error, and nothing more to say.
        with unread():
            raise
        sys.exit(0)
    except OSError as error:
        # The system refused: no room, no permission. Where that has a better next step, it was told before.
        _tell_refusal(error, as_json=as_json)
        sys.exit(StorageError.exit_code)
    except Exception:  # noqa: BLE001 - the last place where an error can be told with its next step
        import traceback

        traceback.print_exc()
        fail(
            LastroError(
                _("lastro itself failed; this is a bug"),
                hint=_("what runs goes on; `lastro status` shows it. Report the lines above"),
            ),
            as_json=as_json,
        )
        sys.exit(LastroError.exit_code)


def _open_closed_output() -> None:
    """Give a program that was started with closed output (`>&-`) somewhere to write to."""
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w")  # noqa: PTH123, SIM115 - open as long as the program
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: PTH123, SIM115


def _tell_refusal(error: OSError, *, as_json: bool) -> None:
    what = f"{error.filename}: {error.strerror}" if error.filename else str(error.strerror or error)
    told = StorageError(
        _("the system refused: {what}").format(what=what),
        hint=_("check permissions and room there, then type the same command again; what runs goes on"),
    )
    try:
        fail(told, as_json=as_json)
        sys.stdout.flush()
    except OSError:  # it is standard output that cannot be written
        fail(told, as_json=False)
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
