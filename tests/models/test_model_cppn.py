from __future__ import annotations

import colorsys

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recombine.core import UserError
from recombine.cppn import genome
from recombine.cppn.network import CPPN, UNITS, from_weights, hsv_to_rgb, parse_mix, write_mix

EVERY = tuple((name, 1 + i % 2) for i, name in enumerate(sorted(UNITS)))
WIDTH = sum(count for _, count in EVERY)
LINE = jnp.linspace(-3, 3, 61)


@pytest.fixture(scope="module")
def matrices() -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    return [rng.normal(0, 0.5, shape).astype(np.float32) for shape in ((5, WIDTH), (WIDTH, WIDTH), (WIDTH, 3))]


def shaped(mix, depth: int, **more) -> CPPN:
    return eqx.filter_eval_shape(lambda key: CPPN(mix, depth, **more, key=key), jax.random.key(0))


def test_units_are_what_the_genomes_say():
    assert set(UNITS) == {*genome.UNITS, "cache"}
    for name, unit in genome.UNITS.items():
        assert np.allclose(UNITS[name](LINE), unit(np.asarray(LINE)), atol=1e-6)
    assert np.allclose(UNITS["cache"](LINE), LINE)
    assert np.allclose(UNITS["sigmoid"](LINE), 2 / (1 + jnp.exp(-LINE)) - 1, atol=1e-6)
    assert UNITS["gaussian"](jnp.zeros(())) == 1


def test_the_answer_is_the_formula_along_the_last_axis(matrices):
    model = from_weights(EVERY, matrices)
    x = np.random.default_rng(1).normal(size=(7, 5)).astype(np.float32)
    (rgb, acts), (one, _) = jax.jit(lambda x: (model(x), model(x[3])))(x)
    assert set(acts) == {"layer0", "layer1", "hsv"}
    h, ends = x.astype(float), np.cumsum([count for _, count in EVERY])
    units = {**genome.UNITS, "cache": genome.UNITS["identity"]}
    for i, weight in enumerate(matrices[:-1]):
        groups = np.split(h @ weight, ends[:-1], axis=1)
        h = np.concatenate([units[name](g) for (name, _), g in zip(EVERY, groups, strict=True)], axis=1)
        assert np.allclose(acts[f"layer{i}"], h, atol=1e-5)
    assert np.allclose(acts["hsv"], h @ matrices[-1], atol=1e-5)
    assert np.allclose(rgb, hsv_to_rgb(acts["hsv"]), atol=1e-6)
    assert np.allclose(one, rgb[3], atol=1e-5)


def test_colours_are_those_of_the_standard_library():
    hsv = np.random.default_rng(2).uniform(-2, 2, (400, 3))
    h, s, v = (hsv[:, 0] + 1) % 1, np.clip(hsv[:, 1], 0, 1), np.clip(np.abs(hsv[:, 2]), 0, 1)
    wanted = [colorsys.hsv_to_rgb(*row) for row in zip(h, s, v, strict=True)]
    assert np.allclose(hsv_to_rgb(jnp.asarray(hsv, jnp.float32)), wanted, atol=1e-5)


def test_no_slope_where_a_colour_is_cut():
    slope = jax.jit(jax.grad(lambda hsv: hsv_to_rgb(hsv).sum()))
    assert slope(jnp.asarray([0.3, 0.5, 1.2]))[2] == 0
    assert slope(jnp.asarray([0.3, 0.5, 0.0]))[2] == 0
    assert np.allclose(slope(jnp.asarray([0.3, 1.5, 0.5]))[1], 0)
    assert np.allclose(slope(jnp.asarray([0.3, -0.5, 0.5]))[:2], 0)
    assert slope(jnp.asarray([0.3, 0.5, -0.5]))[2] < 0 < slope(jnp.asarray([0.3, 0.5, 0.5]))[2]


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("12;cache:15,gaussian:4,identity:2,sin:1", 5478),
        ("16;cache:17,gaussian:4,sigmoid:1,sin:1", 8096),
        ("33;cache:28,gaussian:3,sigmoid:5,sin:2", 46474),
    ],
)
def test_evolved_architectures_have_their_number_of_weights(text, count):
    depth, mix = parse_mix(text)
    model = shaped(mix, depth)
    assert sum(w.size for w in model.weights) == count
    assert len(model.weights) == depth + 1
    assert write_mix(depth, mix) == text


