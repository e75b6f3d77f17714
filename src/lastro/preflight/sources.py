"""Where each bound comes from that a finding is judged by: a standard, a maker, practice, or an assumption.

`docs/preflight.md` shows them, and a test holds the two together.
"""

from __future__ import annotations

from collections.abc import Mapping

_WANT = "the campaign file, `want`"
_ASSUMED = "assumed"
_AZURE = "azurehpc-health-checks 0e0a1ac"

#: By the code of the finding. `lock.` stands for every locked fact.
SOURCES: Mapping[str, str] = {
    "command": "exec(3): a program has to be there",
    "python_version": _WANT,
    "packages": _WANT,
    "isolation": "LASTRO_LOCAL_LEVEL",
    "memory": _WANT,
    "shared_memory": "`want`; else docs.docker.com, `--shm-size`: 64 MiB (2026-11)",
    "disk_space": "`want`; else the corpus and 1 GB, assumed",
    "disk_inodes": _ASSUMED,
    "disk_write": f"{_ASSUMED}: 0.2 s of one fsync",
    "disk_is_scratch": "mountinfo, fstab and the disk's own mark",
    "descriptors": f"{_ASSUMED}: four times the usual soft limit of 1024",
    "clock_offset": "AWS, S3 error codes: RequestTimeTooSkewed beyond 15 min (2026-11); 60 s assumed",
    "dns": "getaddrinfo(3): a name has to be resolved each time",
    "origin": "each address that the campaign's data come from",
    "image": "the lock, and `plan_b`",
    "gpu": _WANT,
    "driver": f"{_ASSUMED}: 5 s from the command on, 3 at least; healthy drivers answer within one",
    "driver_silent": f"{_ASSUMED}: 5 s from the command on, 3 at least; healthy drivers answer within one",
    "driver_half_updated": "NVML error 18: driver and library of two versions",
    "driver_not_loaded": "NVML error 9",
    "driver_failed": "NVML",
    "driver_minimum": "NVIDIA, CUDA compatibility, minor versions: 450, 525, 580 (2026-11)",
    "driver_version": _WANT,
    "driver_cuda": _WANT,
    "gpu_lost": "NVML error 15",
    "gpu_unreadable": "NVML",
    "gpu_count": "`want`, and the offer that is paid",
    "gpu_name": "`want`, and the offer that is paid",
    "gpu_memory": "`want`, and the offer that is paid; 8 % less, assumed",
    "gpu_processes": f"{_ASSUMED}: 2 % of the card, more than drivers hold themselves",
    "gpu_ecc": "NVML",
    "gpu_ecc_volatile": f"{_AZURE}: any uncorrected error",
    "gpu_ecc_aggregate": "ml-engineering 744d01e: more than 4",
    "gpu_rows_failed": f"{_AZURE}, and DCGM",
    "gpu_rows_pending": f"{_AZURE}, and DCGM",
    "gpu_heat": "NVML",
    "gpu_throttled": "nvml.h, nvmlClocksEventReasons: 0x08, 0x20, 0x40, 0x80",
    "gpu_temperature": "NVML: the card's own slowdown temperature",
    "gpu_power_limit": f"{_ASSUMED}: 90 % of the default limit",
    "gpu_clock": f"{_ASSUMED}: 70 % of the highest clock, where no power cap explains it",
    "gpu_link": "NVML",
    "gpu_link_width": "NVML: the widest that card and slot can",
    "gpu_link_generation": "NVML: the highest that card and slot can, under load",
    "gpu_link_replays": "DCGM 72fa3fe, PCIe test: 80",
    "gpu_visible": "CUDA C++ programming guide, environment variables",
    "gpu_compute_mode": "nvml.h, nvmlComputeMode",
    "gpu_mig": "NVML",
    "gpu_xid": "NVIDIA's Xid catalogue, as leptonai/gpud 4a8de33a has it",
    "gpu_xid_corrupt": "NVIDIA's Xid catalogue, as leptonai/gpud 4a8de33a has it",
    "kernel": "CUDA binary rules: the card's architecture in `torch.cuda.get_arch_list()`",
    "burn": "the job's own PyTorch",
    "burn_memory": "every bit that was written",
    "burn_matmul": "the first result, bit for bit; Higham, Accuracy and Stability, 3.5, for that one",
    "burn_transfer": "every byte that was sent",
    "burn_reduce": "the exact sum of whole numbers",
    "burn_pace": "the lock, and the card's siblings: 75 %, as DCGM 72fa3fe asks of its targets",
    "burn_fades": f"{_ASSUMED}: 90 % of the first third's pace in the last",
    "cpu_speed": "the budget of the step",
    "cpu_speed.copy": "earlier runs at this home: 30 % less, by a sequential test",
    "cpu_speed.matmul": "earlier runs at this home: 30 % less, by a sequential test",
    "cpu_speed.core": "earlier runs at this home: half, more than CPU time moves by on a shared box",
    "cpu_share": f"{_ASSUMED}: 80 % of a core for a program that never waits",
    "io_read": "the lock: twice its p50 and p99",
    "io_write": "the lock: twice its p50 and p99",
    "trial": "the job's own exit",
    "trial_loss": "the lock: bit for bit on the same card and build, else 1 %, assumed",
    "trial_reload": "the first process: the same losses after a reload",
    "trial_waiting": f"{_ASSUMED}: 30 % of a step",
    "trial_shared_memory": f"{_ASSUMED}: twice what the job's own loader took",
    "step": "the budget of the step",
    "lock": "lastro.lock",
    "lock_missing": "lastro.lock",
    "lock_cut": "strict JSON (RFC 8259)",
    "lock_edited": "the digest inside the lock",
    "lock_campaign": "the campaign file's own name",
    "lock.": "the first machine that passed",
}


def source_of(code: str) -> str | None:
    """Return where the bound of a finding comes from; None for a check of somebody's own."""
    return SOURCES["lock."] if code.startswith("lock.") else SOURCES.get(code)
