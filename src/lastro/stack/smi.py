"""What `nvidia-smi` says of the cards, where the library that is asked otherwise is not installed.

It tells less than the library: what it does not tell is None, and is not judged.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from lastro.errors import LastroError
from lastro.procs.child import run_with_deadline
from lastro.stack.driver import ANSWERED, DEADLINE_SECONDS, FAILED, SILENT, Card, Driver

#: What every driver of today knows; and what it says of more, where it knows that too: one field that a
#: driver does not know costs the whole answer.
_FEW = (
    "index", "name", "uuid", "driver_version", "vbios_version", "memory.total", "memory.used",
    "temperature.gpu", "power.limit", "power.default_limit",
)  # fmt: skip
_MORE = (
    *_FEW, "pci.device_id", "compute_cap", "utilization.gpu", "ecc.mode.current", "mig.mode.current",
    "ecc.errors.uncorrected.volatile.total", "ecc.errors.uncorrected.aggregate.total",
    "pcie.link.gen.current", "pcie.link.gen.max", "pcie.link.width.current", "pcie.link.width.max",
)  # fmt: skip
_MIB = 1 << 20


def ask_smi(
    before: Sequence[str] = (),
    *,
    cwd: Path,
    environment: Mapping[str, str],
    seconds: float = DEADLINE_SECONDS,
) -> Driver | None:
    """Ask it once; None where there is no such program.

    Args:
        before: words that stand before the command, such as a shell that logs in.
        cwd: where it starts.
        environment: of the process.
        seconds: after so many it is killed.
    """
    began = time.monotonic()
    found = None
    for fields in (_MORE, _FEW):
        left = seconds - (time.monotonic() - began)
        found = _asked(fields, before, cwd, environment, max(0.1, left))
        if found is None or found.state != FAILED:
            return found
    return found


def _asked(
    fields: Sequence[str], before: Sequence[str], cwd: Path, environment: Mapping[str, str], seconds: float
) -> Driver | None:
    began = time.monotonic()
    command = [*before, "nvidia-smi", f"--query-gpu={','.join(fields)}", "--format=csv,noheader,nounits"]
    try:
        done = run_with_deadline(command, seconds=seconds, cwd=cwd, env=environment)
    except LastroError:
        return None
    took = time.monotonic() - began
    if done.timed_out:
        return Driver(state=SILENT, asking="nvidia-smi", seconds=took)
    if done.code in (126, 127):  # of a shell, or of env: there is no such program
        return None
    if done.code != 0:
        said = (done.out + done.err).strip().splitlines() or [str(done.code)]
        return Driver(state=FAILED, why=said[-1], code=done.code, seconds=took)
    return read_smi(fields, done.out, took)


def read_smi(fields: Sequence[str], text: str, seconds: float) -> Driver:
    """Return what its lines say of fields. Pure; what is no number there, as `[N/A]`, is not told.

    Lines of something else, such as the greeting of a shell, are passed over.
    """
    rows = [[cell.strip() for cell in line.split(",")] for line in text.splitlines()]
    told = [
        dict(zip(fields, row, strict=True)) for row in rows if len(row) == len(fields) and row[0].isdigit()
    ]
    if not told:
        said = text.strip().splitlines() or ["nvidia-smi"]
        return Driver(state=FAILED, why=said[-1], seconds=seconds)
    return Driver(
        state=ANSWERED,
        version=told[0]["driver_version"],
        cards=tuple(_card(number, one) for number, one in enumerate(told)),
        seconds=seconds,
    )


def _card(number: int, told: Mapping[str, str]) -> Card:
    use = _number(told, "utilization.gpu")
    return Card(
        index=number,
        name=told["name"],
        uuid=told["uuid"],
        vbios=told["vbios_version"],
        pci=told["pci.device_id"].removeprefix("0x").lower() if "pci.device_id" in told else None,
        capability=told.get("compute_cap"),
        memory_bytes=_whole(told, "memory.total", _MIB),
        used_bytes=_whole(told, "memory.used", _MIB),
        ecc=_is_on(told, "ecc.mode.current"),
        ecc_volatile=_whole(told, "ecc.errors.uncorrected.volatile.total"),
        ecc_aggregate=_whole(told, "ecc.errors.uncorrected.aggregate.total"),
        mig=_is_on(told, "mig.mode.current"),
        temperature=_whole(told, "temperature.gpu"),
        power_limit_mw=_whole(told, "power.limit", 1000),
        power_default_mw=_whole(told, "power.default_limit", 1000),
        use=None if use is None else use / 100,
        link_gen=_whole(told, "pcie.link.gen.current"),
        link_gen_max=_whole(told, "pcie.link.gen.max"),
        link_width=_whole(told, "pcie.link.width.current"),
        link_width_max=_whole(told, "pcie.link.width.max"),
    )


def _number(told: Mapping[str, str], name: str) -> float | None:
    try:
        return float(told[name])
    except (KeyError, ValueError):
        return None


def _whole(told: Mapping[str, str], name: str, times: int = 1) -> int | None:
    found = _number(told, name)
    return None if found is None else round(found * times)


def _is_on(told: Mapping[str, str], name: str) -> bool | None:
    return {"Enabled": True, "Disabled": False}.get(told.get(name, ""))