def test_weights_start_cut_normal_with_the_variance_asked_for():
    model = eqx.filter_jit(lambda key: CPPN((("sin", 64),), 3, scale=2.0, key=key))(jax.random.key(0))
    for weight, fan_in in zip(model.weights, (4, 64, 64, 64), strict=True):
        assert np.std(weight) == pytest.approx((2 / fan_in) ** 0.5, rel=0.1)
        assert np.abs(weight).max() <= 2.28 * (2 / fan_in) ** 0.5
        assert weight.dtype == jnp.float32
        assert not weight.weak_type
    assert not np.allclose(model.weights[1], model.weights[2])


@pytest.mark.parametrize("kind", [jnp.float32, jnp.bfloat16])
def test_products_are_exact_in_float32_and_fast_in_half_precision(kind, matrices):
    model = jax.tree.map(lambda a: a.astype(kind), from_weights(EVERY, matrices))
    x = jnp.ones((3, 5), kind)
    products = [e for e in jax.make_jaxpr(lambda x: model(x)[0])(x).eqns if e.primitive.name == "dot_general"]
    exact = {e.params["precision"] == (jax.lax.Precision.HIGHEST,) * 2 for e in products}
    assert exact == {kind == jnp.float32}
    rgb, acts = jax.eval_shape(model, x)
    assert {a.dtype for a in (rgb, *acts.values())} == {jnp.dtype(kind)}


def test_a_population_trains_every_matrix_and_shares_one_program(filled):
    population = filled(lambda key: CPPN(EVERY, 1, inputs=5, key=key), 2)
    x = np.random.default_rng(3).uniform(-1, 1, (6, 5)).astype(np.float32)
    slope = eqx.filter_vmap(eqx.filter_grad(lambda model: jnp.mean((model(x)[0] - 0.3) ** 2)))
    for a in jax.tree.leaves(eqx.filter_jit(slope)(population)):
        assert len(a) == 2
        assert np.isfinite(a).all()
        assert np.any(np.asarray(a))
    first, second = (eqx.partition(shaped(EVERY, 1), lambda a: hasattr(a, "shape"))[1] for _ in range(2))
    assert hash(first) == hash(second)
    assert first == second


@given(st.integers(1, 40), st.dictionaries(st.sampled_from(sorted(UNITS)), st.integers(1, 60), min_size=1))
def test_a_mix_comes_back_from_its_text(depth, counts):
    mix = tuple(sorted(counts.items()))
    assert parse_mix(write_mix(depth, mix)) == (depth, mix)


@pytest.mark.parametrize(
    "text", ["", "12", "12;", "x;sin:1", "12;sin", "12;sin:one", "0;sin:1", "1;sin:0", "1;sin:1,sin:2", "1;blur:2"]
)
def test_a_text_that_is_no_mix_is_one_clear_complaint(text):
    with pytest.raises(UserError, match="a mix reads"):
        parse_mix(text)


def test_matrices_that_do_not_fit_are_refused(matrices):
    with pytest.raises(ValueError, match="do not go with"):
        from_weights(EVERY, [matrices[0], matrices[1][:, :-1], matrices[2]])
    with pytest.raises(ValueError, match="at least two"):
        from_weights(EVERY, matrices[:1])
    with pytest.raises(ValueError, match="alphabetical"):
        shaped((("sin", 1), ("cos", 1)), 1)
    with pytest.raises(ValueError, match="no unit type is called 'blur'"):
        shaped((("blur", 1),), 1)
    with pytest.raises(ValueError, match="depth must be a whole number of at least 1"):
        shaped(EVERY, 0)
