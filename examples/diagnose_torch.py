"""Does a small PyTorch network name the colour and shape of pairs that it never saw? Takes a minute; needs torch."""

from itertools import product

import numpy as np
import torch

import recombine as rc

COLOURS = np.array(["red", "green", "blue", "grey", "pink", "teal"])
SHAPES = np.array(["disc", "ring", "star", "bar", "cross", "wave"])


def main(steps: int = 1500, out: str = "diagnosis") -> str:
    rng, _ = np.random.default_rng(0), torch.manual_seed(0)
    colour, shape = np.repeat(np.array(list(product(range(6), range(6)))), 40, axis=0).T  # 40 pictures of each pair
    trained = (colour - shape) % 6 > 1  # a third of the pairs is never shown
    masks, tints = rng.normal(size=(6, 1, 8, 8)), rng.normal(size=(6, 3, 1, 1))
    pictures = masks[shape] * tints[colour]  # 3 x 8 x 8: a shape in a colour
    x = torch.tensor(pictures + 0.3 * rng.normal(size=pictures.shape), dtype=torch.float32)
    y = torch.tensor(np.stack([colour, shape], axis=1))  # two labels per picture

    parts = [torch.nn.Flatten(), torch.nn.Linear(192, 64), torch.nn.ReLU(), torch.nn.Linear(64, 12)]
    model = torch.nn.Sequential(*parts, torch.nn.Unflatten(1, (2, 6)))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for _ in range(steps):
        batch = torch.tensor(rng.choice(np.flatnonzero(trained), 64))
        loss = torch.nn.functional.cross_entropy(model(x[batch]).transpose(1, 2), y[batch])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    factors = {"colour": COLOURS[colour], "shape": SHAPES[shape]}
    found = rc.diagnose(model, (x, y), factors=factors, trained=trained, name="small network")
    print(found, found.save(out), sep="\n")
    return found.verdict


if __name__ == "__main__":
    main()
