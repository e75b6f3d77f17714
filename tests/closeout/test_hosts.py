from __future__ import annotations

import pytest

from lastro.closeout.hosts import foreign_host

HOSTS = ("node-77", "gpu7.example.org", "box", "v1")


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ("http://localhost:6006", "http://localhost"),
        ("see http://gpu-box/x", "http://gpu-box"),
        ("https://ana:pw@10.1.2.3/x", "https://ana:pw@10.1.2.3"),
        ("redis://cache.internal:6379", "redis://cache.internal"),
        ("tcp://[fe80::1]:80", "tcp://[fe80::1]"),
        ("ssh://store.lan/data", "ssh://store.lan"),
        ("192.168.0.4:8080", "192.168.0.4:8080"),
        ("ana@gpu7:/data", "ana@gpu7:/data"),
        ("made on node-77", "node-77"),
        ("gpu7.example.org", "gpu7.example.org"),
    ],
)
def test_a_machine_that_only_some_network_knows_is_found(value: str, found: str) -> None:
    assert foreign_host(value, HOSTS) == found


@pytest.mark.parametrize(
    "value",
    [
        "https://huggingface.co/org/model", "s3://bucket/x", "hf://org/name", "8.8.8.8", "1.2.3", "4.57.1.2",
        "ana@example.org", "a box of things", "node-777", "anode-77", "python://x", "http://www.w3.org/2000/svg",
        "10.1.0", "key: value", "v1", "urn:a:b", "model@main",
    ],
)  # fmt: skip
def test_what_names_no_such_machine_is_left_alone(value: str) -> None:
    assert foreign_host(value, HOSTS) is None
