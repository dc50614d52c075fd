from __future__ import annotations

import equinox as eqx
import numpy as np
import pytest

from recombine.models import positions
from recombine.models.pixels import PixelMLP


def test_the_embedding_is_the_formula():
    size, width = 5, 8
    table = positions.embedding(size, width)
    for y, x, k in [(0, 0, 0), (4, 1, 1), (2, 3, 0)]:
        w = 10000 ** (-4 * k / width)
        wanted = [np.sin(x * w), np.cos(x * w), np.sin(y * w), np.cos(y * w)]
        assert np.allclose(table[y, x, 4 * k : 4 * k + 4], wanted, atol=1e-6)


def test_no_two_pixels_have_the_same_embedding():
    table = positions.embedding(28, 16).reshape(28**2, 16)
    assert len(np.unique(table.round(5), axis=0)) == 28**2


def test_the_embedding_cannot_be_changed_and_needs_a_fitting_width():
    with pytest.raises(ValueError, match="read-only"):
        positions.embedding(4, 4)[0, 0, 0] = 1.0
    with pytest.raises(ValueError, match="divisible by 4"):
        positions.embedding(4, 6)


def test_a_pixel_is_answered_by_itself(filled):
    model = filled(lambda key: PixelMLP(6, 5, width=8, depth=2, key=key))
    x = np.linspace(-1, 1, 6, dtype=np.float32)
    y, acts = eqx.filter_jit(model)(x)
    h = model.embed(x) + positions.embedding(5, 8)[3, 1]
    for layer, slope in zip(model.hidden, model.slopes, strict=True):
        h = slope(layer(h))
    assert np.allclose(acts["layer1"][3, 1], h, atol=1e-5)
    assert np.allclose(y[3, 1], model.read_out(h)[0], atol=1e-5)
