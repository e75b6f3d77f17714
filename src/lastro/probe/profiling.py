"""Begins a profile in a process that was told to have one: loops get their batches through a LoopWatch."""

from __future__ import annotations

import atexit
import functools
import importlib.util
import itertools
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

from lastro.probe.loop_watch import Feed, LoopWatch, Told

#: Names the file of instructions; without it nothing of this is loaded.
VARIABLE = "LASTRO_PROFILE"


def begin() -> None:
    """Watch the loops of this process; one of several that train together is not looked at."""
    path = os.environ.get(VARIABLE)
    if not path or not os.environ.get("LASTRO_ATTEMPT") or int(os.environ.get("WORLD_SIZE") or 1) > 1:
        return
    watch = LoopWatch(
        Told.read(Path(path)),
        device=lambda: _cuda() is not None,
        settle=_wait_for_devices,
        facts=_facts,
    )
    atexit.register(watch.left_early)
    sys.meta_path.insert(0, _After({"torch": _hook_torch, "lastro.job.loop": _hook_steps}, watch))


class _After:
    """Finds modules as everyone else does, and hooks into some when they were executed."""

    def __init__(self, hooks: Mapping[str, Callable[[Any, LoopWatch], None]], watch: LoopWatch) -> None:
        self._hooks, self._watch = dict(hooks), watch

    def find_spec(
        self, name: str, _path: Sequence[str] | None = None, _target: ModuleType | None = None
    ) -> ModuleSpec | None:
        hook = self._hooks.pop(name, None)
        if hook is None:
            return None
        spec = importlib.util.find_spec(name)
        if spec is None or spec.loader is None:
            return spec
        execute, watch = spec.loader.exec_module, self._watch

        def exec_module(module: ModuleType) -> None:
            execute(module)
            hook(module, watch)

        spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


#: Names iterators: an address is another one's before long.
_keys = itertools.count(1)


# --- PyTorch ------------------------------------------------------------------------------------------


def _hook_torch(torch: Any, watch: LoopWatch) -> None:
    backward = torch.autograd.backward

    @functools.wraps(backward)
    def learned(*args: Any, **kwargs: Any) -> Any:
        watch.trained()
        return backward(*args, **kwargs)

    torch.autograd.backward = learned
    _hook_loaders(torch, watch)
    _hook_precision(torch)


def _hook_loaders(torch: Any, watch: LoopWatch) -> None:
    loader, base = torch.utils.data.DataLoader, torch.utils.data.dataloader._BaseDataLoaderIter
    begin, give = loader.__iter__, base.__next__

    @functools.wraps(begin)
    def begins(self: Any) -> Any:
        found = begin(self)
        found.__dict__["_profiled"] = self
        return found

    @functools.wraps(give)
    def gives(self: Any) -> Any:
        mine = self.__dict__.get("_profiled")
        if mine is None or watch.within:
            return give(self)
        key = self.__dict__.setdefault("_profile_key", next(_keys))
        return watch.take(key, _feed_of(torch, mine, functools.partial(give, self)))

    loader.__iter__, base.__next__, base.next = begins, gives, gives


def _feed_of(torch: Any, loader: Any, draw: Callable[[], Any]) -> Feed:
    return Feed(
        draw=draw,
        fresh=lambda workers: iter(loader if workers is None else _with_workers(torch, loader, workers)),
        facts=_loader_facts(loader),
    )


def _loader_facts(loader: Any) -> dict[str, Any]:
    return {
        "kind": "DataLoader",
        "workers": int(loader.num_workers),
        "prefetch": int(loader.prefetch_factor or 0),
        "persistent": bool(loader.persistent_workers),
        "pinned": bool(loader.pin_memory),
        "batch_size": loader.batch_size,
    }


def _with_workers(torch: Any, loader: Any, workers: int) -> Any:
    """Return a loader of the same data that is made with another number of workers."""
    sampling = (
        {"batch_sampler": loader.batch_sampler}
        if loader.batch_sampler is not None and not hasattr(loader.dataset, "__iter__")
        else {"batch_size": loader.batch_size}
    )
    return torch.utils.data.DataLoader(
        loader.dataset,
        **sampling,
        num_workers=workers,
        collate_fn=loader.collate_fn,
        pin_memory=loader.pin_memory,
        worker_init_fn=loader.worker_init_fn,
        prefetch_factor=(loader.prefetch_factor or 2) if workers else None,
    )


_precision = {"autocast": False, "blocking": 0, "free": 0}


