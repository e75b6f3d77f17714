"""Hooks into PyTorch: each tells the recorder of one thing that the job does."""

from __future__ import annotations

import functools
import importlib
import inspect
import os
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any

from lastro.probe.instructions import EPOCH, SAVE, VALIDATION
from lastro.probe.recorder import Recorder

#: Arguments of a DataLoader that it refuses without workers.
_FOR_WORKERS = ("prefetch_factor", "persistent_workers", "timeout", "multiprocessing_context")


class _Loaded:
    """What the loaders handed out last, until a model takes it."""

    def __init__(self) -> None:
        self.ids: Any = None
        self.workers = 0


class _Calls(threading.local):
    """The modules that are being called now, in this thread, the outermost first."""

    def __init__(self) -> None:
        self.within: list[Any] = []


def install(torch: Any, recorder: Recorder) -> None:
    """Hook into a torch that has just been imported."""
    loaded = _Loaded()
    _hook_optimizers(torch, recorder)
    _hook_backward(torch, recorder)
    _hook_modules(torch, recorder, loaded)
    _hook_loaders(torch, recorder, loaded)
    if recorder.workers is not None:
        _give_workers(torch, recorder.workers)
    _hook_saving(torch, recorder)


def _hook_optimizers(torch: Any, recorder: Recorder) -> None:
    def before(optimizer: Any, args: Any, kwargs: Any) -> None:
        # The optimizer itself comes first among the arguments.
        closure = kwargs.get("closure") is not None or any(callable(one) for one in args[1:])
        recorder.before_update(optimizer, sys._getframe(1), closure=closure)

    def after(optimizer: Any, _args: Any, _kwargs: Any) -> None:
        recorder.after_update(optimizer)

    module = importlib.import_module(torch.optim.Optimizer.__module__)  # no attribute of torch.optim
    module.register_optimizer_step_pre_hook(before)
    module.register_optimizer_step_post_hook(after)


def _hook_backward(torch: Any, recorder: Recorder) -> None:
    original = torch.autograd.backward

    @functools.wraps(original)
    def backward(tensors: Any, *args: Any, **kwargs: Any) -> Any:
        for tensor in tensors if isinstance(tensors, (list, tuple)) else (tensors,):
            if isinstance(tensor, torch.Tensor) and tensor.numel() == 1:
                recorder.add("losses", float(tensor.detach()))
        return original(tensors, *args, **kwargs)

    torch.autograd.backward = backward


def _hook_modules(torch: Any, recorder: Recorder, loaded: _Loaded) -> None:
    """See the outermost call of a model that has parameters."""
    calls = _Calls()

    def before(module: Any, args: Any) -> None:
        if torch.compiler.is_compiling():
            return
        within = calls.within
        if not within and next(iter(module.parameters()), None) is not None:
            if module.training and torch.is_grad_enabled():
                ids, loaded.ids = loaded.ids, None
                recorder.training_pass(list(args), ids, loaded.workers)
            else:
                recorder.count("evaluations")
                recorder.at(VALIDATION)
        within.append(module)

    def after(module: Any, _args: Any, _output: Any) -> None:
        if calls.within and calls.within[-1] is module:
            calls.within.pop()

    torch.nn.modules.module.register_module_forward_pre_hook(before)
    torch.nn.modules.module.register_module_forward_hook(after, always_call=True)


def _hook_loaders(torch: Any, recorder: Recorder, loaded: _Loaded) -> None:
    base = torch.utils.data.dataloader._BaseDataLoaderIter
    draw, give, begin, again = base._next_index, base.__next__, base.__init__, base._reset

    def next_index(self: Any) -> Any:
        index = draw(self)
        self.__dict__.setdefault("_probe_drawn", deque()).append(index)
        return index

    def give_next(self: Any) -> Any:
        began = time.monotonic()
        try:
            batch = give(self)
        except StopIteration:
            recorder.at(EPOCH)
            raise
        recorder.add("waits", round(time.monotonic() - began, 6))
        drawn = self.__dict__.get("_probe_drawn")
        index = drawn.popleft() if drawn else None
        loaded.ids = index if isinstance(index, (list, tuple, int)) else None
        loaded.workers = int(getattr(self, "_num_workers", 0))
        return batch

    def begins(original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        def wrapped(self: Any, *args: Any, **kwargs: Any) -> Any:
            self.__dict__["_probe_drawn"] = deque()
            recorder.count("begins")
            return original(self, *args, **kwargs)

        return wrapped

    base._next_index, base.__next__, base.next = next_index, give_next, give_next
    base.__init__, base._reset = begins(begin), begins(again)


def _give_workers(torch: Any, count: int) -> None:
    """Give every loader that is made this number of workers; without any, nothing that is only for them."""
    loader = torch.utils.data.DataLoader
    original = loader.__init__
    takes = inspect.signature(original)

    @functools.wraps(original)
    def init(self: Any, *args: Any, **kwargs: Any) -> None:
        given = takes.bind(self, *args, **kwargs).arguments
        given["num_workers"] = count
        if count == 0:
            for name in _FOR_WORKERS:
                given.pop(name, None)
        original(**given)

    loader.__init__ = init


def _hook_saving(torch: Any, recorder: Recorder) -> None:
    original = torch.save

    @functools.wraps(original)
    def save(obj: Any, f: Any, *args: Any, **kwargs: Any) -> Any:
        here = recorder.at(SAVE)
        result = original(obj, f, *args, **kwargs)
        if here and isinstance(f, (str, os.PathLike)):
            die_within(Path(f))
        if here:
            os.kill(os.getpid(), signal.SIGKILL)
        return result

    torch.save = torch.serialization.save = save


def die_within(path: Path) -> None:
    """Leave what a kill in the middle of a write leaves: half of the file, and no process."""
    os.truncate(path, path.stat().st_size // 2)
    os.kill(os.getpid(), signal.SIGKILL)
