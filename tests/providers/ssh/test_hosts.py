"""Several addresses as one provider."""

from __future__ import annotations

from pathlib import Path

import pytest

from lastro.clock import SystemClock
from lastro.errors import CapacityRefused, ProviderError, UsageError
from lastro.paths import Home
from lastro.providers.base import MachineRequest
from lastro.providers.registry import full_name, is_far, provider_for
from lastro.providers.ssh.hosts import Hosts
from lastro.providers.ssh.ssh import replica_key
from tests.providers.ssh.sshd import Rented, free_port


def test_a_list_of_addresses_is_one_provider_with_places(tmp_path: Path) -> None:
    name = full_name("root@one, ssh://root@two:7")
    provider = provider_for(name, Home(tmp_path), SystemClock())

    assert name == "ssh://root@one,ssh://root@two:7"
    assert isinstance(provider, Hosts) and is_far(name)
    assert provider.places == ("ssh://root@one", "ssh://root@two:7")


def test_an_address_that_stands_there_twice_is_refused() -> None:
    with pytest.raises(UsageError, match="ssh://root@one stands twice"):
        full_name("root@one,ssh://root@one")


def test_homes_copy_stays_when_hosts_join_and_leave() -> None:
    alone = replica_key("ssh://a", "/d")

    assert replica_key("ssh://a,ssh://b", "/d") == alone
    assert replica_key("ssh://b", "/d") != alone


def request(place: str, tag: str = "t") -> MachineRequest:
    return MachineRequest(tag=tag, campaign="c", disk=Path("/d"), lease=None, place=place)


def test_one_that_does_not_answer_is_a_refusal_while_another_may(tmp_path: Path, reachable: Rented) -> None:
    nobody = f"ssh://127.0.0.1:{free_port()}"
    hosts = Hosts(f"{nobody},{reachable.spec}", Home(tmp_path), SystemClock())

    with pytest.raises(CapacityRefused, match="does not answer"):
        hosts.create(request(nobody))
    made = hosts.create(request(reachable.spec))

    assert hosts.place_of(made.id) == reachable.spec
    assert hosts.create(request(reachable.spec)).id == made.id
    hosts.delete(made.id)


def test_when_none_answers_it_is_told_as_it_is(tmp_path: Path, reachable: Rented) -> None:
    one, two = (f"ssh://127.0.0.1:{free_port()}" for _host in range(2))
    hosts = Hosts(f"{one},{two}", Home(tmp_path), SystemClock())
    with pytest.raises(CapacityRefused):
        hosts.create(request(one))

    with pytest.raises(ProviderError, match="does not answer") as told:
        hosts.create(request(two))

    assert not isinstance(told.value, CapacityRefused)


def test_a_machine_of_a_host_that_has_left_is_named(tmp_path: Path, reachable: Rented) -> None:
    both = Hosts(f"ssh://elsewhere,{reachable.spec}", Home(tmp_path), SystemClock())
    made = both.create(request(reachable.spec))

    with pytest.raises(ProviderError, match="none of the hosts any more"):
        Hosts("ssh://elsewhere,ssh://other", Home(tmp_path), SystemClock()).describe(made.id)

    both.delete(made.id)
