"""`lastro run -- COMMAND`: a campaign without a file, made of a command and the folder it is typed in."""

from __future__ import annotations

import hashlib
import re
import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any

from lastro import strictjson
from lastro.errors import CampaignInvalid, LastroError, NotProven, StoppedByRule, UsageError
from lastro.journal.views import RunView
from lastro.locale import _
from lastro.records import dataclass
from lastro.spec.base import Name
from lastro.spec.campaign import Campaign, RunSpec
from lastro.spec.command import needs_shell
from lastro.spec.load import LoadedCampaign, made_in_code
from lastro.storage.snapshot import LARGE_BYTES, folder_names, is_huge

_CONFIGURATION = frozenset({".yaml", ".yml", ".toml", ".cfg", ".ini"})
#: What programs are written in and configured by. Anything else may be what a run has written itself.
SOURCES = _CONFIGURATION | frozenset(
    {
        *(".py", ".pyi", ".pyx", ".sh", ".bash"),
        *(".c", ".cc", ".cpp", ".cu", ".cuh", ".h", ".hpp", ".go", ".rs", ".java", ".js", ".ts"),
        *(".jl", ".lua", ".pl", ".r", ".rb"),
    }
)
#: In a folder that is too large for a snapshot, beside the sources.
_MORE_AT_THE_TOP = frozenset({".json", ".txt"})
_REQUIREMENTS = re.compile(r"requirements[\w.-]*\.txt")


class QuickCampaign(Campaign):
    """A campaign of one run, which is named like its program instead of `control`."""

    program: Name

    def runs(self) -> tuple[RunSpec, ...]:
        """Return the one run."""
        return tuple(replace(run, name=self.program) for run in super().runs())


@dataclass(frozen=True, kw_only=True)
class Quick:
    """A campaign made of a command. `notes`: what the user should know of how it was understood."""

    loaded: LoadedCampaign
    notes: tuple[str, ...]


def quick_campaign(
    command: Sequence[str],
    folder: Path,
    *,
    provider: str = "here",
    checkpoints: str | None = None,
    resume_arg: str | None = None,
) -> Quick:
    """Make the campaign of a command. Reads the folder, writes nothing.

    Args:
        command: its words; a single one with blanks is a line for the shell.
        folder: where it runs, and where its code lies.
        provider: where; on machines of their own all files of the folder are needed.
        checkpoints: pattern of the program's own saves.
        resume_arg: what the command gets to go on from one of them.

    Raises:
        UsageError: there is no command, or one of the arguments cannot mean anything.
    """
    if not command or not command[0].strip():
        raise UsageError(
            _("there is no command after `--`"), hint=_("as in: lastro run -- python train.py --epochs 3")
        )
    program = program_of(command, folder)
    text = _command_line(command, with_arguments=resume_arg is not None)
    given: dict[str, Any] = {
        "campaign": name_of(command, folder, program),
        "command": text.replace("{", "{{").replace("}", "}}"),
        "control": {},
    }
    given |= {"checkpoints": checkpoints} if checkpoints is not None else {}
    given |= {"resume_arg": resume_arg} if resume_arg is not None else {}
    try:
        spec = made_in_code(QuickCampaign, {**given, "program": program})
    except CampaignInvalid as error:
        raise UsageError(error.message, hint=error.hint) from error
    code, notes = _code(command, folder, provider)
    loaded = LoadedCampaign(
        spec=spec, folder=folder, path=folder / spec.campaign, text=_as_file(given), code=code
    )
    return Quick(loaded=loaded, notes=notes)


def _command_line(command: Sequence[str], *, with_arguments: bool) -> str:
    if len(command) == 1 and re.search(r"\s", command[0]):
        return command[0]
    line = shlex.join(command)
    # Words never need a shell, but for a variable that is set before the program's name.
    return f'{line} "$@"' if with_arguments and needs_shell(line) else line


def _as_file(given: dict[str, Any]) -> str:
    """Return the campaign file that says the same: what is JSON is YAML."""
    return "".join(f"{key}: {strictjson.dumps(value)}\n" for key, value in given.items())


# --- names --------------------------------------------------------------------------------------------


def program_of(command: Sequence[str], folder: Path) -> str:
    """Return the name of what a command runs: its script, its module, else its first word."""
    words = command[0].split() if len(command) == 1 else list(command)
    files = [word for word in words if (folder / word).is_file()]
    scripts = [word for word in files if Path(word).suffix in SOURCES - _CONFIGURATION]
    module = words[words.index("-m") + 1] if "-m" in words[:-1] else None
    named = scripts[0] if scripts else module or words[0]
    stem = Path(named).stem if scripts or not module else named
    return re.sub(r"[^A-Za-z0-9_-]+", "-", stem).strip("-_")[:40] or "command"


def name_of(command: Sequence[str], folder: Path, program: str) -> str:
    """Return the campaign's name: the same for the same line in a folder of the same name."""
    said = strictjson.dumps([folder.name, *command]).encode(errors="surrogateescape")
    return f"run-{program}-{hashlib.sha256(said).hexdigest()[:6]}"


# --- code ---------------------------------------------------------------------------------------------


def _code(
    command: Sequence[str], folder: Path, provider: str
) -> tuple[tuple[str, ...] | None, tuple[str, ...]]:
    """Return the files that are the code (None: all), and what is to be said of them."""
    if is_huge(folder):
        top = [path.name for path in folder.iterdir() if path.is_file() and not path.is_symlink()]
        code = _sorted(name for name in top if PurePosixPath(name).suffix in SOURCES | _MORE_AT_THE_TOP)
        note = _("this folder is too large for a snapshot, so the code is only what lies at its top: {files}")
        return code, (note.format(files=_few(code)),)
    if provider != "here":
        return None, ()
    named = {word.rpartition("=")[2] for word in command}
    code = _sorted(name for name in folder_names(folder) if _is_source(folder, name, named))
    return code, (_("the code of this run: {files}").format(files=_few(code)),)


def _is_source(folder: Path, name: str, named: set[str]) -> bool:
    path = PurePosixPath(name)
    wanted = (
        path.suffix.lower() in SOURCES
        or _REQUIREMENTS.fullmatch(path.name) is not None
        or (path.suffix == ".json" and name in named)
    )
    try:
        return wanted and not (folder / name).is_symlink() and (folder / name).stat().st_size <= LARGE_BYTES
    except OSError:
        return False


def _sorted(names: Any) -> tuple[str, ...]:
    return tuple(sorted(names))


def _few(code: Sequence[str]) -> str:
    if not code:
        return _("no file")
    shown = ", ".join(code[:4])
    return shown if len(code) <= 4 else _("{shown} and {count} more").format(shown=shown, count=len(code) - 4)


# --- the end ------------------------------------------------------------------------------------------


def exit_code_of(run: RunView) -> int:
    """Return the exit code of `lastro run -- COMMAND` for its run's status; docs/exit-codes.md."""
    codes = {
        "completed": 0,
        "stopped": StoppedByRule.exit_code,
        "failed": LastroError.exit_code,
    }
    return codes.get(run.status, NotProven.exit_code)
