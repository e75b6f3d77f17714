"""Talking to Slurm: submitting, listing and cancelling jobs by its own commands, each with a deadline."""

from __future__ import annotations

import os
import pwd
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from lastro.clock import Clock
from lastro.errors import ProviderError
from lastro.locale import _
from lastro.providers.slurm.states import FORMAT, Job, parse_jobs

#: Seconds after which a command of Slurm counts as one that does not answer; its own give up after 10 to 100.
_DEADLINE = 30.0
#: What scancel says of a job that has ended already.
_OVER = ("already completing or completed", "Invalid job id")
#: Seconds for which an answer is good: controllers of large clusters are not to be asked ten times a second.
_GOOD_FOR = 2.0
#: Seconds after which a controller that did not answer is asked again: each try may take as long.
_ASKED_AGAIN = 10.0
#: What Slurm's commands say when the controller has not answered, so that nothing is known.
_UNANSWERED = (
    "Unable to contact slurm controller",
    "Socket timed out",
    "Connection refused",
)


_Said = subprocess.CompletedProcess[str]


class Unanswered(ProviderError):
    """The controller could not be asked: what it would have said is not known."""


class Cluster:
    """The cluster that this computer's Slurm commands belong to."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._jobs: Mapping[int, Job] = {}
        self._asked_at: float | None = None
        self._silent: tuple[float, Unanswered] | None = None
        self.answers = 0  # how often the controller has listed the jobs

    def submit(self, script: Path) -> int:
        """Hand a batch script in, and return the number of its job.

        Raises:
            Unanswered: the controller did not answer; it may have taken the job all the same.
            ProviderError: it refused the job, in its own words.
        """
        # From the script's folder: Slurm begins the job there, and it is on the shared disk.
        done = self._call("sbatch", ["--parsable", str(script)], script.parent)
        number = done.stdout.strip().partition(";")[0]
        if done.returncode == 0 and number.isdigit():
            self._asked_at = None
            return int(number)
        raise ProviderError(
            _("Slurm did not take the job: {why}").format(why=_words(done)),
            hint=_("what is asked of it stands in {script}, from `slurm:` in the campaign file").format(
                script=script
            ),
        )

    def jobs(self, *, now: bool = False) -> Mapping[int, Job]:
        """Return the jobs of this user by number, ended ones too while Slurm remembers them (MinJobAge).

        An answer is used again for two seconds, unless `now` asks for a new one.

        Raises:
            Unanswered: the controller did not answer.
        """
        moment = self._clock.monotonic()
        if self._silent is not None and not now and moment < self._silent[0]:
            raise self._silent[1]
        if now or self._asked_at is None or moment - self._asked_at >= _GOOD_FOR:
            user = pwd.getpwuid(os.getuid()).pw_name
            options = ["--noheader", "--states=all", f"--user={user}", f"--format={FORMAT}"]
            self._jobs = parse_jobs(self._listed(options))
            self._asked_at, self._silent = moment, None
            self.answers += 1
        return self._jobs

    def _listed(self, options: Sequence[str]) -> str:
        try:
            done = self._call("squeue", options, Path("/"))
            if done.returncode != 0:
                raise _unanswered(_words(done))
        except Unanswered as error:
            self._silent = (self._clock.monotonic() + _ASKED_AGAIN, error)
            raise
        return done.stdout

    def cancel(self, number: int) -> None:
        """Let a job go; one that has ended already is fine.

        Raises:
            Unanswered: the controller did not answer.
            ProviderError: it refused.
        """
        done = self._call("scancel", [str(number)], Path("/"))
        self._asked_at = None
        if done.returncode != 0 and not any(sign in done.stderr for sign in _OVER):
            raise ProviderError(
                _("Slurm did not cancel job {number}: {why}").format(number=number, why=_words(done)),
                hint=_("try it by hand: scancel {number}").format(number=number),
            )

    def _call(self, command: str, arguments: Sequence[str], folder: Path) -> _Said:
        # Without a mark of ours in its environment: sbatch gives that to the job, which then bears it too.
        try:
            done = subprocess.run(
                [command, *arguments],
                cwd=folder,
                env=_environment(os.environ),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=_DEADLINE,
                check=False,
            )
        except FileNotFoundError as error:
            raise ProviderError(
                _("Slurm is not installed here: there is no {command}").format(command=command),
                hint=_("run lastro on a computer of the cluster from which jobs are submitted"),
            ) from error
        except subprocess.TimeoutExpired as error:
            raise _unanswered(_("no answer within {seconds:.0f} s").format(seconds=_DEADLINE)) from error
        if done.returncode != 0 and any(sign in done.stderr for sign in _UNANSWERED):
            raise _unanswered(_words(done))
        return done


def _unanswered(why: str) -> Unanswered:
    return Unanswered(
        _("the controller of Slurm does not answer: {why}").format(why=why),
        hint=_("what runs goes on; `lastro run` asks again"),
    )


def _environment(base: Mapping[str, str]) -> dict[str, str]:
    """Return the environment without the marks of a job in which lastro itself may run, in plain English."""
    return {**without_marks(base), "LC_ALL": "C", "SLURM_TIME_FORMAT": "standard"}


def without_marks(base: Mapping[str, str]) -> dict[str, str]:
    """Return an environment that names the cluster, and no job of it."""
    return {
        name: value
        for name, value in base.items()
        if not name.startswith(("SLURM_", "SLURMD_")) or name in ("SLURM_CONF", "SLURM_CLUSTERS")
    }


def _words(done: _Said) -> str:
    """Return what a command has complained of last, without its own name."""
    lines = [line.strip() for line in (done.stderr or done.stdout).splitlines() if line.strip()]
    last = lines[-1] if lines else _("exit code {code}").format(code=done.returncode)
    for prefix in ("sbatch: ", "squeue: ", "scancel: ", "error: "):
        last = last.removeprefix(prefix)
    return last
