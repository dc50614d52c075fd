"""What every network must keep to, whatever it computes: one row per network, and a row for every module of models/."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import recombine as rc
import recombine.models
from recombine.models.decoder import TokenDecoder
from recombine.models.network import Network

SIZE = 8
PICTURE, CODE = (SIZE, SIZE), (2 * SIZE,)
ROWS, ANSWERS = (3, 4), (3, 2)
MIX = (("identity", 1), ("sin", 2))
PARTS = {"__init__", "convolution", "layers", "network", "positions"}
"""The modules of models/ that hold no network but parts of them, or what all answer."""


class Case(NamedTuple):
    make: Callable[[jax.Array], Any]
    asked: tuple[int, ...]
    answer: tuple[int, ...]
    acts: dict[str, tuple[int, ...]]
    parameters: int


CASES = {
    "cnn": Case(
        lambda key: rc.CNNDecoder(2 * SIZE, SIZE, width=3, depth=2, key=key),
        CODE,
        PICTURE,
        {"layer0": (2, 2, 3), "layer1": (4, 4, 3), "layer2": (8, 8, 3)},
        parameters=(16 * 4 * 3 + 3) + 2 * (3 * 16 * 3 + 3) + (3 * 9 + 1),
    ),
    "mlp": Case(
        lambda key: rc.MLPDecoder(2 * SIZE, SIZE, width=5, depth=2, key=key),
        CODE,
        PICTURE,
        {"layer0": (5,), "layer1": (5,)},
        parameters=17 * 5 + 6 * 5 + 6 * 64,
    ),
    "rendering": Case(
        lambda key: rc.Rendering(SIZE, channels=3, depth=1, key=key),
        CODE,
        PICTURE,
        {"embed_x": PICTURE, "embed_y": PICTURE, "layer0": (8, 8, 2), "layer1": (8, 8, 3)},
        parameters=2 * 8 * 8 * (8 + 8 + 1) + (18 * 3 + 3) + (27 + 1) + 2,
    ),
    "pixels": Case(
        lambda key: rc.PixelMLP(2 * SIZE, SIZE, width=4, depth=2, key=key),
        CODE,
        PICTURE,
        {"embedding": (8, 8, 4), "layer0": (8, 8, 4), "layer1": (8, 8, 4)},
        parameters=17 * 4 + 2 * (5 * 4 + 1) + 5,
    ),
    "transformer": Case(
        lambda key: rc.TransformerDecoder(2 * SIZE, SIZE, width=4, depth=1, heads=2, key=key),
        CODE,
        PICTURE,
        {"embedding": (8, 8, 4), "layer0": (8, 8, 4)},
        parameters=17 * 4 + (5 * 12 + 5 * 4) + (5 * 16 + 17 * 4) + 4 * 4 + 5,
    ),
    "encoder": Case(
        lambda key: rc.CNNEncoder(SIZE, 3, channels=(2, 4), width=5, key=key),
        PICTURE,
        (3,),
        {"layer0": (4, 4, 2), "layer1": (2, 2, 4), "layer2": (5,)},
        parameters=(9 * 2 + 2) + (18 * 4 + 4) + 17 * 5 + 6 * 3,
    ),
    "student": Case(
        lambda key: rc.StudentMLP(4, 2, width=5, depth=2, key=key),
        ROWS,
        ANSWERS,
        {"layer0": (3, 5), "layer1": (3, 5)},
        parameters=5 * 5 + 6 * 5 + 6 * 2,
    ),
    "hypernetwork": Case(
        lambda key: rc.Hypernetwork(2, 2, 2, width=3, key=key),
        ROWS,
        ANSWERS,
        {"layer0": (3, 3)},
        parameters=2 * 2 + 3 * (3 * 3 + 4 * 2),
    ),
    "in_context": Case(
        lambda key: rc.InContextTransformer(2, 2, 2, width=4, depth=1, heads=2, inner=3, key=key),
        ROWS,
        ANSWERS,
        {"layer0": (3, 4)},
        parameters=(2 * 4 + 3 * 4 + 5 * 2) + (4 * 12 + 4 * 4 + 2 * 4 * 3) + (2 * 4 + 2 * 2) + 4,
    ),
    "decoder": Case(
        lambda key: TokenDecoder(5, width=4, depth=2, heads=2, inner=3, learned=3, repeats=2, key=key),
        (3,),
        (3, 5),
        {"embedding": (3, 4), **{f"layer{i}": (3, 4) for i in range(4)}},
        parameters=5 * 4 + 3 * 4 + 2 * (4 * 4**2 + 2 * 4 * 3 + 2),
    ),
    "cppn.network": Case(
        lambda key: rc.CPPN(MIX, 2, key=key),
        ROWS,
        (3, 3),
        {"layer0": (3, 3), "layer1": (3, 3), "hsv": (3, 3)},
        parameters=4 * 3 + 3 * 3 + 3 * 3,
    ),
}
every_model = pytest.mark.parametrize("case", CASES.values(), ids=CASES)


def test_every_module_has_a_case():
    modules = {file.stem for place in recombine.models.__path__ for file in Path(place).glob("*.py")}
    assert modules == PARTS | {name for name in CASES if "." not in name}, "a case, or a word in PARTS, for each module"


@every_model
def test_keeps_the_contract(case):
    rc.check_model(case.make, np.zeros(case.asked, int if case is CASES["decoder"] else float))


@every_model
def test_answers_with_these_shapes_and_trains_so_many_numbers(case):
    model = eqx.filter_eval_shape(case.make, jax.random.key(0))
    assert isinstance(model, Network)
    y, acts = eqx.filter_eval_shape(model, jax.ShapeDtypeStruct(case.asked, jnp.float32))
    assert y.shape == case.answer
    assert {name: a.shape for name, a in acts.items()} == case.acts
    assert sum(a.size for a in jax.tree.leaves(model) if isinstance(a, jax.ShapeDtypeStruct)) == case.parameters


class Tiny(eqx.Module):
    """A network of one matrix, and ways to break it."""

    weight: jax.Array
    unused: jax.Array
    says: Callable[..., Any] = eqx.field(static=True)

    def __call__(self, x: jax.Array) -> Any:
        return self.says(x, self.weight, self.unused)


def right(x, weight, unused):
    y = x @ weight + unused
    return y, {"layer0": y}


def tiny(says: Callable[..., Any], kind: Any = jnp.float32) -> Tiny:
    return Tiny(jnp.ones((2, 3), kind), jnp.ones(3), says)


WRONG = {
    "returns one array of shape": tiny(lambda x, w, b: x @ w),
    "at least one name": tiny(lambda x, w, b: (x @ w, {})),
    "are not arrays": tiny(lambda x, w, b: (x @ w, {"layer0": 1.0})),
    "cannot take one example": tiny(lambda x, w, b: (x @ w.T, {"layer0": x})),
    "come out wider": tiny(lambda x, w, b: (x @ w + np.ones(3, np.float32), {"layer0": x})),
    "unused has no gradient": tiny(lambda x, w, b: (x @ w, {"layer0": x})),
    "the gradient of .weight is not finite": tiny(lambda x, w, b: (jnp.sqrt(0 * (x @ w)) + b, {"layer0": x})),
    "parameters are float32": tiny(right, jnp.float16),
    "takes a random key and makes one": lambda key: 1 / key,
    "differ in their static fields": lambda key: tiny(lambda x, w, b: right(x, w, b)),  # noqa: PLW0108
    "two keys give the same initial weights": lambda key: tiny(right),
    "no parameters to train": eqx.nn.Lambda(lambda x: (x, {"layer0": x})),
}


@pytest.mark.parametrize(("says", "model"), WRONG.items(), ids=WRONG)
def test_a_broken_model_is_told_what_is_wrong(says, model):
    with pytest.raises(AssertionError, match=says):
        rc.check_model(model, np.zeros(2))


def test_a_network_itself_can_be_checked():
    rc.check_model(tiny(right), np.zeros(2))
