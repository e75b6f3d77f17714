"""`lastro shell` where there is nothing to open: told before anything is asked for."""

from __future__ import annotations

from pathlib import Path

import pytest

from lastro.cli import main


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ((), "no terminal"),
        (("--json",), "--json is for a command"),
        (("--",), "no command after"),
        (("--forward", "65536", "--", "true"), "no port to forward"),
        (("--ssh-config", "nowhere", "--", "true"), "nowhere"),
        (("--", "true"), "no campaign was started"),
    ],
)
def test_what_cannot_be_is_refused_with_code_2_and_the_next_step(
    words: tuple[str, ...],
    told: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("LASTRO_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)

    with pytest.raises(SystemExit) as left:
        main(["shell", *words])

    assert left.value.code == 2
    printed = capsys.readouterr()
    assert told in printed.out + printed.err
