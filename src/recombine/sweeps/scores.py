"""Turns a picture network into how compositional it is: by its weights, by its units, and by its derivatives.

A network whose weights each do one simple thing, and whose units carry symmetric and shared maps, scores low in
compressed sizes and directions, and high in purity. None of these needs a judge that looks at pictures.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from recombine.measures import drawing
from recombine.models.cppn import CPPN
from recombine.sweeps import Where, every_weight, looked_at, slopes, sweep
from recombine.sweeps.matching import matched
from recombine.tasks.pictures import grid

COLUMNS = 120
"""Derivatives whose directions are counted, at most."""
_AT_ONCE = 64


class SweptFeatures(NamedTuple):
    """One value for each change of a weight by which the picture changes by 0.10 (see `matched`), inert ones left out.

    `change_zip`: compressed size of the change, bytes a pixel. `information`: what picture and changed picture share.
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


def score(model: CPPN, size: int, *, weights: int | None = 60, seed: int = 0) -> dict[str, Any]:
    """All scores of a network that draws `size` x `size` pixels, of so many of its weights, drawn by the seed.

    `R`: mean compressed size of a change over that of the picture; `J`: participation ratio of up to 120 derivatives of
    luminance; `distinct`: distinct maps over maps; lists go by layer. Compare networks only where they fit equally
    well: a poor fit looks compositional. Purity and symmetry say little where the picture's `even_share` is below .85.
    """
    where, picture = every_weight(model, weights, seed), light(model, size)
    swept, inert = swept_features(model, where, size)
    maps, layers = map_features(model, size), range(len(model.weights) - 1)
    kept = maps.distinct
    return {
        "R": _mean(swept.change_zip) / float(drawing.picture_zip(picture[None])[0]),
        **{name: _mean(values) for name, values in swept._asdict().items()},
        "inert": inert,
        "map_zip": _mean(maps.zip),
        "map_zip_distinct": _mean(maps.zip[kept]),
        "purity": _mean(maps.purity),
        "purity_distinct": _mean(maps.purity[kept]),
        "distinct": _mean(kept),
        "J": drawing.participation_ratio(slopes(model, every_weight(model, COLUMNS, seed), size, reduce=_light).T),
        "redundancy_by_layer": [drawing.redundancy(m) for m in unit_maps(model, size)],
        "map_zip_by_layer": [_mean(maps.zip[maps.layer == i]) for i in layers],
        "even_share": float(drawing.even_share(picture)),
    }


def swept_features(model: CPPN, where: Where, size: int) -> tuple[SweptFeatures, float]:
    """The features of each matched change of each weight, and the share of weights that are inert both ways."""
    found = matched(model, where, size)
    picture, parts = light(model, size), []
    for start in range(0, len(where.layer), _AT_ONCE):
        some = slice(start, start + _AT_ONCE)
        colours = sweep(model, Where(*(a[some] for a in where)), found.deltas[some], size)[~found.inert[some]]
        parts.append(_features(drawing.luminance(colours).reshape(-1, size, size), picture))
    return SweptFeatures(*(np.concatenate(a) for a in zip(*parts, strict=True))), float(found.inert.all(axis=1).mean())


def _features(changed: np.ndarray, picture: np.ndarray) -> SweptFeatures:
    return SweptFeatures(
        drawing.change_zip(changed - picture),
        np.array([drawing.mutual_information(picture, one) for one in changed]),
        drawing.symmetry_kept(changed, picture),
        drawing.picture_zip(changed) / drawing.picture_zip(picture[None]),
        drawing.picture_rank(changed - picture),
    )


def map_features(model: CPPN, size: int) -> MapFeatures:
    """The features of every unit whose map is not constant; a copy of an input counts as not distinct."""
    maps = unit_maps(model, size)
    layer, every = np.repeat(np.arange(len(maps)), maps.shape[1]), maps.reshape(-1, size, size)
    kept = drawing.varying(every)
    layer, every = layer[kept], every[kept]
    inputs = grid(size).T.reshape(-1, size, size)
    return MapFeatures(layer, drawing.map_zip(every), drawing.parity_purity(every), drawing.distinct(every, inputs))


def unit_maps(model: CPPN, size: int) -> np.ndarray:
    """What every hidden unit makes of every pixel: (layers, units, rows, columns)."""
    _, acts = looked_at(model, size)
    layers = np.stack([np.asarray(acts[f"layer{i}"]) for i in range(len(model.weights) - 1)])
    return layers.swapaxes(1, 2).reshape(*layers.shape[::2], size, size)


def light(model: CPPN, size: int) -> np.ndarray:
    """The luminance of the picture (rows, columns)."""
    return drawing.luminance(np.asarray(looked_at(model, size)[0])).reshape(size, size)


def _light(colours: jax.Array) -> jax.Array:
    return colours @ jnp.asarray(drawing.LIGHT)


def _mean(values: np.ndarray) -> float:
    return float(np.mean(values)) if len(values) else float("nan")
