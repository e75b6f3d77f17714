"""Make .venv-peers: MLflow and trackio by requirements-peers.lock, for the benchmark beside them.

Run by `make bench-peers`, and by nothing else: no test needs it.
"""

from __future__ import annotations

from tools.own_env import ROOT, make_environment


def main() -> None:
    make_environment(ROOT / ".venv-peers", "requirements-peers.lock")


if __name__ == "__main__":
    main()
