"""A decoder over tokens: what it may see, where it knows tokens to be, and how its layers are shared."""

from __future__ import annotations

from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import recombine as rc
from recombine.models.decoder import TokenDecoder, norm, nowhere, plain
from recombine.tasks.subsequence import coupled
from recombine.tasks.tokens import EOS, PAD, SEP

ROW = jnp.array([3, 4, 5, 3, 6, 4])


def small(key: jax.Array, **more) -> TokenDecoder:
    return TokenDecoder(7, **{"width": 8, "depth": 2, "heads": 2, "inner": 6, **more}, key=key)  # pyrefly: ignore


@pytest.fixture(scope="module")
def model(filled) -> TokenDecoder:
    return filled(small)


def logits(model: TokenDecoder, row: jax.Array) -> np.ndarray:
    return np.asarray(model(row)[0])


@pytest.mark.parametrize("place", range(len(ROW)))
def test_a_later_token_changes_no_earlier_answer(model, place):
    changed = logits(model, ROW.at[place].set(2))
    assert np.array_equal(changed[:place], logits(model, ROW)[:place])
    assert np.any(changed[place:] != logits(model, ROW)[place:])


def test_what_is_padded_on_changes_nothing(model):
    longer = jnp.append(ROW, jnp.array([PAD, PAD]))
    assert np.allclose(logits(model, longer)[: len(ROW)], logits(model, ROW), atol=1e-5)


def test_a_batch_is_answered_as_its_rows(model):
    rows = jnp.stack([ROW, ROW[::-1]])
    assert np.allclose(model.many(rows), jax.vmap(model)(rows)[0], atol=1e-5)


def test_a_loop_of_two_is_its_layers_twice(filled):
    looped, twice = filled(partial(small, depth=1, repeats=2)), filled(partial(small, depth=1))
    twice = eqx.tree_at(lambda m: m.layers, twice, twice.layers * 2)
    assert np.allclose(logits(looped, ROW), logits(twice, ROW), atol=1e-6)


def test_without_places_the_order_of_what_is_seen_is_unknown_to_one_layer(filled):
    turned = ROW[jnp.array([1, 0, 2, 3, 4, 5])]
    for places, same in ((nowhere, True), (plain, False)):
        one = filled(partial(small, depth=1, places=places))
        assert np.allclose(logits(one, ROW)[2:], logits(one, turned)[2:], atol=1e-5) == same


def test_learned_places_tell_the_order_and_end(filled):
    one = filled(partial(small, depth=1, places=nowhere, learned=6))
    turned = ROW[jnp.array([1, 0, 2, 3, 4, 5])]
    assert not np.allclose(logits(one, ROW)[2:], logits(one, turned)[2:], atol=1e-5)
    with pytest.raises(rc.UserError, match="a row of 7 tokens is longer than the 6 learned places"):
        one(jnp.append(ROW, 3))


def test_only_differences_of_places_count(filled):
    one, shifted = (filled(partial(small, places=places)) for places in (plain, lambda tokens: plain(tokens) + 5))
    assert np.allclose(logits(one, ROW), logits(shifted, ROW), atol=1e-4)


@pytest.mark.parametrize("token", [7, -1])
def test_an_unknown_token_is_refused_and_gives_no_number_where_it_is_compiled(model, token):
    row = ROW.at[0].set(token)
    with pytest.raises(rc.UserError, match=f"row 0 has token {token}, .*; the network knows 0 to 6"):
        model(row)
    assert np.isnan(jax.jit(lambda x: model(x)[0])(row)).all()


@pytest.mark.parametrize("first", range(3))
def test_the_rest_goes_on_from_any_layer(model, first):
    y, acts = model(ROW)
    assert np.allclose(model.rest(list(acts.values())[first], ROW, first), y, atol=1e-5)


def test_a_norm_has_a_mean_square_of_one():
    assert np.allclose(jnp.mean(norm(jnp.arange(1.0, 9.0)) ** 2), 1.0, atol=1e-4)


@pytest.mark.parametrize(
    ("more", "says"), [({"heads": 3}, "cannot be shared by 3 heads"), ({"depth": 0}, "are at least 1")]
)
def test_a_decoder_that_cannot_be_is_refused(more, says):
    with pytest.raises(rc.UserError, match=says):
        small(jax.random.key(0), **more)


@pytest.mark.parametrize("n", [2, 4])
def test_coupled_places_of_an_input_its_step_and_its_answer_are_one(n):
    row = jnp.array([*range(3, 3 + n), SEP, *[20] * n, 14, *[15] * n, EOS])
    places = np.asarray(coupled(jnp.stack([row, row])))[0]
    inputs, steps, answers = places[:n], places[n + 1 : 2 * n + 1][::-1], places[2 * n + 2 : 3 * n + 2]
    assert inputs.tolist() == steps.tolist() == answers.tolist() == list(range(1, n + 1))
    assert places[n] == n + 1  # SEP, from which the last input is one away
    assert places[2 * n + 1] == 0  # ":", from which the first is
