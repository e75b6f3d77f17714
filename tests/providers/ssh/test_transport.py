from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from lastro.providers.ssh.transport import (
    NO_PYTHON,
    Refused,
    Unreachable,
    explain,
    remote_script,
    ssh_command,
)
from lastro.spec.addresses import Target

GPU7 = Target(host="gpu7", user="ana", port=2222)


@pytest.mark.parametrize(
    ("code", "words", "kind", "said", "next_step"),
    [
        (
            255,
            "@ WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED! @\nHost key verification failed.",
            Refused,
            "another host key than before",
            "ssh-keygen -R '[gpu7]:2222'",
        ),
        (255, "Host key verification failed.", Refused, "is not known here", "ssh -p 2222 ana@gpu7"),
        (255, "ana@gpu7: Permission denied (publickey).", Refused, "none of your keys", "ana@gpu7 true"),
        (NO_PYTHON, "", Refused, "3.10 or newer", "apt-get install python3"),
        (
            255,
            "ssh: connect to host gpu7 port 2222: Connection refused",
            Unreachable,
            "Connection refused",
            "goes on",
        ),
        (
            255,
            "ssh: Could not resolve hostname gpu7: Name or service not known",
            Unreachable,
            "resolve",
            "check its name",
        ),
        (None, "it does not answer any more", Unreachable, "does not answer", "goes on"),
        (127, "sh: exec: not found", Refused, "nothing can be started", "by hand"),
    ],
)
def test_what_ssh_complains_of_is_an_error_with_a_way_out(
    code: int | None, words: str, kind: type[Exception], said: str, next_step: str
) -> None:
    error = explain(GPU7, code, words)

    assert type(error) is kind
    assert said in error.message and "ssh://ana@gpu7:2222" in error.message
    assert error.hint is not None and next_step in error.hint


def test_another_configuration_can_be_named(tmp_path: Path) -> None:
    assert "-F" not in ssh_command({})
    assert ssh_command({"LASTRO_SSH_CONFIG": str(tmp_path)})[1:3] == ("-F", str(tmp_path))


SHELLS = [name for name in ("sh", "bash", "dash", "zsh", "fish", "tcsh") if shutil.which(name)]


@pytest.mark.parametrize("shell", SHELLS)
def test_every_login_shell_understands_the_line_in_the_same_way(shell: str, tmp_path: Path) -> None:
    """Run without a parcel: the first answer says that it is missing."""
    done = subprocess.run(
        [shell, "-c", remote_script("0" * 64)],
        input=b"0\n",
        capture_output=True,
        env={"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "LASTRO_HOME": str(tmp_path)},
        check=False,
    )

    assert done.stdout == b'\x1elastro {"bytes": 0, "parcel": false}\n', done.stderr
    assert b"what arrived is not what was sent" in done.stderr


def test_a_python_that_is_too_old_or_none_is_passed_over_for_the_next_one(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "sh").symlink_to("/bin/sh")
    for name, script in (("python3", f"exit {NO_PYTHON}"), ("python3.12", "echo took $1 $2; exit 3")):
        (tmp_path / "bin" / name).write_text(f"#!/bin/sh\n{script}\n")
        (tmp_path / "bin" / name).chmod(0o755)
    words = ["/bin/sh", "-c", remote_script("0" * 64)]

    done = subprocess.run(words, capture_output=True, env={"PATH": str(tmp_path / "bin")}, check=False)
    (tmp_path / "bin" / "python3.12").unlink()
    none = subprocess.run(words, capture_output=True, env={"PATH": str(tmp_path / "bin")}, check=False)

    assert (done.stdout, done.returncode) == (b"took -u -c\n", 3)
    assert none.returncode == NO_PYTHON
