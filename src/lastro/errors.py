"""Every error that lastro raises on purpose, each with its exit code and the user's next step.

LastroError            1   unexpected
|- UsageError          2   wrong use of a command or of the library
|- CampaignInvalid     3   the campaign file (or a file it names) is invalid
|- PreflightFailed     4   this machine must not be trusted
|- PlanError           5   no plan can be made
|- StoppedByRule       6   a stop rule ended a required run
|- ProviderError       7   the place where machines come from failed
|  `- CapacityRefused
|- StorageError        8   bytes could not be written, read or believed
|  |- CheckpointDamaged
|  `- JournalDamaged
|- DeliverableRejected 9   a required deliverable was rejected
|- DrillDifferent     10   a resumed run differs from the uninterrupted one
|- NotProven          11   not proven, or waiting for a decision
|- Fenced             12   another attempt or another home owns this
`- GuardRefused       13   valuable files would be lost
"""

from __future__ import annotations

from collections.abc import Mapping

from lastro.locale import _

#: Exit code of a process that saved on request and wants to be run again.
SAVED_ON_REQUEST = 85

#: The one table of exit codes; `docs/exit-codes.md` is tested against it.
EXIT_CODES: Mapping[int, str] = {
    0: "done",
    1: "unexpected error",
    2: "wrong use",
    3: "campaign file invalid",
    4: "preflight failed",
    5: "plan impossible",
    6: "stopped by a stop rule",
    7: "provider failed",
    8: "storage failed",
    9: "a deliverable was rejected",
    10: "drill found a difference",
    11: "not proven, or waiting for a decision",
    12: "fenced, or owned by another home",
    13: "refused by the guard",
    SAVED_ON_REQUEST: "saved on request, run me again",
}


class LastroError(Exception):
    """What happened, with the values, in one sentence; `hint` is the next step."""

    exit_code = 1

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def as_json(self) -> dict[str, object]:
        """Return the object that a command with `--json` prints when it fails."""
        return {
            "error": {"kind": type(self).__name__, "message": self.message, "next": self.hint},
            "exit_code": self.exit_code,
        }


class UsageError(LastroError):
    """A command or a function was used in a way that cannot mean anything."""

    exit_code = 2


class CampaignInvalid(LastroError):
    """A file that the user wrote is invalid. Holds where: file, line and column count from 1."""

    exit_code = 3

    def __init__(
        self,
        message: str,
        *,
        hint: str | None = None,
        file: str | None = None,
        line: int | None = None,
        column: int | None = None,
    ) -> None:
        place = file or ""
        if line is not None:
            place += f":{line}"
            place += f":{column}" if column is not None else ""
        super().__init__(f"{place}: {message}" if place else message, hint=hint)
        self.file, self.line, self.column = file, line, column


class PreflightFailed(LastroError):
    """The machine is not what the plan or the lock says."""

    exit_code = 4


class PlanError(LastroError):
    """The plan cannot be made, or its numbers lie outside a formula's range."""

    exit_code = 5


class StoppedByRule(LastroError):
    """A stop rule of the frozen plan ended the work."""

    exit_code = 6


class ProviderError(LastroError):
    """A provider did not do what it was asked, or could not be asked."""

    exit_code = 7


class CapacityRefused(ProviderError):
    """A provider has no machine of this kind to give now; nothing was made, and asking again may help."""


class StorageError(LastroError):
    """Bytes could not be written durably, read, or do not match their digest."""

    exit_code = 8


class CheckpointDamaged(StorageError):
    """A checkpoint does not match its manifest, or does not fit the objects it is loaded into."""


class JournalDamaged(StorageError):
    """A line of the journal was changed, or its chain is broken."""


class DeliverableRejected(LastroError):
    """An output that the campaign promised did not pass its controls."""

    exit_code = 9


class DrillDifferent(LastroError):
    """A killed and resumed run is not the uninterrupted one."""

    exit_code = 10


class NotProven(LastroError):
    """There is not enough evidence, or a person has to decide first."""

    exit_code = 11


class Fenced(LastroError):
    """Another attempt, or another home, owns what this process was about to change."""

    exit_code = 12


class GuardRefused(LastroError):
    """Valuable files lie where they would be lost."""

    exit_code = 13


def wrong_type(what: str, value: object, wanted: str) -> UsageError:
    """Return the error for a value of the wrong type, worded the same everywhere."""
    return UsageError(
        _("{what} is {value!r} ({kind}), but it has to be {wanted}").format(
            what=what, value=value, kind=type(value).__name__, wanted=wanted
        )
    )
