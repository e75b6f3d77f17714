from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.storage.transfer.stores import KEY, SECRET, client, seaweed, weed


@pytest.fixture(scope="session")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The endpoint of a real store."""
    if not weed().is_file():
        pytest.skip("there is no SeaweedFS for this platform")
    with seaweed(tmp_path_factory.mktemp("weed")) as endpoint:
        yield endpoint


@pytest.fixture
def bucket(store: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> str:
    """A new bucket; boto3 finds store and keys in the environment."""
    monkeypatch.setenv("AWS_ENDPOINT_URL", store)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", KEY)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "no-config"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "no-credentials"))
    name = f"b-{uuid.uuid4().hex[:12]}"
    client(store).create_bucket(Bucket=name)
    return name
