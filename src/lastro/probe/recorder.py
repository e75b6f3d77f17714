"""Writes a job's trace, one line for each update, and ends the job where its instructions say.

Kinds of lines (`kind`): `begun` (python, torch, api), `restored` (step, state), `put_back` (names, failed),
`update` (one update), `end` (why). An update carries: `step` (counted over all lives), `n` (in this life),
`mono` (seconds), `inputs` (a digest for each forward pass in training), `rows` (of its rows), `ids` (of the
indices that the loader drew), `waits` (seconds for each batch of a loader), `workers` (of that loader),
`losses` (each value that `backward` was called on), `gradient` (norm), `rates` (learning rates), `state`
([kind, digest] by name, before the update is made; for a job that attaches, at its safe point after it),
`after` (digests of models when it was made), `variables`, `saves` (files of the pattern that are new),
`begins` (how many loaders were begun), `evaluations` (forward passes outside training).
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import signal
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from types import FrameType
from typing import Any

from lastro.probe import exchange
from lastro.probe import objects as found
from lastro.probe.fingerprint import digest, rows
from lastro.probe.instructions import KILL, NOTICE, SAVE, TERM, UPDATE, Instructions, trace_name
from lastro.probe.past import Past, origins, read_past
from lastro.probe.saves import Saves

_SECONDS_FOR_A_COPY = 60.0


class Recorder:
    """The probe of one process. It records only where updates are made, and there only the first process."""

    def __init__(self, told: Instructions, attempt: Path) -> None:
        self._told, self._attempt = told, attempt
        self.number = int(attempt.name)
        self.kill = told.kills.get(self.number)
        self.past: Past = read_past(attempt)
        self.workers = told.workers if self.number > 1 else None
        self._objects = found.Objects()
        self._saves = Saves(Path.cwd(), told.pattern)
        self._descriptor: int | None = None
        self._pid: int | None = None
        self._line: dict[str, Any] = {}
        self._in_update = 0
        self._asks = False
        self._saves_at: list[int] = []
        self._began = 0.0
        self.api = False
        self.n = 0
        self.step: int | None = 0 if self.number == 1 else None
        self._forgot = False
        self._exchanged = told.put_back_at == 0

    # --- whose it is ----------------------------------------------------------------------------------

    def mine(self) -> bool:
        """Say whether this process records; the first one that makes an update does."""
        if self._pid is not None:
            return self._pid == os.getpid()
        path = self._attempt / trace_name(int(os.environ.get("RANK", "0") or 0))
        try:
            self._descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o644)
        except OSError:
            self._pid = -1
            return False
        self._pid = os.getpid()
        self._began = time.monotonic()
        torch = sys.modules.get("torch")
        version = str(torch.__version__) if torch is not None else None
        self._write("begun", python=sys.version.split()[0], torch=version, api=self.api)
        return True

    def _write(self, kind: str, **values: Any) -> None:
        assert self._descriptor is not None
        line = {"kind": kind, "mono": round(time.monotonic(), 6), **values}
        os.write(self._descriptor, json.dumps(line).encode() + b"\n")

    # --- what happens between two updates -------------------------------------------------------------

    def add(self, key: str, value: Any) -> None:
        """Keep something that belongs to the update that comes next."""
        if self._pid in (None, os.getpid()):
            self._line.setdefault(key, []).append(value)

    def training_pass(self, given: Any, ids: Any, workers: int) -> None:
        """Take what a model was called with in training, the indices drawn for it, and how many workers."""
        if not self._exchanged and not self.api and self.mine():
            self._exchange(sys._getframe(1), {}, self.step)
        self.add("inputs", digest(given))
        self.add("rows", rows(given))
        if ids is not None:
            self.add("ids", digest(ids))
        self._line["workers"] = workers

    def count(self, key: str) -> None:
        """Count what happened: "begins" of loaders, "evaluations" of a model."""
        self._line[key] = self._line.get(key, 0) + 1

    # --- updates, as an optimizer makes them ----------------------------------------------------------

    def before_update(self, optimizer: Any, frame: FrameType | None, *, closure: bool = False) -> None:
        """An optimizer is about to change its parameters.

        With a closure it asks for the gradient itself: what lies there before is that of the last update, and
        nothing in a process that has just begun.
        """
        self._in_update += 1
        if self._in_update > 1 or not self.mine():
            return
        self._objects.look(frame)
        self._forget(optimizer)
        self._asks = closure
        if not closure:
            self._line["gradient"] = _norm(optimizer)
        self._line["rates"] = [float(group["lr"]) for group in optimizer.param_groups if "lr" in group]
        if not self.api:
            self._take_state(frame)

    def after_update(self, optimizer: Any) -> None:
        """An optimizer has changed its parameters."""
        self._in_update -= 1
        if self._in_update == 0 and self._asks and self.mine():
            self._line["gradient"] = _norm(optimizer)
        if self._in_update == 0 and not self.api and self.mine():
            models = self._objects.alive(found.MODEL)
            self._line["after"] = {name: _parameters(model) for name, model in models.items()}
            if self.step is None:
                self.step = self.past.step_of(self._line["state"], self._attempt)
            self._close_line(self.step + 1)

    def _take_state(self, frame: FrameType | None) -> None:
        self._line["state"] = self._objects.state()
        self._line["variables"] = found.plain_values(frame)
        if new := self._saves.new():
            self._line["saves"] = new

    def _close_line(self, step: int) -> None:
        self.n += 1
        self.step = step
        line, self._line = self._line, {}
        if "saves" in line:
            self._saves_at.append(step)
        self._write("update", step=step, n=self.n, **line)
        if step >= self._horizon():
            self._write("end", why="until")
            os._exit(0)
        if self.kill is not None and self.kill.when == SAVE and self.n >= self.kill.after:
            # Before the save that is cut: a pause within it would make half of it look whole.
            self._let_the_last_save_be_taken()
        self.at(UPDATE)

    def _horizon(self) -> int:
        if self.api and self._told.until_attached:
            return self._told.until_attached
        told = self._told
        if not told.saves_wanted or len(self._saves_at) < told.saves_wanted:
            return told.until
        enough = self._saves_at[told.saves_wanted - 1] + told.margin
        if time.monotonic() - self._began < told.least_seconds:
            enough = max(enough, told.least)
        return min(told.until, enough)

    # --- updates, as a job that attaches tells of them ------------------------------------------------

    def attached(self) -> None:
        """From here on the job itself says when an update is complete."""
        self.api = True

    def restored(self, step: int, tracked: Mapping[str, Any], position: Any) -> None:
        """Its state was put back; at step 0 there may have been none."""
        if self.mine():
            self.step = step
            frame = sys._getframe(1)
            self._objects.look(frame, tracked)
            self._exchange(frame, tracked, step)
            state = self._objects.state() | _of_tracked(tracked, position)
            self._write("restored", step=step, state=state, variables=found.plain_values(frame))

    def safe_point(self, step: int, tracked: Mapping[str, Any], position: Any) -> None:
        """An update is complete."""
        if step == self.step or not self.mine():
            return
        frame = sys._getframe(1)
        self._objects.look(frame, tracked)
        self._take_state(frame)
        self._line["state"] |= _of_tracked(tracked, position)
        self._exchange(frame, tracked, step)
        self._close_line(step)

    # --- ends -----------------------------------------------------------------------------------------

    def at(self, when: str) -> bool:
        """End this life, if it is to end now; True when it is, and somebody else does it."""
        kill = self.kill
        if kill is None or kill.when != when or self.n < kill.after or self._pid != os.getpid():
            return False
        if when != SAVE:
            self._let_the_last_save_be_taken()
        if when == SAVE and kill.how == KILL:
            return True  # whoever writes the save ends it in the middle
        self.end_now()
        return False

    def end_now(self) -> None:
        """Do what the instructions say of the end of this life."""
        kill, self.kill = self.kill, None
        assert kill is not None
        self._write("end", why=f"{kill.how} {kill.when}")
        if kill.how == TERM:
            os.kill(os.getpid(), signal.SIGTERM)
        elif kill.how == NOTICE and self._told.notice is not None:
            self._give_notice(Path(self._told.notice))
        else:
            os.kill(os.getpid(), signal.SIGKILL)

    def _let_the_last_save_be_taken(self) -> None:
        """Wait until the job's last save is copied: a drill is about resuming, not about young saves.

        How long a save may lie before it is safe is known without a drill, and is told elsewhere.
        """
        last = self._saves.last
        if last is None:
            return
        checkpoints = self._attempt.parent.parent / "checkpoints"
        deadline = time.monotonic() + _SECONDS_FOR_A_COPY
        while time.monotonic() < deadline and last not in origins(checkpoints).values():
            time.sleep(0.05)

    def _give_notice(self, path: Path) -> None:
        aside = path.with_suffix(".new")
        aside.write_text(json.dumps({"action": "terminate", "in_seconds": 30.0, "at": time.time()}))
        aside.rename(path)

    # --- the check of a cause -------------------------------------------------------------------------

    def _exchange(self, frame: FrameType | None, tracked: Mapping[str, Any], step: int | None) -> None:
        """Keep the state where the next life will go on; in that life, put back of it what is asked for.

        A job that does not attach is looked at when a model is called in training: then its loader has drawn
        the batch, and nothing was computed with what is put back.
        """
        told = self._told
        if self._exchanged or self.number > told.put_back_in:
            return
        rank = int(os.environ.get("RANK", "0") or 0)
        now = self.number == told.put_back_in
        if not now and step != told.put_back_at:
            return
        self._exchanged = True
        objects = found.Objects()  # of its own: what is called how in the trace does not change by it
        objects.look(frame, tracked)
        if now:
            before = self._attempt.parent / str(self.number - 1) / exchange.file_name(rank)
            names, failed = exchange.put_back(before, objects, tracked, told.put_back)
            self._write("put_back", names=names, failed=failed)
            return
        with contextlib.suppress(Exception):  # then there is nothing to put back, which is told there
            exchange.keep(self._attempt / exchange.file_name(rank), objects, tracked)

    # --- the negative arm -----------------------------------------------------------------------------

    def _forget(self, optimizer: Any) -> None:
        """Take away what was restored, once, so that the drill shows whether it would see that."""
        if self._told.forget is None or self._forgot or self.number == 1:
            return
        self._forgot = True
        if self._told.forget == found.OPTIMIZER:
            optimizer.state.clear()
            return
        torch = sys.modules["torch"]
        with torch.no_grad():
            for group in optimizer.param_groups:
                for parameter in group["params"]:
                    parameter.mul_(0.5)


def _norm(optimizer: Any) -> float | None:
    """Return the norm of the gradient over all parameters of an optimizer; None without any.

    In whatever order these stand: that is the optimizer's own affair, and a plain sum depends on it.
    """
    squares = [
        float(parameter.grad.detach().double().pow(2).sum())
        for group in optimizer.param_groups
        for parameter in group["params"]
        if parameter.grad is not None and not parameter.grad.is_sparse
    ]
    return float(math.fsum(squares) ** 0.5) if squares else None


def _of_tracked(tracked: Mapping[str, Any], position: Any) -> dict[str, list[str]]:
    """Return [kind, digest] of what is tracked and nothing of PyTorch's, and of the position."""
    state = {
        name: [found.OBJECT, digest(item.state_dict())]
        for name, item in tracked.items()
        if found.kind_of(name, item) is None
    }
    return {**state, "position": [found.POSITION, digest(position)]}


def _parameters(model: Any) -> str:
    """Return the digest of a model's parameters that are trained, as `state` gives it."""
    return digest({name: item for name, item in model.named_parameters() if item.requires_grad})
