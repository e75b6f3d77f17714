"""Train a small GPT, divided among as many processes as there are, on machines that may vanish."""

import argparse
import os

import torch
import torch.distributed as dist
from gpt import GPT, Windows, guess, write_guesses
from safetensors.torch import save_file
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import DTensor
from torch.nn.functional import cross_entropy

import lastro

BATCH = 16  # of all processes together

parser = argparse.ArgumentParser()
parser.add_argument("--layers", type=int, default=2)
parser.add_argument("--epochs", type=int, default=2)
options = parser.parse_args()

processes = int(os.environ.get("WORLD_SIZE", "1"))
rank = int(os.environ.get("RANK", "0"))
torch.set_num_threads(1)

attempt = lastro.attach()
torch.manual_seed(attempt.seed)  # the same weights everywhere
model = GPT(options.layers)
if processes > 1:
    dist.init_process_group("gloo")
    for block in model.blocks:
        fully_shard(block)
    fully_shard(model)
optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
torch.manual_seed(attempt.seed + rank)  # but not the same dropout

loader = attempt.loader(Windows(), batch_size=BATCH // processes, shuffle=True, drop_last=True)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=options.epochs * len(loader))
attempt.track(model=model, optimizer=optimizer, scheduler=scheduler)
for _step, (seen, following) in attempt.steps(loader, epochs=options.epochs):
    loss = cross_entropy(model(seen).flatten(0, 1), following.flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    scheduler.step()
    attempt.log(loss=loss)

whole = {
    name: tensor.full_tensor() if isinstance(tensor, DTensor) else tensor
    for name, tensor in model.state_dict().items()
}
if rank == 0:
    del whole["head.weight"]  # tied to bytes.weight
    with attempt.output("model.safetensors") as path:
        save_file(whole, path)
    trained = GPT(options.layers)
    trained.load_state_dict({**whole, "head.weight": whole["bytes.weight"]})
    with attempt.output("predictions.csv") as path:
        write_guesses(path, guess(trained))
if processes > 1:
    dist.barrier()
    dist.destroy_process_group()
