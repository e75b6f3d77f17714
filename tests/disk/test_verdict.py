"""Proven, declared, unknown: by what two machines have seen, and every trap on the way."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lastro.disk.conventions import convention_of
from lastro.disk.facts import DiskFacts, Sighting
from lastro.disk.mounts import Mount, mount_of, parse
from lastro.disk.verdict import Expected, Seen, State, Wrong, judge

VOLUME = Mount(device="8:16", root="/", point="/mnt/disk", fs_type="ext4", source="/dev/sdb", read_only=False)
FIRST = Sighting(node="n1", machine_id="m1", boot_id="b1", root_device="r1", source="/dev/sdb:/")
SECOND = Sighting(node="n2", machine_id="m2", boot_id="b2", root_device="r2", source="/dev/sdb:/")


def seen(*sightings: Sighting, declared: str | None = None, mount: Mount = VOLUME) -> Seen:
    facts = DiskFacts(uuid="11111111-aaaa", declared=declared, sightings=sightings)
    return Seen(path="/mnt/disk", mount=mount, facts=facts, me=sightings[-1])


def test_a_mark_that_two_machines_have_seen_proves_the_disk() -> None:
    assert judge(seen(FIRST, SECOND)).state is State.PROVEN


@pytest.mark.parametrize(
    "second",
    [
        replace(SECOND, machine_id="m1"),  # an image's machine id, shared by its copies
        replace(SECOND, boot_id="b1"),  # containers of one kernel
        replace(SECOND, root_device="r1"),
        replace(SECOND, boot_id=""),  # not told
    ],
)
def test_what_may_be_the_same_machine_proves_nothing(second: Sighting) -> None:
    assert judge(seen(FIRST, second)).state is State.UNKNOWN


def test_the_providers_ids_decide_where_both_are_known() -> None:
    one, same = replace(FIRST, instance="i-1"), replace(SECOND, instance="i-1")
    other = replace(FIRST, instance="i-2")

    assert judge(seen(one, same)).state is State.UNKNOWN
    assert judge(seen(one, other)).state is State.PROVEN


def test_a_mark_on_the_machines_own_root_may_have_been_copied_with_its_image() -> None:
    on_root = [replace(each, on_root=True) for each in (FIRST, SECOND)]

    assert judge(seen(*on_root)).state is State.UNKNOWN
    assert judge(seen(*on_root, declared="the file")).state is State.DECLARED
    assert judge(seen(on_root[0], SECOND)).state is State.UNKNOWN


def test_machines_of_a_rehearsal_prove_nothing_to_a_real_one() -> None:
    pretended = [replace(each, rehearsal=True) for each in (FIRST, SECOND)]

    assert judge(seen(*pretended)).state is State.PROVEN
    assert judge(seen(*pretended, replace(SECOND, node="n3"))).state is State.UNKNOWN


@pytest.mark.parametrize("fs_type", ["overlay", "tmpfs", "ramfs", "squashfs"])
def test_a_file_system_that_goes_with_the_machine_is_not_believed_whoever_declares_it(fs_type: str) -> None:
    verdict = judge(seen(FIRST, SECOND, declared="the file", mount=replace(VOLUME, fs_type=fs_type)))

    assert verdict.state is State.UNKNOWN
    assert fs_type in verdict.why


@pytest.mark.parametrize(
    ("facts", "mount", "kind"),
    [
        (DiskFacts(uuid="22222222-bbbb"), VOLUME, Wrong.SWAPPED),
        (None, VOLUME, Wrong.EMPTY),
        (None, replace(VOLUME, point="/"), Wrong.UNMOUNTED),
        (DiskFacts(uuid="11111111-aaaa"), replace(VOLUME, point="/"), None),  # carried elsewhere, and found
        (DiskFacts(uuid="11111111-aaaa"), VOLUME, None),
    ],
)
def test_another_disk_than_was_here_before_is_told(
    facts: DiskFacts | None, mount: Mount, kind: Wrong | None
) -> None:
    expected = Expected(uuid="11111111-aaaa", point="/mnt/disk", source="/dev/sdb", fs_type="ext4")

    verdict = judge(Seen(path="/mnt/disk", mount=mount, facts=facts, me=FIRST, expected=expected))

    assert [trouble.kind for trouble in verdict.troubles] == ([kind] if kind else [])
    assert verdict.state is State.UNKNOWN


def test_a_mount_point_that_fstab_promises_and_nobody_mounted_is_told() -> None:
    verdict = judge(replace(seen(FIRST, SECOND), promised="/mnt/disk"))

    assert verdict.troubles[0].kind is Wrong.UNMOUNTED
    assert verdict.state is State.UNKNOWN


def test_a_path_of_a_provider_counts_only_on_its_machines() -> None:
    assert convention_of("/workspace/out", {}) is None
    pod = convention_of("/workspace/out", {"RUNPOD_POD_ID": "abc"})
    volume = convention_of("/runpod-volume", {"RUNPOD_POD_ID": "abc"})
    assert pod is not None
    assert volume is not None
    assert (pod.lives, volume.lives) == (False, True)

    assert judge(replace(seen(FIRST, declared="me"), convention=pod)).state is State.UNKNOWN
    assert judge(replace(seen(FIRST), convention=volume)).state is State.DECLARED


TABLE = b"""27 1 254:0 / / rw,relatime - ext4 /dev/vda rw
28 27 254:0 /srv/a\\040b /mnt/bind rw - ext4 /dev/vda rw
29 27 0:40 / /mnt rw - tmpfs tmpfs rw
30 29 8:16 / /mnt/disk ro,noatime shared:1 master:2 - ext4 /dev/sdb rw
31 27 0:50 / /mnt/disk rw - fuse.rclone bucket:x rw
torn line
"""


def test_the_kernels_table_is_read_with_its_escapes_and_optional_fields() -> None:
    mounts = parse(TABLE)

    assert [mount.root for mount in mounts] == ["/", "/srv/a b", "/", "/", "/"]
    assert [mount.read_only for mount in mounts] == [False, False, False, True, False]
    assert [mount.is_temporary for mount in mounts] == [False, False, True, False, False]


@pytest.mark.parametrize(
    ("path", "source"),
    [("/", "/dev/vda"), ("/mnt/x", "tmpfs"), ("/mnt/diskette", "tmpfs"), ("/mnt/disk/a", "bucket:x")],
)
def test_a_path_lies_on_the_longest_point_around_it_and_on_what_was_mounted_last(
    path: str, source: str
) -> None:
    found = mount_of(path, parse(TABLE))

    assert found is not None
    assert found.source == source
