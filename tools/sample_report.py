"""Write a rich sample report, so that anybody can look at the design without renting or training anything.

usage: python tools/sample_report.py FOLDER [--running]

The events go through the real journal and projections; only what they tell is made up: four runs, one
machine taken away with notice, one lost without, a run that a NaN stopped, a checkpoint passed over.
"""

from __future__ import annotations

import argparse
import hashlib
import math
import random
import sys
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

from lastro import atomic, strictjson
from lastro.billing import Lease, LeaseKind
from lastro.clock import ManualClock
from lastro.closeout.report import write_report
from lastro.journal.events import EventType as E
from lastro.journal.projections import project
from lastro.journal.streams import StreamWriter, read_journal
from lastro.journal.views import CampaignView
from lastro.paths import CampaignFolder, stream_of_attempt
from lastro.units import Money, parse_money
from lastro.view.gather import page_from
from lastro.view.parts import Live, Page, PerAccepted

START = datetime(2026, 11, 30, 9, 0, tzinfo=timezone.utc)
STEPS = 3000
#: Seconds that one step of the story takes.
PACE = 4.8
RUNS = {
    "control": {"width": 64, "shift": 0, "epochs": 12},
    "shift": {"width": 64, "shift": 1, "epochs": 12},
    "wide": {"width": 256, "shift": 0, "epochs": 12},
    "hot": {"width": 64, "shift": 0, "epochs": 12, "lr": 0.8},
}
LEVEL = {"control": 0.962, "shift": 0.9784, "wide": 0.9667, "hot": 0.6}


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def run_id(name: str) -> str:
    return digest(name)[:16]


def slot(
    stage: str, run: str | None, lane: str, start: float, end: float, *, low: float = 0.95, high: float = 1.3
) -> dict[str, Any]:
    """Return an interval of the plan; `low` and `high`: hours of a person, else shares of the length."""
    length = end - start
    shortest, longest = (low, high) if lane == "person" else (low * length, high * length)
    return {
        "stage": stage,
        "run": run,
        "lane": lane,
        "start_hours": start,
        "end_hours": end,
        "start_low_hours": start,
        "end_low_hours": start + shortest,
        "start_high_hours": start,
        "end_high_hours": start + longest,
        "origin": "declared",
    }


