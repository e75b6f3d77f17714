"""Disks of the local provider: folders that outlive its machines, with the limits that rented ones have."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

from lastro import atomic, strictjson
from lastro.clock import Clock, iso
from lastro.disk.facts import open_disk
from lastro.errors import ProviderError, StorageError, UsageError
from lastro.locale import _
from lastro.paths import Disk, Home, LocalDiskFolder, MachineFolder
from lastro.providers.disks import LARGEST_BYTES, SMALLEST_BYTES, Attachment, DiskRequest, RentedDisk
from lastro.providers.records import read_end, read_or_none, read_record
from lastro.units import Money, show_bytes

_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")


class LocalDisks:
    """Disks below home. Size, zone, price and attach limit are declared; the limits hold."""

    name = "local"

    def __init__(self, home: Home, clock: Clock) -> None:
        self._home, self._clock = home, clock

    def create(self, request: DiskRequest) -> RentedDisk:
        _require_possible(request)
        folder = self._home.local_disk(request.name)
        atomic.make_folder(folder.content)
        told = {**request.as_json(), "created": iso(self._clock.now())}
        atomic.claim(folder.record, strictjson.pretty(told).encode())
        made = self._read(folder)
        if made.request != request:
            raise UsageError(
                _("there is a disk {name} already, of {size}").format(
                    name=request.name, size=show_bytes(made.request.bytes)
                ),
                hint=_("give it another name; a disk is never made over another"),
            )
        open_disk(Disk(folder.content), declared=_("the provider local"), clock=self._clock)
        return made

    def disks(self) -> Sequence[RentedDisk]:
        root = self._home.local_disks
        folders = [LocalDiskFolder(path) for path in sorted(root.iterdir())] if root.is_dir() else []
        return [self._read(folder) for folder in folders if folder.record.exists()]

    def attach(self, name: str, machine: str, path: Path) -> RentedDisk:
        folder, disk = self._folder(name), self.disk(name)
        if any((one.machine, one.path) == (machine, str(path)) for one in disk.attachments):
            return disk
        _require_room_to_attach(disk)
        if os.path.lexists(path):
            raise UsageError(
                _("{path} is there already").format(path=path),
                hint=_("name a path that is not: the disk is shown there, and nothing is covered"),
            )
        atomic.make_folder(path.parent)
        path.symlink_to(folder.content.absolute(), target_is_directory=True)
        self._note(folder, [*self._by_hand(folder), _attachment(machine, path, self._clock)])
        return self.disk(name)

    def detach(self, name: str) -> RentedDisk:
        folder = self._folder(name)
        users = self._machines(folder)
        if users:
            raise ProviderError(
                _("{machine} uses disk {name}").format(machine=users[0].machine, name=name),
                hint=_("let it go first: `lastro stop --release`"),
            )
        for one in self._by_hand(folder):
            link = Path(one.path)
            if link.is_symlink() and os.path.realpath(link) == os.path.realpath(folder.content):
                link.unlink()
        self._note(folder, [])
        return self.disk(name)

    def delete(self, name: str) -> None:
        folder, disk = self._folder(name), self.disk(name)
        if disk.attachments:
            raise ProviderError(
                _("disk {name} is attached at {path}").format(name=name, path=disk.attachments[0].path),
                hint=_("`lastro disk detach {name}` first").format(name=name),
            )
        atomic.remove_tree(folder.root)

    def disk(self, name: str) -> RentedDisk:
        """Return one disk. Raises ProviderError when there is none of that name."""
        return self._read(self._folder(name))

    def _folder(self, name: str) -> LocalDiskFolder:
        folder = self._home.local_disk(name)
        if not _NAME.fullmatch(name) or not folder.record.exists():
            raise ProviderError(
                _("there is no disk {name} here").format(name=name),
                hint=_("`lastro disk list` names them; its record may lie in another home"),
            )
        return folder

    def _read(self, folder: LocalDiskFolder) -> RentedDisk:
        value = strictjson.read(folder.record)
        try:
            request = DiskRequest(
                name=value["name"],
                bytes=value["bytes"],
                zone=value["zone"],
                price=Money.from_json(value["price"]) if value["price"] else None,
                attach=value["attach"],
            )
        except (KeyError, TypeError) as error:
            raise StorageError(
                _("{path} is not the record of a disk").format(path=folder.record),
                hint=_("it was changed by something else; restore it from a copy"),
            ) from error
        return RentedDisk(
            request=request,
            provider=self.name,
            path=folder.content,
            created=value["created"],
            attachments=(*self._by_hand(folder), *self._machines(folder)),
        )

    def _by_hand(self, folder: LocalDiskFolder) -> list[Attachment]:
        return [Attachment(**each) for each in read_or_none(folder.attachment) or []]

    def _machines(self, folder: LocalDiskFolder) -> list[Attachment]:
        """Return the machines of this home that live and were given this disk."""
        root, wanted = self._home.local_machines, os.path.realpath(folder.content)
        machines = [MachineFolder(path) for path in sorted(root.iterdir())] if root.is_dir() else []
        found = []
        for each in machines:
            if each.record.exists() and read_end(each) is None:
                record = read_record(each)
                if os.path.realpath(record.request.disk) == wanted:
                    since = iso(record.born.at)
                    found.append(Attachment(machine=record.id, path=str(record.request.disk), since=since))
        return found

    def _note(self, folder: LocalDiskFolder, attachments: Sequence[Attachment]) -> None:
        told = [one.as_json() for one in attachments]
        atomic.write_text(folder.attachment, strictjson.pretty(told))


def _attachment(machine: str, path: Path, clock: Clock) -> Attachment:
    return Attachment(machine=machine, path=str(path), since=iso(clock.now()))


def _require_possible(request: DiskRequest) -> None:
    if not _NAME.fullmatch(request.name):
        raise UsageError(
            _("{name!r} is no name for a disk").format(name=request.name),
            hint=_("small letters, digits and '-', a letter or digit first"),
        )
    if not SMALLEST_BYTES <= request.bytes <= LARGEST_BYTES:
        raise UsageError(
            _("a disk of {size} is not to be had").format(size=show_bytes(request.bytes)),
            hint=_("from {smallest} to {largest}").format(
                smallest=show_bytes(SMALLEST_BYTES), largest=show_bytes(LARGEST_BYTES)
            ),
        )


def _require_room_to_attach(disk: RentedDisk) -> None:
    if len(disk.attachments) >= disk.request.attach:
        raise ProviderError(
            _("disk {name} is held by {machines}, and {limit} may hold it at once").format(
                name=disk.request.name,
                machines=", ".join(one.machine for one in disk.attachments),
                limit=disk.request.attach,
            ),
            hint=_("detach it there first, or make a disk for each machine"),
        )


def require_attachable(home: Home, clock: Clock, path: Path) -> None:
    """Refuse another machine for a disk that may not be held by more. Any other folder has no limit.

    A link by which this box shows the disk is no holder of its own: it leads the machines there.

    Raises:
        ProviderError: as many machines as may hold the disk hold it.
    """
    place = os.path.realpath(path)
    for disk in LocalDisks(home, clock).disks():
        if os.path.realpath(disk.path) == place:
            machines = tuple(one for one in disk.attachments if one.machine.startswith("local-"))
            if len(machines) >= disk.request.attach:
                _require_room_to_attach(disk)
