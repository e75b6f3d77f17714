from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from lastro.errors import StorageError
from lastro.storage.digest import digest_of, sha256_each, sha256_file


def test_a_file_has_the_digest_of_its_bytes(tmp_path: Path) -> None:
    path = tmp_path / "large"
    path.write_bytes(b"ab" * 1_500_000)

    assert sha256_file(path) == digest_of(path) == hashlib.sha256(b"ab" * 1_500_000).hexdigest()


def test_a_folder_has_the_digest_of_its_names_and_contents(tmp_path: Path) -> None:
    """Two lines as sha256sum prints them, worked out by hand."""
    folder = tmp_path / "corpus"
    (folder / "b").mkdir(parents=True)
    (folder / "b" / "two").write_bytes(b"2")
    (folder / "a").write_bytes(b"1")
    one, two = (hashlib.sha256(data).hexdigest() for data in (b"1", b"2"))

    assert digest_of(folder) == hashlib.sha256(f"{one}  a\n{two}  b/two\n".encode()).hexdigest()


def test_a_link_in_a_corpus_counts_as_what_it_leads_to(tmp_path: Path) -> None:
    """Model and data caches keep their files behind links."""
    blob, plain, linked = tmp_path / "blob", tmp_path / "plain", tmp_path / "linked"
    blob.write_bytes(b"x")
    plain.mkdir()
    (plain / "name").write_bytes(b"x")
    linked.mkdir()
    (linked / "name").symlink_to(blob)

    assert digest_of(plain) == digest_of(linked)


def test_a_link_in_a_circle_is_refused(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "again").symlink_to(tmp_path)

    with pytest.raises(StorageError, match="a link to a folder around it"):
        digest_of(tmp_path)


def test_what_is_not_there_is_told_by_name(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match=r"nothing\.npz is not there"):
        digest_of(tmp_path / "nothing.npz")


def test_many_files_have_their_digests_in_order(tmp_path: Path) -> None:
    paths = [tmp_path / str(number) for number in range(20)]
    for number, path in enumerate(paths):
        path.write_bytes(bytes([number]) * (number * 100_000))

    assert sha256_each(paths) == [sha256_file(path) for path in paths]
    assert sha256_each([]) == []


def test_one_that_is_not_there_is_told_among_many(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"a")

    with pytest.raises(FileNotFoundError):
        sha256_each([tmp_path / "a", tmp_path / "gone", tmp_path / "a"])
