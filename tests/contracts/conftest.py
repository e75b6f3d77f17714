"""A machine behind ssh and a cluster for the conformance suite, each started once, when it is asked for."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.providers.slurm.cluster import Cluster, cluster
from tests.providers.ssh.sshd import Rented, rented


@pytest.fixture(scope="package")
def slurm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with cluster(Path(tmp_path_factory.mktemp("slurm"))) as made:
        yield made


@pytest.fixture(scope="package")
def sshd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rented]:
    with rented(tmp_path_factory.mktemp("rented") / "machine") as made:
        yield made
