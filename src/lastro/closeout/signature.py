"""A signature over the closing manifest, made and checked by `ssh-keygen`: keys are the person's own."""

from __future__ import annotations

import re
import shutil
import subprocess
from enum import Enum
from pathlib import Path

from lastro.errors import UsageError
from lastro.locale import _
from lastro.paths import CampaignFolder
from lastro.records import dataclass

#: What such signatures are for; one that was made for something else does not count.
NAMESPACE = "lastro-close"
_DEADLINE_SECONDS = 60.0
_PRINCIPAL = re.compile(r"\S+")


class Signed(str, Enum):
    """What can be said of a signature."""

    GOOD = "good"
    BAD = "bad"
    NOT_CHECKED = "not checked"


@dataclass(frozen=True)
class SignatureFound:
    """The state of a signature, with its reason."""

    state: Signed
    why: str


def sign(folder: CampaignFolder, key: Path) -> None:
    """Sign the closing manifest with a key, which may ask for its passphrase at the terminal.

    Args:
        folder: it has its manifest.
        key: a private key, or a public one whose private part an agent holds.

    Raises:
        UsageError: `ssh-keygen` is not there, or did not sign.
    """
    program = shutil.which("ssh-keygen")
    if program is None:
        raise UsageError(
            _("ssh-keygen is not here, so nothing can be signed"), hint=_("install the client of OpenSSH")
        )
    folder.close_signature.unlink(missing_ok=True)
    done = subprocess.run(
        [program, "-Y", "sign", "-f", str(key), "-n", NAMESPACE, str(folder.close_manifest)],
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
        check=False,
    )
    if done.returncode or not folder.close_signature.is_file():
        raise UsageError(
            _("ssh-keygen did not sign: {said}").format(said=done.stderr.strip()),
            hint=_("name a key of yours: --sign ~/.ssh/id_ed25519"),
        )


def check_signature(folder: CampaignFolder, signers: Path | None) -> SignatureFound:
    """Check the signature of a closing manifest.

    Args:
        folder: the campaign's.
        signers: who is believed, a file as `ssh-keygen -Y verify` reads it (`name namespaces="..." key`);
            None: it is only seen that the signature is one of these bytes, by whatever key.
    """
    if not folder.close_signature.is_file():
        return SignatureFound(Signed.BAD, _("there is no signature"))
    program = shutil.which("ssh-keygen")
    if program is None:
        return SignatureFound(Signed.NOT_CHECKED, _("ssh-keygen is not here"))
    shown = ["-n", NAMESPACE, "-s", str(folder.close_signature)]
    if signers is None:
        done = _ask([program, "-Y", "check-novalidate", *shown], folder)
        why = done.stdout.strip() or done.stderr.strip()
        good = done.returncode == 0
        told = _("{said}; nobody was named who is believed").format(said=why) if good else why
        return SignatureFound(Signed.GOOD if good else Signed.BAD, told)
    found = _ask(
        [program, "-Y", "find-principals", "-f", str(signers), "-s", str(folder.close_signature)], folder
    )
    name = _PRINCIPAL.search(found.stdout)
    if found.returncode or name is None:
        return SignatureFound(Signed.BAD, _("it is of nobody in {file}").format(file=signers))
    done = _ask([program, "-Y", "verify", "-f", str(signers), "-I", name[0], *shown], folder)
    why = done.stdout.strip() or done.stderr.strip()
    return SignatureFound(Signed.GOOD if done.returncode == 0 else Signed.BAD, why)


def _ask(command: list[str], folder: CampaignFolder) -> subprocess.CompletedProcess[str]:
    with folder.close_manifest.open("rb") as manifest:
        return subprocess.run(
            command,
            stdin=manifest,
            capture_output=True,
            text=True,
            timeout=_DEADLINE_SECONDS,
            check=False,
        )
