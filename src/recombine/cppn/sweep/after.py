"""Turns changes of one matrix of a picture network into the colours after each of them.

What lies before a changed weight is computed once, and what it does to the next layer is one unit's change times that
unit's outgoing weights. All matrices have one shape, so that one program serves every layer.

For a change of matrix l from unit i to unit j by delta, with sums z_l = W_l h_l and unit functions f
(the identity for h, s, v, which the matrix after the last copies):

    z'_l[j]    = z_l[j] + delta h_l[i]                       one row of the changed layer
    moved      = f(z'_l[j]) - f(z_l[j])                      `pushed`
    z'_{l+1}   = z_{l+1} + W_{l+1}[:, j] moved               all H rows of the next layer
    z'_{k}     = W_k f(z'_{k-1}), k = l + 2 .. depth         `redrawn`, or `by_kernel`

Shapes: M matrices, H units (rows), B blocks of N pixels each (columns), C changes of one group.
Units are rows and pixels columns, so that matrices stand on the left: (H, H) @ (H, N).
Precision is float32 throughout. `by_kernel` must equal `redrawn`, and both whole pictures drawn one
by one: test_the_kernel_draws_what_is_drawn_one_by_one and test_a_sweep_draws_what_is_drawn_one_by_one
(tests/test_sweeps.py).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import ArrayLike

from recombine.cppn.network import CPPN, LINEAR, UNITS, Mix, bent, hsv_to_rgb, kind_of
from recombine.kernels import cppn_sweep, cppn_tiles

MATRICES = 8
"""Matrices are filled up to a multiple of this, so that networks of other depths share a program."""


class Groups(NamedTuple):
    """Changes in groups, each of one matrix: its number (groups,), and rows, columns, deltas (groups, changes)."""

    layer: Any
    row: Any
    col: Any
    delta: Any


class Stack(eqx.Module):
    """All matrices, transposed and padded with zeros to one shape (matrices, H, H).

    `depth` is the number of hidden layers: matrix `depth` makes h, s, v, the one after it copies, others are zero.
    """

    weights: jax.Array
    depth: jax.Array
    mix: Mix = eqx.field(static=True)

    def product(self, i: ArrayLike, h: jax.Array) -> jax.Array:
        """W_i h: (H, H) @ (H, columns) -> (H, columns)."""
        return _dot(self.weights[i], h)

    def bent(self, z: jax.Array) -> jax.Array:
        """f(z), z (H, columns): each row by its unit's function."""
        return bent(self.mix, z)

    def bent_by(self, z: jax.Array, unit: jax.Array) -> jax.Array:
        """The same where z is (B, C, N) and each change is of a unit of its own, unit (C,); -1 is a linear one."""
        kinds = np.repeat(np.arange(len(self.mix)), [count for _, count in self.mix])  # (units,)
        # (C, 1), beside pixels; unit -1 reads the -1 at the end, which no function has.
        kind = jnp.asarray(np.append(kinds, -1))[unit, None]
        for i, (name, _) in enumerate(self.mix):
            z = z if name in LINEAR else jnp.where(kind == i, UNITS[name](z), z)
        return z


def stacked(model: CPPN) -> Stack:
    """The network's matrices, one that copies h, s, v, and zeros up to a multiple of MATRICES."""
    matrices = [np.asarray(w, np.float32).T for w in model.weights]  # (outputs, inputs) each
    if matrices[0].shape[1] != 4:
        raise ValueError(f"a sweep draws from the 4 inputs of a pixel, the network has {matrices[0].shape[1]}")
    most = max(max(m.shape) for m in matrices)  # H
    # (H, H) each
    padded = [np.pad(m, [(0, most - n) for n in m.shape]) for m in (*matrices, np.eye(3, dtype=np.float32))]
    padded += [np.zeros_like(padded[0])] * (-len(padded) % MATRICES)
    return Stack(jnp.asarray(np.stack(padded)), jnp.asarray(len(matrices) - 1), model.mix)


def _dot(weight: jax.Array, h: jax.Array) -> jax.Array:
    """The product with all bits of float32, on an accelerator as well."""
    return jnp.matmul(weight, h, precision=jax.lax.Precision.HIGHEST)


class Plain(NamedTuple):
    """The unchanged network in blocks of pixels: each matrix's inputs h and sums z, (matrices, blocks, H, pixels)."""

    inputs: jax.Array
    sums: jax.Array


