"""What a campaign file may say of sizes and moves, and what is refused in its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from lastro.errors import CampaignInvalid
from lastro.spec.campaign import Campaign
from lastro.spec.load import load_campaign

BASE = "campaign: tiny\ncommand: python train.py\ncontrol: {width: 64}\n"


def _load(folder: Path, extra: str) -> Campaign:
    path = folder / "campaign.yaml"
    path.write_text(BASE + extra)
    return load_campaign(path).spec


def test_a_size_alone_stands_for_a_mapping(tmp_path: Path) -> None:
    data = _load(tmp_path, "data: {weights: {base: 14 GB}, dataset: 5000, state: 12 GB}\n").data

    assert data is not None and data.dataset is not None and data.state is not None
    assert data.weights["base"].size == 14 * 10**9
    assert data.dataset.size == 5000
    assert data.state.size == 12 * 10**9


def test_sizes_may_come_from_a_repository_and_from_the_code(tmp_path: Path) -> None:
    data = _load(
        tmp_path,
        "data:\n  weights: {base: {hub: owner/name}, other: {hub: {repository: a/b, only: ['*.bin']}}}\n"
        '  state: {from: "train:build", within: 2min}\n  model: {weights: base}\n',
    ).data

    assert data is not None and data.state is not None
    hubs = [one.hub for one in data.weights.values() if one.hub]
    assert [(hub.repository, hub.revision, hub.only) for hub in hubs] == [
        ("owner/name", "main", ()),
        ("a/b", "main", ("*.bin",)),
    ]
    assert (data.state.origin, data.state.within.total_seconds()) == ("train:build", 120)


@pytest.mark.parametrize(
    ("extra", "said"),
    [
        ("data: {dataset: {size: 1 GB, path: data}}", "one of size, path and hub"),
        ("data: {dataset: {files: 3}}", "one of size, path and hub"),
        ("data: {dataset: {hub: ../secret}}", "not a repository such as owner/name"),
        ("data: {dataset: {hub: {repository: a/b, revision: 'x?y'}}}", "not a branch, a tag or a commit"),
        ("data: {dataset: {path: ../outside}}", "inside its folder"),
        ("data: {dataset: 0 GB}", "are nothing, or more than any disk holds"),
        ("data: {state: 90000000 TB}", "are nothing, or more than any disk holds"),
        ("data: {state: {from: train}}", "not a function such as train:build"),
        ("data: {state: {from: 'os;x:build'}}", "not a function such as train:build"),
        ("data: {state: {size: 1 GB, from: 'train:build'}}", "either its size, or a function"),
        ("data: {state: 1 GB, model: {parameters: 7.0e+9}}", "both say how large a checkpoint is"),
        ("data: {model: {optimizer: adam}}", "either parameters or weights"),
        ("data: {model: {weights: base}}", "base is none of data.weights"),
        ("data: {model: {parameters: 10.0, trainable: 11.0}}", "more is trained than the model has"),
        ("transfers: {home: {size: 0 B}}", "are nothing, or more than any disk holds"),
        ("transfers: {home: {size: 1 GB, from: home, to: home}}", "to itself"),
    ],
)
def test_what_means_nothing_is_refused_with_its_line(tmp_path: Path, extra: str, said: str) -> None:
    with pytest.raises(CampaignInvalid) as caught:
        _load(tmp_path, extra + "\n")

    assert said in str(caught.value)
    assert caught.value.line == 4
