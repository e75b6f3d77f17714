"""Outputs that look well and are not: each is planted, and has to be caught with its reason by name.

What takes transformers and peft (wrong base, dropped tied weight) stands in tests/adapters/test_models.py.
"""

from __future__ import annotations

import http.server
import io
import json
import os
import pickle
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from lastro.closeout.inventory import Surroundings
from lastro.closeout.judge import Verdict
from lastro.closeout.promise import Base, Deliverable, MetricRule, Promise
from lastro.closeout.reload.level import WISH
from lastro.sandbox.sealed import why_not
from tests.closeout.tiny import RELOAD, TinyRun, predictions
from tests.closeout.traps.delivery import Delivery, counted
from tests.closeout.traps.pictures import gradient, png

jailed = pytest.mark.skipif(why_not() is not None, reason=str(why_not()))
FOLDER = Deliverable(name="model", path="model")


@pytest.fixture
def delivery(tmp_path: Path) -> Delivery:
    return Delivery(tmp_path)


# --- what only works on the machine that made it ------------------------------------------------------


def needs(place: str, read: str) -> str:
    """Return the reload script of a model that first reads something beside its weights."""
    return f"import os, urllib.request\nplace = {place!r}\n{read}\n{RELOAD}"


@jailed
def test_a_vocabulary_under_tmp_is_not_there_in_a_jail(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The program spells the path, so no control sees it: a fresh process is taken in, a jail is not."""
    vocabulary = tmp_path / "vocabulary.json"
    vocabulary.write_text("{}")
    run = TinyRun(tmp_path, reload=needs(str(vocabulary), "open(place).read()"))

    caught = run.judged()["model"]

    assert caught.verdict is Verdict.REJECTED
    assert str(vocabulary) in caught.why
    monkeypatch.setenv(WISH, "fresh")
    assert run.judged()["model"].verdict is Verdict.ACCEPTED


@jailed
def test_a_base_in_the_users_cache_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = tmp_path / "home" / ".cache" / "base.json"
    cache.parent.mkdir(parents=True)
    cache.write_text("{}")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    read = "open(os.path.expanduser('~/.cache/base.json')).read()"

    caught = TinyRun(tmp_path, reload=needs("", read)).judged()["model"]

    assert caught.verdict is Verdict.REJECTED
    assert "No such file or directory: '/lastro/home/.cache/base.json'" in caught.why


@pytest.fixture
def server() -> Iterator[str]:
    """Serve anything, on this machine only."""

    class Anything(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"{}")

        def log_message(self, *_: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Anything) as serving:
        threading.Thread(target=serving.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{serving.server_port}/base.json"
        serving.shutdown()


@jailed
def test_a_base_from_the_network_cannot_be_fetched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, server: str
) -> None:
    run = TinyRun(tmp_path, reload=needs(server, "urllib.request.urlopen(place).read()"))

    caught = run.judged()["model"]

    assert caught.verdict is Verdict.REJECTED
    assert "Connection refused" in caught.why
    monkeypatch.setenv(WISH, "fresh")
    assert run.judged()["model"].verdict is Verdict.ACCEPTED


# --- what the files themselves tell -------------------------------------------------------------------


def a_model(folder: Path, **config: object) -> Path:
    """Put a small folder there, with a configuration, weights and the documentation that people write."""
    folder.mkdir(parents=True)
    (folder / "settings.json").write_text(json.dumps({"width": 8, **config}))
    save_file({"w": np.arange(8, dtype=np.float32)}, folder / "model.safetensors")
    (folder / "README.md").write_text("Trained in /home/ana/work; see http://localhost:6006 for curves.\n")
    return folder


@pytest.mark.parametrize(
    ("nested", "named"),
    [
        ({"loader": {"stages": [{"vocabulary": "/tmp/ana/vocabulary.json"}]}}, "/tmp/ana/vocabulary.json"),
        ({"loader": {"cache": "~/.cache/base"}}, "~/.cache/base"),
        ({"loader": {"base": "file:///mnt/base"}}, "file:///mnt/base"),
        ({"tracking": {"url": "http://gpu-box-17:5000/run"}}, "http://gpu-box-17"),
        ({"data": {"from": "ana@10.0.0.7:/data/base"}}, "ana@10.0.0.7:/data/base"),
        ({"store": "http://192.168.1.4/base"}, "http://192.168.1.4"),
        ({"made": {"on": "node-77 at night"}}, "node-77"),
    ],
)
def test_a_path_or_a_machine_in_a_nested_configuration_is_named(
    delivery: Delivery, nested: dict[str, object], named: str
) -> None:
    a_model(delivery.outputs / "model", **nested)

    caught = delivery.judge(FOLDER, around=Surroundings(hosts=("node-77", "home")))

    assert caught.verdict is Verdict.REJECTED
    assert "model/settings.json" in caught.why
    assert named in caught.why


def test_a_key_in_a_configuration_is_told_without_being_repeated(delivery: Delivery) -> None:
    key = "hf_" + "aB3dE5gH7jK9mN1pQ3sT5vX7zA9cD1eF3g"
    a_model(delivery.outputs / "model", token=key)

    caught = delivery.judge(FOLDER)

    assert "looks like a Hugging Face token" in caught.why
    assert key not in caught.why


@pytest.mark.parametrize("kind", ["file", "folder"])
def test_a_link_out_of_the_folder_is_named_with_its_target(
    delivery: Delivery, tmp_path: Path, kind: str
) -> None:
    model = a_model(delivery.outputs / "model")
    elsewhere = tmp_path / "elsewhere"
    if kind == "file":
        shutil.move(model / "model.safetensors", elsewhere)
        (model / "model.safetensors").symlink_to(elsewhere)
    else:
        elsewhere.mkdir()
        (model / "shards").symlink_to(elsewhere)

    caught = delivery.judge(FOLDER)

    assert caught.verdict is Verdict.REJECTED
    assert f"it leads to {elsewhere}" in caught.why


def shards(folder: Path) -> Path:
    """Put weights in two files and their index there."""
    folder.mkdir(parents=True)
    names = ("model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors")
    for place, name in enumerate(names):
        save_file({f"w{place}": np.full(64, place + 1, dtype=np.float32)}, folder / name)
    index = {"metadata": {"total_size": 512}, "weight_map": {"w0": names[0], "w1": names[1]}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    return folder


def test_a_truncated_shard_is_named(delivery: Delivery) -> None:
    second = shards(delivery.outputs / "model") / "model-00002-of-00002.safetensors"
    second.write_bytes(second.read_bytes()[:-16])

    caught = delivery.judge(FOLDER)

    assert caught.verdict is Verdict.REJECTED
    assert "model-00002-of-00002.safetensors is damaged: its tensors take" in caught.why


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        (lambda folder: (folder / "model-00002-of-00002.safetensors").unlink(), "which is not there"),
        (
            lambda folder: save_file(
                {"w0": np.ones(64, dtype=np.float32)}, folder / "model-00002-of-00002.safetensors"
            ),
            "lacks 1 of its tensors: w1",
        ),
        (
            lambda folder: save_file(
                {"w2": np.ones(4, dtype=np.float32)}, folder / "model-00003-of-00003.safetensors"
            ),
            "does not name model-00003-of-00003.safetensors",
        ),
        (
            lambda folder: (folder / "model.safetensors.index.json").write_text("{"),
            "model.safetensors.index.json: it cannot be read",
        ),
    ],
)
def test_shards_that_do_not_match_their_index_are_named(delivery: Delivery, spoil: object, why: str) -> None:
    folder = shards(delivery.outputs / "model")
    assert callable(spoil)
    spoil(folder)

    assert why in delivery.judge(FOLDER).why


def test_an_empty_file_in_a_folder_is_named(delivery: Delivery) -> None:
    (a_model(delivery.outputs / "model") / "merges.txt").write_bytes(b"")

    assert "model/merges.txt is empty" in delivery.judge(FOLDER).why


def test_a_file_that_slipped_into_the_folder_after_publishing_is_named(tmp_path: Path) -> None:
    run = TinyRun(tmp_path)
    a_model(run.outputs / "model")
    run.publish()
    (run.outputs / "model" / "extra.json").write_text("{}")
    (run.outputs / "model" / "settings.json").unlink()

    caught = run.judged(Promise(deliverables=(FOLDER,), decision=None))["model"]

    assert "model/extra.json lies in the outputs, but no attempt has published it" in caught.why
    assert "model/settings.json was published and is not there" in caught.why


def test_another_base_than_was_promised_is_told_by_its_digest(delivery: Delivery) -> None:
    a_model(delivery.code / "base")
    adapter = delivery.outputs / "adapter"
    adapter.mkdir()
    (adapter / "adapter_config.json").write_text(json.dumps({"base_model_name_or_path": "base"}))
    promised = Deliverable(name="adapter", path="adapter", base=Base(path="base", sha256="0" * 64))

    caught = delivery.judge(promised)

    assert caught.verdict is Verdict.REJECTED
    assert "the base base has the SHA-256" in caught.why


@pytest.mark.parametrize("revision", [None, "main"])
def test_an_adapter_that_does_not_say_which_base_is_refused(delivery: Delivery, revision: str | None) -> None:
    adapter = delivery.outputs / "adapter"
    adapter.mkdir()
    said = {"base_model_name_or_path": "org/base", "revision": revision}
    (adapter / "adapter_config.json").write_text(json.dumps(said))

    why = delivery.judge(Deliverable(name="adapter", path="adapter")).why

    assert "was made from org/base, and nothing says which bytes these are" in why


def test_an_adapter_of_another_base_than_the_plan_says_is_refused(delivery: Delivery) -> None:
    adapter = delivery.outputs / "adapter"
    adapter.mkdir()
    said = {"base_model_name_or_path": "org/other", "revision": "b" * 40}
    (adapter / "adapter_config.json").write_text(json.dumps(said))
    promised = Deliverable(name="adapter", path="adapter", base=Base(hub="org/base", revision="a" * 40))

    why = delivery.judge(promised).why

    assert "was made from org/other, the plan says org/base" in why
    assert "from revision bbbbbbbbbbbb of its base, the plan says aaaaaaaaaaaa" in why


# --- pickles --------------------------------------------------------------------------------------------


class Payload:
    """Calls a function when it is unpickled."""

    def __init__(self, call: object, *arguments: object) -> None:
        self._made = (call, arguments)

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return self._made


@pytest.mark.parametrize("suffix", [".pkl", ".pt", ".dat"])
@pytest.mark.parametrize("may_unpickle", [False, True])
def test_a_payload_is_found_and_not_run(
    delivery: Delivery, tmp_path: Path, suffix: str, may_unpickle: bool
) -> None:
    marker = tmp_path / "marker"
    payload = {"w": Payload(os.system, f"touch {marker}")}
    (delivery.outputs / f"model{suffix}").write_bytes(pickle.dumps(payload))
    promised = Deliverable(name="model", path=f"model{suffix}", may_unpickle=may_unpickle)

    caught = delivery.judge(promised)

    assert caught.verdict is Verdict.REJECTED
    assert "calls posix.system when it is loaded" in caught.why
    assert not marker.exists()


def test_a_pickle_is_refused_with_a_way_out(delivery: Delivery) -> None:
    (delivery.outputs / "model.pkl").write_bytes(pickle.dumps({"w": Payload(complex, 1, 2)}))

    caught = delivery.judge(Deliverable(name="model", path="model.pkl"))

    assert caught.verdict is Verdict.REJECTED
    assert "builtins.complex" in caught.why
    assert "save tensors with safetensors.torch.save_file" in caught.why


@jailed
def test_a_payload_that_the_scan_does_not_know_finds_nothing_in_the_jail(
    delivery: Delivery, tmp_path: Path
) -> None:
    marker = tmp_path / "marker"
    (delivery.outputs / "model.pkl").write_bytes(pickle.dumps(Payload(io.open, str(marker), "w")))

    caught = delivery.judge(Deliverable(name="model", path="model.pkl", may_unpickle=True))

    assert caught.verdict is Verdict.REJECTED
    assert f"FileNotFoundError: [Errno 2] No such file or directory: '{marker}'" in caught.why
    assert not marker.exists()


@jailed
def test_a_pickle_that_was_allowed_is_loaded_in_a_jail_and_never_accepted_for_that(
    delivery: Delivery, monkeypatch: pytest.MonkeyPatch
) -> None:
    (delivery.outputs / "model.pkl").write_bytes(pickle.dumps({"w": Payload(complex, 1, 2)}))
    promised = Deliverable(name="model", path="model.pkl", may_unpickle=True)

    opened = delivery.judge(promised)

    assert (opened.verdict, opened.level, opened.loader) == (Verdict.PRODUCED, "jailed", "pickle")
    monkeypatch.setenv(WISH, "fresh")
    without = delivery.judge(promised)
    assert without.verdict is Verdict.PRODUCED
    assert "a pickle is loaded only in a jail" in without.why


# --- predictions ----------------------------------------------------------------------------------------


def test_predictions_of_an_earlier_model_are_not_reproduced(tmp_path: Path) -> None:
    run = TinyRun(tmp_path)
    (run.outputs / "predictions.csv").write_text(predictions((0.5, -1.0, 0.375)))
    run.publish()

    judged = run.judged()

    assert {one.verdict for one in judged.values()} == {Verdict.REJECTED}
    assert "model does not reproduce it" in judged["predictions"].why


PREDICTED = Deliverable(
    name="predictions",
    path="predictions.jsonl",
    key="id",
    metric=MetricRule(name="accuracy", truth="test.csv", claimed="metrics.json"),
)


def predicted(delivery: Delivery, *, ids: range = range(4), claimed: float = 0.75) -> None:
    """Four predictions of which three are right, for an evaluation set of the code."""
    (delivery.code / "test.csv").write_text("id,label\n0,a\n1,b\n2,a\n3,b\n")
    said = ("a", "b", "a", "a")
    lines = [json.dumps({"id": one, "prediction": said[place]}) for place, one in enumerate(ids)]
    (delivery.outputs / "predictions.jsonl").write_text("\n".join(lines) + "\n")
    (delivery.outputs / "metrics.json").write_text(json.dumps({"accuracy": claimed}))


def test_predictions_with_an_honest_claim_are_accepted(delivery: Delivery) -> None:
    predicted(delivery)

    judged = delivery.judge(PREDICTED)

    assert (judged.verdict, judged.metric) == (Verdict.ACCEPTED, 0.75)


def test_a_swapped_evaluation_set_is_known_by_its_ids(delivery: Delivery) -> None:
    predicted(delivery, ids=range(100, 104))

    assert "has 4 ids that nobody asked for: 100, 101, 102" in delivery.judge(PREDICTED).why


def test_a_swapped_evaluation_set_with_the_same_ids_is_known_by_the_claim(delivery: Delivery) -> None:
    """On the set that the run really used it had 100 %; on that of the plan they have 75 %."""
    predicted(delivery, claimed=1.0)

    caught = delivery.judge(PREDICTED)

    assert caught.verdict is Verdict.REJECTED
    assert "the run claims accuracy 1, recomputed it is 0.75" in caught.why


# --- duplicates -----------------------------------------------------------------------------------------


def test_weights_that_differ_only_in_metadata_and_shards_count_once(tmp_path: Path) -> None:
    one, other = Delivery(tmp_path, "r1"), Delivery(tmp_path, "r2")
    (one.outputs / "model").mkdir()
    shards(other.outputs / "model")
    whole: dict[str, np.ndarray] = {
        "w0": np.full(64, 1, dtype=np.float32),
        "w1": np.full(64, 2, dtype=np.float32),
    }
    save_file(whole, one.outputs / "model" / "model.safetensors", metadata={"made": "on Monday"})
    (other.outputs / "model" / "README.md").write_text("another text\n")

    first, second = one.judge(FOLDER), other.judge(FOLDER)

    assert first.digest != second.digest
    assert first.content == second.content


def test_pictures_that_differ_only_in_compression_and_comment_count_once(tmp_path: Path) -> None:
    found = []
    for name, level, text in (("r1", 1, "first"), ("r2", 9, "made later")):
        run = Delivery(tmp_path, name)
        (run.outputs / "frame.png").write_bytes(png(gradient(), level=level, text=text))
        found.append(run.judge(Deliverable(name="frame", path="frame.png")))

    first, second = counted(*found)

    assert first.verdict is second.verdict is Verdict.ACCEPTED
    assert second.duplicate_of == "r1/frame.png"


def test_almost_the_same_corpus_is_told_and_both_count(tmp_path: Path) -> None:
    """200 rows, of which 4 differ: 196 of 204 are in common, 96 %."""
    script = "import os, shutil, sys; shutil.copy(sys.argv[1], os.environ['LASTRO_OUTPUTS'] + '/corpus.csv')"
    corpus = Deliverable(name="corpus", path="corpus.csv", key="id")
    maker = Deliverable(name="maker", path="rows.csv", reload="python3 again.py {path}", compare="corpus")
    found = []
    for name, changed in (("r1", 0), ("r2", 4)):
        run = Delivery(tmp_path, name)
        (run.code / "again.py").write_text(script)
        rows = [f"{row},{row * row + (row < changed)}" for row in range(200)]
        for file in ("corpus.csv", "rows.csv"):
            (run.outputs / file).write_text("\n".join(["id,value", *rows]) + "\n")
        found.append(run.judged(corpus, maker)["corpus"])

    first, second = counted(*found)

    assert first.near is None
    assert second.near == "r1/corpus.csv"
    assert second.duplicate_of is None
    assert "of it is that of r1/corpus.csv" in second.warnings[0]
