"""The data, the network and the predictions: what training and reloading have in common."""

import csv
import random
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.utils.data import Dataset

HERE = Path(__file__).parent
CORPUS = HERE / "data" / "digits.npz"


class Digits(Dataset):
    """8 x 8 images of handwritten digits. With `shift` each one is moved by up to that many pixels."""

    def __init__(self, part, shift=0):
        with np.load(CORPUS) as corpus:
            self.images, self.labels, test = corpus["images"], corpus["labels"], corpus["test"]
        self.total = len(self.labels)
        self.ids = test if part == "test" else np.setdiff1d(np.arange(self.total), test)
        self.shift = shift

    def __len__(self):
        return len(self.ids)

    def __getitem__(self, row):
        image = np.pad(self.images[self.ids[row]], self.shift)
        down, right = (random.randint(0, 2 * self.shift) for _ in "yx")
        pixels = image[down : down + 8, right : right + 8].astype(np.float32) / 16
        return torch.from_numpy(pixels), int(self.labels[self.ids[row]])


def network(width):
    return nn.Sequential(nn.Flatten(), nn.Linear(64, width), nn.ReLU(), nn.Dropout(0.2), nn.Linear(width, 10))


@torch.no_grad()
def predict(model):
    """Return (id, prediction, confidence) for each image of the test part."""
    test = Digits("test")
    images = torch.stack([test[row][0] for row in range(len(test))])
    confidences, predictions = model.eval()(images).softmax(dim=1).max(dim=1)
    return list(zip(test.ids.tolist(), predictions.tolist(), confidences.tolist(), strict=True))


def write_predictions(path, rows):
    with path.open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["id", "prediction", "confidence"])
        table.writerows((at, digit, f"{confidence:.7f}") for at, digit, confidence in rows)
