from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lastro.errors import UsageError
from lastro.spec.addresses import Target, is_address, is_within, parse, partition_of, place_of

USERS = st.none() | st.from_regex(r"[a-z_][a-z0-9_.-]{0,10}", fullmatch=True)
HOSTS = st.from_regex(r"[a-z0-9][a-z0-9.-]{0,20}", fullmatch=True) | st.ip_addresses(v=6).map(str)


@given(target=st.builds(Target, host=HOSTS, user=USERS, port=st.none() | st.integers(1, 65535)))
def test_an_address_is_read_as_it_is_written(target: Target) -> None:
    assert parse(target.spec) == target
    assert is_address(target.spec)


def test_what_is_typed_for_ssh_is_an_address_too() -> None:
    assert parse("ana@gpu7") == Target(host="gpu7", user="ana")
    assert parse("ssh://gpu7:2222/") == Target(host="gpu7", port=2222)


@pytest.mark.parametrize(
    "spec",
    [
        "ssh://-oProxyCommand=touch",
        "ssh://a b",
        "ssh://ana@gpu7:0",
        "ssh://ana@gpu7:70000",
        "ssh://ana@gpu7/disk",
        "ssh://",
        "ana@;touch x",
        "ssh://$(touch x)",
    ],
)
def test_what_ssh_or_a_shell_would_take_for_something_else_is_none(spec: str) -> None:
    with pytest.raises(UsageError, match="no address for ssh"):
        parse(spec)


@pytest.mark.parametrize(
    ("provider", "place"),
    [
        ("root@gpu7", "ssh://root@gpu7"),
        ("ssh://gpu7:2222/", "ssh://gpu7:2222"),
        ("slurm://scavenge", "slurm://scavenge"),
        ("slurm", None),
        ("slurm://", None),
        ("local", None),
        ("vast", None),
        (None, None),
    ],
)
def test_a_place_is_one_host_or_one_partition(provider: str | None, place: str | None) -> None:
    assert place_of(provider) == place


def test_what_looks_like_a_place_and_is_none_is_refused() -> None:
    with pytest.raises(UsageError, match="names no partition"):
        partition_of("slurm://a b")
    with pytest.raises(UsageError, match="no address for ssh"):
        place_of("root@a b")


def test_a_place_is_within_a_list_of_hosts_or_a_whole_cluster_or_itself() -> None:
    assert is_within("ssh://root@b", "ssh://root@a,ssh://root@b")
    assert not is_within("ssh://root@c", "ssh://root@a,ssh://root@b")
    assert is_within("slurm://a", "slurm") and is_within("slurm://a", "slurm://a")
    assert not is_within("slurm://a", "slurm://b") and not is_within("ssh://root@a", "slurm")
