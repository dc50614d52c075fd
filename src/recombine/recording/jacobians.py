"""Turns a model of two parts into the shape of the surface that every layer makes of their grid, by exact derivatives.

The metric of `measures/geometry.py` and the energies of `measures/anova.py` (Liang, Qian, Ziyin, Fiete 2025, equations
5-7 and appendix A.2), taken while the model runs: neither activations nor tangents of the whole grid are ever kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from recombine.core import Model, UserError, at_least_one
from recombine.encodings.position import Encoding, require_smooth, width
from recombine.measures.anova import ratio
from recombine.measures.tuning import Tuning
from recombine.models.network import answer_shapes

OUTPUT = "output"
"""What the model's answer is called among its layers."""
FLOATS_AT_ONCE = 2**21
"""Activations and tangents computed side by side on a CPU; more is no faster there (docs/performance.md)."""


class Geometry(NamedTuple):
    """One layer over the grid: the metric `g` (x, y, 2, 2), and each unit's `energies` V_x, V_y, V_xy (3, units)."""

    g: np.ndarray
    energies: np.ndarray


def layer_geometry(
    model: Model, encode: Encoding, size: int | tuple[int, int], *, keep: Sequence[str] | None = None
) -> dict[str, Geometry]:
    """Metric and energies of each layer of a model that is given concat(encode(x), encode(y)).

    x and y go from 0 to size - 1, or each to its own of two sizes. Layers are the model's activations in its own order
    and its answer as "output"; `keep` names some of them. g_fh = <d alpha/dz_f, d alpha/dz_h> is exact up to rounding.
    """
    params, static = eqx.partition(model, eqx.is_array)
    return _each([params], static, encode, size, keep)[0]


def layer_geometries(
    models: Any, encode: Encoding, size: int | tuple[int, int], *, keep: Sequence[str] | None = None
) -> list[dict[str, Geometry]]:
    """The same for every member of a population, one after the other in one compiled program."""
    params, static = eqx.partition(models, eqx.is_array)
    members = [jax.tree.map(lambda a, i=i: a[i], params) for i in range(len(jax.tree.leaves(params)[0]))]
    return _each(members, static, encode, size, keep)


def additive(energies: np.ndarray) -> float:
    """A = sum(V_x + V_y) / sum(V_x + V_y + V_xy) over all units, as `additive_share`; NaN for a constant layer."""
    v_x, v_y, v_xy = energies.sum(axis=1)
    return float(ratio(v_x + v_y, v_x + v_y + v_xy))


def tuning(energies: np.ndarray) -> Tuning:
    """V_x, V_y, V_xy of each unit over their sum, as `tuning_shares`."""
    return Tuning(*(ratio(v, energies.sum(axis=0)) for v in energies))


def _each(
    members: list[Any], static: Any, encode: Encoding, size: int | tuple[int, int], keep: Sequence[str] | None
) -> list[dict[str, Geometry]]:
    require_smooth(encode)
    sizes = size if isinstance(size, tuple | list) else (size, size)
    if len(sizes) != 2:
        raise ValueError(f"size is how many values both parts have, or a pair with one for each; got {size}")
    at_least_one(**{f"size[{i}]": n for i, n in enumerate(sizes)})
    sizes = int(sizes[0]), int(sizes[1])
    units = _units(eqx.combine(members[0], static), encode)
    kept = tuple(units if keep is None else keep)
    if unknown := [name for name in kept if name not in units]:
        raise UserError(f"the model has no layer {unknown[0]!r}; it has {', '.join(units)}")
    at_once = _cells_at_once(sizes[1], sum(units.values()))
    program = partial(_measured, static=static, encode=encode, keep=kept, sizes=sizes, at_once=at_once)
    # The products of a GPU are rounded to ten bits by default, too few for tangents that are nearly parallel.
    with jax.default_matmul_precision("highest"):
        found = [jax.device_get(program(member)) for member in members]
    return [{name: _geometry(*layer) for name, layer in zip(kept, one, strict=True)} for one in found]


def _layers(model: Model, encode: Encoding, z: jax.Array) -> dict[str, jax.Array]:
    y, acts = model(jnp.concatenate([encode(z[0]), encode(z[1])]))
    return {name: a.ravel() for name, a in {**acts, OUTPUT: y}.items()}


def _units(model: Model, encode: Encoding) -> dict[str, int]:
    """How many units each layer has, found without computing them, in the model's order."""
    units: dict[str, int] = {}

    def look(z: jax.Array) -> None:  # JAX sorts the dictionaries that it returns
        units.update({name: a.size for name, a in _layers(model, encode, z).items()})

    inputs = 2 * width(encode)
    try:
        answer_shapes(model, jax.ShapeDtypeStruct((inputs,), jnp.float32))
        jax.eval_shape(look, jax.ShapeDtypeStruct((2,), jnp.float32))
    except ValueError as error:
        hint = "of a population, take one network: run[i].model"
        raise ValueError(f"the model does not take two codes of together {inputs} numbers ({hint})") from error
    return units


