from __future__ import annotations

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from recombine.interventions.penalise import Ramp, Term, Weighted, always, entropy, variance, weighted

TOKENS, MODES, SIZE = 3, 4, 5


class Tables(NamedTuple):
    """What penalties look at in a network; by default constant vectors and one mode."""

    lambdas: jax.Array = jnp.tile(jnp.array([0.0, -2.0, 0.0, 0.0]), (2, TOKENS, 1))
    u: jax.Array = jnp.ones((2, TOKENS, MODES, SIZE))
    v: jax.Array = jnp.ones((2, TOKENS, MODES, SIZE))


def drawn() -> Tables:
    random = np.random.default_rng(0)
    return Tables(*(jnp.asarray(random.normal(size=a.shape), a.dtype) for a in Tables()))


def test_one_mode_has_no_entropy():
    assert float(entropy(Tables(), {})) == pytest.approx(0.0, abs=1e-5)


def test_equal_modes_have_the_log_of_their_number_for_each_token_and_factor():
    model = Tables(lambdas=jnp.tile(jnp.array([3.0, -3.0, 3.0, -3.0]), (2, TOKENS, 1)))
    assert float(entropy(model, {})) == pytest.approx(2 * TOKENS * np.log(MODES), rel=1e-5)


def test_constant_vectors_of_any_length_have_no_variance():
    assert float(variance(Tables(u=7 * Tables().u), {})) == pytest.approx(0.0, abs=1e-6)


def test_variance_is_unbiased_summed_and_taken_of_the_stored_vectors():
    _, u, v = drawn()
    wanted = sum(np.var(np.asarray(a), axis=-1, ddof=1).sum() for a in (u, v))
    assert float(variance(Tables(u=u, v=v), {})) == pytest.approx(wanted, rel=1e-5)
    assert float(variance(Tables(u=3 * u, v=3 * v), {})) == pytest.approx(9 * wanted, rel=1e-5)


@pytest.mark.parametrize("penalty", [entropy, variance])
def test_gradients_are_finite_even_for_empty_tables(penalty):
    gradient = jax.jit(jax.grad(lambda model: penalty(model, {})))
    for scale in (0.0, 1e-20, 1e-12, 1e-8, 1e-4, 1.0):
        slopes = gradient(Tables(*(scale * a for a in drawn())))
        assert all(np.all(np.isfinite(a)) for a in slopes), scale


def test_a_ramp_is_off_then_rises_then_stays():
    ramp = Ramp(0.2, 0.4)
    assert np.allclose([ramp(jnp.asarray(p)) for p in (0.0, 0.2, 0.3, 0.4, 1.0)], [0, 0, 0.5, 1, 1], atol=1e-6)
    assert always(jnp.asarray(0.0)) == 1.0
    with pytest.raises(ValueError, match="later point"):
        Ramp(0.4, 0.4)


def test_weights_are_dials_one_for_each_member():
    model = drawn()
    price = weighted(Ramp(0.2, 0.4))
    dials = {"entropy": jnp.array([0, 0.1, 0, 0.1]), "variance": jnp.array([0, 0, 0.01, 0.01])}
    early, late = jax.jit(jax.vmap(jax.vmap(partial(price, model, {}), (0, None)), (None, 0)))(
        dials, jnp.array([0.1, 0.4])
    )
    h, s = float(entropy(model, {})), float(variance(model, {}))
    assert np.allclose(early, [0, 0, 0.01 * s, 0.01 * s], rtol=1e-5)
    assert np.allclose(late, [0, 0.1 * h, 0.01 * s, 0.1 * h + 0.01 * s], rtol=1e-5)


def test_equal_combinations_are_one_program():
    assert weighted(Ramp(0.2, 0.4)) == Weighted((Term("entropy", entropy, Ramp(0.2, 0.4)), Term("variance", variance)))
    assert hash(weighted(Ramp(0.2, 0.4))) == hash(weighted(Ramp(0.2, 0.4)))
