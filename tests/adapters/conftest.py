from __future__ import annotations

import functools
import importlib.util
from collections.abc import Iterator

import pytest

from tests.adapters.lives import Case, Undisturbed, Whole, a_run, delivered, logged
from tests.job.conftest import Nursery, start_nursery

#: `make test-adapters` has the frameworks; `make test` does not, and has only what needs none of them.
NEED_FRAMEWORKS = [
    "test_conformance.py",
    "test_drill_of_a_loop.py",
    "test_foreign_example.py",
    "test_lora.py",
    "test_models.py",
    "test_ranks.py",
    "test_stateful_loaders.py",
    "test_torchrun.py",
    "test_webdataset.py",
]
collect_ignore = [] if importlib.util.find_spec("transformers") else NEED_FRAMEWORKS

MODULES = (
    "transformers.trainer",
    "transformers.models.gpt2.modeling_gpt2",
    "accelerate",
    "lightning.pytorch",
    "peft",
)


@pytest.fixture(scope="session")
def frameworks() -> Iterator[Nursery]:
    """A process that starts training processes without each of them importing its framework anew."""
    with start_nursery(*MODULES) as nursery:
        yield nursery


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory: pytest.TempPathFactory, frameworks: Nursery) -> Undisturbed:
    """What a case does when nothing happens to it."""

    @functools.cache
    def lived(case: Case) -> Whole:
        run = a_run(tmp_path_factory.mktemp("undisturbed"))
        ended, folder = case.live(run, frameworks)
        assert ended.code == 0, ended.log
        return Whole(delivered(folder), run.outputs(), logged(folder))

    return lived