def _hook_precision(torch: Any) -> None:
    """See whether anything is computed in mixed precision, and how batches get to a device."""
    enter, move = torch.amp.autocast_mode.autocast.__enter__, torch.Tensor.to

    @functools.wraps(enter)
    def enters(self: Any) -> Any:
        _precision["autocast"] = True
        return enter(self)

    @functools.wraps(move)
    def moves(self: Any, *args: Any, **kwargs: Any) -> Any:
        result = move(self, *args, **kwargs)
        if self.device.type == "cpu" and result.device.type != "cpu":
            _precision["free" if kwargs.get("non_blocking") else "blocking"] += 1
        return result

    torch.amp.autocast_mode.autocast.__enter__ = enters
    torch.Tensor.to = moves


# --- lastro's own loop --------------------------------------------------------------------------------


class _WatchedSource:
    """A source of batches for `attempt.steps` that hands them out through the watch."""

    def __init__(self, source: Any, watch: LoopWatch) -> None:
        self._source, self._watch = source, watch

    def signature(self) -> Any:
        return self._source.signature()

    def batches(self, epoch: int, batch: int, epochs: int) -> Iterator[Any]:
        given = self._source.batches(epoch, batch, epochs)
        feed = Feed(
            draw=functools.partial(next, given),
            fresh=lambda workers: self._fresh(workers, epochs),
            facts=self._facts(),
            again=lambda item: item._replace(last=False),
        )
        key = next(_keys)
        while True:
            self._watch.trained()  # whatever `steps` hands out is trained with
            try:
                item = self._watch.take(key, feed)
            except StopIteration:
                return
            yield item

    def _fresh(self, workers: int | None, epochs: int) -> Iterator[Any] | None:
        """Begin anew; with another number of workers that stays so until it is begun anew again."""
        foreign = _torch_loader(self._source)
        if foreign is not None:
            as_it_was = self.__dict__.setdefault("_foreign", foreign)
            torch = sys.modules["torch"]
            self._source._loader = as_it_was if workers is None else _with_workers(torch, as_it_was, workers)
        elif hasattr(self._source, "_workers"):
            as_it_was = self.__dict__.setdefault("_own", self._source._workers)
            self._source._workers = as_it_was if workers is None else workers
        elif workers is not None:
            return None
        anew: Iterator[Any] = self._source.batches(0, 0, epochs)
        return anew

    def _facts(self) -> dict[str, Any]:
        foreign = _torch_loader(self._source)
        if foreign is not None:
            return _loader_facts(foreign)
        workers = getattr(self._source, "_workers", None)
        return {
            "kind": "attempt.loader" if workers is not None else "attempt.steps",
            "workers": workers or 0,
            "prefetch": 2 if workers else 0,
            "persistent": True,
            "pinned": bool(getattr(self._source, "_pin", False)),
            "batch_size": getattr(self._source, "batch_size", None),
        }


def _torch_loader(source: Any) -> Any | None:
    """Return the DataLoader that a script has handed to `attempt.steps`; None when it was something else."""
    torch, loader = sys.modules.get("torch"), getattr(source, "_loader", None)
    return loader if torch is not None and isinstance(loader, torch.utils.data.DataLoader) else None


def _hook_steps(loop: Any, watch: LoopWatch) -> None:
    walk = loop.walk

    @functools.wraps(walk)
    def walks(saver: Any, source: Any, *args: Any, **kwargs: Any) -> Any:
        return walk(saver, _WatchedSource(source, watch), *args, **kwargs)

    loop.walk = walks


# --- facts --------------------------------------------------------------------------------------------


def _cuda() -> Any | None:
    """Return torch.cuda where this process uses one; None otherwise."""
    torch = sys.modules.get("torch")
    if torch is None or not hasattr(torch, "cuda") or not torch.cuda.is_initialized():
        return None
    return torch.cuda


def _wait_for_devices() -> None:
    """Let a device finish what it was given, or waiting would be booked to the wrong side."""
    cuda = _cuda()
    if cuda is not None:
        cuda.synchronize()


def _facts(batch: Any) -> dict[str, Any]:
    torch = sys.modules.get("torch")
    cpus = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    found: dict[str, Any] = {"torch": str(torch.__version__) if torch is not None else None, "cpus": cpus}
    if torch is None:
        return found
    tensors = list(_tensors(torch, batch))
    found |= {"batch_bytes": sum(one.numel() * one.element_size() for one in tensors), **_precision}
    found["padding"] = _padding(torch, batch)
    cuda = _cuda()
    if cuda is not None:
        found["gpu_used"], found["gpu_total"] = cuda.max_memory_reserved(), cuda.mem_get_info()[1]
    return found


def _tensors(torch: Any, value: Any) -> Iterator[Any]:
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _tensors(torch, item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _tensors(torch, item)


def _padding(torch: Any, batch: Any) -> float | None:
    """Return the share of a batch that is padding, where it says so by an `attention_mask`."""
    data = getattr(batch, "data", batch)
    mask = data.get("attention_mask") if isinstance(data, Mapping) else None
    return float((mask == 0).double().mean()) if isinstance(mask, torch.Tensor) and mask.numel() else None
