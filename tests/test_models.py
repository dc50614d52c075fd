from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import recombine as rc
from recombine.models import convolution


@pytest.mark.parametrize("channels", [1, 3])
def test_the_products_for_cpus_are_xlas_convolutions(channels):
    x, k = jax.random.split(jax.random.key(0))
    picture = jax.random.normal(x, (6, 8, 4))
    kernel = jax.random.normal(k, (3, 3, 4, channels))
    for form in (convolution.same, convolution.narrow):
        assert jnp.allclose(form(picture, kernel), convolution._xla(picture, kernel, padding=1), atol=1e-4)
    kernel = jax.random.normal(k, (4, 4, 4, channels))
    plain = convolution._xla(picture, kernel[::-1, ::-1], padding=2, dilation=2)
    assert jnp.allclose(convolution.double(picture, kernel), plain, atol=1e-4)


def test_doubling_places_its_kernel_as_a_transposed_convolution_does():
    dot = jnp.zeros((3, 3, 1)).at[1, 1, 0].set(1.0)
    kernel = jnp.arange(16.0).reshape(4, 4, 1, 1)
    out = np.zeros((6, 6))
    out[1:5, 1:5] = kernel[..., 0, 0]  # stride 2, padding 1: rows 2i - 1 .. 2i + 2
    assert np.allclose(convolution.double(dot, kernel)[..., 0], out)


@pytest.mark.parametrize(("depth", "parameters"), [(2, 307_457), (4, 381_313), (8, 529_025)])
def test_the_decoder_has_the_papers_parameters_and_names_its_layers(depth, parameters):
    model = rc.CNNDecoder(56, 28, width=64, depth=depth, key=jax.random.key(0))
    assert sum(a.size for a in jax.tree.leaves(model)) == parameters
    y, acts = jax.eval_shape(model, jnp.zeros(56))
    assert y.shape == (28, 28)
    assert [a.shape[0] for a in acts.values()] == [7, 14, 28, *[28] * (depth - 2)]
    assert list(acts) == [f"layer{i}" for i in range(depth + 1)]


@pytest.mark.parametrize(("size", "depth"), [(10, 3), (16, 1)])
def test_the_decoder_refuses_what_it_cannot_be(size, depth):
    with pytest.raises(ValueError, match="divisible by 4"):
        rc.CNNDecoder(4, size, width=2, depth=depth, key=jax.random.key(0))
