"""A pack as a map-style dataset: any sample by its number."""

from __future__ import annotations

import contextlib
import itertools
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from torch.utils.data import Dataset

from lastro import atomic, strictjson
from lastro.data.choice import BLOCK_BYTES, MIXED, Choice, Order, choose
from lastro.data.measure import measure
from lastro.data.reader import Reader
from lastro.errors import StorageError, UsageError
from lastro.locale import _
from lastro.rules.permutation import block_order, order
from lastro.storage.pack.layout import DESCRIPTION, PackManifest

if TYPE_CHECKING:
    import numpy as np
    from torch import Tensor

#: Beside a pack: which order its disk wants, and why. Who writes it first decides for all that follow.
CHOICE = "order.json"
#: Blocks that are held to be in the system's memory.
_TOUCHED = 4 * MIXED

Sample = dict[str, Any]


class PackedDataset(Dataset[Any]):
    """The samples of a pack: files whose names are equal up to the first dot of their last part.

    A sample is what WebDataset makes of it: `{"__key__": "folder/name", "jpg": bytes, "cls": bytes}`, each
    file under its extension, or what `transform` makes of that. For DataLoader, `attempt.loader` and
    `PackedLoader`. Each item's sum is checked when it is read.

    Args:
        folder: made by `lastro disk pack`.
        transform: from such a sample to whatever is trained with.
        order: "exact" (every order of all samples), "block" (see `block_order`), or "auto": as few reads of
            this disk say, which is recorded beside the pack.

    Raises:
        StorageError: it is no pack, or its index does not fit.
        UsageError: order is none of these.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        *,
        transform: Callable[[Sample], Any] | None = None,
        order: str = "auto",
    ) -> None:
        self.folder = Path(folder)
        self.manifest = PackManifest.read(self.folder)
        self._transform = transform
        self._own: Reader | None = None
        self._starts = self._starts_of_samples()
        self._touched: dict[int, None] = {}
        if order not in ("auto", *(one.value for one in Order)):
            raise UsageError(
                _("order is {order!r}, but it has to be auto, exact or block").format(order=order),
            )
        self.choice = self._choose(order)

    @property
    def digest(self) -> str:
        """What identifies the pack: the SHA-256 over the sums of all its files."""
        return self.manifest.digest()

    def __len__(self) -> int:
        return self.manifest.samples

    def __getitem__(self, number: int) -> Any:
        return self.__getitems__((number,))[0]

    def __getitems__(self, numbers: Sequence[int]) -> list[Any]:
        """Return several samples, for torch's own fetcher: read together, which saves steps and waiting."""
        reader = self._reader()
        chosen = self._inside(numbers)
        if self.choice.block:
            for number in chosen:
                self._touch(reader, number // self.choice.block)
        if self._starts is None:
            samples = [_sample(*item) for item in reader.read_many(chosen)]
        else:
            samples = self._grouped(chosen)
        return samples if self._transform is None else [self._transform(sample) for sample in samples]

    def expect(self, numbers: Sequence[int]) -> None:
        """Tell the disk which samples are going to be read after those that are asked for next."""
        if not self.choice.block:
            self._reader().expect([file for number in numbers for file in self._files(number)])

    def _inside(self, numbers: Sequence[int]) -> Sequence[int]:
        """Return numbers of samples, counted from the beginning. Raises IndexError when one is not there."""
        count = self.manifest.samples
        if not numbers or 0 <= min(numbers) <= max(numbers) < count:
            return numbers
        for number in numbers:
            if not -count <= number < count:
                raise IndexError(number)
        return [number % count for number in numbers]

    def _grouped(self, numbers: Sequence[int]) -> list[Sample]:
        """Return samples of several files each."""
        files = [self._files(number) for number in numbers]
        items = iter(self._reader().read_many([file for each in files for file in each]))
        samples: list[Sample] = []
        for each in files:
            sample: Sample = {}
            for name, data in itertools.islice(items, len(each)):
                sample.update(_sample(name, data))
            samples.append(sample)
        return samples

    def __iter__(self) -> Iterator[Any]:
        """Yield every sample in the order of the shards."""
        return (self[number] for number in range(len(self)))

    def epoch_order(self, seed: int, epoch: int) -> Tensor:
        """Return the numbers of all samples as an epoch delivers them: a function of these and the choice."""
        if self.choice.order is Order.EXACT:
            return order(seed, epoch, len(self))
        return block_order(seed, epoch, len(self), block=self.choice.block, mixed=MIXED)

    def epoch_signature(self) -> dict[str, Any]:
        """Return what an order depends on beside seed and epoch."""
        return {"pack": self.digest, "order": self.choice.order.value, "block": self.choice.block}

    def adopt(self, kind: str, block: int) -> None:
        """Take the order that a position was made with. Raises UsageError for one that there is not."""
        try:
            chosen = Order(kind)
        except ValueError as error:
            raise UsageError(_("there is no order {order!r}").format(order=kind)) from error
        if (chosen, block) != (self.choice.order, self.choice.block):
            self.choice = Choice(order=chosen, block=block, why=_("the position was made with it"))

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_own": None, "_touched": {}}

    def _reader(self) -> Reader:
        """Return the open files of this very process."""
        if self._own is None or self._own.process != os.getpid():
            self._own = Reader(self.folder, self.manifest)
        return self._own

    def _files(self, sample: int) -> range:
        if self._starts is None:
            return range(sample, sample + 1)
        return range(int(self._starts[sample]), int(self._starts[sample + 1]))

    def _starts_of_samples(self) -> np.ndarray[Any, Any] | None:
        """Return the number of each sample's first file, and of none; None when each sample is one file."""
        if self.manifest.samples == self.manifest.files:
            self._reader()
            return None
        import numpy as np

        index = self._reader().index
        rows = np.frombuffer(index.mapped, dtype=list(DESCRIPTION), offset=index.data_offset)
        return np.append(np.flatnonzero(np.diff(rows["sample"], prepend=-1)), self.manifest.files)

    def _touch(self, reader: Reader, block: int) -> None:
        """Read a block as a whole when its first sample is wanted; then its samples come from memory."""
        if block in self._touched:
            return
        last = min((block + 1) * self.choice.block, len(self)) - 1
        reader.touch(self._files(block * self.choice.block).start, self._files(last).stop)
        self._touched[block] = None
        while len(self._touched) > _TOUCHED:
            del self._touched[next(iter(self._touched))]

    # --- the choice ---------------------------------------------------------------------------------

    def _choose(self, wanted: str) -> Choice:
        mean = self.manifest.bytes / max(self.manifest.samples, 1)
        if wanted != "auto":
            block = max(int(BLOCK_BYTES / mean), 1) if mean and wanted == Order.BLOCK.value else 0
            return Choice(order=Order(wanted), block=block, why=_("it was asked for"))
        recorded = self._recorded()
        if recorded is not None:
            return recorded
        block = max(int(BLOCK_BYTES / mean), 1) if mean else 1
        reads = measure(self._reader(), self._files, len(self), block)
        chosen = choose(reads, mean)
        facts = {"order": chosen.order.value, "block": chosen.block, "why": chosen.why}
        text = strictjson.pretty(
            {"pack": self.digest, **facts, "reads": reads.as_json() if reads is not None else None}
        )
        # A disk that is only read keeps no record; then positions alone carry the order.
        with contextlib.suppress(OSError, StorageError):
            if not atomic.claim(self.folder / CHOICE, text.encode()):
                return self._recorded() or chosen
        return chosen

    def _recorded(self) -> Choice | None:
        """Return what was decided for this very pack before."""
        try:
            value = strictjson.read(self.folder / CHOICE)
            if value["pack"] != self.digest:
                return None
            return Choice(order=Order(value["order"]), block=int(value["block"]), why=str(value["why"]))
        except (OSError, StorageError, KeyError, TypeError, ValueError):
            return None


def _sample(name: bytes, data: bytes) -> Sample:
    """Return a file as a sample of its own.

    The rule of `split`, written out for text: every item of an epoch comes by here.
    """
    try:
        text = name.decode()
    except UnicodeDecodeError:
        text = name.decode("utf-8", "surrogateescape")
    dot = text.find(".", text.rfind("/") + 2)
    if dot < 0:
        return {"__key__": text, "": data}
    return {"__key__": text[:dot], text[dot + 1 :]: data}
