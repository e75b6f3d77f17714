"""One cluster for all tests of a worker in this folder."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.providers.slurm.cluster import Cluster, cluster


@pytest.fixture(scope="package")
def slurm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with cluster(Path(tmp_path_factory.mktemp("slurm"))) as made:
        yield made
