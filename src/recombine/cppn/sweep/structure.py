"""Turns many picture networks of one shape into two scores each: what single weights do, and what units carry.

One program per shape renders every changed picture, matches the changes in size (as `matching`) and rounds changes
and unit maps to bytes, so that only bytes leave the device; compressing them, the rest of the work, is shared out
among threads. It equals `scores.score` up to rounding, and takes only what claims read.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.tree_util import Partial

from recombine.cppn import measures
from recombine.cppn.network import CPPN, hsv_to_rgb
from recombine.cppn.sweep import matching
from recombine.cppn.sweep.after import MATRICES, Groups, Plain, Stack, by_kernel, plain_network, redrawn, stacked
from recombine.cppn.sweep.sweep import every_weight, has_kernel, pixel_blocks, room

WEIGHTS = 200
"""Weights of a network that are changed: R of one network is then off by about .012, and by .02 with 60."""
GROUP, NETWORKS = 16, 16
"""On an accelerator: pictures computed together, and networks of one call."""
NUMBERS = ("R", "r_own", "change_zip", "map_zip", "inert", "redundancy", "mse")
"""What is said of each network."""


class Bytes(NamedTuple):
    """What a program says of one network; G groups of C changes, M matrices, H units.

    `rms` (G, C): by how much each change alters the picture. `changes` (G, C, pixels), `maps` (M, H, pixels) and
    `own` (pixels): luminance of changes, standardised unit maps and luminance of the picture, as bytes. `spread` (M, H)
    is the standard deviation of each map, `alike` (M, H, H) the correlations of maps of one layer, `mse` the
    mean squared error of the colours.
    """

    rms: Any
    changes: Any
    maps: Any
    spread: Any
    alike: Any
    own: Any
    mse: Any


def structure(
    models: Sequence[CPPN], size: int, target: np.ndarray, *, seeds: Sequence[int], weights: int = WEIGHTS
) -> list[dict[str, float]]:
    """For each network the NUMBERS.

    `R` is the mean compressed size of the changes that single weights make over that of the target (size, size, 3);
    `r_own` is relative to what the network renders itself, which a rough picture makes large. `map_zip` is the mean
    compressed size of unit maps, `redundancy` the mean |correlation| of two maps of a layer, the mean over layers;
    `inert` is the share of weights that do next to nothing, `mse` the mean squared error of the colours.
    """
    fit, few = room(models[0], size), GROUP if has_kernel(models[0], size) else None
    fit = fit._replace(group=min(fit.group, few or fit.group))
    at_once, callers = (NETWORKS, 2) if few else (1, fit.threads)
    chunks = [range(i, min(i + at_once, len(models))) for i in range(0, len(models), at_once)]
    whole = float(measures.picture_zip(measures.luminance(target)[None])[0])
    with ThreadPoolExecutor(callers) as device, ThreadPoolExecutor(os.cpu_count() or 1) as cores:

        def call(chunk: range) -> list[Any]:
            filled = [*chunk, *[chunk[0]] * (at_once - len(chunk))]
            places = [placed(models[i], weights, seeds[i], fit.group) for i in filled]
            stacks = jax.tree.map(lambda *a: jnp.stack(a), *[stacked(models[i]) for i in filled])
            groups = Groups(*(np.stack(a) for a in zip(*(groups for groups, _ in places), strict=True)))
            draw = by_kernel if few else redrawn
            x = pixel_blocks(stacks.weights.shape[2], size, fit.block)
            found = jax.device_get(_bytes(stacks, groups, x, jnp.asarray(target, jnp.float32).reshape(-1, 3), draw))
            each = [Bytes(*(a[k] for a in found)) for k in range(len(chunk))]
            depth = len(models[0].weights) - 1
            return [cores.submit(_numbers, one, places[k][1], depth, whole) for k, one in enumerate(each)]

        first = call(chunks[0])  # compiles what all need
        futures = [*first, *(future for some in device.map(call, chunks[1:]) for future in some)]
        return [future.result() for future in futures]


def placed(model: CPPN, weights: int, seed: int, group: int) -> tuple[Groups, np.ndarray]:
    """The changes of a network's sampled weights, down and up, in groups of one matrix; and whose each of them is.

    `delta` is the sign, 0 where a group is filled up; whose is then -1. The number of groups depends on counts alone,
    and is the same for depths whose matrices are filled up to the same number.
    """
    where, layers = every_weight(model, weights, seed), len(model.weights)
    filled = -(-(layers + 1) // MATRICES) * MATRICES
    most = -(-(2 * weights + filled * (group - 1)) // group)
    whose, sign = np.repeat(np.arange(len(where.layer)), 2), np.tile([-1.0, 1.0], len(where.layer))
    mine = [np.flatnonzero(where.layer[whose] == i) for i in range(layers)]
    places = np.concatenate([np.pad(m, (0, -len(m) % group), constant_values=-1) for m in mine])
    places = np.pad(places, (0, most * group - len(places)), constant_values=-1).reshape(most, group)
    there = places >= 0
    layer = np.where(there[:, 0], where.layer[whose[places[:, 0]]], 0).astype(np.int32)
    row, col = (np.where(there, a[whose[places]], 0).astype(np.int32) for a in (where.row, where.col))
    delta = np.where(there, sign[places], 0).astype(np.float32)
    return Groups(layer, row, col, delta), np.where(there, whose[places], -1)


@eqx.filter_jit
def _bytes(stacks: Stack, groups: Groups, x: jax.Array, target: jax.Array, draw: Any) -> Bytes:
    """What leaves the device of each network, one after the other."""
    every = (stacks, Groups(*map(jnp.asarray, groups)))
    return jax.lax.map(lambda both: _of_one(both[0], both[1], x, target, draw), every)


def _of_one(stack: Stack, groups: Groups, x: jax.Array, target: jax.Array, draw: Any) -> Bytes:
    plain, pixels = plain_network(stack, x), len(target)
    hsv = plain.sums[stack.depth][:, :3].swapaxes(1, 2).reshape(-1, 3)[:pixels]
    picture = hsv_to_rgb(hsv)  # (pixels, 3)

    def look(logs: jax.Array, reduce: Any) -> jax.Array:  # (S, G, C) sizes -> (S, G, C, ...)
        def group(one: Groups) -> jax.Array:  # all sizes of one group side by side
            layer, *places = one
            row, col = (jnp.tile(a, len(logs)) for a in places[:2])
            colours = draw(stack, plain, Groups(layer, row, col, one.delta.reshape(-1))).swapaxes(
                0, 1
            )  # (S C, B, N, 3)
            return jax.vmap(reduce)(colours.reshape(len(colours), -1, 3)[:, :pixels])

        delta = (jnp.exp(logs) * groups.delta).swapaxes(0, 1)  # (G, S, C)
        found = jax.lax.map(group, groups._replace(delta=delta))  # (G, S C, ...)
        return found.reshape(*delta.shape, *found.shape[2:]).swapaxes(0, 1)

    def moved(logs: jax.Array) -> jax.Array:
        reduce = Partial(matching.rms_change, picture)
        if draw is redrawn:  # beside each other they would not fit a core's cache
            return jax.lax.map(lambda one: look(one[None], reduce)[0], logs)
        return look(logs, reduce)

    light = picture @ jnp.asarray(measures.LIGHT)
    logs, rms = _matched(moved, groups.delta.shape)
    changes = look(logs[None], lambda c: _levels(c @ jnp.asarray(measures.LIGHT) - light, -1, 1))[0]
    return Bytes(rms, changes, *_of_maps(plain, pixels), _levels(light, 0, 1), jnp.mean((picture - target) ** 2))


def _matched(moved: Any, shape: tuple[int, int]) -> tuple[jax.Array, jax.Array]:
    """As `matching.matched`: the logarithms of the changes that alter the picture by TARGET, and what they do."""
    target, least = matching.TARGET, np.log(matching.LEAST)
    grid = jnp.log(matching.MOST * jnp.geomspace(matching.LEAST, 1, matching.GRID))  # (sizes,)
    tried = moved(jnp.broadcast_to(grid[:, None, None], (len(grid), *shape)))  # (sizes, G, C)
    reaches = tried >= target
    reached = reaches.any(axis=0)
    first = jnp.where(reached, reaches.argmax(axis=0), tried.argmax(axis=0))
    high, low = ((grid[i], jnp.take_along_axis(tried, i[None], axis=0)[0]) for i in (first, jnp.maximum(first - 1, 0)))
    low = tuple(
        jnp.where(first > 0, a, b) for a, b in zip(low, (high[0] + least, matching.LEAST * high[1]), strict=True)
    )

    def closer(step: jax.Array, ends: Any) -> Any:
        low, high = ends
        share = jnp.where(step % 2 == 1, 0.5, _power_law(low[1], high[1], target))
        new = low[0] + share * (high[0] - low[0])
        new = new, moved(new[None])[0]
        above = new[1] >= target
        return tuple(
            tuple(jnp.where(keep, a, b) for a, b in zip(old, new, strict=True))
            for keep, old in ((above, low), (~above, high))
        )

    low, high = jax.lax.fori_loop(0, matching.STEPS, closer, (low, high))
    nearer = reached & (jnp.abs(low[1] - target) < jnp.abs(high[1] - target))
    logs, rms = (jnp.where(nearer, a, b) for a, b in zip(low, high, strict=True))
    return logs, rms


def _power_law(low: jax.Array, high: jax.Array, target: float) -> jax.Array:
    """Where a power law through both ends of a bracket meets the target, as a share of the way."""
    ends = jnp.log(jnp.maximum(low, 1e-12)), jnp.log(jnp.maximum(high, 1e-12))
    return jnp.clip((np.log(target) - ends[0]) / jnp.maximum(ends[1] - ends[0], 1e-12), 0.02, 0.98)


def _of_maps(plain: Plain, pixels: int) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Bytes of standardised maps (M, H, pixels), their standard deviations and correlations."""
    maps = plain.inputs.swapaxes(1, 2)  # (M, H, B, N)
    maps = maps.reshape(*maps.shape[:2], -1)[..., :pixels]
    centred = maps - maps.mean(axis=-1, keepdims=True)
    spread = jnp.sqrt((centred**2).mean(axis=-1))  # (M, H)
    unit = centred / jnp.where(spread > 0, spread, 1)[..., None]
    alike = jnp.einsum("mip,mjp->mij", unit, unit, precision=jax.lax.Precision.HIGHEST) / pixels
    return _levels(unit, -measures.CLIP, measures.CLIP), spread, alike