def plan() -> dict[str, Any]:
    hours = STEPS * PACE / 3600
    runs = [
        {
            "id": run_id(name),
            "name": name,
            "priority": "required" if name in ("control", "shift") else "useful",
            "config": config,
            "command": "python train.py",
        }
        for name, config in RUNS.items()
    ]
    calendar = [slot("prepare", None, "person", 0.0, 0.4, low=0.3, high=0.8)]
    calendar += [
        slot(
            "run", name, f"gpu {number % 2 + 1}", 0.4 + (number // 2) * hours, 0.4 + (number // 2 + 1) * hours
        )
        for number, name in enumerate(RUNS)
    ]
    calendar.append(slot("collect", None, "cpu", 0.4 + 2 * hours, 1 + 2 * hours))
    return {
        "campaign": "digits",
        "question": "Does shifting or a wider layer beat the control by one point of accuracy?",
        "window_hours": 72.0,
        "budget": {"amount": "60.00", "currency": "USD"},
        "runs": runs,
        "deliverables": [
            {
                "name": "predictions",
                "path": "predictions.csv",
                "metric": {"name": "accuracy", "truth": "test.csv"},
            },
            {"name": "model", "path": "model.safetensors", "reload": "python reload.py {path}"},
        ],
        "decision": {
            "metric": "accuracy",
            "better": "higher",
            "adopt_margin": 0.01,
            "over": "control",
            "unit": "run",
        },
        "stop": [
            {"kind": "non_finite", "metric": "loss"},
            {"kind": "floor", "metric": "accuracy", "below": 0.5, "after_steps": 2000},
            {"kind": "truncated_input"},
        ],
        "calendar": calendar,
        "total_hours": {"low": 8.4, "likely": 9.0, "high": 11.4},
        "slack_hours": 63.0,
        "lease": {"offer": "rtx-4090-spot"},
        "option": "rtx-4090-spot",
        "options": [
            {
                "name": "rtx-4090-spot",
                "holdings": [],
                "cost": {
                    "lines": [],
                    "total": {"amount": "5.78", "currency": "USD"},
                    "low": {"amount": "4.90", "currency": "USD"},
                    "high": {"amount": "8.20", "currency": "USD"},
                },
            }
        ],
    }


class Story:
    """Writes the events and measurements of the sample into a campaign's folder."""

    def __init__(self, folder: CampaignFolder) -> None:
        self.folder = folder
        self.clock = ManualClock(START)
        opening = {"campaign": "digits", "lastro": "0.1.0", "host": "laptop"}
        self.home = StreamWriter(folder.stream("home-5f3a"), self.clock, opening)
        self.chance = random.Random(7)

    def at(self, minutes: float) -> None:
        """Move to a moment of the story, in minutes from its start. Streams may go back: they are apart."""
        self.clock.sleep(minutes * 60 - (self.clock.now() - START).total_seconds())

    def machine(self, name: str, minutes: float, price: Money, kind: LeaseKind) -> None:
        lease = Lease(
            offer=f"rtx-4090-{kind.value}", kind=kind, price=price, source="example.com, 2026-11-28"
        )
        self.at(minutes)
        self.home.append(
            E.MACHINE_INTENDED, tag=f"t-{name}", provider="local", lease=lease.as_json(), why="a run waits"
        )
        requested = (START + timedelta(minutes=minutes)).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        self.home.append(
            E.MACHINE_CREATED,
            tag=f"t-{name}",
            machine=name,
            node=f"node-{digest(name)[:6]}",
            requested_at=requested,
        )
        self.at(minutes + 3)
        self.home.append(E.MACHINE_READY, machine=name, seconds=180.0)
        self.home.append(
            E.PREFLIGHT_DONE,
            machine=name,
            verdict="pass",
            findings=[],
            stack={"python": "3.11.7", "torch": "2.13.0"},
        )

    def gone(self, name: str, minutes: float, seconds: float, cause: str) -> None:
        self.at(minutes)
        self.home.append(E.MACHINE_GONE, machine=name, cause=cause, seconds=seconds)

    def attempt(
        self,
        name: str,
        number: int,
        machine: str,
        minutes: float,
        steps: tuple[int, int],
        end: dict[str, Any] | None,
    ) -> float:
        """Tell one life of a run and return the minute at which it ended; `end` None: it goes on."""
        first, last = steps
        run = run_id(name)
        self.at(minutes)
        opening = {
            "campaign": "digits",
            "lastro": "0.1.0",
            "host": machine,
            "home_stream": "home-5f3a",
            "home_head": "0",
        }
        stream = StreamWriter(self.folder.stream(stream_of_attempt(run, number)), self.clock, opening)
        stream.append(
            E.ATTEMPT_STARTED, run=run, name=name, attempt=number, machine=machine,
            node=f"node-{digest(machine)[:6]}", token=digest(f"{name}{number}")[:12], job={},
            committed_step=first or None,
        )  # fmt: skip
        if first:
            stream.append(E.ATTEMPT_RESUMED, step=first, folder=f"{first}-a{number - 1}", seconds=0.8)
        stream.append(E.ATTEMPT_STEPPED, step=first + 1, seconds=6.2)
        saved = first or None
        for step in range(first - first % 400 + 400, last + 1, 400):
            saved = self.save(stream, minutes, first, step, "due", number)
        noticed = end is not None and end["end"] in ("notice", "done")
        if noticed and saved != last:
            saved = self.save(stream, minutes, first, last, "asked", number)
        self.measure(name, number, first, last)
        until = minutes + (last - first) * PACE / 60
        if end is not None:
            self.at(until)
            if end["end"] == "done":
                for path in ("predictions.csv", "model.safetensors"):
                    stream.append(E.OUTPUT_PUBLISHED, path=path, bytes=181_000, sha256=digest(name + path))
            if end["end"] != "lost":
                stream.append(
                    E.ATTEMPT_ENDED,
                    cause=end,
                    step=last,
                    committed_step=saved,
                    seconds=(until - minutes) * 60,
                )
                verdict = {"done": "completed", "stop_rule": "stopped"}.get(end["end"], "interrupted")
                stream.append(E.RUN_ENDED, verdict=verdict, why=end["why"])
            else:
                self.at(until + 1.5)
                self.home.append(
                    E.ATTEMPT_LOST,
                    run=run,
                    attempt=number,
                    machine=machine,
                    why=end["why"],
                    step=last,
                    committed_step=saved,
                )
        stream.close()
        return until

    def save(self, stream: StreamWriter, minutes: float, first: int, step: int, why: str, number: int) -> int:
        self.at(minutes + (step - first) * PACE / 60)
        stream.append(
            E.CHECKPOINT_COMMITTED,
            step=step,
            folder=f"{step}-a{number}",
            bytes=1_270_000,
            seconds=0.21,
            why=why,
        )
        return step

    def measure(self, name: str, number: int, first: int, last: int) -> None:
        path = self.folder.run(run_id(name)).attempt(number).measurements()
        atomic.make_folder(path.parent)
        lines = [
            strictjson.dumps({"s": step, "t": step * PACE, "v": self.values(name, step)})
            for step in range(first + 1, last + 1)
        ]
        path.write_text("\n".join(lines) + "\n")
        self.sample(name, number, (last - first) * PACE)

    def sample(self, name: str, number: int, seconds: float) -> None:
        """Write the telemetry of one attempt: a GPU that waits for its data now and then."""
        chance = random.Random(f"{name} {number}")
        card = {"name": "NVIDIA GeForce RTX 4090", "uuid": "GPU-1", "memory": 24 << 30, "power_limit": 450.0}
        lines: list[dict[str, Any]] = [{"t": 0.3, "devices": [card]}, {"t": 0.3, "gpu_level": "nvml"}]
        wide, end = name == "wide", int(seconds)
        for t in range(0, end, max(5, end // 400)):
            use = min(1.0, 0.94 + chance.gauss(0, 0.02)) if chance.random() > 0.04 else 0.35
            lines.append(
                {
                    "t": t + 0.3,
                    "cpu": max(0.2, chance.gauss(3.1, 0.25)) if t else None,
                    "processes": 6,
                    "rss": int((4.1 + 1.3 * wide + 0.2 * t / end) * 1e9),
                    "memory": int((6.0 + 1.3 * wide) * 1e9),
                    "limit": 64 << 30,
                    "read": 1_800_000_000 + 20_000 * t,
                    "written": 110_000 * t,
                    "free": 410_000_000_000 - 110_000 * t,
                    "gpus": [
                        {
                            "use": use,
                            "memory": int((9.8 + 6.4 * wide) * 1e9),
                            "power": 120 + 290 * use + chance.gauss(0, 6),
                            "temperature": 58 + int(16 * min(1.0, t / 900)),
                            "held_back": ["power_cap"] if wide and use > 0.95 else [],
                        }
                    ],
                }
            )
        path = self.folder.run(run_id(name)).attempt(number).telemetry
        path.write_text("".join(strictjson.dumps(line) + "\n" for line in lines))

    def values(self, name: str, step: int) -> dict[str, float]:
        share = step / STEPS
        noise = self.chance.gauss(0, 1)
        loss = 2.3 * math.exp(-5 * share) + 0.09 - 0.03 * (name == "shift") + 0.02 * noise * (1 - share / 2)
        if name == "shift" and step == 1777:
            loss = 1.9
        if name == "hot":
            loss = 2.3 + 0.6 * share * 8 + 0.12 * noise if step < 640 else math.nan
        values = {"loss": loss, "lr": 1e-3 * (0.5 + 0.5 * math.cos(math.pi * share))}
        if step % 50 == 0:
            values["accuracy"] = min(0.999, LEVEL[name] * (1 - 0.85 * math.exp(-7 * share)) + 0.002 * noise)
        return values

    def judge(self, name: str, accepted: bool) -> None:
        run = run_id(name)
        for output, path in (("predictions", "predictions.csv"), ("model", "model.safetensors")):
            self.home.append(
                E.DELIVERABLE_JUDGED, run=run, name=output, path=path,
                verdict="accepted" if accepted else "rejected",
                why="reloaded and compared" if accepted else "the run was stopped by a rule",
                level="fresh process" if accepted else None,
                loader="user command" if output == "model" else "table",
                digest=digest(name + path) if accepted else None,
                metric=LEVEL[name] if accepted and output == "predictions" else None,
            )  # fmt: skip


def tell(folder: CampaignFolder, *, running: bool = False) -> datetime:
    """Write the whole story, or its first part while runs are going on. Returns its last moment."""
    story = Story(folder)
    story.home.append(E.PLAN_FROZEN, digest=digest("plan"), plan=plan())
    hourly, spot = parse_money("0.69 USD"), parse_money("0.34 USD")
    story.machine("m-1", 6, spot, LeaseKind.SPOT)
    story.machine("m-2", 6.5, spot, LeaseKind.SPOT)
    notice = {"end": "notice", "why": "the machine announced that it would be taken away"}
    lost = {"end": "lost", "why": "machine m-2 is gone: the provider says it was reclaimed"}
    done = {"end": "done", "why": "the command ended with exit code 0"}
    nan = {"end": "stop_rule", "why": "loss is nan at step 640"}
    end = story.attempt("control", 1, "m-1", 10, (0, 1310), notice)
    story.gone("m-1", end + 0.5, (end - 5.5) * 60, "preempted with 90 s of notice")
    end = story.attempt("shift", 1, "m-2", 11, (0, 1742), lost)
    story.gone("m-2", end + 1.5, (end - 6) * 60, "reclaimed without notice")
    story.machine("m-3", end + 3, hourly, LeaseKind.HOURLY)
    if running:
        story.attempt("shift", 2, "m-3", end + 7, (1600, 2120), None)
        story.at(end + 7 + 530 * PACE / 60)
        return story.clock.now()
    middle = story.attempt("shift", 2, "m-3", end + 7, (1600, STEPS), done)
    story.machine("m-4", 118, hourly, LeaseKind.HOURLY)
    later = story.attempt("control", 2, "m-4", 122, (1310, STEPS), done)
    end = story.attempt("wide", 1, "m-3", middle + 1, (0, STEPS), done)
    story.gone("m-3", end + 2, (end - 150) * 60, "released: no run waits")
    last = story.attempt("hot", 1, "m-4", later + 1, (0, 640), nan)
    story.gone("m-4", last + 2, (last + 2 - 118) * 60, "released: no run waits")
    story.at(end + 4)
    for name in ("control", "shift", "wide"):
        story.judge(name, True)
    story.judge("hot", False)
    story.home.append(
        E.CAMPAIGN_CONCLUDED, verdict="adopt", run=run_id("shift"),
        why="shift reaches an accuracy of 0.9784, 0.0164 more than the control; 0.01 was needed.",
        evidence={},
    )  # fmt: skip
    story.home.append(
        E.CAMPAIGN_CLOSED, exit_code=0, root_digest=digest("root"), report_html="", report_json=""
    )
    return story.clock.now()


def projected(folder: CampaignFolder, now: datetime) -> CampaignView:
    """Return what the folder's journal says."""
    return project({name: reading.events for name, reading in read_journal(folder.journal).items()}, now)


def sample_page(folder: CampaignFolder, *, running: bool = False) -> Page:
    """Tell the story into `folder` and return its page."""
    now = tell(folder, running=running)
    if running:
        live = {run_id("shift"): Live(step=2131, silent_seconds=2.4)}
        return page_from(folder, projected(folder, now), live=live)
    paid = PerAccepted(amount=parse_money("2.60 USD"), unit="run")
    return page_from(folder, projected(folder, now), per_accepted=paid)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--running", action="store_true", help="stop the story while a run is going on")
    options = parser.parse_args()
    if options.folder.exists() and any(options.folder.iterdir()):
        print(f"{options.folder} is not empty", file=sys.stderr)
        return 2
    folder = CampaignFolder(options.folder)
    html, as_json = write_report(sample_page(folder, running=options.running), folder)
    print(html)
    print(as_json)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
