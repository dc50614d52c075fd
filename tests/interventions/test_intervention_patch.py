"""Activation patching on answers that are known."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import recombine as rc
from recombine.interventions.patch import patched
from recombine.models.decoder import TokenDecoder

ROW, DONOR = jnp.array([3, 4, 5, 2]), jnp.array([4, 4, 3, 2])
EVERY, FIRST = jnp.ones(4, bool), jnp.arange(4) == 0


@pytest.fixture(scope="module")
def model():
    return jax.jit(lambda key: TokenDecoder(6, width=8, depth=2, heads=2, key=key))(jax.random.key(0))


@pytest.mark.parametrize("before", range(3))
def test_a_row_patched_into_itself_is_unchanged_and_all_places_give_the_donor(model, before):
    assert np.allclose(patched(model, ROW, ROW, before=before, places=FIRST), model(ROW)[0], atol=1e-5)
    assert np.allclose(patched(model, ROW, DONOR, before=before, places=EVERY), model(DONOR)[0], atol=1e-5)


def test_before_the_first_layer_a_patch_is_another_token(model):
    other = patched(model, ROW, DONOR, before=np.uint8(0), places=FIRST)  # pyrefly: ignore
    assert np.allclose(other, model(ROW.at[0].set(4))[0], atol=1e-5)


def test_a_later_place_is_not_reached_by_what_comes_after(model):
    last = patched(model, ROW, DONOR, before=1, places=jnp.arange(4) == 2)
    assert np.allclose(last[:2], model(ROW)[0][:2], atol=1e-5)


@pytest.mark.parametrize("places", [jnp.ones(3, bool), jnp.ones((4, 1), bool), True])
def test_places_of_another_shape_are_told(model, places):
    with pytest.raises(rc.UserError, match=r"a boolean per token; got|places are arrays"):
        patched(model, ROW, DONOR, before=1, places=places)


def test_a_layer_that_is_not_there_is_told(model):
    with pytest.raises(rc.UserError, match="before layer 0 to 2, got 3"):
        patched(model, ROW, DONOR, before=3, places=FIRST)