def _levels(values: jax.Array, low: float, high: float) -> jax.Array:
    """Rounded to 255 levels from low to high, as `measures.zip_size` does."""
    return jnp.round(254 * jnp.clip((values - low) / (high - low), 0, 1)).astype(jnp.uint8)


def _numbers(found: Bytes, whose: np.ndarray, depth: int, target: float) -> dict[str, float]:
    """The scores of one network from what its program says; `target` is the compressed size of the target."""
    inert = ~(found.rms >= matching.INERT_BELOW)
    there = whose >= 0
    still = np.bincount(whose[there], inert[there]) == 2
    size = _mean([_size(one) for one in found.changes[there & ~inert]])
    own = _size(found.own) if np.isfinite(found.mse) else np.nan
    layers = slice(1, depth + 1)
    varies = np.isfinite(found.spread[layers]) & (found.spread[layers] > measures.STILL)
    pairs = [
        np.abs(a[np.ix_(v, v)])[np.triu_indices(v.sum(), 1)] for a, v in zip(found.alike[layers], varies, strict=True)
    ]
    return {
        "R": size / target,
        "r_own": size / own,
        "change_zip": size,
        "map_zip": _mean([_size(one) for one in found.maps[layers][varies]]),
        "inert": float(still.mean()),
        "redundancy": _mean([float(p.mean()) for p in pairs if p.size]),
        "mse": float(found.mse),
    }


def _size(levels: np.ndarray) -> float:
    """Bytes per pixel after zlib at level 9."""
    return len(zlib.compress(levels.tobytes(), 9)) / levels.size


def _mean(values: list[float]) -> float:
    return float(np.mean(values)) if values else float("nan")
