"""Guess again from the published weights, in a fresh process: `python reload.py model.safetensors`."""

import os
import sys
from pathlib import Path

import torch
from gpt import GPT, guess, write_guesses
from safetensors.torch import load_file

torch.set_num_threads(1)
weights = load_file(sys.argv[1])
layers = 1 + max(int(name.split(".")[1]) for name in weights if name.startswith("blocks."))
model = GPT(layers)
model.load_state_dict({**weights, "head.weight": weights["bytes.weight"]})
write_guesses(Path(os.environ.get("LASTRO_OUTPUTS", "."), "predictions.csv"), guess(model))
