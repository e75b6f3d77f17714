"""Which variable points which cache, and where it belongs. Pure.

Variables are read when a program is imported: set later, they change nothing. What a row says was read in the
sources of the packages on 2026-11-30.
"""

from __future__ import annotations

from enum import Enum

from lastro.records import dataclass


class Where(str, Enum):
    """Where a cache belongs.

    DISK: it saves paid time in the next session. CARRIED: many small files for one card and driver: they
    stay on the machine and travel as one archive. MACHINE: rebuilt, or only staging.
    """

    DISK = "disk"
    CARRIED = "carried"
    MACHINE = "machine"


@dataclass(frozen=True)
class Cache:
    """A variable, and the folder that it gets below the place of its kind."""

    variable: str
    folder: str
    where: Where = Where.DISK


CACHES: tuple[Cache, ...] = (
    Cache("HF_HOME", "huggingface"),
    Cache("TORCH_HOME", "torch"),
    Cache("SENTENCE_TRANSFORMERS_HOME", "sentence-transformers"),
    Cache("MODELSCOPE_CACHE", "modelscope"),
    Cache("TIKTOKEN_CACHE_DIR", "tiktoken"),
    Cache("OLLAMA_MODELS", "ollama"),
    Cache("LLAMA_CACHE", "llama.cpp"),
    Cache("KERAS_HOME", "keras"),
    Cache("TFDS_DATA_DIR", "tfds"),
    Cache("TFHUB_CACHE_DIR", "tfhub"),
    Cache("NLTK_DATA", "nltk"),
    Cache("FASTAI_HOME", "fastai"),
    Cache("KAGGLEHUB_CACHE", "kagglehub"),
    Cache("PIP_CACHE_DIR", "pip"),
    Cache("UV_CACHE_DIR", "uv"),
    Cache("CONDA_PKGS_DIRS", "conda"),
    Cache("TORCHINDUCTOR_CACHE_DIR", "inductor", Where.CARRIED),
    Cache("TRITON_CACHE_DIR", "triton", Where.CARRIED),
    Cache("TORCH_EXTENSIONS_DIR", "torch-extensions", Where.CARRIED),
    Cache("CUDA_CACHE_PATH", "cuda", Where.CARRIED),
    Cache("JAX_COMPILATION_CACHE_DIR", "jax", Where.CARRIED),
    Cache("VLLM_CACHE_ROOT", "vllm", Where.CARRIED),
    Cache("NUMBA_CACHE_DIR", "numba", Where.CARRIED),
    # Staging of uploads and a shard cache of 16 GB: it would fill the disk.
    Cache("HF_XET_CACHE", "xet", Where.MACHINE),
)
#: Names that newer versions read no more, or read beside the one that counts now.
LEGACY = {
    "TRANSFORMERS_CACHE": "HF_HOME",
    "PYTORCH_TRANSFORMERS_CACHE": "HF_HOME",
    "PYTORCH_PRETRAINED_BERT_CACHE": "HF_HOME",
    "DIFFUSERS_CACHE": "HF_HOME",
    "HUGGINGFACE_HUB_CACHE": "HF_HOME",
}
#: Variables that move a part of what another one moves.
PARTS = {
    "HF_HUB_CACHE": "HF_HOME",
    "HF_DATASETS_CACHE": "HF_HOME",
    "HF_ASSETS_CACHE": "HF_HOME",
    "HF_MODULES_CACHE": "HF_HOME",
}
#: Between two file systems uv cannot link, and copies with a warning at each package otherwise.
BESIDE = {"UV_CACHE_DIR": ("UV_LINK_MODE", "copy")}
#: Files with credentials that lie beside a cache: they stay where they are.
CREDENTIALS = {"HF_TOKEN_PATH": "token", "HF_STORED_TOKENS_PATH": "stored_tokens"}
