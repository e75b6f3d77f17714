"""The batch script that makes a machine of a job. Pure."""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from lastro.records import dataclass
from lastro.spec.addresses import partition_of

#: Seconds before the time limit at which Slurm tells the machine: enough for a save of some 100 GB.
NOTICE_SECONDS = 120
_PLAIN = re.compile(r"[\w./:,=@+%*\[\]-]+")


@dataclass(frozen=True, kw_only=True)
class Script:
    """A job that is a machine. `folder`: the machine's own on the shared disk; `options`: of sbatch."""

    job: str
    machine: str
    campaign: str
    folder: Path
    python: Path
    options: Mapping[str, str]

    def text(self) -> str:
        """Return the script: readable, and all that Slurm is told of the job."""
        return "\n".join(self._lines()) + "\n"

    def _lines(self) -> Iterator[str]:
        yield "#!/bin/bash"
        yield f"# The machine {self.machine} of the campaign {self.campaign}, as one job of this cluster."
        yield "# Made by lastro, which starts, watches and ends the runs in it. Slurm restarts nothing:"
        yield "# what is lost with this job goes on in the next one, from its last checkpoint."
        settings = {
            "job-name": self.job,
            "output": str(self.folder / "machine.log"),
            "open-mode": "append",
            "no-requeue": "",
            "signal": f"B:USR1@{NOTICE_SECONDS}",
            **self.options,
        }
        yield from (option_line(name, value) for name, value in settings.items())
        yield ""
        seat = [str(self.python), "-m", "lastro.providers.slurm.seat", str(self.folder)]
        yield f"exec {shlex.join(seat)}"


def option_line(name: str, value: str) -> str:
    """Return an option as a script has it; an empty value stands for an option that takes none."""
    if not value:
        return f"#SBATCH --{name}"
    quoted = value if _PLAIN.fullmatch(value) else '"' + value.replace('"', r"\"") + '"'
    return f"#SBATCH --{name}={quoted}"


def options_at(spec: str, options: Mapping[str, str]) -> Mapping[str, str]:
    """Return the options, with the partition that `slurm://PARTITION` names, where it names one.

    Raises:
        UsageError: what follows is not the name of a partition.
    """
    partition = partition_of(spec)
    return options if partition is None else {**options, "partition": partition}


def without_nodes(options: Mapping[str, str], nodes: Collection[str]) -> Mapping[str, str]:
    """Return the options with these nodes excluded, beside those that the user excludes."""
    excluded = [*filter(None, [options.get("exclude")]), *sorted(nodes)]
    return {**options, "exclude": ",".join(excluded)} if nodes else options
