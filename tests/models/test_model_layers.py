from __future__ import annotations

import jax
import numpy as np
import pytest

from recombine.models.layers import kernels, linears


@pytest.mark.parametrize(
    ("draw", "shapes", "fans"),
    [
        (lambda key: linears(key, (64, 32, 16)), [(64, 32), (32, 16)], [64, 32]),
        (lambda key: kernels(key, (4, 8, 16)), [(3, 3, 4, 8), (3, 3, 8, 16)], [36, 72]),
    ],
    ids=["linear", "convolution"],
)
def test_weights_fill_the_range_that_their_inputs_allow_and_differ(draw, shapes, fans):
    layers = jax.jit(draw)(jax.random.key(0))
    assert [layer.weight.shape for layer in layers] == shapes
    assert [layer.bias.shape for layer in layers] == [shape[-1:] for shape in shapes]
    for layer, fan in zip(layers, fans, strict=True):
        weight, bias = np.asarray(layer.weight), np.asarray(layer.bias)
        assert np.abs(weight).max() == pytest.approx(fan**-0.5, rel=0.05)
        assert np.std(weight) == pytest.approx((3 * fan) ** -0.5, rel=0.1)
        assert 0.5 * fan**-0.5 < np.abs(bias).max() <= fan**-0.5
    numbers = np.concatenate([np.ravel(a * fan**0.5) for a, fan in zip([a.weight for a in layers], fans, strict=True)])
    assert len(np.unique(numbers)) > 0.99 * len(numbers)
