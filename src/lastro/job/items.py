"""Items: many outputs of one kind, each made once. For inference, rendering, conversion.

The next iteration publishes an item, an exception does not. Items become durable together, a batch at a
time: all bytes, then all names, then their lines in `items.jsonl`, which is the truth of what is done.
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import os
import secrets
import stat
from collections.abc import Callable, Collection, Iterable, Iterator
from pathlib import Path

from lastro import atomic
from lastro.checkpoint.store import fenced
from lastro.errors import EXIT_CODES, SAVED_ON_REQUEST, Fenced, StorageError, UsageError, wrong_type
from lastro.job.item_index import ItemIndex, Published, open_index
from lastro.job.item_names import Names, check_template
from lastro.job.leaving import LeaveRequest, leave, tell
from lastro.job.place import Place
from lastro.job.room import FullDisk
from lastro.journal.signals import Signal, SignalWriter
from lastro.locale import _
from lastro.records import dataclass
from lastro.storage.digest import digest_of, files_below, sha256_file

#: Begins the name of what is being written. Of another process it means nothing: swept up when it is met.
UNFINISHED = f"{atomic.TEMPORARY}item-"
_ME = secrets.token_hex(4)
_LOOPS = itertools.count(1)
#: Bytes that a temporary name has in front of the final one; two loops of a process count up to 9999.
ROOM = len(UNFINISHED) + len(_ME) + len(".9999-")
#: Files up to here are hashed from one read.
_SMALL = 1 << 20
#: Published items that have gone are named one by one up to here.
MOST_TOLD = 10


@dataclass(frozen=True)
class Item:
    """One item to make. Write a file, or make a folder, at `path`; it gets its name when it is published.

    `path` ends like the final name, so that a program that goes by the suffix is content.
    """

    id: str
    path: Path
    final: Path
    name: str


@dataclass(frozen=True, kw_only=True)
class Site:
    """What a loop over items needs of the process that it runs in.

    beat: told how many items are done or in hand, as a sign of life. between: called after each body.
    """

    place: Place
    signals: SignalWriter
    request: LeaveRequest
    full: FullDisk
    beat: Callable[[int], None]
    between: Callable[[], None]


class ItemLoop:
    """Walks over the items that are not done yet and publishes them. One walk for each loop.

    done: how many items of the run are published, over all attempts and all loops; `total`: of how many,
    None when the ids come from something without a length. skipped: how many of these ids were done.
    in_hand: what was given out and is not published yet; a kill repeats these.

    Args:
        site: the process that it runs in.
        ids: in the order to be made in.
        name: template of the final names, relative to the outputs.

    Raises:
        UsageError: an id stands there twice or is none, or the template cannot name items.
    """

    def __init__(self, site: Site, ids: Iterable[str | int], name: str) -> None:
        check_template(name, ROOM)
        self._site, self._template = site, name
        run = site.place.folder.run
        self._outputs = run.outputs
        self._index: ItemIndex = open_index(run.items_index, site.place.still_mine, tell)
        self._names = Names(name, [run.items_index.name, *self._index.paths()], ROOM)
        self._ids, length = _checked(ids)
        self.total = None if length is None else length + self._index.count_of_others(name)
        self.done = len(self._index)
        self.skipped = 0
        self._damaged = 0
        self.in_hand: list[Item] = []
        self._swept: set[Path] = set()
        self._mark = f"{UNFINISHED}{_ME}.{next(_LOOPS)}-"
        self._moved = False
        self._tell_count()

    # --- the two shapes of the loop -------------------------------------------------------------------

    def one_by_one(self, batch: int) -> Iterator[Item]:
        """Yield each item that is missing; publish `batch` of them at a time."""
        _check_count("batch", batch)
        return self._one_by_one(batch)

    def in_batches(self, size: int) -> Iterator[tuple[Item, ...]]:
        """Yield the items that are missing in groups of `size`; the next iteration publishes a group."""
        _check_count("size", size)
        return self._in_batches(size)

    def _one_by_one(self, batch: int) -> Iterator[Item]:
        with self._swept_at_the_end():
            for item in self._missing():
                self._take(item)
                yield item
                self._complete()
                if len(self.in_hand) >= batch or self._site.request.asked:
                    self.publish()
                self._leave_if_asked()
            self.publish()

    def _in_batches(self, size: int) -> Iterator[tuple[Item, ...]]:
        with self._swept_at_the_end():
            missing = self._missing()
            while group := tuple(itertools.islice(missing, size)):
                for item in group:
                    self._take(item)
                yield group
                self._complete()
                self.publish()
                self._leave_if_asked()

    @contextlib.contextmanager
    def _swept_at_the_end(self) -> Iterator[None]:
        try:
            yield
        finally:
            for item in self.in_hand:
                _remove(item.path)
            self.in_hand = []

    # --- what is missing ------------------------------------------------------------------------------

    def _missing(self) -> Iterator[Item]:
        for one in self._ids:
            line = self._index.find(self._template, one)
            if line is None:
                yield self._make(one, self._names.take(one))
                continue
            problem = self._problem(line)
            if problem is None:
                self.skipped += 1
                continue
            self._tell_damage(one, problem)
            self.done -= 1
            self._tell_count()
            yield self._make(one, line.path)

    def _make(self, one: str, name: str) -> Item:
        final = self._outputs / name
        folder = final.parent
        if folder not in self._swept:
            self._swept.add(folder)
            atomic.make_folder(folder)
            if self._site.place.still_mine():
                _sweep(folder)
        return Item(one, folder / f"{self._mark}{final.name}", final, name)

    def _problem(self, line: Published) -> str | None:
        """Say why a published item does not count any more; None when it is as it was, by its size."""
        path = self._outputs / line.path
        try:
            size = _size(path)
        except OSError:
            return _("{name} is not there").format(name=line.path)
        if size == line.bytes:
            return None
        return _("{name} has {size} bytes, {expected} were published").format(
            name=line.path, size=size, expected=line.bytes
        )

    def _tell_damage(self, one: str, problem: str) -> None:
        self._damaged += 1
        if self._damaged <= MOST_TOLD:
            tell(_("item {id} is done again: {problem}").format(id=one, problem=problem))
        elif self._damaged == MOST_TOLD + 1:
            tell(_("more items are done again; they are not named"))

    def _take(self, item: Item) -> None:
        self.in_hand.append(item)
        self._site.beat(self.done + len(self.in_hand))

    def drop(self, item: Item) -> None:
        """Take an item back that could not be made; what was written for it is removed."""
        self.in_hand.remove(item)
        _remove(item.path)

    # --- publishing -----------------------------------------------------------------------------------

    def _complete(self) -> None:
        if not self._moved:
            self._moved = True
            self._site.signals.send(Signal.FIRST_STEP, step=self.done + len(self.in_hand))
        self._site.between()

    def publish(self) -> None:
        """Publish what is in hand, durably, and end the process when the run is another attempt's by now.

        A full disk is waited for.

        Raises:
            StorageError: nothing was written for an item, or the disk refuses.
        """
        if not self.in_hand:
            return
        lines = [self._line(item) for item in self.in_hand]
        while not self._published(lines):
            self._site.full.wait(_("{count} items").format(count=len(lines)))
        self._site.full.over()
        self.done += len(self.in_hand)
        self.in_hand = []

    def _published(self, lines: list[Published]) -> bool:
        """Publish; False when there was no room. Those that have their name already keep it."""
        self._site.place.require_disk()
        try:
            self._fence()
            left = [(item.path, item.final) for item in self.in_hand if os.path.lexists(item.path)]
            atomic.publish_many(left)
            self._index.append(lines)
        except Fenced as error:
            leave(error.exit_code, error.message)
        except OSError as error:
            if atomic.is_full(error):
                return False
            raise StorageError(
                _("{count} items could not be published: {error}").format(count=len(lines), error=error),
                hint=_("check the disk; items that were published before are untouched"),
            ) from error
        return True

    def _line(self, item: Item) -> Published:
        try:
            size, digest = _measure(item.path)
        except FileNotFoundError as error:
            raise StorageError(
                _("nothing was written for item {id}, so it is not published").format(id=item.id),
                hint=_("write one file, or make one folder, at {path}").format(path="item.path"),
            ) from error
        return Published(item.id, self._template, item.name, size, digest)

    def _fence(self) -> None:
        if not self._site.place.still_mine():
            raise fenced(self._site.place.attempt.number)

    def _leave_if_asked(self) -> None:
        if self._site.request.asked:
            self._site.signals.send(Signal.LEFT, step=self.done)
            meaning = EXIT_CODES[SAVED_ON_REQUEST]
            text = _("leaves with {count} items done: {meaning}").format(count=self.done, meaning=meaning)
            leave(SAVED_ON_REQUEST, text)

    def _tell_count(self) -> None:
        """Tell the count and up to where the index is counted; from there on a supervisor counts lines."""
        self._site.signals.send(Signal.ITEMS, done=self.done, total=self.total, offset=self._index.size)


# --- ids ------------------------------------------------------------------------------------------------


def _checked(ids: Iterable[str | int]) -> tuple[Iterable[str], int | None]:
    """Return ids as texts, and how many; those of a collection are all checked before any work."""
    if isinstance(ids, str):
        raise wrong_type("ids", ids, _("a list of ids"))
    if isinstance(ids, Collection):
        every = list(_texts(ids))
        return every, len(every)
    return _texts(ids), None


def _texts(ids: Iterable[str | int]) -> Iterator[str]:
    seen: set[str] = set()
    for one in ids:
        if isinstance(one, bool) or not isinstance(one, (str, int)):
            raise wrong_type(_("an item's id"), one, _("a text or a whole number"))
        text = str(one)
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise UsageError(_("the item's id {id!r} is no text in Unicode").format(id=text)) from error
        if not text:
            raise UsageError(_("an item's id is empty"), hint=_("give each item a name"))
        if text in seen:
            raise UsageError(
                _("the item {id!r} stands there twice").format(id=text),
                hint=_("give each id once: an item is made once"),
            )
        seen.add(text)
        yield text


def _check_count(what: str, value: int) -> None:
    if type(value) is not int or value < 1:
        raise wrong_type(what, value, _("a whole number of 1 or more"))


# --- files ----------------------------------------------------------------------------------------------


def _measure(path: Path) -> tuple[int, str]:
    """Return the bytes and the SHA-256 of a file, or of a folder's files. Raises FileNotFoundError."""
    state = path.lstat()
    if stat.S_ISDIR(state.st_mode):
        return _size(path), digest_of(path)
    if not stat.S_ISREG(state.st_mode):
        raise StorageError(
            _("{path} is neither a file nor a folder").format(path=path),
            hint=_("write the item itself there, no link to it"),
        )
    if state.st_size > _SMALL:
        return state.st_size, sha256_file(path)
    return state.st_size, hashlib.sha256(path.read_bytes()).hexdigest()


def _size(path: Path) -> int:
    """Return the bytes of a file, or of all files of a folder. Raises FileNotFoundError."""
    state = path.lstat()
    if not stat.S_ISDIR(state.st_mode):
        return state.st_size
    return sum((path / name).stat().st_size for name in files_below(path))


def _sweep(folder: Path) -> None:
    """Remove what other processes left unfinished in a folder."""
    mine = f"{UNFINISHED}{_ME}"
    for entry in list(os.scandir(folder)):
        if entry.name.startswith(UNFINISHED) and not entry.name.startswith(mine):
            _remove(Path(entry.path))


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        atomic.remove_tree(path)
    else:
        path.unlink(missing_ok=True)
