"""`python -m lastro.cli` is the same as `lastro`."""

from lastro.cli import main

if __name__ == "__main__":
    main()
