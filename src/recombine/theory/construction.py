"""Turns the weights of a hyperteacher into a ReLU network that computes it, with a size linear in the modules.

Theorem 3.1 of Redhardt, Akram and Schug (2025, arXiv 2507.07207) says that O(1 / sqrt(error) + modules) neurons are
enough for any error in the sup norm; the construction here is our own and has that count.

A hyperteacher answers y = ReLU(x W + b) Omega with W = sum_m z_m Theta_m / sqrt(K) and b = sum_m z_m b_m / sqrt(K), for
x in [-1, 1]^I and z in [0, 1]^M with at most K entries that are not 0. The mixed weights u = W_ih are linear in z, so
modules cost input weights alone. What is left is x u = ((x + u) / 2)^2 - ((x - u) / 2)^2, and a square on [-L, L] is a
broken line through n + 1 of its points, that is n ReLUs, within L^2 / n^2.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

import numpy as np

_AT_ONCE = 512  # examples computed together, to bound memory


@dataclass(frozen=True, eq=False)
class Hyperteacher:
    """`modules` Theta (M, I, H) and their `biases` b (M, H), at least 0; `read_out` Omega (H, O); K = `max_active`."""

    modules: np.ndarray
    biases: np.ndarray
    read_out: np.ndarray
    max_active: int

    def __post_init__(self) -> None:
        (m, i, h), b, o = self.modules.shape, self.biases.shape, self.read_out.shape
        if b != (m, h) or o[0] != h or not 0 < self.max_active <= m:
            raise ValueError(f"modules {(m, i, h)}, biases {b}, read-out {o} and {self.max_active} active do not fit")
        if np.any(self.biases < 0):
            raise ValueError("the construction passes biases on through ReLUs, so they must not be negative")

    def __call__(self, z: np.ndarray, x: np.ndarray) -> np.ndarray:
        """y (examples, O) for mixes z (examples, M) and inputs x (examples, I)."""
        mixed = z / np.sqrt(self.max_active)
        weights = np.tensordot(mixed, self.modules, axes=1)
        return np.maximum(np.einsum("ei,eih->eh", x, weights) + mixed @ self.biases, 0) @ self.read_out


@dataclass(frozen=True, eq=False)
class ReluNetwork:
    """h <- ReLU(h W + b) through all of `layers` but the last, which is linear, from [z, x] on."""

    layers: tuple[tuple[np.ndarray, np.ndarray], ...]

    def __call__(self, z: np.ndarray, x: np.ndarray) -> np.ndarray:
        inputs = np.concatenate([z, x], axis=1)
        starts = range(0, len(inputs), _AT_ONCE)
        return np.concatenate([self._answer(inputs[s : s + _AT_ONCE]) for s in starts])

    def _answer(self, h: np.ndarray) -> np.ndarray:
        *hidden, (weight, bias) = self.layers
        for w, b in hidden:
            h = h @ w
            h += b
            np.maximum(h, 0, out=h)
        return h @ weight + bias

    @property
    def inputs(self) -> int:
        """Input units: M + I, the only ones whose number depends on the modules."""
        return len(self.layers[0][0])

    @property
    def hidden(self) -> int:
        """Hidden neurons: 2 I H n + 2 H, of which the first term depends on the precision."""
        return sum(len(bias) for _, bias in self.layers[:-1])

    @property
    def neurons(self) -> int:
        return self.inputs + self.hidden


def span(teacher: Hyperteacher) -> float:
    """L = (1 + U) / 2, with U the largest |u| that `max_active` modules at full strength could mix."""
    strongest = np.sort(np.abs(teacher.modules), axis=0)[-teacher.max_active :].sum(axis=0)
    return float(1 + strongest.max() / np.sqrt(teacher.max_active)) / 2


def error_bound(teacher: Hyperteacher, pieces: int) -> float:
    """max_o sum_h |Omega_ho| I L^2 / n^2: no answer of the construction is further from the teacher's."""
    inputs = teacher.modules.shape[1]
    return float(np.abs(teacher.read_out).sum(axis=0).max()) * inputs * span(teacher) ** 2 / pieces**2


def pieces_for(teacher: Hyperteacher, error: float) -> int:
    """The smallest n whose bound is at most the error: n grows as 1 / sqrt(error)."""
    return ceil(error_bound(teacher, 1) ** 0.5 / error**0.5)


def square(reach: float, pieces: int) -> tuple[np.ndarray, np.ndarray]:
    """Knots t and slopes a, n each, of s^2 ~ L^2 + sum_j a_j ReLU(s - t_j), exact at the n + 1 ends of equal pieces."""
    knots = np.linspace(-reach, reach, pieces + 1)
    slopes = knots[:-1] + knots[1:]
    return knots[:-1], np.diff(slopes, prepend=0.0)


def construct(teacher: Hyperteacher, pieces: int) -> ReluNetwork:
    """The network: n ReLUs for each square, H that pass b on; then H, the teacher's own; then Omega.

    The two squares of a product share the constant L^2, which cancels.
    """
    modules, inputs, hidden = teacher.modules.shape
    knots, slopes = square(span(teacher), pieces)
    signs = np.array([1.0, -1.0])
    mixed = teacher.modules / np.sqrt(teacher.max_active)
    from_z = np.einsum("mih,s,k->mihsk", mixed / 2, signs, np.ones(pieces)).reshape(modules, -1)
    from_x = np.einsum("xi,hsk->xihsk", np.eye(inputs) / 2, np.ones((hidden, 2, pieces))).reshape(inputs, -1)
    to_sum = np.einsum("ho,i,s,k->ihsko", np.eye(hidden), np.ones(inputs), signs, slopes).reshape(-1, hidden)
    shift = np.tile(-knots, 2 * inputs * hidden)
    passed = np.concatenate([teacher.biases / np.sqrt(teacher.max_active), np.zeros((inputs, hidden))])
    first = np.concatenate([np.concatenate([from_z, from_x]), passed], axis=1)
    return ReluNetwork(
        (
            (first, np.concatenate([shift, np.zeros(hidden)])),
            (np.concatenate([to_sum, np.eye(hidden)]), np.zeros(hidden)),
            (teacher.read_out, np.zeros(teacher.read_out.shape[1])),
        )
    )
