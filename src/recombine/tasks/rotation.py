"""Turns an angle, given as (cos, sin), into the picture of a digit rotated by it.

The one-dimensional analogue of Liang et al. (2025), Fig. 9: hold out a range of degrees and see what fills the gap.
They rotate the first "4" of MNIST; the "4" drawn here needs no data, and tells interpolation from truth more clearly.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.ndimage import map_coordinates

from recombine.core import Task

# (x, y) of both ends of each stroke in pixels of a 28 x 28 picture, and half the width of the pen.
_STROKES = (((15.0, 5.0), (6.5, 16.0)), ((6.5, 16.0), (21.0, 16.0)), ((17.5, 7.0), (16.5, 23.0)))
_PEN = 1.5
_SIZE, _FINER = 28, 4


def drawn_four() -> np.ndarray:
    """A "4" of three strokes in [0, 1], drawn with soft edges at four times the size and averaged to 28 x 28."""
    place = (np.arange(_SIZE * _FINER) + 0.5) / _FINER - 0.5
    points = np.stack(np.meshgrid(place, place), axis=-1)
    distance = np.min([_distance(points, *map(np.asarray, ends)) for ends in _STROKES], axis=0)
    ink = np.clip(0.5 + _FINER * (_PEN - distance), 0.0, 1.0)
    return ink.reshape(_SIZE, _FINER, _SIZE, _FINER).mean(axis=(1, 3)).astype(np.float32)


def _distance(points: np.ndarray, start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """From each point to the nearest point of the stroke."""
    along = np.clip((points - start) @ (end - start) / np.sum((end - start) ** 2), 0.0, 1.0)
    return np.linalg.norm(points - start - along[..., None] * (end - start), axis=-1)


def rotate(picture: jax.Array, angle: jax.Array) -> jax.Array:
    """The picture turned anticlockwise about its centre by an angle in radians, bilinear, with zeros from outside."""
    rows, columns = picture.shape
    down, right = jnp.meshgrid(
        jnp.arange(rows) - (rows - 1) / 2, jnp.arange(columns) - (columns - 1) / 2, indexing="ij"
    )
    cos, sin = jnp.cos(angle), jnp.sin(angle)
    source = [cos * down + sin * right + (rows - 1) / 2, cos * right - sin * down + (columns - 1) / 2]
    return map_coordinates(picture, source, order=1, mode="constant", cval=0.0)


def rotation(picture: np.ndarray | None = None) -> Task:
    """Every whole degree 0..359 of a picture, by default the drawn "4"; the input is (cos, sin) of the angle."""
    picture = np.asarray(drawn_four() if picture is None else picture, np.float32)
    if picture.ndim != 2 or picture.shape[0] != picture.shape[1] or not picture.size:
        raise ValueError(f"a picture to rotate is square, got shape {picture.shape}")

    def sample(z: jax.Array, key: jax.Array) -> tuple[jax.Array, jax.Array]:
        angle = jnp.deg2rad(z[0])
        return jnp.stack([jnp.cos(angle), jnp.sin(angle)]), rotate(jnp.asarray(picture), angle)

    return Task("rotation", np.arange(360)[:, None], sample)
