"""Where word comes from that a machine will be taken away; one file each, and the explicit list.

The file that `LASTRO_NOTICE` names is always looked at. A metadata service is asked only on machines that
say so, by `LASTRO_NOTICES=aws` (or gcp, azure, several with commas): elsewhere the address may belong to
somebody else. `LASTRO_METADATA_URL` puts another address in place of the usual one.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import cache

from lastro.run.notices.aws import Aws
from lastro.run.notices.azure import Azure
from lastro.run.notices.base import Source
from lastro.run.notices.file import File
from lastro.run.notices.gcp import Gcp
from lastro.run.notices.listener import Listener

#: Link-local, the same for every cloud: the machine's own metadata service.
METADATA_URL = "http://169.254.169.254"

_SERVICES: Mapping[str, Callable[[str], Source]] = {"aws": Aws, "gcp": Gcp, "azure": Azure}


def listen(environment: Mapping[str, str]) -> Listener:
    """Begin to listen to what this machine says it has.

    A service that this version does not know is told as silent, like one that does not answer.
    """
    url = environment.get("LASTRO_METADATA_URL") or METADATA_URL
    wanted = [name.strip() for name in environment.get("LASTRO_NOTICES", "").split(",") if name.strip()]
    services = {name: _SERVICES[name](url) for name in wanted if name in _SERVICES}
    path = environment.get("LASTRO_NOTICE")
    unknown = [name for name in wanted if name not in _SERVICES]
    return Listener(File(path) if path else None, services, unknown)


@cache
def listener_of_this_machine() -> Listener:
    """Return the one listener of this process: it outlives the attempts that it warns."""
    return listen(os.environ)
