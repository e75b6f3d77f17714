"""What every check sees, and what it says."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any

from lastro.preflight.interpreter import Versions
from lastro.stack import Stack


class Level(str, Enum):
    """How a check ended. NO_ANSWER: it could not be asked, which is not the same as well."""

    PASS = "pass"  # noqa: S105 - a verdict, no password
    WARN = "warn"
    FAIL = "fail"
    NO_ANSWER = "no_answer"


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One fact about a machine, judged.

    `value` and `expected` are as people read them. `consequence` and `next_step` are there when it is not
    well. `source` says where the value comes from: measured, declared, looked up, assumed.
    """

    code: str
    level: Level
    fact: str
    value: str
    expected: str | None = None
    consequence: str | None = None
    next_step: str | None = None
    source: str = "measured"

    @property
    def text(self) -> str:
        """The finding in one sentence."""
        said = f"{self.fact}: {self.value}"
        if self.expected and self.level is not Level.PASS:
            said += f" ({self.expected})"
        return f"{said}; {self.consequence}" if self.consequence else said

    def as_json(self) -> dict[str, Any]:
        return {
            "code": self.code,
            "level": self.level.value,
            "text": self.text,
            "fact": self.fact,
            "value": self.value,
            "expected": self.expected,
            "consequence": self.consequence,
            "next": self.next_step,
            "source": self.source,
        }


@dataclass(frozen=True, kw_only=True)
class Subject:
    """What is checked: a machine and a disk, for a campaign.

    `versions` are those of the Python that the campaign's command starts, which need not be this one.
    `corpus_bytes` None: there is no corpus, or it is not there.
    """

    stack: Stack
    versions: Versions
    command: tuple[str, ...]
    workdir: Path
    disk: Path
    want: Mapping[str, str] = field(default_factory=dict)
    corpus_bytes: int | None = None
    setup: str | None = None


Check = Callable[[Subject], Iterable[Finding]]
