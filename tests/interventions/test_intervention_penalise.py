from __future__ import annotations

from types import SimpleNamespace

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from recombine.interventions.penalise import Ramp, Term, Weighted, always, entropy, variance, weighted
from recombine.models.rendering import Rendering

TOKENS, MODES, SIZE = 3, 4, 5


def tables(lambdas=None, u=None, v=None) -> SimpleNamespace:
    """Constant vectors and one mode, but for what is given."""
    one_mode = jnp.zeros((2, TOKENS, MODES)).at[..., 1].set(-2.0)
    constant = jnp.ones((2, TOKENS, MODES, SIZE))
    return SimpleNamespace(
        lambdas=one_mode if lambdas is None else lambdas,
        u=constant if u is None else u,
        v=constant if v is None else v,
    )


def test_one_mode_has_no_entropy():
    assert entropy(tables(), {}) == pytest.approx(0.0, abs=1e-5)


def test_equal_modes_have_the_log_of_their_number_for_each_token_and_factor():
    signs = jnp.where(jnp.arange(MODES) % 2, 3.0, -3.0)
    model = tables(lambdas=jnp.broadcast_to(signs, (2, TOKENS, MODES)))
    assert entropy(model, {}) == pytest.approx(2 * TOKENS * np.log(MODES), rel=1e-5)


def test_constant_vectors_of_any_length_have_no_variance():
    assert variance(tables(u=7.0 * tables().u), {}) == pytest.approx(0.0, abs=1e-6)


def test_variance_is_unbiased_summed_and_taken_of_the_stored_vectors():
    u, v = jax.random.normal(jax.random.key(0), (2, 2, TOKENS, MODES, SIZE))
    wanted = np.var(u, axis=-1, ddof=1).sum() + np.var(v, axis=-1, ddof=1).sum()
    assert variance(tables(u=u, v=v), {}) == pytest.approx(wanted, rel=1e-5)
    assert variance(tables(u=3 * u, v=3 * v), {}) == pytest.approx(9 * wanted, rel=1e-5)


@pytest.mark.parametrize("penalty", [entropy, variance])
@pytest.mark.parametrize("scale", [0.0, 1e-12, 1.0])
def test_gradients_are_finite_even_for_empty_tables(penalty, scale):
    model = Rendering(SIZE, key=jax.random.key(0))
    model = eqx.tree_at(lambda m: (m.lambdas, m.u), model, replace_fn=lambda a: scale * a)
    slopes = eqx.filter_grad(lambda m: penalty(m, {}))(model)
    assert all(np.all(np.isfinite(a)) for a in jax.tree.leaves(slopes))


def test_a_ramp_is_off_then_rises_then_stays():
    ramp = Ramp(0.2, 0.4)
    assert np.allclose([ramp(jnp.asarray(p)) for p in (0.0, 0.2, 0.3, 0.4, 1.0)], [0, 0, 0.5, 1, 1], atol=1e-6)
    assert always(jnp.asarray(0.0)) == 1.0
    with pytest.raises(ValueError, match="later point"):
        Ramp(0.4, 0.4)


def test_weights_are_dials_one_for_each_member():
    model = Rendering(SIZE, key=jax.random.key(0))
    price = weighted(Ramp(0.2, 0.4))
    dials = {"entropy": jnp.array([0.0, 0.1, 0.0, 0.1]), "variance": jnp.array([0.0, 0.0, 0.01, 0.01])}
    early, late = (jax.vmap(lambda d, p=p: price(model, {}, d, p))(dials) for p in (0.1, 0.4))
    h, s = float(entropy(model, {})), float(variance(model, {}))
    assert np.allclose(early, [0, 0, 0.01 * s, 0.01 * s], rtol=1e-5)
    assert np.allclose(late, [0, 0.1 * h, 0.01 * s, 0.1 * h + 0.01 * s], rtol=1e-5)


def test_equal_combinations_are_one_program():
    assert weighted(Ramp(0.2, 0.4)) == Weighted((Term("entropy", entropy, Ramp(0.2, 0.4)), Term("variance", variance)))
    assert hash(weighted(Ramp(0.2, 0.4))) == hash(weighted(Ramp(0.2, 0.4)))
