from __future__ import annotations

import pytest

from lastro.clock import SystemClock
from lastro.errors import UsageError
from lastro.paths import Home
from lastro.providers.registry import provider_for


@pytest.mark.parametrize(("spec", "creates"), [("here", False), ("local", True)])
def test_providers_are_found_by_name(home: Home, spec: str, creates: bool) -> None:
    provider = provider_for(spec, home, SystemClock())

    assert (provider.name, provider.traits.creates) == (spec, creates)


def test_a_cluster_is_named_with_a_partition_or_without_and_nobody_is_asked_for_its_name(home: Home) -> None:
    for spec in ("slurm", "slurm://gpu"):
        provider = provider_for(spec, home, SystemClock())
        assert (provider.name, provider.traits.allotted) == (spec, True)


def test_an_address_is_a_machine_that_is_reached_by_ssh_and_nobody_is_called_for_its_name(home: Home) -> None:
    for spec in ("ssh://ana@gpu7:2222", "ana@gpu7:2222"):
        provider = provider_for(spec, home, SystemClock())
        assert (provider.name, provider.traits.far) == ("ssh://ana@gpu7:2222", True)


def test_a_name_that_nearly_fits_is_suggested(home: Home) -> None:
    with pytest.raises(UsageError) as caught:
        provider_for("locl", home, SystemClock())

    assert caught.value.hint == "did you mean 'local'?"


@pytest.mark.parametrize("spec", ["zzz", "", "local://x", "here "])
def test_another_name_is_a_wrong_use(home: Home, spec: str) -> None:
    with pytest.raises(UsageError):
        provider_for(spec, home, SystemClock())
