from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from recombine.models.encoder import CNNEncoder, halve


@pytest.mark.parametrize("side", [7, 8])
def test_halving_is_xlas_convolution_of_stride_two(side):
    random = np.random.default_rng(0)
    picture, kernel = (jnp.asarray(random.normal(size=s), jnp.float32) for s in ((side, side, 2), (3, 3, 2, 3)))
    wanted = jax.lax.conv_general_dilated(
        picture[None], kernel, (2, 2), ((1, 1), (1, 1)), dimension_numbers=("NHWC", "HWIO", "NHWC")
    )[0]
    assert np.allclose(jax.jit(halve)(picture, kernel), wanted, atol=1e-5)


def test_the_encoder_of_the_paper_reads_a_28_pixel_picture():
    model = eqx.filter_eval_shape(lambda key: CNNEncoder(28, 56, key=key), jax.random.key(0))
    y, acts = eqx.filter_eval_shape(model, jax.ShapeDtypeStruct((28, 28), jnp.float32))
    assert y.shape == (56,)
    assert [a.shape for a in acts.values()] == [(14, 14, 32), (7, 7, 64), (4, 4, 128), (128,)]
