from __future__ import annotations

import hashlib
from pathlib import Path

from lastro import strictjson
from lastro.closeout.published import published_of
from lastro.journal.views import AttemptView, RunView
from lastro.paths import RunFolder
from lastro.storage.digest import digest_of


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def run(offset: int, **outputs: str) -> RunView:
    life = AttemptView(run="r", number=1, machine="m", node="n", started_at="t", items_offset=offset)
    return RunView(
        id="r", name="r", priority="required", config={}, status="completed", why=None, attempts=(life,),
        outputs=outputs,
    )  # fmt: skip


def index(**items: str) -> bytes:
    lines = [
        strictjson.dumps({"id": path, "items": "{id}", "path": path, "bytes": 1, "sha256": digest})
        for path, digest in items.items()
    ]
    return "".join(line + "\n" for line in lines).encode()


def test_items_count_by_their_index_as_far_as_the_journal_knows_it(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    folder.outputs.mkdir(parents=True)
    (folder.outputs / "a").write_bytes(b"a")
    (folder.outputs / "folder").mkdir()
    (folder.outputs / "folder" / "x").write_bytes(b"x")
    known = index(a=sha256(b"a"), folder=digest_of(folder.outputs / "folder"))
    folder.items_index.write_bytes(known + index(late=sha256(b"late")))

    assert published_of(run(len(known), model="m" * 64), folder) == {
        "a": sha256(b"a"),
        "folder/x": sha256(b"x"),
        "model": "m" * 64,
    }


def test_a_damaged_line_and_a_changed_folder_prove_nothing(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    (folder.outputs / "folder").mkdir(parents=True)
    (folder.outputs / "folder" / "x").write_bytes(b"x")
    lines = b"{broken\n[1]\n" + index(folder="0" * 64)
    folder.items_index.write_bytes(lines)

    assert published_of(run(len(lines)), folder) == {}


def test_without_items_no_index_is_read(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    folder.outputs.mkdir(parents=True)
    folder.items_index.write_bytes(index(a="0" * 64))

    assert published_of(run(0, b="1" * 64), folder) == {"b": "1" * 64}
    folder.items_index.unlink()
    assert published_of(run(5), folder) == {}
