"""What a save takes from training and when it is safe, beside other ways to save the same state.

`--mb` of `python -m benchmarks` sets the size of the state: a model with AdamW's moments, about 1000 MB. With
the Python of `.venv-adapters` Accelerate and Fabric take part.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import statistics
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from benchmarks.attempt import make_attempt
from benchmarks.result import Measure, Result, median
from lastro import strictjson
from lastro.checkpoint import store
from lastro.rules import CheckpointPolicy

ROUNDS = int(os.environ.get("BENCH_ROUNDS", "5"))
SLICE = 16 << 20
_ADAPTER_BASE, _ADAPTER_TRAINS = 23_000_000, 800_000
_ELSEWHERE = "Accelerate and Fabric take part with .venv-adapters/bin/python (make test-adapters makes it)."


class Method(Protocol):
    """One way to save. `begin` returns when the loop may go on, and gives what waits for the rest."""

    def begin(self, path: Path) -> Callable[[], None]: ...


@dataclass
class Times:
    """Seconds of each round: the loop stood still, it lost beside the save, until the save was durable."""

    blocked: list[float] = field(default_factory=list)
    slowdown: list[float] = field(default_factory=list)
    durable: list[float] = field(default_factory=list)


@dataclass
class Floors:
    """Seconds, in each round, of the floors and of what is compared with them; `cpu`: processor time."""

    copy: list[float] = field(default_factory=list)
    write: list[float] = field(default_factory=list)
    read: list[float] = field(default_factory=list)
    restore: list[float] = field(default_factory=list)
    read_cpu: list[float] = field(default_factory=list)
    restore_cpu: list[float] = field(default_factory=list)
    published: list[float] = field(default_factory=list)


# --- the state ------------------------------------------------------------------------------------------


def _state(megabytes: int) -> tuple[Any, Any]:
    """Return a model of equal layers and its optimizer, together of about that many bytes."""
    import torch

    width = 1024
    layers = max(1, round(megabytes * 1e6 / (12 * width * (width + 1))))
    model = torch.nn.Sequential(*(torch.nn.Linear(width, width) for _ in range(layers)))
    return model, _stepped(model)


def _stepped(model: Any) -> Any:
    import torch

    trains = [parameter for parameter in model.parameters() if parameter.requires_grad]
    optimizer = torch.optim.AdamW(trains)
    for parameter in trains:
        parameter.grad = torch.full_like(parameter, 1e-3)
    optimizer.step()
    optimizer.zero_grad()
    return optimizer


def _flat(model: Any, optimizer: Any) -> dict[str, Any]:
    flat = {f"model.{name}": value for name, value in model.state_dict().items()}
    for index, values in optimizer.state_dict()["state"].items():
        flat.update({f"optimizer.{index}.{name}": value for name, value in values.items()})
    return flat


# --- ways to save ---------------------------------------------------------------------------------------


def _sync(path: Path) -> None:
    """Make durable what a way to save leaves to the kernel."""
    files = [path] if path.is_file() else [*path.rglob("*")]
    for each in [*files, path.parent]:
        descriptor = os.open(each, os.O_RDONLY)
        os.fsync(descriptor)
        os.close(descriptor)


class TorchSave:
    def __init__(self, model: Any, optimizer: Any) -> None:
        self._objects = {"model": model, "optimizer": optimizer}

    def begin(self, path: Path) -> Callable[[], None]:
        import torch

        torch.save({name: item.state_dict() for name, item in self._objects.items()}, path)
        _sync(path)
        return lambda: None


class Safetensors:
    def __init__(self, model: Any, optimizer: Any) -> None:
        self._model, self._optimizer = model, optimizer

    def begin(self, path: Path) -> Callable[[], None]:
        from safetensors.torch import save_file

        save_file(_flat(self._model, self._optimizer), path)
        _sync(path)
        return lambda: None


class Dcp:
    def __init__(self, model: Any, optimizer: Any) -> None:
        self._model, self._optimizer = model, optimizer

    def begin(self, path: Path) -> Callable[[], None]:
        from torch.distributed.checkpoint.filesystem import FileSystemWriter
        from torch.distributed.checkpoint.state_dict_saver import save

        state = _flat(self._model, self._optimizer)
        save(state, storage_writer=FileSystemWriter(path), no_dist=True)
        _sync(path)
        return lambda: None


class Accelerate:
    """`save_state`. The model and the optimizer are not changed by being prepared, on a processor."""

    def __init__(self, model: Any, optimizer: Any) -> None:
        from accelerate import Accelerator

        self._accelerator = Accelerator(cpu=True)
        self._accelerator.prepare(model, optimizer)

    def begin(self, path: Path) -> Callable[[], None]:
        self._accelerator.save_state(str(path))
        _sync(path)
        return lambda: None


class Fabric:
    def __init__(self, model: Any, optimizer: Any) -> None:
        from lightning.fabric import Fabric as Theirs

        self._fabric = Theirs(accelerator="cpu", devices=1)
        self._state = {"model": model, "optimizer": optimizer}

    def begin(self, path: Path) -> Callable[[], None]:
        self._fabric.save(path, self._state)
        _sync(path)
        return lambda: None


#: Ways to save of frameworks that need not be here: the package that each needs.
FRAMEWORKS: dict[str, tuple[str, type[Accelerate] | type[Fabric]]] = {
    "Accelerate save_state + fsync": ("accelerate", Accelerate),
    "Fabric.save + fsync": ("lightning", Fabric),
}


class DcpAsync:
    """With a stager that is kept, which is the fastest that it can do; its writer syncs its data files."""

    def __init__(self, model: Any, optimizer: Any) -> None:
        import torch.distributed as dist
        from torch.distributed.checkpoint.staging import DefaultStager, StagingOptions

        if not dist.is_initialized():
            store_file = Path(tempfile.mkstemp()[1])
            dist.init_process_group("gloo", init_method=f"file://{store_file}x", rank=0, world_size=1)
        self._model, self._optimizer = model, optimizer
        self._stager = DefaultStager(StagingOptions(False, True, False, False))

    def begin(self, path: Path) -> Callable[[], None]:
        from torch.distributed.checkpoint.filesystem import FileSystemWriter
        from torch.distributed.checkpoint.state_dict_saver import async_save

        told: Any = async_save(
            _flat(self._model, self._optimizer),
            storage_writer=FileSystemWriter(path),
            async_stager=self._stager,
        )
        done = getattr(told, "upload_completion", told)

        def wait() -> None:
            done.result()
            _sync(path)

        return wait


class Lastro:
    """Durable when it is published; what is waited for is more: until every byte was read again."""

    def __init__(self, root: Path, model: Any, optimizer: Any) -> None:
        self.attempt = make_attempt(root, CheckpointPolicy(every_steps=1, keep=1))
        self.attempt.track(model=model, optimizer=optimizer)
        self.attempt.restore()
        self.step = 0

    def begin(self, path: Path) -> Callable[[], None]:
        self.step += 1
        self.attempt.safe_point(self.step)
        writer = self.attempt._saver._writer

        def wait() -> None:
            while writer.busy:
                time.sleep(0.001)

        return wait

    def told(self) -> dict[str, Any]:
        """Return the facts of the last save."""
        lines = (self.attempt.folder / "signals.jsonl").read_bytes().splitlines()
        facts: dict[str, Any] = strictjson.loads(lines[-1])
        return facts


# --- what is measured -----------------------------------------------------------------------------------


class Training:
    """A fixed piece of work for the loop's thread, and how long it takes undisturbed."""

    def __init__(self) -> None:
        import torch

        self._one, self._other = torch.randn(512, 512), torch.randn(512, 512)
        self.usual = 0.0

    def unit(self) -> float:
        began = time.perf_counter()
        for _ in range(5):
            self._one @ self._other
        return time.perf_counter() - began

    def learn(self) -> None:
        self.usual = statistics.median(self.unit() for _ in range(40))


