"""Bumps with known answers, in NumPy alone: a perfect solver, the donut that it trained on, a superposing memoriser."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from recombine.core import Record
from recombine.measures.controls import superposition


def codes(size: int, sigma: float = 1.0) -> np.ndarray:
    """exp(-(i - v)^2 / (2 sigma^2)) as [value v, unit i]."""
    apart = np.arange(size)[:, None] - np.arange(size)
    return np.exp(-(apart**2) / (2 * sigma**2))


@pytest.fixture(scope="session")
def bump_record() -> Callable[[int], Record]:
    def make(size: int) -> Record:
        z = np.stack(np.divmod(np.arange(size**2), size), axis=1)
        along = codes(size)
        pictures = along[z[:, 1], :, None] * along[z[:, 0], None, :]
        return Record(z, np.concatenate([along[z[:, 0]], along[z[:, 1]]], axis=1), pictures, pictures)

    return make


@pytest.fixture(scope="session")
def perfect(bump_record) -> Record:
    return bump_record(16)


@pytest.fixture(scope="session")
def train(perfect) -> np.ndarray:
    """The donut: all cells but the square 3..12."""
    return ~np.all((perfect.z >= 3) & (perfect.z <= 12), axis=1)


@pytest.fixture(scope="session")
def inside(perfect) -> np.ndarray:
    """The hole's interior."""
    return np.all((perfect.z >= 6) & (perfect.z <= 9), axis=1)


@pytest.fixture(scope="session")
def memoriser(perfect, train) -> Record:
    """Right on the donut; in the hole, the sum of its memories."""
    sums = superposition(perfect, train).y_hat
    return perfect.answering(np.where(train[:, None, None], perfect.y, sums))
