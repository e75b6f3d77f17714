from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from lastro.export.head import head, is_as_made, sealed
from tests.export.project import CAMPAIGN, project, recipe_of

TEXTS = st.text(alphabet="ab#: \nseal", max_size=60).map(lambda text: f"{text}\n")


@given(text=TEXTS, place=st.integers(min_value=0), put=st.sampled_from("x#\n "))
def test_a_seal_holds_until_anything_is_put_in_or_taken_out(text: str, place: int, put: str) -> None:
    made = sealed(text)
    at = place % (len(made) + 1)

    assert is_as_made(made)
    assert not is_as_made(made[:at] + put + made[at:])
    assert not is_as_made(made[: at - 1] + made[at:] if at else made[1:])


def test_what_was_never_sealed_is_not_as_made() -> None:
    assert not is_as_made("")
    assert not is_as_made("echo mine\n")


def test_the_head_says_what_is_lost_and_what_belongs_to_one_provider(tmp_path: Path) -> None:
    more = """\
provider: ssh://me@secret-host.example.org:2222
disk: {path: /mnt/disk, kind: host-bound, mirror: s3://bucket/path}
offers: offers.yaml
jurisdictions: [BR]
budget: 60 USD
stop:
  - non_finite: loss
"""
    offers = "offers: [{name: cheap, kind: spot, price: 1 USD, gpu: L4, provider: aws, region: us-east-1}]\n"
    campaign = project(tmp_path / "p", CAMPAIGN.replace("disk: ./disk\n", "") + more, offers_yaml=offers)

    told = head(recipe_of(campaign), "shell", "A start", ["sh start.sh"])

    flat = " ".join(line.removeprefix("#").strip() for line in told.splitlines())
    for part in (
        "provider: a machine that is reached by ssh -> any machine",
        "disk: /mnt/disk (host-bound) -> set STATE",
        "mirror: s3://bucket/path -> nothing here writes to it; another store: AWS_ENDPOINT_URL",
        "offer cheap: spot (aws, us-east-1) -> its notice comes from the provider's metadata service",
        "jurisdictions: BR -> nothing here keeps to them",
        "limits (budget): nothing ends at them",
        "stop rules that nobody judges: non_finite",
        "verified checkpoints: the newest save is taken as it is",
    ):
        assert part in flat
    assert "secret-host" not in told
    assert all(len(line) <= 100 for line in told.splitlines())