def _measure(method: Method, path: Path, training: Training, times: Times) -> None:
    training.learn()
    began = time.perf_counter()
    wait = method.begin(path)
    times.blocked.append(time.perf_counter() - began)
    ended: list[float] = []

    def watch() -> None:
        wait()
        ended.append(time.perf_counter() - began)

    watcher = threading.Thread(target=watch)
    watcher.start()
    lost = 0.0
    while not ended:
        lost += training.unit() - training.usual
    watcher.join()
    times.slowdown.append(max(0.0, lost))
    times.durable.append(ended[0])


def _copy(source: bytearray, target: bytearray) -> float:
    began = time.perf_counter()
    target[:] = source
    return time.perf_counter() - began


def _write(path: Path, data: bytearray) -> float:
    began = time.perf_counter()
    view = memoryview(data)
    with path.open("xb", buffering=0) as file:
        for start in range(0, len(view), SLICE):
            file.write(view[start : start + SLICE])
        os.fsync(file.fileno())
    return time.perf_counter() - began


def _evict(path: Path) -> None:
    for each in path.rglob("*") if path.is_dir() else [path]:
        descriptor = os.open(each, os.O_RDONLY)
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(descriptor)


def _read(path: Path, buffer: bytearray) -> tuple[float, float]:
    _evict(path)
    view = memoryview(buffer)
    began, used = time.perf_counter(), time.process_time()
    with path.open("rb", buffering=0) as file:
        for start in range(0, len(view), SLICE):
            file.readinto(view[start : start + SLICE])
    return time.perf_counter() - began, time.process_time() - used


