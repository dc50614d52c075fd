"""Turns a picture into how complex it is: the length of its PNG file, the waves or the plain squares that it takes.

That the first predicts the best depth of a network that draws the picture is a claim of arXiv 2606.19941. Pictures are
(size, size, 3) in 0..1 and are taken as bytes first, as in a file: what is below half a byte is no part of a picture.
"""

from __future__ import annotations

import io
from collections.abc import Callable

import numpy as np

SIZE = 256
"""The size at which complexities are compared: all of them depend on it."""


def png_ratio(picture: np.ndarray) -> float:
    """The bytes of the picture as a PNG / its 3 size^2 bytes, for RGB at 256 x 256 and Pillow's `optimize`.

    The number tells of the encoder as much as of the picture. A file has a fixed part and pixels are coded by how they
    differ from their neighbours, so a smaller size gives larger ratios in another order; a greyscale file holds no
    colour; a hastier search misses repetitions. The skull, butterfly and apple of Picbreeder are in the order of their
    depths here (0.210, 0.226, 0.260), and not at level 6, in grey, or at 64 pixels. The last bits count too: drawn
    without the rounding of their published files, the three are at 0.191, 0.217, 0.242.
    """
    from PIL import Image

    pixels = _bytes(picture)
    if len(pixels) != SIZE:
        raise ValueError(f"PNG ratios are compared at {SIZE} pixels per side, got {len(pixels)}: draw the picture anew")
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "PNG", optimize=True)
    return file.tell() / pixels.size


def waves_needed(picture: np.ndarray, share: float = 0.99) -> int:
    """How many waves cos(pi k (i + 1/2) / size) cos(pi l (j + 1/2) / size) carry this share of the variance.

    The strongest first, each with the squares of its three colours added: turning, mirroring or inverting the picture
    changes nothing. A plain picture needs none.
    """
    if not 0 < share < 1:
        raise ValueError(f"a share lies between 0 and 1, got {share}")
    pixels = _bytes(picture).astype(float)
    away = pixels - pixels.mean(axis=(0, 1))
    energy = np.sort(np.square(_cosines(away)).sum(axis=2), axis=None)[::-1]
    reached = np.cumsum(energy)
    return int(np.sum(reached < share * reached[-1])) + 1 if np.any(away) else 0


def squares_needed(picture: np.ndarray, tolerance: float = 0.03) -> int:
    """How many squares of one colour draw the picture: a quad-tree, in which a square is kept or cut into four.

    It is cut when its colours are more than `tolerance` from their mean (root of the mean square over its pixels and
    colours). Turning, mirroring or inverting the picture changes nothing. The size is a power of two.
    """
    pixels = _bytes(picture).astype(float) / 255
    size = len(pixels)
    if size & (size - 1):
        raise ValueError(f"squares are halved: the size is a power of two, got {size}")
    kept, open_ = 0, np.ones((1, 1), bool)
    while len(open_) < size:
        cut = open_ & (_spread(pixels, len(open_)) > tolerance + 1e-9)
        kept += int(np.sum(open_ & ~cut))
        open_ = cut.repeat(2, axis=0).repeat(2, axis=1)
    return kept + int(np.sum(open_))


COMPLEXITIES: dict[str, Callable[[np.ndarray], float]] = {
    "PNG ratio": png_ratio,
    "waves": waves_needed,
    "squares": squares_needed,
}
"""The complexities by name, all for pictures of `SIZE` pixels per side."""


def _bytes(picture: np.ndarray) -> np.ndarray:
    picture = np.asarray(picture)
    if picture.ndim != 3 or picture.shape[0] != picture.shape[1] or picture.shape[2] != 3 or not picture.size:
        raise ValueError(f"a picture is (size, size, 3), got {picture.shape}")
    if not (picture.min() >= 0 and picture.max() <= 1):
        raise ValueError("the colours of a picture lie between 0 and 1")
    return np.round(255 * picture.astype(float)).astype(np.uint8)


def _cosines(values: np.ndarray) -> np.ndarray:
    """The discrete cosine transform (type II, orthonormal) along the first two axes: no edges where a picture ends."""
    size = len(values)
    waves = np.cos(np.pi / size * np.arange(size)[:, None] * (np.arange(size) + 0.5)) * np.sqrt(2 / size)
    waves[0] /= np.sqrt(2)
    return np.einsum("ki,lj,ijc->klc", waves, waves, values, optimize=True)


def _spread(pixels: np.ndarray, along: int) -> np.ndarray:
    """The standard deviation of the colours in each of `along` x `along` squares."""
    side = len(pixels) // along
    squares = pixels.reshape(along, side, along, side, 3)
    return np.sqrt(squares.var(axis=(1, 3)).mean(axis=-1))
