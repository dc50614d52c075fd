"""Turns a user's own MNIST files (idx-ubyte, plain or gzipped) into one digit; nothing is ever downloaded."""

from __future__ import annotations

import gzip
import math
import zlib
from pathlib import Path

import numpy as np

from recombine.core import UserError

_GZIP = b"\x1f\x8b"


def first_digit(images: bytes, labels: bytes, digit: int = 4) -> np.ndarray:
    """The first picture with that label, in [0, 1], from the bytes of an image file and of its label file."""
    pictures, names = parse(images, 3), parse(labels, 1)
    if len(pictures) != len(names):
        raise UserError(f"{len(pictures)} MNIST pictures do not go with {len(names)} labels")
    found = np.flatnonzero(names == digit)
    if not len(found):
        raise UserError(f"these MNIST labels have no {digit}")
    return pictures[found[0]].astype(np.float32) / 255


def parse(data: bytes, axes: int) -> np.ndarray:
    """The array of unsigned bytes in an idx file: 0, 0, 8, the number of axes, their lengths, then the values."""
    if data.startswith(_GZIP):
        try:
            data = gzip.decompress(data)
        except (OSError, EOFError, zlib.error) as error:
            raise UserError(f"a damaged gzip file: {error}") from error
    start = 4 + 4 * axes
    if len(data) < start or data[:4] != bytes((0, 0, 8, axes)):
        raise UserError(f"not an MNIST file: an idx-ubyte file with {axes} axes was expected (plain or gzipped)")
    shape = tuple(int(n) for n in np.frombuffer(data[4:start], ">u4"))
    count = math.prod(shape)
    if len(data) != start + count:
        raise UserError(f"a damaged MNIST file: {count} values announced, {len(data) - start} found")
    return np.frombuffer(data, np.uint8, offset=start).reshape(shape)


def load_digit(images: Path, labels: Path, digit: int = 4) -> np.ndarray:
    """The first picture with that label, from two local files."""
    return first_digit(_bytes(images), _bytes(labels), digit)


def _bytes(path: Path) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror or error}") from error
