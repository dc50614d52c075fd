from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from recombine.core import ABSENT, UserError
from recombine.encodings import position

SIZE = 8
SILENT = [
    position.one_hot(SIZE),
    position.local_bump(SIZE, 1.5, 3.0),
    position.padded_bump(SIZE),
    position.positional(SIZE),
    position.rate(),
    position.rate(flag=False),
    position.scaled_rate(SIZE),
    position.scaled_rate(SIZE, flag=False),
]
EVERY = [*SILENT, position.padded_bump(SIZE, absent=position.in_margin)]


def named(encode: position.Encoding) -> str:
    return f"{encode.name}, {encode.size} units"


@pytest.mark.parametrize("encode", EVERY, ids=named)
def test_an_encoding_knows_its_size_and_is_the_same_for_cells_and_reals(encode):
    every = jax.jit(jax.vmap(encode))
    codes = every(np.arange(SIZE))
    assert codes.shape == (SIZE, encode.size)
    assert codes.dtype == jnp.float32
    assert position.width(encode) == encode.size
    assert np.allclose(codes, every(np.arange(SIZE, dtype=np.float32)), atol=1e-6)
    assert len(np.unique(codes, axis=0)) == SIZE


@pytest.mark.parametrize("encode", SILENT, ids=named)
def test_an_absent_part_is_all_zeros(encode):
    assert not np.any(np.asarray(jax.jit(encode)(ABSENT)))


@pytest.mark.parametrize("encode", [e for e in EVERY if e.smooth], ids=named)
def test_smooth_encodings_have_the_derivative_of_their_differences(encode):
    position.require_smooth(encode)
    step = 1e-2
    below, above = jax.jit(jax.vmap(encode))(jnp.array([2.3 - step, 2.3 + step]))
    exact = jax.jit(jax.jacfwd(encode))(np.float32(2.3))
    assert np.allclose(exact, (np.asarray(above) - np.asarray(below)) / (2 * step), atol=1e-3)


def test_derivatives_of_a_discontinuous_encoding_are_refused():
    with pytest.raises(UserError, match="one-hot 8 has no derivative"):
        position.require_smooth(position.one_hot(SIZE))
    with pytest.raises(UserError, match="does not say whether it is smooth"):
        position.require_smooth(lambda v: v[None])


def test_equal_encodings_are_equal_and_hash_alike():
    assert position.local_bump(SIZE) == position.local_bump(SIZE, 1.0)
    assert hash(position.local_bump(SIZE)) == hash(position.local_bump(SIZE, 1.0))
    assert position.local_bump(SIZE) != position.local_bump(SIZE, 2.0)
    assert position.padded_bump(SIZE) != position.padded_bump(SIZE, absent=position.in_margin)


def test_codes_are_their_formulas():
    v, k = 3, np.arange(SIZE)
    place = jnp.asarray(v)
    assert np.allclose(position.one_hot(SIZE)(place), k == v)
    assert np.allclose(position.local_bump(SIZE, 1.5, 3.0)(place), np.exp(-((k - v) ** 2) / (6 * 1.5**2)))
    assert np.allclose(position.rate()(place), [3, 1])
    assert np.allclose(position.scaled_rate(7)(place), [0, 1], atol=1e-6)
    waves = v * 10000.0 ** (-2 * np.arange(SIZE // 2) / SIZE)
    assert np.allclose(position.positional(SIZE)(place), [*np.sin(waves), *np.cos(waves)], atol=1e-6)


def test_a_padded_bump_holds_the_local_bump_and_its_margin():
    padded, local = position.padded_bump(SIZE), position.local_bump(SIZE)
    assert padded.size == SIZE + 12
    assert np.allclose(padded(jnp.asarray(3))[6:-6], local(jnp.asarray(3)))
    absent = position.padded_bump(SIZE, absent=position.in_margin)(jnp.asarray(ABSENT))
    assert np.argmax(absent) in (2, 3)
    assert np.sum(absent[:6]) > 0.95 * np.sum(absent)


def test_sizes_that_cannot_be_are_refused():
    with pytest.raises(ValueError, match="even"):
        position.positional(7)
    with pytest.raises(ValueError, match="cannot be scaled"):
        position.scaled_rate(1)
    with pytest.raises(ValueError, match="margin"):
        position.padded_bump(SIZE, margin=0, absent=position.in_margin)(jnp.asarray(0))
