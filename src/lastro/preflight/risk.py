"""Which findings a person may take upon himself, and whether a machine is trusted then. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lastro.locale import _
from lastro.preflight.check import Finding, Level
from lastro.records import dataclass

#: Results that were wrong, and scratch that is taken for the disk: nobody can see afterwards what they cost.
#: That nobody has answered may be accepted.
NEVER = frozenset(
    {
        "gpu_ecc_volatile", "gpu_ecc_aggregate", "gpu_rows_failed", "gpu_rows_pending", "gpu_xid_corrupt",
        "burn_memory", "burn_matmul", "burn_transfer", "burn_reduce", "disk_is_scratch", "disk_write",
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
    wrong = {one.code for one in findings if one.level is Level.FAIL and one.code in NEVER}
    used = {code: accepted[code] for code in forbidding if code in accepted and code not in wrong}
    left = [finding for code, finding in forbidding.items() if code not in used]
    if left:
        return Trust(trusted=False, why="; ".join(finding.text for finding in left), accepted={})
    if used:
        why = _("risks were accepted: {codes}").format(codes=", ".join(used))
        return Trust(trusted=True, why=why, accepted=used)
    return Trust(trusted=True, why=_("nothing forbids it"), accepted={})
