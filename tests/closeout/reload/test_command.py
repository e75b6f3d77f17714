from __future__ import annotations

from pathlib import Path

from lastro.closeout.reload.command import Bench, lay_out, reload_by_command
from lastro.storage.snapshot import code_files, write_archive


def bench(tmp_path: Path, script: str, **links: str) -> Bench:
    code = tmp_path / "code"
    code.mkdir()
    (code / "reload.py").write_text(script)
    archive = tmp_path / "code.tar"
    write_archive(code, code_files(code), archive)
    return Bench(archive=archive, links=links, deadline_seconds=60)


def test_a_path_with_blanks_is_one_word(tmp_path: Path) -> None:
    weights = tmp_path / "my model.bin"
    weights.write_bytes(b"w")
    script = "import sys; assert len(sys.argv) == 2; assert open(sys.argv[1], 'rb').read() == b'w'"
    room = tmp_path / "a room"

    done = reload_by_command(
        "python3 reload.py {path}", weights, bench(tmp_path, script), room, wanted=None, hidden=()
    )

    assert done.problem is None


def test_the_command_gets_a_copy_and_cannot_spoil_the_output(tmp_path: Path) -> None:
    weights = tmp_path / "model.bin"
    weights.write_bytes(b"w")
    script = "import sys; open(sys.argv[1], 'wb').write(b'spoilt')"

    reload_by_command(
        "python3 reload.py {path}",
        weights,
        bench(tmp_path, script),
        tmp_path / "room",
        wanted=None,
        hidden=(),
    )

    assert weights.read_bytes() == b"w"


def test_a_result_that_is_only_a_link_does_not_count(tmp_path: Path) -> None:
    weights = tmp_path / "model.bin"
    weights.write_bytes(b"w")
    script = f"import os; os.symlink({str(weights)!r}, os.environ['LASTRO_OUTPUTS'] + '/p.csv')"

    done = reload_by_command(
        "python3 reload.py {path}",
        weights,
        bench(tmp_path, script),
        tmp_path / "room",
        wanted="p.csv",
        hidden=(),
    )

    assert done.problem is not None
    assert done.result is None


def test_what_the_code_holds_is_not_replaced_by_a_link(tmp_path: Path) -> None:
    laid = lay_out(
        bench(tmp_path, "own", **{"reload.py": "/etc/passwd", "data/x": "/etc"}), tmp_path / "laid"
    )

    assert (laid / "reload.py").read_text() == "own"
    assert (laid / "data" / "x").is_symlink()
