"""An ordinary script: Hugging Face's Trainer, a tiny GPT-2, made-up data. There is no lastro in it."""

import argparse

import torch
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments, set_seed

parser = argparse.ArgumentParser()
parser.add_argument("--max_steps", type=int, default=400)
parser.add_argument("--resume_from_checkpoint")
given = parser.parse_args()

set_seed(0)
counting = (torch.randint(64, (2048, 1)) + torch.arange(32)) % 64
examples = [{"input_ids": row, "labels": row} for row in counting]
model = GPT2LMHeadModel(GPT2Config(vocab_size=64, n_positions=32, n_embd=64, n_layer=2, n_head=2))
arguments = TrainingArguments(
    output_dir="out",
    max_steps=given.max_steps,
    per_device_train_batch_size=32,
    save_steps=50,
    logging_steps=50,
    use_cpu=True,
    disable_tqdm=True,
    report_to="none",
)
trainer = Trainer(model=model, args=arguments, train_dataset=examples)
trainer.train(resume_from_checkpoint=given.resume_from_checkpoint)
trainer.save_model("out/final")
