"""Turns the number of a target picture into the coordinates of all its pixels and their colours.

The inputs are those of Picbreeder, as in Kumar, Clune, Lehman, Stanley (2025): x, y, distance from the centre, and 1.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import jax
import jax.numpy as jnp
import numpy as np

from recombine.core import Task, UserError, at_least_one

if TYPE_CHECKING:
    from PIL import Image

_LARGEST_FILE = 64 * 2**20
_MOST_PIXELS = 50_000_000


def grid(size: int) -> np.ndarray:
    """x, y, 1.4 sqrt(x^2 + y^2), 1 at each pixel, row by row; x goes along columns, y down the rows, both -1 to 1."""
    at_least_one(size=size)
    t = np.linspace(-1, 1, size)
    x, y = (a.ravel() for a in np.meshgrid(t, t))
    return np.stack([x, y, 1.4 * np.hypot(x, y), np.ones_like(x)], axis=1).astype(np.float32)


@dataclass(frozen=True)
class Pictures:
    """The `sample` of a picture task: z[0] -> the inputs (pixels, 4 or 5) and the colours (pixels, 3); no randomness.

    The colours are kept as bytes, which compare and hash by content: equal tasks share one compiled program.
    """

    size: int
    told: bool
    colours: tuple[bytes, ...] = field(repr=False)

    def __call__(self, z: jax.Array, key: jax.Array) -> tuple[jax.Array, jax.Array]:
        every = np.stack([np.frombuffer(c, np.float32).reshape(-1, 3) for c in self.colours])
        x = jnp.asarray(grid(self.size))
        if self.told:
            which = jnp.linspace(-1, 1, len(every))[z[0]]
            x = jnp.concatenate([x, jnp.broadcast_to(which, (len(x), 1))], axis=1)
        return x, jnp.asarray(every)[z[0]]


def picture(targets: np.ndarray | Sequence[np.ndarray], *, told: bool = False) -> Task:
    """One picture (size, size, 3) or several of one size, colours in 0..1; an example is a whole picture.

    Where several share a network, `told` adds a fifth input that says which, -1 to 1 in equal steps.
    """
    try:
        every = np.asarray(targets, np.float32)
    except (ValueError, TypeError) as error:
        raise ValueError(f"target pictures are arrays (size, size, 3), all of one size: {error}") from error
    every = every[None] if every.ndim == 3 else every
    if every.ndim != 4 or every.shape[1] != every.shape[2] or every.shape[3] != 3 or not every.size:
        raise ValueError(f"target pictures are (size, size, 3), all of one size; got {every.shape}")
    if not (every.min() >= 0 and every.max() <= 1):
        raise ValueError("the colours of a target picture lie between 0 and 1")
    sample = Pictures(every.shape[1], told, tuple(p.tobytes() for p in every))
    return Task(f"{len(every)} picture{'s'[: len(every) > 1]} of {sample.size}", np.arange(len(every))[:, None], sample)


def load_picture(path: Path | str, size: int) -> np.ndarray:
    """A user's own PNG or JPEG as (size, size, 3) in 0..1, squeezed to a square; what is transparent turns white."""
    from PIL import Image, ImageOps

    if not 1 <= size <= 4096:
        raise ValueError(f"a picture is made 1 to 4096 pixels per side, got {size}")
    try:
        length = Path(path).stat().st_size
        if not 0 < length <= _LARGEST_FILE:
            raise UserError(f"{path} is {'empty' if not length else 'larger than 64 MiB'}: no picture to draw")
        with warnings.catch_warnings(action="ignore"), Image.open(path, formats=("PNG", "JPEG")) as image:
            if image.width * image.height > _MOST_PIXELS:
                raise UserError(f"{path} has {image.width} x {image.height} pixels: at most 50 million can be read")
            opaque = _on_white(ImageOps.exif_transpose(image))
    except UserError:
        raise
    except Exception as error:  # a decoder can stumble over a damaged file in any way
        raise UserError(f"{path} cannot be read as a PNG or JPEG picture: {error}") from error
    return np.asarray(opaque.resize((size, size), Image.Resampling.BILINEAR), np.float32) / 255


def _on_white(image: Image.Image) -> Image.Image:
    from PIL import Image

    if image.mode.startswith("I"):  # 16 bits of grey
        return Image.fromarray((np.asarray(image) // 257).astype(np.uint8)).convert("RGB")
    if not image.has_transparency_data:
        return image.convert("RGB")
    return Image.alpha_composite(Image.new("RGBA", image.size, "white"), image.convert("RGBA")).convert("RGB")