def _restore(root: Path, number: int, model: Any, optimizer: Any) -> tuple[float, float]:
    attempt = make_attempt(root, CheckpointPolicy(every_steps=1, keep=1), number)
    attempt.track(model=model, optimizer=optimizer)
    _evict(store.names(root / "runs" / "bench" / "checkpoints")[0])
    began, used = time.perf_counter(), time.process_time()
    attempt.restore()
    return time.perf_counter() - began, time.process_time() - used


def _resident() -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) * 1024
    return 0


@dataclass(frozen=True, kw_only=True)
class AdapterBytes:
    """Megabytes of a checkpoint of an adapter on a frozen base, what it may have, and of the whole state."""

    ours: float
    target: float
    whole: float


def _adapter_bytes(root: Path) -> AdapterBytes:
    import torch

    base = torch.nn.Linear(_ADAPTER_BASE // 1024, 1024, bias=False).requires_grad_(False)
    adapter = torch.nn.Linear(_ADAPTER_TRAINS // 1024, 1024, bias=False)
    model = torch.nn.ModuleDict({"base": base, "adapter": adapter})
    optimizer = _stepped(model)
    saved = Lastro(root, model, optimizer)
    saved.attempt.safe_point(1)
    saved.attempt.save()
    TorchSave(model, optimizer).begin(root / "whole.pt")
    trains = sum(parameter.numel() for parameter in adapter.parameters())
    return AdapterBytes(
        ours=saved.told()["bytes"] / 1e6,
        target=(1.1 * 12 * trains + 64 * 1024) / 1e6,
        whole=(root / "whole.pt").stat().st_size / 1e6,
    )


def run() -> Result:
    """Measure all in turns, so that a box that is shared slows all of them alike."""
    import torch

    torch.set_num_threads(1)
    folder = Path(tempfile.mkdtemp(dir=Path.cwd(), prefix=".bench-"))
    try:
        return _run(folder, int(os.environ.get("BENCH_MB", "1000")))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _run(folder: Path, megabytes: int) -> Result:
    model, optimizer = _state(megabytes)
    size = sum(value.numel() * value.element_size() for value in _flat(model, optimizer).values())
    before = _resident()
    ours = Lastro(folder, model, optimizer)
    ours.begin(folder)()
    extra = max(0, _resident() - before)
    methods: dict[str, Method] = {
        "torch.save + fsync": TorchSave(model, optimizer),
        "safetensors + fsync": Safetensors(model, optimizer),
        "DCP save": Dcp(model, optimizer),
        **{
            name: peer(model, optimizer)
            for name, (package, peer) in FRAMEWORKS.items()
            if importlib.util.find_spec(package) is not None
        },
        "DCP async_save, kept stager": DcpAsync(model, optimizer),
        "lastro": ours,
    }
    times = {name: Times() for name in methods}
    floors = Floors()
    data, target, training = bytearray(os.urandom(1 << 20)) * (size >> 20), bytearray(size), Training()
    target[:] = bytes(size)
    for number in range(ROUNDS + 1):
        floors.copy.append(_copy(data, target))
        floors.write.append(_write(folder / "floor", data))
        for seconds, into in zip(_read(folder / "floor", data), (floors.read, floors.read_cpu), strict=True):
            into.append(seconds)
        (folder / "floor").unlink()
        for name, method in methods.items():
            path = folder / "peer"
            _measure(method, path, training, times[name])
            shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
        for seconds, into in zip(
            _restore(folder, number + 2, model, optimizer), (floors.restore, floors.restore_cpu), strict=True
        ):
            into.append(seconds)
        floors.published.append(ours.told()["durable"])
    return _result(times, floors, size, extra, _adapter_bytes(folder / "lora"))


def _ratios(values: list[float], floors: list[float]) -> list[float]:
    return [value / floor for value, floor in zip(values, floors, strict=True)]


def _result(times: dict[str, Times], floors: Floors, size: int, extra: int, adapter: AdapterBytes) -> Result:
    for its in (*times.values(), floors):
        for values in vars(its).values():
            del values[0]  # the first round warms up
    copies, writes, reads, published = floors.copy, floors.write, floors.read, floors.published
    measures = [
        median("floor: copy to touched memory", copies, "s"),
        median("floor: write + fsync", writes, "s"),
        median("floor: cold read", reads, "s"),
    ]
    for name, its in times.items():
        taken = [blocked + slow for blocked, slow in zip(its.blocked, its.slowdown, strict=True)]
        ends = "durable and read again" if name == "lastro" else "durable"
        measures += [
            median(f"{name}: blocked", its.blocked, "s"),
            median(f"{name}: blocked + slowdown", taken, "s"),
            median(f"{name}: {ends}", its.durable, "s"),
        ]
    ours = times["lastro"]
    taken = [blocked + slow for blocked, slow in zip(ours.blocked, ours.slowdown, strict=True)]
    measures += [
        median("lastro: blocked / copy", _ratios(ours.blocked, copies), "x", 1.25),
        median("lastro: blocked + slowdown / copy", _ratios(taken, copies), "x", 2.0),
        median("lastro: durable, hashed, published", published, "s"),
        median("lastro: durable, hashed, published / write + fsync", _ratios(published, writes), "x", 1.15),
        median("lastro: verified cold restore / cold read", _ratios(floors.restore, reads), "x", 1.25),
        median("lastro: the same in processor time", _ratios(floors.restore_cpu, floors.read_cpu), "x"),
        Measure(name="lastro: memory / state", value=extra / size, unit="x", target=1.1),
        Measure(
            name="lastro: checkpoint of an adapter", value=adapter.ours, unit="MB", target=adapter.target
        ),
        Measure(name="torch.save: the same, its base with it", value=adapter.whole, unit="MB"),
    ]
    notes = (
        f"{size / 1e6:.0f} MB, {ROUNDS} rounds in turns on the disk of the current folder, one torch thread.",
        "Slowdown: what multiplications of 512 x 512 lose until the last column's moment.",
        *([] if all(name in times for name in FRAMEWORKS) else [_ELSEWHERE]),
    )
    return Result(measures=tuple(measures), notes=notes)
