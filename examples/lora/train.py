"""Fine-tune a small GPT-2 with a LoRA adapter, on a machine that may vanish at any moment.

The base has random weights that a seed makes, where a real one would be downloaded.
"""

import argparse

import torch
from peft import LoraConfig, get_peft_model, get_peft_model_state_dict
from safetensors.torch import save_file
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments

import lastro
from lastro.adapters.transformers import join

parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=4)
parser.add_argument("--width", type=int, default=128)
parser.add_argument("--rank", type=int, default=8)
options = parser.parse_args()

torch.set_num_threads(1)
attempt = lastro.attach()
torch.manual_seed(attempt.seed)

counting = (torch.randint(64, (512, 1)) + torch.arange(32)) % 64
examples = [{"input_ids": row, "labels": row} for row in counting]
config = GPT2Config(
    vocab_size=64, n_positions=32, n_embd=options.width, n_layer=4, n_head=4, bos_token_id=0, eos_token_id=0
)
adapted = LoraConfig(r=options.rank, lora_alpha=16, lora_dropout=0.1, target_modules=["c_attn"])
model = get_peft_model(GPT2LMHeadModel(config), adapted)
trainer = Trainer(
    model=model,
    args=TrainingArguments(
        output_dir=str(attempt.folder / "trainer-output"),
        num_train_epochs=options.epochs,
        per_device_train_batch_size=16,
        learning_rate=1e-3,
        save_strategy="no",  # lastro saves
        logging_steps=10,
        use_cpu=True,
        disable_tqdm=True,
        report_to="none",
    ),
    train_dataset=examples,
)
join(trainer)
trainer.train()

with attempt.output("adapter_model.safetensors") as path:
    save_file(get_peft_model_state_dict(model), path)
