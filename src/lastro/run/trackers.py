"""What the environment tells the user's own tracker, so that it shows one run over all attempts. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path


def tracker_environment(base: Mapping[str, str], run: str, tensorboard: Path) -> dict[str, str]:
    """Return the variables to add for trackers; what the user has set is never among them.

    Args:
        base: the environment that the job would have otherwise.
        run: the run's id, the same in all attempts.
        tensorboard: a folder on the disk, the same in all attempts.
    """
    told = {
        # W&B takes up the run of this id, or makes it.
        "WANDB_RUN_ID": run,
        "WANDB_RESUME": "allow",
        # MLflow makes the ids of its runs itself, so each attempt is a run there; they share this tag.
        "MLFLOW_RUN_CONTEXT": json.dumps({"lastro.run": run}),
        "LASTRO_TENSORBOARD": str(tensorboard),
    }
    if "WANDB_RUN_ID" in base:
        del told["WANDB_RESUME"]
    return {name: value for name, value in told.items() if name not in base}
