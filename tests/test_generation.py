"""Greedy generation, and the law by which exact match needs none."""

from __future__ import annotations

from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import recombine as rc
from recombine.measures.tokens import exact_rows
from recombine.models.decoder import TokenDecoder
from recombine.recording.generation import generate
from recombine.tasks.tokens import EOS, FIRST, PAD, SEP, example, padded, scored

MEMBERS, IDS, ROWS = 3, FIRST + 2, 24


def asked(seed: int, models=None) -> rc.Record:
    """Random prompts and answers of one to three tokens; some answers are what the first network would write."""
    rng = np.random.default_rng(seed)
    own = [FIRST, FIRST + 1]
    rows = [[*rng.choice(own, 2), SEP, *rng.choice(own, rng.integers(1, 4)), EOS] for _ in range(ROWS)]
    tokens = padded(rows, 7)
    x, y = jax.vmap(example)(jnp.asarray(tokens), jnp.asarray(scored(tokens)))
    return rc.Record(np.arange(ROWS)[:, None], np.asarray(x), np.asarray(y), np.asarray(y))


@pytest.fixture(scope="module")
def shaped():
    return eqx.filter_eval_shape(partial(TokenDecoder, IDS, width=8, depth=1, heads=2, inner=8), key=jax.random.key(0))


def filled(shaped, seed: int):
    rng = np.random.default_rng(seed)
    return jax.tree.map(lambda s: jnp.asarray(rng.normal(0, 0.5, (MEMBERS, *s.shape)), s.dtype), shaped)


@settings(max_examples=12, deadline=None)
@given(seed=st.integers(0, 2**31))
def test_greedy_generation_is_exact_if_and_only_if_every_prediction_is_right(shaped, seed):
    models, right = filled(shaped, seed), asked(seed)
    # Half of the rows get the answer that the first network writes, so that both outcomes occur.
    said = generate(models, right, end=EOS)[0]
    ends = np.any(said == EOS, axis=1) & (np.arange(ROWS) % 2 == 0)
    tokens = np.concatenate([right.x[:, :1], np.where(ends[:, None], said, right.y[..., 0])], axis=1)
    x, y = jax.vmap(example)(jnp.asarray(tokens), jnp.asarray(scored(tokens)))
    told = rc.Record(right.z, np.asarray(x), np.asarray(y), np.asarray(y))
    written = generate(models, told, end=EOS)
    answers = jax.vmap(lambda model, x: model.many(x), (0, None))(models, x)
    for one, logits in zip(written, np.asarray(answers), strict=True):
        counts = told.y[..., 1] > 0
        exact = np.all((one == told.y[..., 0]) | ~counts, axis=1)
        assert np.array_equal(exact, exact_rows(told.answering(logits)))
    assert np.all(exact_rows(told.answering(np.asarray(answers[0])))[ends])


def test_after_the_end_nothing_is_written_and_the_prompt_stays(shaped):
    right = asked(0)
    for one in generate(filled(shaped, 0), right, end=EOS):
        assert np.array_equal(one[:, :2], right.y[:, :2, 0])
        after = np.cumsum(one == EOS, axis=1) - (one == EOS) > 0
        assert np.all(one[after] == PAD)


def test_generation_without_an_end_token_is_told(shaped):
    right = asked(0)
    endless = right.y.copy()
    endless[3, endless[3, :, 0] == EOS] = [FIRST, 1]
    with pytest.raises(rc.UserError, match=r"row 3 has no end token \(1\): generation would not know where to stop"):
        generate(filled(shaped, 0), rc.Record(right.z, right.x, endless, endless), end=EOS)


def test_what_is_no_population_and_unknown_tokens_are_told(shaped):
    models, rows = filled(shaped, 0), asked(0)
    rows = rc.Record(rows.z, rows.x.copy(), rows.y, rows.y_hat)
    with pytest.raises(rc.UserError, match="this is one network, not a population"):
        generate(jax.tree.map(lambda a: a[0], models), rows, end=EOS)
    rows.x[2, 1] = 9
    with pytest.raises(rc.UserError, match=f"row 2 has token 9, .*; the network knows 0 to {IDS - 1}"):
        generate(models, rows, end=EOS)
