from __future__ import annotations

import json
from pathlib import Path

import pytest

from lastro.cli import main


@pytest.mark.parametrize(("home", "code"), [("home", 0), ("file/home", 4)])
def test_it_ends_with_4_only_where_nothing_can_run(
    home: str, code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LASTRO_HOME", str(tmp_path / home))

    with pytest.raises(SystemExit) as left:
        main(["doctor", "--json"])
    told = json.loads(capsys.readouterr().out)
    with pytest.raises(SystemExit) as again:
        main(["doctor"])

    assert left.value.code == again.value.code == told["exit_code"] == code
    assert told["can_run"] is (code == 0)
    assert "Python" in capsys.readouterr().out
