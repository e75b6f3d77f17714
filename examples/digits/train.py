"""Train a small network on handwritten digits, on a machine that may vanish at any moment."""

import argparse
import hashlib

import torch
from digits import CORPUS, Digits, network, predict, write_predictions
from safetensors.torch import save_file
from torch.nn.functional import cross_entropy

import lastro

ACCUMULATE = 4

parser = argparse.ArgumentParser()
parser.add_argument("--width", type=int, default=64)
parser.add_argument("--shift", type=int, default=0)
parser.add_argument("--epochs", type=int, default=12)
options = parser.parse_args()

torch.set_num_threads(1)

attempt = lastro.attach()
torch.manual_seed(attempt.seed)

train = Digits("train", options.shift)
attempt.read(rows=train.total, digest=hashlib.sha256(CORPUS.read_bytes()).hexdigest())
loader = attempt.loader(train, batch_size=16, shuffle=True, num_workers=2)

model = network(options.width)
optimizer = torch.optim.AdamW(model.parameters(), lr=0.0015)
updates = options.epochs * -(-len(loader) // ACCUMULATE)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=updates)
attempt.track(model=model, optimizer=optimizer, scheduler=scheduler)

hits = []  # of the micro-batches since the last update; always empty where a checkpoint can be made
for step, (images, labels) in attempt.steps(loader, epochs=options.epochs, accumulate=ACCUMULATE):
    guesses = model(images)
    hits.append((guesses.argmax(dim=1) == labels).float())
    loss = cross_entropy(guesses, labels)
    (loss / ACCUMULATE).backward()
    if step.updates:
        optimizer.step()
        scheduler.step()
        optimizer.zero_grad()
        attempt.log(loss=loss, accuracy=torch.cat(hits).mean())
        hits.clear()

with attempt.output("model.safetensors") as path:
    save_file(model.state_dict(), path)
with attempt.output("predictions.csv") as path:
    write_predictions(path, predict(model))
