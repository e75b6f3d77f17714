from __future__ import annotations

import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.utils.data import DataLoader

from lastro.data import PackedDataset, PackedLoader, PackedStream
from lastro.data.choice import Order, Reads, choose
from lastro.data.stream import Shape
from lastro.errors import CheckpointDamaged, StorageError, UsageError
from lastro.job.loader import Loader
from lastro.storage.pack.pack import pack


def label(sample: dict[str, Any]) -> int:
    return int(sample["cls"])


def flat(batches: Iterable[list[int]]) -> list[int]:
    return [value for batch in batches for value in batch]


def dataset(folder: Path, order: str = "exact") -> PackedDataset:
    return PackedDataset(folder, transform=label, order=order)


def test_a_sample_is_all_files_of_one_key(packed: Path) -> None:
    samples = {sample["__key__"]: sample for sample in PackedDataset(packed)}

    assert len(samples) == 103
    assert samples["4/011"] == {"__key__": "4/011", "txt": b"11" * 50, "cls": b"11"}


def test_a_pack_of_single_files_has_one_sample_a_file(tmp_path: Path) -> None:
    (tmp_path / "source").mkdir()
    for number in range(5):
        (tmp_path / "source" / f"{number}.bin").write_bytes(b"%d" % number)
    pack(tmp_path / "source", tmp_path / "packed")

    assert [sample["bin"] for sample in PackedDataset(tmp_path / "packed")] == [b"0", b"1", b"2", b"3", b"4"]
    assert PackedDataset(tmp_path / "packed")[-1]["bin"] == b"4"
    with pytest.raises(IndexError):
        PackedDataset(tmp_path / "packed")[5]


@pytest.mark.parametrize("order", ["exact", "block"])
def test_an_epoch_has_every_sample_once_and_another_epoch_another_order(packed: Path, order: str) -> None:
    data = dataset(packed, order)
    data.adopt(order, 5 if order == "block" else 0)

    first, again, second = (data.epoch_order(7, epoch).tolist() for epoch in (0, 0, 1))

    assert first == again
    assert first != second
    assert sorted(first) == sorted(second) == list(range(103))
    assert first != sorted(first)


def test_the_exact_order_is_that_of_the_attempts_loader(packed: Path) -> None:
    data = dataset(packed)
    theirs = Loader(data, seed=3, batch_size=10, shuffle=True, collate_fn=list)
    ours = PackedLoader(data, seed=3, batch_size=10)

    delivered = [item.data for item in theirs.batches(0, 0, 2)]

    assert delivered == [item.data for item in ours.batches(0, 0, 2)]
    assert theirs.signature() == ours.signature()
    assert theirs.signature()["pack"] == data.digest


