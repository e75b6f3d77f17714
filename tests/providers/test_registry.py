from __future__ import annotations

import pytest

from lastro.clock import SystemClock
from lastro.errors import ProviderError, UsageError
from lastro.paths import Home
from lastro.providers.registry import provider_for


@pytest.mark.parametrize(("spec", "creates"), [("here", False), ("local", True)])
def test_providers_are_found_by_name(home: Home, spec: str, creates: bool) -> None:
    provider = provider_for(spec, home, SystemClock())

    assert (provider.name, provider.traits.creates) == (spec, creates)


@pytest.mark.parametrize("spec", ["ssh://user@host", "slurm", "ssh"])
def test_what_is_not_there_yet_says_so(home: Home, spec: str) -> None:
    with pytest.raises(ProviderError, match="yet") as caught:
        provider_for(spec, home, SystemClock())

    assert spec in caught.value.message


def test_a_name_that_nearly_fits_is_suggested(home: Home) -> None:
    with pytest.raises(UsageError) as caught:
        provider_for("locl", home, SystemClock())

    assert caught.value.hint == "did you mean 'local'?"


@pytest.mark.parametrize("spec", ["zzz", "", "local://x", "here "])
def test_another_name_is_a_wrong_use(home: Home, spec: str) -> None:
    with pytest.raises(UsageError):
        provider_for(spec, home, SystemClock())
