"""Which provider a campaign has, by its file and by `--on`."""

from __future__ import annotations

from pathlib import Path

import pytest

from lastro.errors import CampaignInvalid, UsageError
from lastro.flow.far import placed
from lastro.spec.load import load_campaign


def campaign(folder: Path, keys: str) -> Path:
    path = folder / "campaign.yaml"
    path.write_text(f"campaign: c\ncommand: python t.py\ncontrol: {{}}\n{keys}\n")
    return path


@pytest.mark.parametrize(
    ("keys", "on", "provider", "machines"),
    [
        ("hosts: [root@one, ssh://two:7, three]", None, "ssh://root@one,ssh://two:7,ssh://three", 3),
        ("hosts: [root@one, root@two]\nmachines: 1", None, "ssh://root@one,ssh://root@two", 1),
        ("hosts: [root@one]", None, "ssh://root@one", 1),
        ("hosts: [root@one, root@two]", "local", "local", 1),
        ("provider: local", "a@b,c@d", "ssh://a@b,ssh://c@d", 2),
        ("provider: local", None, "local", 1),
    ],
)
def test_hosts_are_a_provider_with_as_many_machines(
    tmp_path: Path, keys: str, on: str | None, provider: str, machines: int
) -> None:
    spec = placed(load_campaign(campaign(tmp_path, keys)).spec, on)

    assert (spec.provider, spec.machines) == (provider, machines)


def test_a_provider_and_hosts_are_a_contradiction(tmp_path: Path) -> None:
    with pytest.raises(CampaignInvalid, match="both `provider` and `hosts` say where it runs"):
        load_campaign(campaign(tmp_path, "provider: local\nhosts: [a@b]"))


@pytest.mark.parametrize("host", ["'a@b,c@d'", "'-oProxyCommand=x@y'", "7", "'a b'"])
def test_what_is_no_address_is_refused(tmp_path: Path, host: str) -> None:
    with pytest.raises((CampaignInvalid, UsageError)):
        placed(load_campaign(campaign(tmp_path, f"hosts: [{host}]")).spec, None)
