"""Turns the pixels of a square picture into fixed vectors that say where each of them is."""

from __future__ import annotations

from functools import cache

import numpy as np


@cache
def embedding(size: int, width: int) -> np.ndarray:
    """(sin x w_k, cos x w_k, sin y w_k, cos y w_k) at [row=y, column=x], w_k = 10000^(-4k / width), k = 0..width/4-1.

    A NumPy array, so that a model that asks for it while it is called never trains it.
    """
    if width % 4:
        raise ValueError(f"a positional embedding of pixels has a width divisible by 4, got {width}")
    angles = np.arange(size)[:, None] * 10000.0 ** (-4 * np.arange(width // 4) / width)
    along_x = np.stack([np.sin(angles), np.cos(angles)], axis=-1)[None]
    waves = np.broadcast_arrays(along_x, along_x.swapaxes(0, 1))
    table = np.concatenate(waves, axis=-1).reshape(size, size, width).astype(np.float32)
    table.flags.writeable = False
    return table
