"""A tiny transformer of random weights goes through the same door: tokens in, labels out. Needs transformers."""

from itertools import product

import numpy as np
import torch
from transformers import GPT2Config, GPT2ForSequenceClassification

import recombine as rc


def main(steps: int = 0, out: str = "diagnosis") -> str:
    torch.manual_seed(0)
    pairs = np.array(list(product(range(8), range(8))))
    tokens = torch.tensor(pairs + np.array([1, 9]))  # the first word names one factor, the second the other
    labels = torch.tensor(pairs.sum(axis=1) % 8)
    trained = np.random.default_rng(0).random(64) < 0.7
    settings = {"n_layer": 2, "n_head": 2, "n_embd": 32, "vocab_size": 20, "n_positions": 4, "num_labels": 8}
    model = GPT2ForSequenceClassification(GPT2Config(**settings, pad_token_id=0))
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for _ in range(steps):
        loss = model(input_ids=tokens[trained], labels=labels[trained]).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    factors = {"first": pairs[:, 0], "second": pairs[:, 1]}
    data = ({"input_ids": tokens}, labels)
    found = rc.diagnose(model, data, factors=factors, trained=trained, layers=["transformer.h.?", "score"])
    print(found, found.save(out), sep="\n")
    return found.verdict


if __name__ == "__main__":
    main()
