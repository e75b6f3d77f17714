"""Make .venv-export: those who read what `lastro export` writes, by requirements-export.lock.

SkyPilot reads its tasks, hadolint container files, ShellCheck shells. Run by `make test-export`.
"""

from __future__ import annotations

from tools.own_env import ROOT, make_environment


def main() -> None:
    make_environment(ROOT / ".venv-export", "requirements-export.lock")


if __name__ == "__main__":
    main()
