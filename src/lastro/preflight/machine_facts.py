"""What is locked of a machine: each fact by its name."""

from __future__ import annotations

import platform
from collections.abc import Sequence

from lastro.preflight.check import Subject
from lastro.preflight.lock import CPU, GPU, Value
from lastro.stack.driver import Card

PACKAGE, BUILD = "package.", "build."


def kind_of(subject: Subject) -> str:
    """Return whether a machine is compared as one with GPUs or as one without."""
    return GPU if not subject.cpu_only and subject.driver.reason is None and subject.driver.cards else CPU


def facts_of(subject: Subject) -> dict[str, Value]:
    """Return the facts of a machine. What it does not tell is None, and is not compared."""
    facts: dict[str, Value] = {
        "python": subject.versions.python,
        "python.implementation": subject.versions.implementation,
        "architecture": subject.versions.architecture or platform.machine(),
        "os": subject.stack.os,
        "kernel": subject.stack.kernel,
        "cpu": subject.stack.cpu_model,
        "cores": subject.stack.cpu_count,
        "memory_bytes": subject.stack.memory_bytes,
        "image": subject.image,
    }
    for name, version in sorted(subject.versions.installed.items()):
        facts[PACKAGE + name], label, build = version.partition("+")
        if label:
            facts[BUILD + name] = build
    if kind_of(subject) == GPU:
        facts.update(_of_gpus(subject))
    return facts


def _of_gpus(subject: Subject) -> dict[str, Value]:
    cards = subject.driver.cards
    return {
        "gpu.driver": subject.driver.version,
        "gpu.cuda": subject.driver.cuda,
        "gpu.count": len(cards),
        "gpu.name": _each(cards, "name"),
        "gpu.pci": _each(cards, "pci"),
        "gpu.capability": _each(cards, "capability"),
        "gpu.memory_bytes": min((card.memory_bytes for card in cards if card.memory_bytes), default=None),
        "gpu.ecc": _each(cards, "ecc"),
        "gpu.mig": _each(cards, "mig"),
        "gpu.persistence": _each(cards, "persistence"),
        "gpu.compute_mode": _each(cards, "compute_mode"),
        "gpu.power_limit_mw": _each(cards, "power_limit_mw"),
        "gpu.vbios": _each(cards, "vbios"),
    }


def _each(cards: Sequence[Card], name: str) -> str | None:
    """Return the values of all cards, each once; None when no card tells it."""
    values = sorted({str(getattr(card, name)) for card in cards if getattr(card, name) is not None})
    return ", ".join(values) or None
