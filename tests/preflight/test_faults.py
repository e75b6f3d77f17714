"""Every fault that preflight knows, injected one at a time, is found with its own code and words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from lastro.disk.mounts import Mount
from lastro.preflight import disk_kind, gpu_visible, image, origins
from lastro.preflight.check import Finding, Level, Offered, Subject
from lastro.preflight.descriptors import judge as judge_descriptors
from lastro.preflight.launch import judge as judge_launched
from lastro.preflight.lock import Answer, Value
from lastro.preflight.lock_drift import judge_drift
from lastro.preflight.machine_facts import facts_of
from lastro.preflight.origins import Reach
from lastro.preflight.run import DRIVER_CHECKS
from lastro.preflight.sources import source_of
from lastro.stack.driver import Driver
from lastro.stack.versions import Versions

from .nvml.asked import answers
from .subjects import subject

HEALTHY = "count = 2\n"
WANT = {
    "gpu": "A100-SXM4-80GB", "gpus": ">=2", "gpu_memory": ">=80 GB", "driver": ">=550", "cuda": ">=12.4",
}  # fmt: skip
LOADED = "1.use = 99\n"

#: (state of the stand-in beside two healthy cards, code, words that have to be there)
IN_THE_DRIVER = [
    ("fail.nvmlInitWithFlags = 18", "driver_half_updated", "two versions"),
    ("fail.nvmlInitWithFlags = 9", "driver_not_loaded", "load the driver"),
    ("fail.nvmlInitWithFlags = 999", "driver_failed", "finds no GPU"),
    ("fail.nvmlSystemGetDriverVersion = 999", "driver_failed", "does not answer"),
    ("fail.nvmlDeviceGetCount_v2 = 10", "driver_failed", "does not answer"),
    ("driver = 535.183.01", "driver_minimum", "at least 580"),
    ("driver = 545.23.08", "driver_version", ">=550"),
    ("driver = unknown", "driver_version", "no version that can be compared"),
    ("cuda = 12020", "driver_cuda", "12.2"),
    ("1.fail.all = 15", "gpu_lost", "left the bus"),
    ("1.fail.nvmlDeviceGetHandleByIndex_v2 = 15", "gpu_lost", "note its node id"),
    ("1.fail.all = 999", "gpu_unreadable", "999"),
    ("count = 1", "gpu_count", "at least 2"),
    ("count = 0", "gpu", "has no card"),
    ("0.name = NVIDIA A100-PCIE-40GB", "gpu_name", "A100-PCIE-40GB"),
    ("1.name = NVIDIA RTX PRO 6000", "gpu_name", "A100-SXM4-80GB"),
    ("0.memory = 42949672960", "gpu_memory", "42.9 GB"),
    ("1.memory = 77000000000", "lock.gpu.memory_bytes", "as locked"),
    ("0.process = 4242", "gpu_processes", "4242"),
    ("1.used = 8589934592", "gpu_processes", "at most 2%"),
    ("0.ecc_volatile = 1", "gpu_ecc_volatile", "1 uncorrected"),
    ("1.ecc_aggregate = 5", "gpu_ecc_aggregate", "at most 4"),
    ("0.rows_pending = 1", "gpu_rows_pending", "reset the card"),
    ("1.rows_failed = 1", "gpu_rows_failed", "could not be replaced"),
    (LOADED + "1.throttle = 0x8", "gpu_throttled", "hardware slowdown"),
    (LOADED + "1.throttle = 0x20", "gpu_throttled", "software thermal"),
    (LOADED + "1.throttle = 0x44", "gpu_throttled", "hardware thermal"),
    (LOADED + "1.throttle = 0x80", "gpu_throttled", "power brake"),
    ("0.temperature = 95", "gpu_temperature", "95 °C"),
    ("0.power_limit = 200000", "gpu_power_limit", "at least 360 W"),
    (LOADED + "1.clock = 700\n1.throttle = 0", "gpu_clock", "700 MHz"),
    ("0.link_width = 4", "gpu_link_width", "x16"),
    (LOADED + "1.link_gen = 1", "gpu_link_generation", "generation 4"),
    ("0.replays = 5000", "gpu_link_replays", "5000"),
    ("1.compute_mode = 2", "gpu_compute_mode", "nvidia-smi -c DEFAULT"),
    ("0.mig = 1", "gpu_mig", "divided"),
    ("driver = 580.82.07", "lock.gpu.driver", "580.65.06, as locked"),
    ("1.vbios = 92.00.19.00.01", "", "92.00.19.00.01"),
    ("0.ecc = 0", "lock.gpu.ecc", "True, as locked"),
    ("0.pci = 0x20B010DE", "lock.gpu.pci", "20b210de, as locked"),
    ("1.capability = 90", "lock.gpu.capability", "8.0, 9.0"),
    ("0.compute_mode = 1", "lock.gpu.compute_mode", "as locked"),
    ("0.mig = 1", "lock.gpu.mig", "as locked"),
    ("0.power_limit = 380000", "lock.gpu.power_limit_mw", "as locked"),
    ("count = 3", "lock.gpu.count", "2, as locked"),
    ("0.name = NVIDIA A100 80GB PCIe", "lock.gpu.name", "as locked"),
]  # fmt: skip


def machine(folder: Path, driver: Driver) -> Subject:
    return replace(
        subject(folder, **WANT),
        driver=driver,
        offered=Offered(offer="a100", gpu="A100 SXM4 80GB", gpus=2, memory_bytes=80 * 10**9),
        versions=Versions(
            path="/usr/bin/python",
            python="3.11.7",
            packages={},
            implementation="CPython",
            installed={"torch": "2.13.0+cu130", "numpy": "2.3.0"},
        ),
    )


def of_cards(found: Subject, locked: Mapping[str, Value]) -> Iterator[Finding]:
    for check in DRIVER_CHECKS:
        yield from check(found)
    if found.driver.reason is None:
        yield from judge_drift(Answer(at="2026-11-30", node_id="x", facts=locked), facts_of(found), {})


@pytest.fixture(scope="module")
def drivers(library: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Driver]:
    states = ["", *(state for state, _code, _words in IN_THE_DRIVER)]
    return answers(library, tmp_path_factory.mktemp("states"), [HEALTHY + state for state in states])


def test_a_healthy_machine_has_no_finding_against_it(drivers: list[Driver], tmp_path: Path) -> None:
    found = machine(tmp_path, drivers[0])

    findings = list(of_cards(found, facts_of(found)))

    assert [finding.text for finding in findings if finding.level is not Level.PASS] == []
    assert {"driver", "driver_minimum", "gpu", "gpu_count", "gpu_ecc", "gpu_link", "lock"} <= {
        finding.code for finding in findings
    }


@pytest.mark.parametrize("number", range(len(IN_THE_DRIVER)), ids=lambda at: IN_THE_DRIVER[at][0][:40])
def test_a_fault_of_a_card_is_found_by_name(drivers: list[Driver], number: int, tmp_path: Path) -> None:
    _state, code, words = IN_THE_DRIVER[number]
    locked = facts_of(machine(tmp_path, drivers[0]))

    found = list(of_cards(machine(tmp_path, drivers[number + 1]), locked))

    if not code:  # what is told only
        assert any(words in finding.text for finding in found)
        assert all(finding.level is Level.PASS for finding in found)
        return
    against = [finding for finding in found if finding.level is not Level.PASS and finding.code == code]
    assert against, [finding.text for finding in found]
    assert any(words in f"{finding.text} {finding.next_step}" for finding in against)
    assert all(finding.consequence and finding.next_step and finding.threshold for finding in against)


CARD = {"device": "cuda:0", "capability": "12.0", "results": {"bfloat16": "right"}}
TORCH = {"torch": "2.13.0", "archs": ["sm_80", "sm_90", "compute_90"], "cards": [CARD]}
NFS = Mount(device="0:1", root="/", point="/mnt/disk", fs_type="nfs4", source="a:/b", read_only=False)


def of_software(name: str, value: Value) -> Iterator[Finding]:
    locked: dict[str, Value] = {
        "python": "3.11.7", "python.implementation": "CPython", "architecture": "x86_64", "image": "sha256:a",
        "package.torch": "2.13.0", "build.torch": "cu130", "package.nvidia-nccl-cu13": "2.28",
    }  # fmt: skip
    now = {**locked, name: value}
    if value is None:
        del now[name]
    yield from judge_drift(Answer(at="2026-11-30", node_id="x", facts=locked), now, {"torch": "2.13.*"})


#: (what is found, code, words)
OUTSIDE_THE_DRIVER = [
    (of_software("python", "3.12.1"), "lock.python", "3.11.7, as locked"),
    (of_software("python.implementation", "PyPy"), "lock.python.implementation", "CPython"),
    (of_software("architecture", "aarch64"), "lock.architecture", "x86_64"),
    (of_software("image", "sha256:b"), "lock.image", "sha256:a, as locked"),
    (of_software("package.torch", "2.13.1"), "lock.package.torch", "2.13.0, as locked"),
    (of_software("package.torch", None), "lock.package.torch", "not there"),
    (of_software("build.torch", "cpu"), "lock.build.torch", "cu130"),
    (of_software("package.nvidia-nccl-cu13", "2.27"), "lock.package.nvidia-nccl-cu13", "2.28"),
    (of_software("package.horovod", "1"), "lock.packages_added", "horovod"),
    ([judge_descriptors(1024, 1 << 20)], "descriptors", "ulimit -n 4096"),
    ([judge_descriptors(1024, 1024)], "descriptors", "--ulimit nofile=4096"),
    ([origins.judge_offset(1200.0, "https://a")], "clock_offset", "+1200 s"),
    ([origins.judge_offset(-61.0, "https://a")], "clock_offset", "-61 s"),
    (
        origins.judge(Reach(origin="https://a", lookups=20, failed_lookups=3, connected=True)),
        "dns",
        "3 of 20",
    ),
    (
        origins.judge(Reach(origin="https://a", lookups=20, failed_lookups=20, connected=False)),
        "dns",
        "20 of 20",
    ),
    (
        origins.judge(
            Reach(origin="https://a", lookups=20, failed_lookups=0, connected=False, why="refused")
        ),
        "origin",
        "refused",
    ),
    ([image.judge("a@sha256:1", {"run": "b@sha256:2"})], "image", "plan B of run"),
    ([disk_kind.judge(NFS, "/mnt/disk", rented=True)], "disk_is_scratch", "not mounted"),
    ([disk_kind.judge(replace(NFS, fs_type="tmpfs"), None, rented=True)], "disk_is_scratch", "tmpfs"),
    ([disk_kind.judge(replace(NFS, fs_type="overlay"), None, rented=False)], "disk_is_scratch", "overlay"),
    (judge_launched({**TORCH, "archs": ["sm_80"]}, expected_cards=1), "kernel", "capability 12.0"),
    (judge_launched(TORCH, expected_cards=2), "kernel", "CUDA_VISIBLE_DEVICES"),
    (
        judge_launched({**TORCH, "cards": [{**CARD, "results": {"float32": "wrong"}}]}, expected_cards=1),
        "kernel",
        "another product",
    ),
    (judge_launched({"absent": "ImportError: libcudart"}, expected_cards=1), "kernel", "libcudart"),
]


@pytest.mark.parametrize(
    ("found", "code", "words"),
    OUTSIDE_THE_DRIVER,
    ids=[words for _, _code, words in OUTSIDE_THE_DRIVER],
)
def test_a_fault_beside_the_cards_is_found_by_name(found: object, code: str, words: str) -> None:
    findings = [finding for finding in list(found) if isinstance(finding, Finding)]  # type: ignore[call-overload]

    against = [finding for finding in findings if finding.level is not Level.PASS]
    assert [finding.code for finding in against] == [code]
    assert words in f"{against[0].text} {against[0].next_step}"
    assert against[0].consequence and against[0].next_step and source_of(code)


def test_ptx_of_an_older_card_is_compiled_for_a_newer_one() -> None:
    assert all(finding.level is Level.PASS for finding in judge_launched(TORCH, expected_cards=1))


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("", "hides every card"),
        ("-1", "hides every card"),
        ("0,7,1", "7 is no card"),
        ("0,0", "named twice"),
        ("GPU-ffff", "GPU-ffff is no card"),
        ("MIG-1", "MIG-1 is no card"),
    ],
)
def test_an_environment_that_hides_cards_is_found(drivers: list[Driver], value: str, words: str) -> None:
    finding = gpu_visible.judge_environment(value, drivers[0].cards)

    assert finding.level is Level.FAIL and words in finding.value


@pytest.mark.parametrize("value", [None, "0", "1,0", "GPU-00000000-0000-0000-0000-000000000001"])
def test_an_environment_that_names_cards_is_well(drivers: list[Driver], value: str | None) -> None:
    assert gpu_visible.judge_environment(value, drivers[0].cards).level is Level.PASS
