"""Which findings a person may take upon himself, and whether a machine is trusted then. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lastro.locale import _
from lastro.preflight.check import Finding

#: Memory that was wrong, and scratch that is taken for the disk: nobody can see afterwards what they cost.
NEVER = frozenset(
    {
        "gpu_ecc_volatile", "gpu_ecc_aggregate", "gpu_rows_failed", "gpu_rows_pending", "gpu_xid_corrupt",
        "gpu_memory_pattern", "gpu_matmul_wrong", "memory_pattern", "matmul_result", "kernel",
        "disk_is_scratch", "disk_write",
    }
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Trust:
    """Whether a machine is used. `accepted`: codes that would have forbidden it, by the person's reason."""

    trusted: bool
    why: str
    accepted: Mapping[str, str]


def decide(findings: Sequence[Finding], accepted: Mapping[str, str]) -> Trust:
    """Return whether a machine is trusted with what was found.

    Args:
        findings: of its preflight.
        accepted: why a person takes a risk, by the code of the finding.
    """
    forbidding = {finding.code: finding for finding in findings if finding.forbids}
    used = {code: accepted[code] for code in forbidding if code in accepted and code not in NEVER}
    left = [finding for code, finding in forbidding.items() if code not in used]
    if left:
        return Trust(trusted=False, why="; ".join(finding.text for finding in left), accepted={})
    if used:
        why = _("risks were accepted: {codes}").format(codes=", ".join(used))
        return Trust(trusted=True, why=why, accepted=used)
    return Trust(trusted=True, why=_("nothing forbids it"), accepted={})
