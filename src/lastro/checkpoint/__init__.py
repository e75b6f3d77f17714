"""All that a run needs to go on as if nothing had happened: written once, believed only when re-read."""
