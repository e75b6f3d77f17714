"""The explicit list of providers."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from pathlib import Path

from lastro.clock import Clock
from lastro.errors import ProviderError, UsageError
from lastro.locale import _
from lastro.paths import Home
from lastro.providers.base import Provider, Traits
from lastro.providers.here import Here
from lastro.providers.local import Local
from lastro.providers.slurm.slurm import Slurm
from lastro.providers.ssh.hosts import Hosts, name_of
from lastro.providers.ssh.ssh import Ssh
from lastro.spec.addresses import CLUSTER, each_of, is_address

_PROVIDERS: Mapping[str, type[Here] | type[Local]] = {"here": Here, "local": Local}


def traits_of(spec: str) -> Traits | None:
    """Return what a provider is like, without asking it for anything; None where it is not known."""
    if is_address(spec):  # or several of them
        return Ssh.traits
    if _is_slurm(spec):
        return Slurm.traits
    return _PROVIDERS[spec].traits if spec in _PROVIDERS else None


def is_far(spec: str) -> bool:
    """Tell whether machines of a provider are other computers, with disks of their own."""
    traits = traits_of(spec)
    return traits is not None and traits.far


def full_name(spec: str) -> str:
    """Return a provider's name as it stands in the journal: `user@host` is an address for ssh.

    Raises UsageError for an address that is none.
    """
    return name_of(spec) if is_address(spec) else spec


def places_of(spec: str) -> tuple[str, ...]:
    """Return the providers that a name stands for: each host of several, else the one."""
    return each_of(spec) if is_address(spec) else (spec,)


def far_provider(spec: str, home: Home, clock: Clock) -> Ssh | Hosts:
    """Return the provider of machines at an address, or at several. Raises UsageError."""
    return Hosts(spec, home, clock) if len(each_of(spec)) > 1 else Ssh(spec, home, clock)


def provider_for(spec: str, home: Home, clock: Clock) -> Provider:
    """Return the provider that a campaign or `--on` names: `here`, `local`, `slurm`, `ssh://user@host:port`.

    Raises:
        UsageError: no provider has that name.
        ProviderError: this version, or this system, cannot use it.
    """
    if is_address(spec):
        return far_provider(spec, home, clock)
    if _is_slurm(spec):
        return Slurm(spec, home, clock)
    name = spec.partition("://")[0]
    if spec not in _PROVIDERS:
        near = difflib.get_close_matches(name, [*_PROVIDERS, CLUSTER], n=1)
        known = ", ".join([*_PROVIDERS, "ssh://user@host", CLUSTER])
        raise UsageError(
            _("there is no provider {spec!r}").format(spec=spec),
            hint=_("did you mean {name!r}?").format(name=near[0])
            if near
            else _("one of: {known}").format(known=known),
        )
    if not Path("/proc/self/stat").exists():
        raise ProviderError(
            _("the provider {spec} needs Linux").format(spec=spec),
            hint=_("run lastro on the rented machine itself, or in a Linux container"),
        )
    return _PROVIDERS[spec](home, clock)


def _is_slurm(spec: str) -> bool:
    """Tell whether a provider is a cluster: `slurm`, or `slurm://PARTITION`."""
    return spec == CLUSTER or spec.startswith(f"{CLUSTER}://")
