"""Turns a picture network into how compositional it is: by its weights, by its units, and by its derivatives.

A network whose weights each do one simple thing, and whose units carry symmetric and shared maps, scores low in
compressed sizes and directions, and high in purity. None of these needs a judge that looks at pictures.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.tree_util import Partial

from recombine.cppn import measures
from recombine.cppn.network import CPPN
from recombine.cppn.sweep.matching import Matched, matched, rms_change
from recombine.cppn.sweep.sweep import WeightIndex, every_weight, forward, slopes, sweep
from recombine.cppn.task import grid

COLUMNS = 120
"""Derivatives whose directions are counted, at most."""
_AT_ONCE = 64


class SweptFeatures(NamedTuple):
    """One value for each change of a weight by which the picture changes by 0.10 (see `matched`), inert ones left out.

    `change_zip`: compressed size of the change, bytes per pixel. `information`: what picture and changed picture share.
    `symmetry`: even share of the changed picture over the picture's. `zip_ratio`: the same of compressed sizes.
    `rank`: effective rank of the change.
    """

    change_zip: np.ndarray
    information: np.ndarray
    symmetry: np.ndarray
    zip_ratio: np.ndarray
    rank: np.ndarray


class MapFeatures(NamedTuple):
    """One value for each unit whose map is not constant: its layer, and measures of `measures/drawing.py`."""

    layer: np.ndarray
    zip: np.ndarray
    purity: np.ndarray
    distinct: np.ndarray


class Features(NamedTuple):
    """All that scores are made of, taken once from a network: sweeping its weights is what takes the time.

    The luminance of its picture (rows, columns), features of its matched changes and the share of weights that are
    inert, what every unit makes of every pixel (layers, units, rows, columns), and features of these maps.
    """

    picture: np.ndarray
    swept: SweptFeatures
    inert: float
    units: np.ndarray
    maps: MapFeatures


def features(model: CPPN, size: int, *, weights: int | None = 60, seed: int = 0) -> Features:
    """The features of a network that draws `size` x `size` pixels, of so many of its weights, sampled by the seed."""
    swept, inert = swept_features(model, every_weight(model, weights, seed), size)
    units = unit_maps(model, size)
    return Features(light(model, size), swept, inert, units, _of_maps(units))


def score(
    model: CPPN,
    size: int,
    *,
    target: np.ndarray | None = None,
    weights: int | None = 60,
    seed: int = 0,
    taken: Features | None = None,
) -> dict[str, Any]:
    """All scores of a network; from features that were taken, if given, or else taken now.

    `R`: mean compressed size of a change over that of the target (size, size, 3), and `r_own` over that of what the
    network renders, which is the target unless one is given; `participation_ratio` of up to 120 derivatives of
    luminance; `distinct_share`: distinct maps over maps; lists go by layer. Purity and symmetry say little where the
    picture's `even_share` is below .85.
    """
    picture, swept, inert, units, maps = taken or features(model, size, weights=weights, seed=seed)
    kept, slope = maps.distinct, slopes(model, every_weight(model, COLUMNS, seed), size, reduce=_light)
    return {
        "R": measures.change_ratio(swept.change_zip, picture if target is None else measures.luminance(target)),
        "r_own": measures.change_ratio(swept.change_zip, picture),
        **{name: _mean(values) for name, values in swept._asdict().items()},
        "inert": inert,
        "map_zip": _mean(maps.zip),
        "map_zip_distinct": _mean(maps.zip[kept]),
        "purity": _mean(maps.purity),
        "purity_distinct": _mean(maps.purity[kept]),
        "distinct_share": _mean(kept),
        "participation_ratio": measures.participation_ratio(slope.T),
        "redundancy_by_layer": [measures.redundancy(layer) for layer in units],
        "map_zip_by_layer": [_mean(maps.zip[maps.layer == i]) for i in range(len(units))],
        "even_share": float(measures.even_share(picture)),
    }


def swept_features(
    model: CPPN, where: WeightIndex, size: int, *, fixed: float | None = None
) -> tuple[SweptFeatures, float]:
    """The features of each change of each weight, down and up, and the share of weights that are inert both ways.

    Changes are matched in what they do to the picture, or are all of one `fixed` size.
    """
    found = matched(model, where, size) if fixed is None else _of_size(model, where, size, fixed)
    picture, parts = light(model, size), []
    for start in range(0, len(where.layer), _AT_ONCE):
        some = slice(start, start + _AT_ONCE)
        colours = sweep(model, WeightIndex(*(a[some] for a in where)), found.deltas[some], size)[~found.inert[some]]
        parts.append(_features(measures.luminance(colours).reshape(-1, size, size), picture))
    return SweptFeatures(*(np.concatenate(a) for a in zip(*parts, strict=True))), float(found.inert.all(axis=1).mean())


def _of_size(model: CPPN, where: WeightIndex, size: int, fixed: float) -> Matched:
    """Changes of one size, and what each does to the picture."""
    deltas = np.broadcast_to([-fixed, fixed], (len(where.layer), 2))
    return Matched(deltas, sweep(model, where, deltas, size, reduce=Partial(rms_change, forward(model, size)[0])))


def _features(changed: np.ndarray, picture: np.ndarray) -> SweptFeatures:
    return SweptFeatures(
        measures.change_zip(changed - picture),
        np.array([measures.mutual_information(picture, one) for one in changed]),
        measures.symmetry_kept(changed, picture),
        measures.picture_zip(changed) / measures.picture_zip(picture[None]),
        measures.picture_rank(changed - picture),
    )


def map_features(model: CPPN, size: int) -> MapFeatures:
    """The features of every unit whose map is not constant; a copy of an input counts as not distinct."""
    return _of_maps(unit_maps(model, size))


def _of_maps(maps: np.ndarray) -> MapFeatures:
    size = maps.shape[-1]
    layer, every = np.repeat(np.arange(len(maps)), maps.shape[1]), maps.reshape(-1, size, size)
    kept = measures.varying(every)
    layer, every = layer[kept], every[kept]
    inputs = grid(size).T.reshape(-1, size, size)
    return MapFeatures(layer, measures.map_zip(every), measures.parity_purity(every), measures.distinct(every, inputs))


def unit_maps(model: CPPN, size: int) -> np.ndarray:
    """What every hidden unit makes of every pixel: (layers, units, rows, columns)."""
    _, acts = forward(model, size)
    layers = np.stack([np.asarray(acts[f"layer{i}"]) for i in range(len(model.weights) - 1)])
    return layers.swapaxes(1, 2).reshape(*layers.shape[::2], size, size)


def light(model: CPPN, size: int) -> np.ndarray:
    """The luminance of the picture (rows, columns)."""
    return measures.luminance(np.asarray(forward(model, size)[0])).reshape(size, size)


def _light(colours: jax.Array) -> jax.Array:
    return colours @ jnp.asarray(measures.LIGHT)


def _mean(values: np.ndarray) -> float:
    return float(np.mean(values)) if len(values) else float("nan")
