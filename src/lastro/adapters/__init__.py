"""Other people's training loops over lastro: each is a thin file over restore, safe_point, save and end.

Import the one that is wanted: `lastro.adapters.transformers`, `.accelerate` or `.lightning`. Nothing of
lastro imports these, and none is needed for `attempt.steps`.
"""