def test_a_block_order_touches_few_blocks_at_a_time(packed: Path) -> None:
    """Blocks of 2: each run of 16 * 2 = 32 samples holds 16 whole blocks (one is short, at the end)."""
    data = dataset(packed)
    data.adopt("block", 2)

    rows = data.epoch_order(1, 0).tolist()

    assert all(len({row // 2 for row in rows[begin : begin + 31]}) <= 17 for begin in range(0, 103, 32))
    assert flat(PackedLoader(data, seed=1, batch_size=4)) == [list(data)[row] for row in rows]


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("count", [1, 2])
def test_ranks_and_workers_change_nothing_of_what_is_delivered(
    packed: Path, workers: int, count: int
) -> None:
    """A batch of 12 of all processes: 12 of one, 6 of each of two."""
    data = dataset(packed)
    parts = [
        list(
            PackedLoader(
                data, seed=5, batch_size=12 // count, drop_last=True, num_workers=workers, ranks=(rank, count)
            )
        )
        for rank in range(count)
    ]

    together = [flat(batch) for batch in zip(*parts, strict=True)]

    rows = data.epoch_order(5, 0).tolist()[:96]
    assert flat(together) == [list(data)[row] for row in rows]


@pytest.mark.parametrize(("before", "after"), [(0, 2), (2, 0), (2, 1)])
def test_a_position_is_exact_with_any_number_of_workers(packed: Path, before: int, after: int) -> None:
    whole = PackedLoader(dataset(packed), seed=2, batch_size=10)
    two_epochs = [*whole, *whole]

    first = PackedLoader(dataset(packed), seed=2, batch_size=10, num_workers=before)
    list(first)
    feed = iter(first)
    begun = [next(feed) for _number in range(4)]
    state = first.state_dict()
    rest = PackedLoader(dataset(packed), seed=2, batch_size=10, num_workers=after)
    rest.load_state_dict(state)

    assert state["samples"] == 40
    assert state["epoch"] == 1
    assert two_epochs[: len(whole)] + begun + list(rest) == two_epochs


def test_a_position_carries_its_order_to_another_disk(packed: Path) -> None:
    first = PackedLoader(dataset(packed), seed=2, batch_size=10)
    first._dataset.adopt("block", 3)
    whole = list(first)
    feed = iter(first)
    first.load_state_dict({**first.state_dict(), "epoch": 0})
    next(feed)

    rest = PackedLoader(dataset(packed, "exact"), seed=2, batch_size=10)
    rest.load_state_dict({**first.state_dict(), "epoch": 0, "samples": 10})

    assert list(rest) == whole[1:]


def test_a_position_in_another_pack_is_refused(packed: Path, tmp_path: Path) -> None:
    (tmp_path / "source").mkdir()
    (tmp_path / "source" / "1.cls").write_bytes(b"1")
    pack(tmp_path / "source", tmp_path / "other")
    state = PackedLoader(dataset(packed)).state_dict()

    with pytest.raises(CheckpointDamaged, match="pack"):
        PackedLoader(dataset(tmp_path / "other")).load_state_dict(state)
    with pytest.raises(CheckpointDamaged, match="seed"):
        PackedLoader(dataset(packed), seed=1).load_state_dict(state)
    with pytest.raises(CheckpointDamaged, match="no position"):
        PackedLoader(dataset(packed)).load_state_dict({"epoch": 1})


def test_a_plain_dataloader_takes_both_kinds(packed: Path) -> None:
    data = dataset(packed)
    stream = PackedStream(data, Shape(batch_size=10, seed=4, shuffle=True, drop_last=False))

    mapped = flat(batch.tolist() for batch in DataLoader(data, batch_size=10, num_workers=2))
    streamed = flat(DataLoader(stream, batch_size=None, num_workers=2))

    assert mapped == list(data)
    assert streamed == flat(PackedLoader(data, seed=4, batch_size=10))


def test_the_models_random_numbers_do_not_notice_that_data_is_read(packed: Path) -> None:
    torch.manual_seed(1)
    before = torch.get_rng_state()

    list(PackedLoader(dataset(packed), batch_size=10))

    assert torch.equal(torch.get_rng_state(), before)


def test_a_flipped_byte_is_told_when_its_sample_is_read(packed: Path, tmp_path: Path) -> None:
    folder = tmp_path / "packed"
    shutil.copytree(packed, folder)
    shard = folder / "shard-000000.tar"
    content = bytearray(shard.read_bytes())
    content[content.index(b"42" * 50)] ^= 1
    shard.write_bytes(content)
    wrong = 0

    data = PackedDataset(folder)
    for number in range(len(data)):
        try:
            data[number]
        except StorageError as error:
            wrong += 1
            assert "0/042.txt" in error.message

    assert wrong == 1


def test_a_shard_that_was_cut_or_is_gone_is_told(packed: Path, tmp_path: Path) -> None:
    folder = tmp_path / "packed"
    shutil.copytree(packed, folder)
    (folder / "shard-000000.tar").write_bytes(b"")
    (folder / "shard-000001.tar").unlink()

    data = PackedDataset(folder)

    with pytest.raises(StorageError, match="0 bytes"):
        data[0]
    with pytest.raises(StorageError, match="cannot be read"):
        data[20]


@pytest.mark.parametrize(
    ("alone_ms", "together_ms", "order"),
    [(0.1, 0.05, "exact"), (0.2, 0.05, "exact"), (0.21, 0.05, "block"), (5.0, 0.1, "block")],
)
def test_the_order_follows_what_reads_cost(alone_ms: float, together_ms: float, order: str) -> None:
    """Up to 4 times; a block of 8 MB of samples of 35 kB holds 228 of them."""
    reads = Reads(alone=alone_ms / 1e3, together=together_ms / 1e3, count=24)

    choice = choose(reads, 35_000)

    assert choice.order is Order(order)
    assert choice.block == (228 if order == "block" else 0)
    assert "ms" in choice.why


def test_a_disk_is_measured_once_and_the_choice_is_kept_beside_the_pack(tmp_path: Path) -> None:
    (tmp_path / "source").mkdir()
    for number in range(300):
        (tmp_path / "source" / f"{number}.cls").write_bytes(b"1")
    pack(tmp_path / "source", tmp_path / "packed")

    first = PackedDataset(tmp_path / "packed")
    kept = (tmp_path / "packed" / "order.json").read_text()
    (tmp_path / "packed" / "order.json").write_text(kept.replace('"exact"', '"block"').replace(" 0,", " 7,"))
    second = PackedDataset(tmp_path / "packed")

    assert '"reads": {' in kept
    assert first.digest in kept
    assert second.choice.order is Order.BLOCK


def test_what_cannot_be_meant_is_refused(packed: Path) -> None:
    with pytest.raises(UsageError, match="order"):
        PackedDataset(packed, order="fast")
    with pytest.raises(UsageError, match="batch_size"):
        PackedLoader(dataset(packed), batch_size=0)
    with pytest.raises(UsageError, match="divided"):
        PackedLoader(dataset(packed), batch_size=10, ranks=(0, 2))
