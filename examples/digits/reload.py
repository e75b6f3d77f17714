"""Load a published model in a fresh process and predict again: `python reload.py model.safetensors`.

Needs the weights, this code and the data; it never sees the predictions that it is compared with.
"""

import os
import sys
from pathlib import Path

import torch
from digits import network, predict, write_predictions
from safetensors.torch import load_file

torch.set_num_threads(1)
weights = load_file(sys.argv[1])
model = network(width=weights["1.weight"].shape[0])
model.load_state_dict(weights)
write_predictions(Path(os.environ.get("LASTRO_OUTPUTS", "."), "predictions.csv"), predict(model))
