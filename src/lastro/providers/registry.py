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
from lastro.providers.ssh.ssh import Ssh
from lastro.providers.ssh.target import is_address, parse

_PROVIDERS: Mapping[str, type[Here] | type[Local]] = {"here": Here, "local": Local}
#: Named in the campaign file's format, and not made yet.
_LATER = ("slurm",)


def traits_of(spec: str) -> Traits | None:
    """Return what a provider is like, without asking it for anything; None where it is not known."""
    if is_address(spec):
        return Ssh.traits
    return _PROVIDERS[spec].traits if spec in _PROVIDERS else None


def is_far(spec: str) -> bool:
    """Tell whether machines of a provider are other computers, with disks of their own."""
    traits = traits_of(spec)
    return traits is not None and traits.far


def full_name(spec: str) -> str:
    """Return a provider's name as it stands in the journal: `user@host` is an address for ssh.

    Raises UsageError for an address that is none.
    """
    return parse(spec).spec if is_address(spec) else spec


def provider_for(spec: str, home: Home, clock: Clock) -> Provider:
    """Return the provider that a campaign or `--on` names: `here`, `local`, `ssh://user@host:port`.

    Raises:
        UsageError: no provider has that name.
        ProviderError: this version, or this system, cannot use it.
    """
    if is_address(spec):
        return Ssh(spec, home, clock)
    name = spec.partition("://")[0]
    if name in _LATER:
        raise ProviderError(
            _("this version of lastro cannot run on {spec} yet").format(spec=spec),
            hint=_("log in there and run it with --on here"),
        )
    if spec not in _PROVIDERS:
        near = difflib.get_close_matches(name, [*_PROVIDERS, *_LATER], n=1)
        known = ", ".join([*_PROVIDERS, "ssh://user@host", "slurm"])
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