@eqx.filter_jit
def plain_network(stack: Stack, x: jax.Array) -> Plain:
    """What every matrix of the unchanged network reads and makes, from inputs x (B, H, N)."""

    def block(x: jax.Array) -> Plain:  # x (H, N) -> (M, H, N) each
        def onwards(z: jax.Array, i: jax.Array) -> tuple[jax.Array, Plain]:  # z (H, N)
            # Neither the inputs (before matrix 0) nor h, s, v (after matrix `depth`) pass through units.
            h = jnp.where((i > 0) & (i <= stack.depth), stack.bent(z), z)
            z = stack.product(i, h)  # (H, H) @ (H, N)
            return z, Plain(h, z)

        return jax.lax.scan(onwards, x, jnp.arange(len(stack.weights)))[1]

    return jax.tree.map(lambda a: a.swapaxes(0, 1), jax.lax.map(block, x))  # (B, M, H, N) -> (M, B, H, N)


class Push(NamedTuple):
    """What changes of a matrix do to the next sums: `moved` (blocks, changes, pixels) times `onwards` (H, changes)."""

    moved: jax.Array
    onwards: jax.Array


def pushed(stack: Stack, plain: Plain, group: Groups) -> Push:
    """f(z + delta h) - f(z) of each changed unit, and that unit's outgoing weights."""
    layer, row, col, delta = group  # (), (C,), (C,), (C,)
    unit = jnp.where(layer < stack.depth, col, -1)  # h, s and v are linear
    old, given = plain.sums[layer][:, col], plain.inputs[layer][:, row]  # (B, C, N) each
    new = old + delta[:, None] * given  # (B, C, N)
    # (B, C, N), and from (H, H) the columns (H, C)
    return Push(stack.bent_by(new, unit) - stack.bent_by(old, unit), stack.weights[layer + 1][:, col])


def by_kernel(stack: Stack, plain: Plain, group: Groups) -> jax.Array:
    """The colours (1, changes, pixels, 3) after each change of one matrix, all pixels in one block."""
    # moved (1, C, N), onwards (H, C); after (H, N) are the unchanged sums of the next layer
    push, after = pushed(stack, plain, group), plain.sums[group.layer + 1, 0]
    kind = kind_of(stack.mix)._replace(precision=cppn_tiles.X6)  # all 24 bits
    # Still to come are matrices layer + 2 .. depth, none after a change of the last two.
    found = cppn_sweep.colours(
        stack.weights, (group.layer + 2, stack.depth), after, (push.moved[0], push.onwards), kind
    )
    return found.swapaxes(1, 2)[None]  # (C, 3, N) -> (1, C, N, 3)


def redrawn(stack: Stack, plain: Plain, group: Groups) -> jax.Array:
    """The colours (blocks, changes, pixels, 3) after each change of one matrix, by a plain program."""
    layer, push = group.layer, pushed(stack, plain, group)

    def read_out(z: jax.Array) -> jax.Array:  # (H, C N) -> h, s, v (3, C N)
        return _dot(stack.weights[stack.depth, :3], stack.bent(z))

    def block(given: tuple[jax.Array, jax.Array]) -> jax.Array:  # -> (C, N, 3)
        i, moved = given  # the block's number, and (C, N)
        after = plain.sums[layer + 1, i]  # (H, N) unchanged sums of the next layer
        # (H, 1, N) + (H, C, 1) * (C, N) -> (H, C, N) -> (H, C N): all changes side by side
        z = (after[:, None] + push.onwards[..., None] * moved).reshape(len(after), -1)
        # Hidden layers still to come, (H, C N) each; the read-out, matrix `depth`, follows.
        z = jax.lax.fori_loop(layer + 2, stack.depth, lambda i, z: stack.product(i, stack.bent(z)), z)
        # After a change of one of the last two matrices z holds h, s, v already.
        hsv = jax.lax.cond(layer + 1 < stack.depth, read_out, lambda z: z[:3], z)
        return hsv_to_rgb(hsv.reshape(3, len(group.col), -1).transpose(1, 2, 0))  # (3, C, N) -> (C, N, 3)

    return jax.lax.map(block, (jnp.arange(len(push.moved)), push.moved))


def slope(stack: Stack, plain: Plain, group: Groups) -> jax.Array:
    """The derivative of the same colours in each change, (B, C, N, 3).

    A colour depends on its own picture's delta alone, so one forward pass finds all derivatives.
    """

    def at(delta: jax.Array) -> jax.Array:
        return redrawn(stack, plain, group._replace(delta=delta))

    return jax.jvp(at, (group.delta,), (jnp.ones_like(group.delta),))[1]
