"""The user's own command, as another machine would run it: a fresh process that knows nothing of the run.

It is given the code snapshot, the inputs and the output to be reloaded. It is not given what it has to
recompute. Level reached: a fresh process with its own HOME and TMPDIR and hardly any environment; a path
that still exists on this machine is not hidden from it.
"""

from __future__ import annotations

import os
import shutil
import site
import sys
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from lastro.errors import UsageError
from lastro.locale import _
from lastro.procs.child import Finished, run_with_deadline
from lastro.spec import command as commands
from lastro.storage.digest import sha256_file
from lastro.storage.snapshot import unpack

LEVEL = "fresh process"
LOADER = "command"
DEADLINE_SECONDS = 600.0

#: What the child keeps of the environment: how to find programs and libraries, and how many threads.
_PASSED = (
    "PATH", "LANG", "LC_ALL", "TZ", "LD_LIBRARY_PATH", "VIRTUAL_ENV", "CONDA_PREFIX",
    "OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMEXPR_NUM_THREADS",
    "CUDA_VISIBLE_DEVICES",
)  # fmt: skip
#: How much of what the command said is repeated to the user.
_LAST_CHARACTERS = 400


@dataclass(frozen=True, kw_only=True)
class Bench:
    """What a reload may use.

    archive: the code snapshot. links: inputs, relative path -> where they are. environment: of the run's
    jobs, or of this process; the reload keeps very little of it.
    """

    archive: Path
    links: Mapping[str, str] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    deadline_seconds: float = DEADLINE_SECONDS


@dataclass(frozen=True, kw_only=True)
class Reloaded:
    """What came of the command. `result`: the file that it recomputed, when one was asked for."""

    result: Path | None = None
    problem: str | None = None


def lay_out(bench: Bench, folder: Path) -> Path:
    """Unpack the code into a new folder and put links to the inputs beside it; what the code has stays.

    Raises:
        StorageError, OSError: the snapshot is not there or cannot be unpacked.
    """
    folder.mkdir(parents=True)
    unpack(bench.archive, folder)
    for relative, target in bench.links.items():
        link = folder / relative
        if not os.path.lexists(link):
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(target)
    return folder


def environment_of(given: Mapping[str, str], room: Path) -> dict[str, str]:
    """Return the child's environment: the little that it keeps of `given`, and folders of its own."""
    kept = {name: given[name] for name in _PASSED if name in given}
    path = kept.get("PATH", os.defpath)
    # Where nothing is called `python` (Debian, no environment activated) the interpreter of lastro is meant.
    kept["PATH"] = (
        path if shutil.which("python", path=path) else f"{path}{os.pathsep}{Path(sys.executable).parent}"
    )
    # HOME moves away, and packages that were installed with `pip install --user` stay to be found.
    user_packages = {"PYTHONUSERBASE": site.getuserbase()} if site.ENABLE_USER_SITE else {}
    return {
        **kept,
        **user_packages,
        "HOME": str(room / "home"),
        "TMPDIR": str(room / "tmp"),
        "LASTRO_OUTPUTS": str(room / "outputs"),
        "HF_HUB_OFFLINE": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
    }


def reload_by_command(
    command: str, weights: Path, bench: Bench, room: Path, *, wanted: str | None, hidden: Collection[str]
) -> Reloaded:
    """Run the user's reload command on a copy of an output.

    Args:
        command: as promised, `{path}` stands for the output.
        weights: the copied and checked output.
        bench: code, inputs and deadline.
        room: a folder that does not exist yet; everything of this reload lies in it.
        wanted: the file that the command has to write below LASTRO_OUTPUTS.
        hidden: SHA-256 of what it has to recompute: files of the code with such bytes are taken away.
    """
    for name in ("given", "home", "tmp", "outputs"):
        (room / name).mkdir(parents=True)
    given = room / "given" / weights.name
    shutil.copyfile(weights, given)
    code = lay_out(bench, room / "code")
    if hidden:
        _take_away(code, hidden)
    if wanted is not None:
        (room / "outputs" / wanted).parent.mkdir(parents=True, exist_ok=True)
    try:
        done = run_with_deadline(
            commands.argv(commands.render(command, {"path": str(given)})),
            seconds=bench.deadline_seconds,
            cwd=code,
            env=environment_of(bench.environment, room),
        )
    except UsageError as error:
        return Reloaded(problem=error.message)
    problem = _problem_of(done, bench.deadline_seconds)
    if problem is not None or wanted is None:
        return Reloaded(problem=problem)
    result = room / "outputs" / wanted
    if not result.is_file() or result.is_symlink():
        problem = _("the reload command ended well, but wrote no {wanted} into LASTRO_OUTPUTS").format(
            wanted=wanted
        )
        return Reloaded(problem=problem)
    return Reloaded(result=result)


def _take_away(code: Path, digests: Collection[str]) -> None:
    for folder, _folders, names in os.walk(code):
        for name in names:
            file = Path(folder, name)
            if file.is_file() and not file.is_symlink() and sha256_file(file) in digests:
                file.unlink()


def _problem_of(done: Finished, deadline_seconds: float) -> str | None:
    if done.timed_out:
        return _("the reload command was killed after {seconds:g} s without an end").format(
            seconds=deadline_seconds
        )
    if done.code == 0:
        return None
    said = (done.err.strip() or done.out.strip())[-_LAST_CHARACTERS:]
    if done.code < 0:
        return _("the reload command was killed by signal {signal}: {said}").format(
            signal=-done.code, said=said
        )
    return _("the reload command ended with exit code {code}: {said}").format(code=done.code, said=said)
