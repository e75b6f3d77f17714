"""The same campaign and disk as another computer sees them: another boot, another name, another home."""

from __future__ import annotations

import os
import subprocess
import sys
import uuid
from collections.abc import Mapping

import pytest

from tests.flow.campaigns import DEADLINE_SECONDS, SmallCampaign

_BOOT = "/proc/sys/kernel/random/boot_id"


class Elsewhere(SmallCampaign):
    """Its commands run in namespaces of their own, in which nothing of lastro's finds this box again."""

    def lastro(
        self, *arguments: str, timeout: float = DEADLINE_SECONDS, env: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        if os.geteuid() != 0:
            pytest.skip("another computer is made of namespaces, which needs root")
        self.home.mkdir(exist_ok=True)
        boot = self.home / "boot_id"
        boot.write_text(f"{uuid.uuid5(uuid.NAMESPACE_DNS, str(self.home))}\n")
        script = f'hostname elsewhere && mount --bind "{boot}" {_BOOT} && exec "$@"'
        apart = ["unshare", "--mount", "--uts", "--propagation", "private", "sh", "-c", script, "sh"]
        return subprocess.run(
            [*apart, sys.executable, "-m", "lastro.cli", *arguments],
            cwd=self.folder,
            env=self.environment if env is None else env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )
