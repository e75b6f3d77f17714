from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from lastro.closeout.reload.command import Bench, lay_out, reload_by_command
from lastro.closeout.reload.level import WISH, level_for
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


@pytest.mark.parametrize("level", ["", "fresh"])
def test_a_folder_is_given_whole_and_cannot_be_spoiled(tmp_path: Path, level: str) -> None:
    model = tmp_path / "outputs" / "model"
    (model / "deep").mkdir(parents=True)
    (model / "deep" / "w.bin").write_bytes(b"w")
    script = (
        "import os, pathlib, sys\n"
        "file = pathlib.Path(sys.argv[1], 'deep', 'w.bin')\n"
        "pathlib.Path(os.environ['LASTRO_OUTPUTS'], 'p.csv').write_bytes(file.read_bytes())\n"
        "try:\n    file.write_bytes(b'spoilt')\nexcept OSError:\n    pass\n"
    )
    given = replace(bench(tmp_path, script), environment={**os.environ, WISH: level})

    done = reload_by_command(
        "python3 reload.py {path}", model, given, tmp_path / "room", wanted="p.csv", hidden=()
    )

    assert done.problem is None
    assert done.result is not None
    assert done.result.read_bytes() == b"w"
    assert (model / "deep" / "w.bin").read_bytes() == b"w"
    assert done.level == level_for(given.environment)[0]


def test_inputs_lie_in_the_code_where_the_run_had_them(tmp_path: Path) -> None:
    """A jail shows the input itself and not where it lies; only a fresh process can follow the link."""
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "corpus.txt").write_text("rows")
    (tmp_path / "m.bin").write_bytes(b"w")
    script = (
        "import os; from pathlib import Path\n"
        "assert Path('data/corpus.txt').read_text() == 'rows'\n"
        f"print('visible', os.path.exists({str(tmp_path / 'elsewhere')!r}))\n"
        "raise SystemExit(3)\n"
    )
    given = bench(tmp_path, script, **{"data/corpus.txt": str(tmp_path / "elsewhere" / "corpus.txt")})

    done = reload_by_command(
        "python3 reload.py {path}", tmp_path / "m.bin", given, tmp_path / "room", wanted=None, hidden=()
    )

    assert f"visible {done.level != 'jailed'}" in str(done.problem)
    assert "exit code 3" in str(done.problem)
