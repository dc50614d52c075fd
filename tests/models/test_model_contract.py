"""What every network must keep to, whatever it computes: one row a network."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from recombine.models.cnn import CNNDecoder
from recombine.models.encoder import CNNEncoder
from recombine.models.mlp import MLPDecoder
from recombine.models.pixels import PixelMLP
from recombine.models.rendering import Rendering
from recombine.models.transformer import TransformerDecoder

SIZE = 8
PICTURE, CODE = (SIZE, SIZE), (2 * SIZE,)


class Case(NamedTuple):
    make: Callable[[jax.Array], Any]
    asked: tuple[int, ...]
    answer: tuple[int, ...]
    acts: dict[str, tuple[int, ...]]
    parameters: int


CASES = {
    "cnn": Case(
        lambda key: CNNDecoder(2 * SIZE, SIZE, width=3, depth=2, key=key),
        CODE,
        PICTURE,
        {"layer0": (2, 2, 3), "layer1": (4, 4, 3), "layer2": (8, 8, 3)},
        parameters=(16 * 4 * 3 + 3) + 2 * (3 * 16 * 3 + 3) + (3 * 9 + 1),
    ),
    "mlp": Case(
        lambda key: MLPDecoder(2 * SIZE, SIZE, width=5, depth=2, key=key),
        CODE,
        PICTURE,
        {"layer0": (5,), "layer1": (5,)},
        parameters=17 * 5 + 6 * 5 + 6 * 64,
    ),
    "rendering": Case(
        lambda key: Rendering(SIZE, channels=3, depth=1, key=key),
        CODE,
        PICTURE,
        {"embed_x": PICTURE, "embed_y": PICTURE, "layer0": (8, 8, 2), "layer1": (8, 8, 3)},
        parameters=2 * 8 * 8 * (8 + 8 + 1) + (18 * 3 + 3) + (27 + 1) + 2,
    ),
    "pixels": Case(
        lambda key: PixelMLP(2 * SIZE, SIZE, width=4, depth=2, key=key),
        CODE,
        PICTURE,
        {"embedding": (8, 8, 4), "layer0": (8, 8, 4), "layer1": (8, 8, 4)},
        parameters=17 * 4 + 2 * (5 * 4 + 1) + 5,
    ),
    "transformer": Case(
        lambda key: TransformerDecoder(2 * SIZE, SIZE, width=4, depth=1, heads=2, key=key),
        CODE,
        PICTURE,
        {"embedding": (8, 8, 4), "layer0": (8, 8, 4)},
        parameters=17 * 4 + (5 * 12 + 5 * 4) + (5 * 16 + 17 * 4) + 4 * 4 + 5,
    ),
    "encoder": Case(
        lambda key: CNNEncoder(SIZE, 3, channels=(2, 4), width=5, key=key),
        PICTURE,
        (3,),
        {"layer0": (4, 4, 2), "layer1": (2, 2, 4), "layer2": (5,)},
        parameters=(9 * 2 + 2) + (18 * 4 + 4) + 17 * 5 + 6 * 3,
    ),
}
every_model = pytest.mark.parametrize("case", CASES.values(), ids=CASES)


@every_model
def test_answers_one_example_and_names_its_activations(case):
    model = eqx.filter_eval_shape(case.make, jax.random.key(0))
    y, acts = eqx.filter_eval_shape(model, jax.ShapeDtypeStruct(case.asked, jnp.float32))
    assert y.shape == case.answer
    assert {name: a.shape for name, a in acts.items()} == case.acts


@every_model
def test_trains_its_parameters_and_nothing_fixed(case, filled):
    trained = jax.tree.leaves(eqx.filter(filled(case.make), eqx.is_inexact_array))
    assert sum(a.size for a in trained) == case.parameters


@pytest.mark.parametrize("name", sorted(set(CASES) - {"cnn"}))  # the tests of training train that one
def test_a_population_has_finite_gradients_in_every_parameter(name, filled):
    case = CASES[name]
    x = np.random.default_rng(1).normal(size=(3, *case.asked)).astype(np.float32)

    @eqx.filter_jit
    @eqx.filter_vmap
    @eqx.filter_grad
    def gradient(model):
        return jnp.mean((jax.vmap(model)(x)[0] - 1.0) ** 2)

    slopes = jax.tree.leaves(gradient(filled(case.make, 2)))
    assert all(len(a) == 2 and np.all(np.isfinite(a)) for a in slopes)
    assert all(np.any(np.asarray(a)) for a in slopes)


@every_model
def test_two_networks_of_one_kind_share_a_program(case, filled):
    first, second = (eqx.partition(filled(case.make, 2), eqx.is_inexact_array)[1] for _ in range(2))
    assert hash(first) == hash(second)
    assert first == second


@every_model
def test_no_parameter_changes_its_type_in_training(case):
    born = jax.tree.leaves(eqx.filter_eval_shape(case.make, jax.random.key(0)))
    assert not [a for a in born if a.weak_type or a.dtype != jnp.float32]


@every_model
def test_half_precision_stays_half_precision(case):
    half = lambda a: jax.ShapeDtypeStruct(a.shape, jnp.bfloat16) if hasattr(a, "dtype") else a  # noqa: E731
    model = jax.tree.map(half, eqx.filter_eval_shape(case.make, jax.random.key(0)))
    y, acts = eqx.filter_eval_shape(model, jax.ShapeDtypeStruct(case.asked, jnp.bfloat16))
    assert {a.dtype for a in (y, *acts.values())} == {jnp.dtype(jnp.bfloat16)}
