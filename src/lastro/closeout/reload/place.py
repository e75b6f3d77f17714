"""Where a reload happens: a jail where one can be had, else a fresh process. Each says which, and why.

In a jail there is nothing of this machine but its system, one Python with its packages, and what is given. A
fresh process has an empty HOME and TMPDIR and hardly any environment; a path that still exists on this
machine is not hidden from it.
"""

from __future__ import annotations

import os
import shutil
import site
import sys
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path, PurePosixPath

from lastro.closeout.reload.level import JAILED
from lastro.procs.child import Finished, run_with_deadline
from lastro.records import dataclass
from lastro.sandbox.interpreter import Interpreter, interpreter, program_roots
from lastro.sandbox.sealed import Given, sealed

#: What the child keeps of the environment: how to find programs and libraries, and how many threads.
_PASSED = (
    "PATH", "LANG", "LC_ALL", "TZ", "LD_LIBRARY_PATH", "VIRTUAL_ENV", "CONDA_PREFIX",
    "OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMEXPR_NUM_THREADS",
    "CUDA_VISIBLE_DEVICES",
)  # fmt: skip
#: Packages that would fetch what is missing say at once that it is missing.
_OFFLINE = {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1"}
#: What a shell adds to the number of the signal that has ended a command.
_SHELL, _SIGNALS = 128, 64
_INSIDE = PurePosixPath("/lastro")
GIVEN, CODE, HOME, OUTPUTS, TMP = "given", "code", "home", "outputs", "tmp"


@dataclass(frozen=True, kw_only=True)
class Place:
    """A folder that serves one reload, at a level.

    room: on this machine; its folders `code` and `outputs` can be written by the child. given: what the child
    reads, name -> file or folder. lent: the same for what is too large to be copied where there is no jail.
    links: inputs, path below the code -> where they are.
    """

    level: str
    room: Path
    environment: Mapping[str, str]
    given: Mapping[str, Path]
    lent: Mapping[str, Path] = field(default_factory=dict)
    links: Mapping[str, Path] = field(default_factory=dict)

    def prepare(self) -> None:
        """Make the room. Raises OSError."""
        for name in (CODE, OUTPUTS):
            (self.room / name).mkdir(parents=True, exist_ok=True)
        if self.level == JAILED:
            return
        for name in (GIVEN, HOME, TMP):
            (self.room / name).mkdir(parents=True)
        for name, source in self.given.items():
            # A copy: what the child does to it is not done to what is judged.
            copy = self.room / GIVEN / name
            copy.parent.mkdir(parents=True, exist_ok=True)
            if source.is_dir():
                shutil.copytree(source, copy)
            else:
                shutil.copyfile(source, copy)
        for name, source in self.lent.items():
            (self.room / GIVEN / name).symlink_to(source)
        for relative, target in self.links.items():
            link = self.room / CODE / relative
            if not os.path.lexists(link):
                link.parent.mkdir(parents=True, exist_ok=True)
                link.symlink_to(target)

    def seen(self, *parts: str) -> str:
        """Return where the child sees a folder of the room, or what lies below it."""
        return str((_INSIDE if self.level == JAILED else self.room).joinpath(*parts))

    def python_of(self, command: Sequence[str]) -> Interpreter | None:
        """Return the Python that a command means: the one that it names, else what `python` is there."""
        named = [command[0]] if Path(command[0]).name.startswith("python") else []
        environment = self._environment()
        return next((one for name in (*named, "python") if (one := interpreter(name, environment))), None)

    def run(
        self,
        command: Sequence[str],
        python: Interpreter | None,
        seconds: float,
        *,
        packages: Path | None = None,
    ) -> Finished:
        """Run a command to its end or its deadline; nothing of it stays alive.

        Args:
            command: its words, with paths as the child sees them.
            python: the one that it uses.
            seconds: the deadline.
            packages: a folder with one package more for this Python.

        Raises:
            UsageError: the command is not there.
        """
        environment = self._environment()
        if packages is not None:
            environment["PYTHONPATH"] = str(packages)
        words = list(command)
        if self.level == JAILED:
            # Also a Python that is reached through a script of its own (pyenv's shims) is found by name.
            roots = (*program_roots(words[0], environment), *(python.roots if python else ()))
            if packages is not None:
                roots = (*roots, packages / __name__.partition(".")[0])
            if python is not None:
                first = str(Path(python.executable).parent)
                environment["PATH"] = os.pathsep.join([first, environment["PATH"]])
            words = sealed(words, self._given(roots))
        done = run_with_deadline(words, seconds=seconds, cwd=self.room / CODE, env=environment)
        # bwrap tells of a signal as a shell does.
        signalled = self.level == JAILED and _SHELL < done.code <= _SHELL + _SIGNALS
        return replace(done, code=_SHELL - done.code) if signalled else done

    def _given(self, roots: tuple[Path, ...]) -> Given:
        shown = {
            self.seen(GIVEN, name): source.resolve() for name, source in {**self.given, **self.lent}.items()
        }
        inputs = {
            self.seen(CODE, name): target.resolve()
            for name, target in self.links.items()
            if target.exists() and not os.path.lexists(self.room / CODE / name)
        }
        return Given(
            cwd=self.seen(CODE),
            read_only={**shown, **inputs},
            writable={self.seen(name): self.room / name for name in (CODE, OUTPUTS)},
            empty=(self.seen(HOME),),
            roots=roots,
        )

    def _environment(self) -> dict[str, str]:
        """Return the child's environment: the little that it keeps, and folders of its own."""
        kept = {name: self.environment[name] for name in _PASSED if name in self.environment}
        path = kept.get("PATH", os.defpath)
        # Where nothing is called `python` (Debian, no environment activated) that of lastro is meant.
        own = str(Path(sys.executable).parent)
        kept["PATH"] = path if shutil.which("python", path=path) else f"{path}{os.pathsep}{own}"
        # HOME moves away, and packages that were installed with `pip install --user` stay to be found.
        user_packages = {"PYTHONUSERBASE": site.getuserbase()} if site.ENABLE_USER_SITE else {}
        return {
            **kept,
            **user_packages,
            **_OFFLINE,
            "HOME": self.seen(HOME),
            "TMPDIR": "/tmp" if self.level == JAILED else self.seen(TMP),
            "LASTRO_OUTPUTS": self.seen(OUTPUTS),
            "PYTHONDONTWRITEBYTECODE": "1",
        }
