"""What every check sees, and what it says."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field
from enum import Enum
from pathlib import Path
from typing import Any

from lastro.preflight.sources import source_of
from lastro.records import dataclass
from lastro.spec.want import OF_GPU
from lastro.stack import Stack
from lastro.stack.driver import NO_PYTHON_LIBRARY, Card, Driver
from lastro.stack.versions import Versions


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
    well. `source` says where the value comes from: measured, declared, looked up, assumed. `required`: no
    answer to it is no trust.
    """

    code: str
    level: Level
    fact: str
    value: str
    expected: str | None = None
    consequence: str | None = None
    next_step: str | None = None
    source: str = "measured"
    required: bool = False

    @property
    def text(self) -> str:
        """The finding in one sentence."""
        said = f"{self.fact}: {self.value}"
        if self.expected and self.level is not Level.PASS:
            said += f" ({self.expected})"
        return f"{said}; {self.consequence}" if self.consequence else said

    @property
    def threshold(self) -> str | None:
        """Where the bound comes from that it was judged by; None: it is not told."""
        return source_of(self.code)

    @property
    def forbids(self) -> bool:
        """Whether the machine must not be trusted because of it."""
        return self.level is Level.FAIL or (self.level is Level.NO_ANSWER and self.required)

    def as_json(self) -> dict[str, Any]:
        return {
            "code": self.code,
            "level": self.level.value,
            "text": self.text,
            "fact": self.fact,
            "value": self.value,
            "expected": self.expected,
            "threshold": self.threshold,
            "consequence": self.consequence,
            "next": self.next_step,
            "source": self.source,
            "required": self.required,
        }


@dataclass(frozen=True, kw_only=True)
class Offered:
    """What the lease says of the machine's GPUs. None: it says nothing. `memory_bytes`: of one card."""

    offer: str
    gpu: str | None
    gpus: int
    memory_bytes: int | None = None


@dataclass(frozen=True, kw_only=True)
class Subject:
    """What is checked: a machine and a disk, for a campaign.

    `versions` are those of the Python that the campaign's command starts, which need not be this one.
    `corpus_bytes` None: there is no corpus, or it is not there. `driver` is what the NVIDIA driver says.
    `cpu_only`: GPUs are not asked for, as with `--cpu`. `dtypes`: of numbers, as the configurations name
    them. `origins`: addresses that data come from. `image`: the digest of the container that this is, as its
    environment tells it; `images`: those that plan B names, by its path. `look_seconds`: what it took to
    gather all this, the driver's answer included.
    """

    stack: Stack
    versions: Versions
    command: tuple[str, ...]
    workdir: Path
    disk: Path
    want: Mapping[str, str] = field(default_factory=dict)
    corpus_bytes: int | None = None
    setup: str | None = None
    driver: Driver = field(default_factory=lambda: Driver(state=NO_PYTHON_LIBRARY))
    offered: Offered | None = None
    cpu_only: bool = False
    dtypes: tuple[str, ...] = ("float32",)
    origins: tuple[str, ...] = ()
    image: str | None = None
    images: Mapping[str, str] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)
    look_seconds: float = 0.0

    @property
    def cards(self) -> tuple[Card, ...]:
        """The GPUs that can be read; none where they are not asked for, or nobody answers."""
        if self.cpu_only or self.driver.reason is not None:
            return ()
        return tuple(card for card in self.driver.cards if not card.is_lost)

    @property
    def wants_gpu(self) -> bool:
        """Whether the campaign says that it needs a GPU."""
        return not self.cpu_only and any(name in self.want for name in OF_GPU)


Check = Callable[[Subject], Iterable[Finding]]


def verdict_of(findings: Sequence[Finding]) -> Level:
    """Return the worst level. No answer counts where one is required, and takes nothing away elsewhere."""
    if any(finding.level is Level.FAIL for finding in findings):
        return Level.FAIL
    if any(finding.forbids for finding in findings):
        return Level.NO_ANSWER
    return Level.WARN if any(finding.level is Level.WARN for finding in findings) else Level.PASS
