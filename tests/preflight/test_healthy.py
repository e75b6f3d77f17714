"""A thousand healthy machines, drawn with values just inside each bound: none is accused of anything."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

from lastro.preflight import gpu_visible, origins
from lastro.preflight.check import Finding, Level, Offered, Subject, verdict_of
from lastro.preflight.descriptors import judge as judge_descriptors
from lastro.preflight.lock import Answer
from lastro.preflight.lock_drift import judge_drift
from lastro.preflight.machine_facts import facts_of
from lastro.preflight.origins import Reach
from lastro.preflight.run import DRIVER_CHECKS
from lastro.preflight.watch import Watched
from lastro.preflight.watch import judge as judge_watched
from lastro.stack.driver import ANSWERED, Card, Driver
from lastro.stack.versions import Versions

from .subjects import subject

GB = 10**9
KINDS = {
    "NVIDIA GeForce RTX 4090": (24, False),
    "NVIDIA A100-SXM4-80GB": (80, True),
    "NVIDIA H200": (141, True),
}
MOUNTED = "https://store.example"


def draw_card(draw: random.Random, index: int, name: str) -> Card:
    """A card at or just inside each bound. A GeForce counts no errors and remaps no rows."""
    gigabytes, counts = KINDS[name]
    memory = draw.choice([gigabytes * GB, round(gigabytes * GB * 0.9201), gigabytes * 2**30])
    slowdown = draw.choice([83, 89, 90])
    loaded = draw.random() < 0.5
    clock_max = draw.choice([1410, 2520])
    default = draw.choice([300_000, 450_000, 700_000])
    return Card(
        index=index,
        name=name,
        uuid=f"GPU-{index}",
        serial=None,
        vbios="96.02",
        pci="268410de",
        capability="8.9",
        memory_bytes=memory,
        used_bytes=draw.choice([0, 15 << 20, int(memory * 0.02)]),
        ecc=counts or None,
        ecc_volatile=0 if counts else None,
        ecc_aggregate=draw.choice([0, 4]) if counts else None,
        rows=(draw.randrange(5), draw.randrange(5), 0, 0) if counts else None,
        mig=False if counts else None,
        compute_mode=draw.choice([0, 3]),
        persistence=draw.random() < 0.5,
        processes=(),
        replays=draw.choice([0, 80]),
        link_gen_max=4,
        link_width_max=16,
        clock_max=clock_max,
        slowdown_at=draw.choice([slowdown, None]),
        power_default_mw=default,
        use=draw.choice([0.51, 1.0]) if loaded else draw.choice([0.0, 0.5]),
        temperature=draw.choice([30, slowdown - 1]) if slowdown else 30,
        throttle=draw.choice([0x0, 0x1, 0x2, 0x4, 0x10, 0x100]),
        power_limit_mw=draw.choice([default, round(default * 0.9), default + 10_000]),
        clock=draw.choice([clock_max, -(-clock_max * 7 // 10)]) if loaded else 210,
        link_gen=4 if loaded else 1,
        link_width=16,
        errors={} if counts else {"ecc_volatile": 3, "rows": 3},
    )


def draw_machine(draw: random.Random, folder: Path) -> Subject:
    name, count = draw.choice(list(KINDS)), draw.choice([1, 2, 8])
    cards = tuple(draw_card(draw, index, name) for index in range(count))
    gigabytes = KINDS[name][0]
    major, version = draw.choice([("12", "525.0"), ("13", "580.0"), ("13", "595.71.05"), ("11", "450.0")])
    want = {
        "gpu": f"{name} or L40S",
        "gpus": str(count),
        "gpu_memory": f">={gigabytes} GB",
        "driver": ">=450",
    }
    return replace(
        subject(folder, **draw.choice([want, {}])),
        driver=Driver(state=ANSWERED, version=version, cuda=int(major) * 1000, cards=cards, seconds=0.1),
        offered=Offered(offer="o", gpu=name, gpus=count, memory_bytes=gigabytes * GB),
        versions=Versions(path="/usr/bin/python", python="3.11.7", installed={"torch": f"2.13.0+cu{major}0"}),
        environment=draw.choice([{}, {gpu_visible.VARIABLE: ",".join(map(str, range(count)))}]),
    )


def drift_of(draw: random.Random, found: Subject) -> list[Finding]:
    """The same machine on another day: memory and power within one per cent, other kernel and VBIOS."""
    facts = facts_of(found)
    locked = {
        **facts,
        "gpu.memory_bytes": round(float(str(facts["gpu.memory_bytes"])) * draw.choice([0.991, 1.0, 1.009])),
        "kernel": "5.4",
        "gpu.vbios": "0",
        "cores": 1,
    }
    return list(judge_drift(Answer(at="2026-11-30", node_id="x", facts=locked), facts, found.want))


def test_a_thousand_healthy_machines_are_not_accused(tmp_path: Path) -> None:
    accused = []
    for seed in range(1000):
        draw = random.Random(seed)
        found = draw_machine(draw, tmp_path)
        findings = [finding for check in DRIVER_CHECKS for finding in check(found)]
        findings += drift_of(draw, found)
        loaded = (found.driver.cards[0].use or 0) > 0.5
        moments = ({"index": 0, "use": 1.0, "throttle": 4, "errors": {}},) if loaded else ()
        findings += judge_watched(Watched(watched=(0,), samples=moments), found.driver.cards[:1])
        findings.append(judge_descriptors(draw.choice([4096, -1, 1 << 20]), -1))
        findings.append(origins.judge_offset(draw.choice([-59.9, 0.0, 59.9]), MOUNTED))
        findings += origins.judge(Reach(origin=MOUNTED, lookups=20, failed_lookups=0, connected=True))
        accused += [
            (seed, finding.text)
            for finding in findings
            if finding.forbids or finding.level in (Level.WARN, Level.FAIL)
        ]
        assert verdict_of(findings) is Level.PASS, accused

    assert accused == []
