"""The bump decoder as work to be timed: its task, its population, and the same network in plain PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import jax

import recombine as rc


@cache
def task(size: int) -> rc.Task:
    return rc.bumps(size, rc.local_bump(size))


@cache
def decoder(size: int, width: int, depth: int) -> Callable[[jax.Array], Any]:
    return lambda key: rc.CNNDecoder(2 * size, size, width=width, depth=depth, key=key)


def train(
    keys: jax.Array, *, size: int, width: int, depth: int, steps: int, compute: Any, batch: int = 32, chunks: int = 1
):
    """Train a population on all bumps outside a centred hole, and wait for it."""
    make = decoder(size, width, depth)
    split = rc.square(task(size).combinations, 3 * size // 14, 11 * size // 14)
    run = rc.population(task(size), split, make, keys, rc.Recipe(steps, batch, compute=compute, chunks=chunks))
    return jax.block_until_ready(run.model)


def train_in_torch(seed: int, *, size: int, width: int, depth: int, steps: int, batch: int = 32) -> None:
    """The loop a PyTorch user would write for one network: same layers, same optimiser, data made beforehand."""
    import torch

    torch.manual_seed(seed)
    z = torch.randint(0, size, (steps, batch, 2))
    codes = torch.exp(-((torch.arange(size) - z[..., None]) ** 2) / 2.0)
    pictures = codes[:, :, 1, :, None] * codes[:, :, 0, None, :]
    layers: list[Any] = [torch.nn.ConvTranspose2d(2 * size, width, size // 4), torch.nn.ReLU()]
    for i in range(depth):
        kernel = (4, 2, 1) if i < 2 else (3, 1, 1)
        layers += [torch.nn.ConvTranspose2d(width, width, *kernel), torch.nn.ReLU()]
    net = torch.nn.Sequential(*layers, torch.nn.ConvTranspose2d(width, 1, 3, 1, 1))
    optimiser = torch.optim.AdamW(net.parameters(), lr=1e-3, weight_decay=1e-2)
    for x, y in zip(codes.reshape(steps, batch, 2 * size, 1, 1), pictures[:, :, None], strict=True):
        optimiser.zero_grad()
        torch.nn.functional.mse_loss(net(x), y).backward()
        optimiser.step()
