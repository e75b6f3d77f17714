"""Runs in .venv-export: reads tasks by SkyPilot's own library, and says as JSON what it has understood."""

import json
import sys

import sky

told = []
for path in sys.argv[1:]:
    task = sky.Task.from_yaml(path)
    choices = task.resources if isinstance(task.resources, list) else list(task.resources)
    told.append(
        {
            "name": task.name,
            "workdir": task.workdir,
            "ordered": isinstance(task.resources, list),
            "cards": [one.accelerators for one in choices],
            "spot": [one.use_spot for one in choices],
            "disk": [one.disk_size for one in choices],
            "idle": [one.autostop_config.idle_minutes for one in choices],
            "down": [one.autostop_config.down for one in choices],
            "setup": task.setup,
            "run": task.run,
            "mounts": {place: [store.name, store.mode.value] for place, store in task.storage_mounts.items()},
            "secrets": task.to_yaml_config().get("secrets"),
        }
    )
sys.stdout.write(json.dumps(told) + "\n")
