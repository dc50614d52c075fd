"""Turns a number of parts into a picture of as many: ellipses, boxes and stripes in random places and colours."""

from __future__ import annotations

import numpy as np

from recombine import keys

PARTS = (1, 2, 3, 4, 6, 8, 10, 12, 16, 24)
"""Numbers of parts of the scenes, of each of which there are two."""


def scene(parts: int, seed: int, size: int) -> np.ndarray:
    """The picture (size, size, 3): the same at every size."""
    from recombine.cppn.gallery import smooth

    rng = keys.rng(seed, "scene", parts)
    ground, things = rng.uniform(0, 1, 3), [(int(rng.integers(3)), rng.uniform(size=9)) for _ in range(parts)]

    def paint(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        picture = np.broadcast_to(ground, (*x.shape, 3))
        for kind, numbers in things:
            picture = np.where(inside(kind, numbers, x, y)[..., None], numbers[6:], picture)
        return picture

    return smooth(paint, size)


def inside(kind: int, numbers: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Where an ellipse, a box or a pair of stripes lies, by numbers in 0..1: its place, its angle and its size."""
    left, down, turn, wide, high = 1.6 * numbers[0] - 0.8, 1.6 * numbers[1] - 0.8, *numbers[2:5]
    a, b = np.cos(np.pi * turn), np.sin(np.pi * turn)
    along, across = (a * (x - left) + b * (y - down), a * (y - down) - b * (x - left))
    reach = 0.12 + 0.4 * wide, 0.12 + 0.4 * high
    if kind == 0:
        return np.hypot(along / reach[0], across / reach[1]) < 1
    if kind == 1:
        return (np.abs(along) < reach[0]) & (np.abs(across) < reach[1])
    return np.abs(np.abs(along) - 0.3 * reach[0]) < 0.12 * reach[0] + 0.02