def _cells_at_once(cells: int, units: int) -> int:
    """A whole row of the grid on an accelerator; on a CPU, a divisor of it that keeps memory small."""
    fit = cells if jax.default_backend() != "cpu" else FLOATS_AT_ONCE // (3 * units)
    return max(k for k in range(1, cells + 1) if cells % k == 0 and (k <= fit or k == 1))


class _Running(NamedTuple):
    """The mean of the values so far, and the sum of their squared distances from it (Welford's method)."""

    mean: jax.Array
    squares: jax.Array

    def joined(self, value: jax.Array, count: jax.Array) -> _Running:
        """With one more value, after `count` others."""
        apart = value - self.mean
        return _Running(self.mean + apart / (count + 1), self.squares + apart**2 * (count / (count + 1)))


@partial(jax.jit, static_argnames=("static", "encode", "keep", "sizes", "at_once"))
def _measured(
    params: Any, *, static: Any, encode: Encoding, keep: tuple[str, ...], sizes: tuple[int, int], at_once: int
) -> list[tuple[jax.Array, jax.Array]]:
    """For each layer, `_gram` at every cell and the energies of every unit, from one pass over the grid."""
    model = eqx.combine(params, static)

    def layers(z: jax.Array) -> list[jax.Array]:
        every = _layers(model, encode, z)
        return [every[name] for name in keep]

    def cell(z: jax.Array) -> tuple[list[jax.Array], list[jax.Array]]:
        acts, push = jax.linearize(layers, z)
        return acts, [_gram(*tangents) for tangents in jax.vmap(push)(jnp.eye(2))]

    def row(state: list, x: jax.Array) -> tuple[list, list[jax.Array]]:
        z = jnp.stack([jnp.full(sizes[1], x), jnp.arange(sizes[1], dtype=jnp.float32)], axis=1)
        acts, grams = jax.lax.map(cell, z, batch_size=at_once)
        # A row is its mean over y and what is left of it. The means vary by V_x; of the rest, what all rows share
        # varies by V_y, and what each has for itself by V_xy: no difference of large numbers is taken.
        means = [a.mean(axis=0) for a in acts]
        rests = [a - mean for a, mean in zip(acts, means, strict=True)]
        return [
            (of_means.joined(mean, x), of_rests.joined(rest, x))
            for (of_means, of_rests), mean, rest in zip(state, means, rests, strict=True)
        ], grams

    shapes = jax.eval_shape(layers, jax.ShapeDtypeStruct((2,), jnp.float32))
    zeros = [(jnp.zeros(s.size, s.dtype), jnp.zeros((sizes[1], s.size), s.dtype)) for s in shapes]
    state = [(_Running(a, a), _Running(b, b)) for a, b in zeros]
    state, grams = jax.lax.scan(row, state, jnp.arange(sizes[0], dtype=jnp.float32))
    return [(gram, _energies(*layer, rows=sizes[0])) for gram, layer in zip(grams, state, strict=True)]


def _gram(along_x: jax.Array, along_y: jax.Array) -> jax.Array:
    """g_xx, c = g_xy / g_xx and |d_y - c d_x|^2, which keep the volume where the two tangents are nearly parallel."""
    own = jnp.sum(along_x**2)
    shared = jnp.sum(along_x * along_y) / jnp.where(own > 0, own, 1)
    return jnp.stack([own, shared, jnp.sum((along_y - shared * along_x) ** 2)])


def _energies(of_means: _Running, of_rests: _Running, *, rows: int) -> jax.Array:
    """The squared mean, V_x, V_y and V_xy of each unit."""
    v_y, v_xy = jnp.mean(of_rests.mean**2, axis=0), jnp.mean(of_rests.squares, axis=0) / rows
    return jnp.stack([of_means.mean**2, of_means.squares / rows, v_y, v_xy])


def _geometry(gram: np.ndarray, energies: np.ndarray) -> Geometry:
    """From what the device returns to double precision; like `anova_energies`, what is mere rounding counts as zero."""
    own, shared, rest = np.moveaxis(gram.astype(float), -1, 0)
    g = np.stack([own, shared * own, shared * own, shared**2 * own + rest], axis=-1)
    rounding = (16 * np.finfo(energies.dtype).eps) ** 2 * energies.sum(axis=0, dtype=float)
    return Geometry(g.reshape(*own.shape, 2, 2), np.where(energies[1:] <= rounding, 0.0, energies[1:].astype(float)))
