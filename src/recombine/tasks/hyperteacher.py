"""Turns a mask over modules into a regression task set by a network whose weights are the sum of its active modules.

Redhardt, Akram, Schug (2025). A task holds several teachers, and a combination is a row (t, mask): every member of a
population can have a teacher of its own within one compiled program.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from recombine.core import Task, at_least_one
from recombine.encodings.tasks import TaskContext, TaskEncoding, check_task_encoding, generator, identity, seed_of
from recombine.tasks.modules import Law, check_law, discrete, masks

_EXACT = jax.lax.Precision.HIGHEST  # accelerators may round products, but not the truth
_CUT = 0.87962566103423978  # the standard deviation of a standard normal cut at +-2


class Weights(NamedTuple):
    """All teachers' weights: a layer is (teachers x modules, fan_in + 1, fan_out), its last row the biases.

    The read-out is (teachers, fan_in, outputs) and belongs to no module.
    """

    layers: list[np.ndarray]
    read_out: np.ndarray


@lru_cache
def _weights(sizes: tuple[int, ...], modules: int, teachers: int, biases: bool, *, seed: tuple[int, ...]) -> Weights:
    """Weights: normal, cut at 2 sigma, variance sqrt(3) / fan_in; biases: uniform on [0, 1/2), or none.

    Teacher t depends on the seed and on t alone, not on how many there are.
    """
    layers, read_out = [[] for _ in sizes[:-2]], []
    for t in range(teachers):
        rng = generator("teacher", t, *seed)
        for layer, (fan_in, fan_out) in zip(layers, pairwise(sizes[:-1]), strict=True):
            weight = _cut_normal(rng, (modules, fan_in, fan_out), fan_in)
            bias = biases * rng.uniform(0, 0.5, (modules, 1, fan_out))
            layer.append(np.concatenate([weight, bias], axis=1, dtype=np.float32))
        read_out.append(_cut_normal(rng, sizes[-2:], sizes[-2]))
    return Weights([np.concatenate(layer) for layer in layers], np.stack(read_out))


def _cut_normal(rng: np.random.Generator, shape: tuple[int, ...], fan_in: int) -> np.ndarray:
    from scipy.special import ndtr, ndtri

    cut = ndtri(rng.uniform(ndtr(-2), ndtr(2), shape)) / _CUT
    return (cut * (3**0.5 / fan_in) ** 0.5).astype(np.float32)


@dataclass(frozen=True)
class Teacher:
    """y = relu(.. relu(x W_1 + b_1) ..) Omega with W_l = sum_m z_m W_lm / sqrt(max_active), and b_l likewise.

    Calling it samples one example of the combination (t, mask); it is the `sample` of a hyperteacher's Task. One vector
    of uniform numbers is drawn: the first for the magnitudes z, then the fresh examples that `encode` wants, then x.
    """

    modules: int
    max_active: int
    teachers: int
    inputs: int
    hidden: tuple[int, ...]
    outputs: int
    samples: int
    law: Law
    encode: TaskEncoding
    biases: bool
    seed: tuple[int, ...]

    def __call__(self, z: jax.Array, key: jax.Array) -> tuple[jax.Array, jax.Array]:
        """x = [phi(z), inputs] in each of `samples` rows, and their y."""
        constituents, x = self._drawn(z, key)
        y, shots = self.teach(z[0], constituents, x), self.encode.shots
        code = self.encode(TaskContext(z[0], constituents, x[:shots], y[:shots]))
        told = jnp.broadcast_to(code, (self.samples, *code.shape))
        return jnp.concatenate([told, x[shots:]], axis=1), y[shots:]

    def draw(self, z: jax.Array, key: jax.Array) -> jax.Array:
        """The constituents (M,) of the example that this key samples."""
        return self._drawn(z, key)[0]

    def teach(self, t: jax.Array | int, constituents: jax.Array, x: jax.Array) -> jax.Array:
        """What teacher t answers to each row of x in the task with these constituents."""
        # One product with all teachers' modules: for a batch that is one matrix product, and nothing is gathered.
        who = jax.nn.one_hot(t, self.teachers)
        mixture = jnp.outer(who, constituents / self.max_active**0.5).ravel()
        for layer in self.weights.layers:
            w = jnp.einsum("m,mih->ih", mixture, layer, precision=_EXACT)
            x = jax.nn.relu(jnp.dot(x, w[:-1], precision=_EXACT) + w[-1])
        return jnp.dot(x, jnp.einsum("t,tho->ho", who, self.weights.read_out, precision=_EXACT), precision=_EXACT)

    @property
    def weights(self) -> Weights:
        """All teachers' weights."""
        sizes = (self.inputs, *self.hidden, self.outputs)
        return _weights(sizes, self.modules, self.teachers, self.biases, seed=self.seed)

    def _drawn(self, z: jax.Array, key: jax.Array) -> tuple[jax.Array, jax.Array]:
        rows = self.encode.shots + self.samples
        u = jax.random.uniform(key, (self.modules + rows * self.inputs,))
        magnitudes, rest = u[: self.modules], u[self.modules :]
        return self.law(z[1:], magnitudes), 2 * rest.reshape(rows, self.inputs) - 1


def hyperteacher(
    *,
    modules: int = 16,
    max_active: int = 3,
    teachers: int = 1,
    inputs: int = 16,
    hidden: tuple[int, ...] = (16,),
    outputs: int = 16,
    samples: int = 16,
    law: Law = discrete,
    encode: TaskEncoding = identity,
    biases: bool = True,
    key: jax.Array,
) -> Task:
    """Rows (t, mask) for every teacher and every mask of up to `max_active` modules, in blocks of one teacher each.

    An example is one task: x is (samples, code + inputs), y is (samples, outputs), and magnitudes are drawn anew.
    """
    if not isinstance(hidden, tuple | list) or not hidden:
        raise ValueError(f"hidden holds the width of each hidden layer, one or more: (16,); got {hidden!r}")
    at_least_one(modules=modules, teachers=teachers, inputs=inputs, outputs=outputs, samples=samples)
    at_least_one(**{f"hidden[{i}]": width for i, width in enumerate(hidden)})
    check_task_encoding(encode)
    check_law(law)
    sample = Teacher(
        modules, max_active, teachers, inputs, tuple(hidden), outputs, samples, law, encode, biases, seed_of(key)
    )
    each = masks(modules, max_active).astype(np.int16)
    who = np.repeat(np.arange(teachers, dtype=np.int16), len(each))
    return Task(
        f"hyperteacher {modules} choose {max_active}", np.column_stack([who, np.tile(each, (teachers, 1))]), sample
    )


def teacher_of(task: Task) -> Teacher:
    """What samples this task, with its weights and its ways to draw and to teach."""
    if not isinstance(task.sample, Teacher):
        raise TypeError(f"{task.name} is no hyperteacher: it has no constituents")
    return task.sample


def constituents(task: Task, z: jax.Array, key: jax.Array) -> jax.Array:
    """The constituents of the example that `task.sample(z, key)` gives: what a probe should read."""
    return teacher_of(task).draw(z, key)


def widths(task: Task) -> tuple[int, int]:
    """How many numbers a student of this task is given and asked for, in each sample."""
    x, y = jax.eval_shape(task.sample, jnp.asarray(task.combinations[0]), jax.random.key(0))
    return x.shape[-1], y.shape[-1]
