"""The kernel of picture networks, interpreted: the plain program's error and gradients, also when stacked."""

from __future__ import annotations

import re

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import export
from jax.experimental import pallas as pl
from jax.experimental.pallas import triton

import recombine as rc
from recombine.cppn.network import UNITS, channels, parse_mix
from recombine.kernels import cppn_loss, cppn_sweep, cppn_tiles

ROUNDED = jax.lax.DotAlgorithmPreset.TF32_TF32_F32
CALLS = ("triton_kernel_call", "__gpu$xla.gpu.triton")


def both(mix, depth, size, precision, seed=0):
    """Errors and gradients of two networks, each with a picture of its own: the kernel's and the plain program's."""
    models = rc.initial_models(lambda key: rc.CPPN(mix, depth, key=key), rc.member_keys(seed, range(2)))
    x = jnp.asarray(rc.grid(size))
    y = jnp.asarray(np.random.default_rng(0).uniform(size=(2, size**2, 3)), jnp.float32)
    kind = cppn_tiles.Kind(tuple((UNITS[name], count) for name, count in mix), channels, precision, interpret=True)
    one = jax.tree.map(lambda a: a[0], models)

    def kernel(weights, y):
        return cppn_loss.squared_error(list(weights), x, y, kind)

    def plain(weights, y):
        return eqx.tree_at(lambda m: m.weights, one, weights).squared_error(x, y)

    found, wanted = (jax.jit(jax.vmap(jax.value_and_grad(f)))(models.weights, y) for f in (kernel, plain))
    assert jax.tree.structure(found) == jax.tree.structure(wanted)
    return zip(jax.tree.leaves(found), jax.tree.leaves(wanted), strict=True)


def same(pairs, share):
    return all(np.abs(a - b).max() <= share * np.abs(b).max() for a, b in pairs)


@pytest.mark.parametrize("blocks", [1, 2, 64])
@pytest.mark.parametrize(("precision", "share"), [(cppn_tiles.X3, 1e-3), (cppn_tiles.X6, 1e-5)])
def test_the_kernel_gives_the_plain_networks_error_and_gradients(precision, share, blocks, monkeypatch):
    """Two or four tiles, large or small: all by one block, the same number by each of two, one by each."""
    monkeypatch.setattr(cppn_tiles, "PROGRAMS", blocks)
    mix = (("cache", 2), ("gaussian", 2), ("sigmoid", 1), ("sin", 1))
    (error, wanted), *gradients = both(mix, 3, 16, precision)
    np.testing.assert_allclose(error, wanted, rtol=share / 10)
    assert same(gradients, share)


def test_sums_beyond_half_precision_are_kept_as_its_largest_number():
    kept = cppn_loss._as_kept(jnp.asarray([1e9, -1e9, 0.1]), jnp.float16)
    assert np.isfinite(kept).all()
    assert cppn_loss._as_kept(jnp.asarray([1e9]), jnp.float32) == 1e9


ROUGH_AND_EXACT = pytest.mark.parametrize(("precision", "share"), [(cppn_tiles.X3, 5e-3), (cppn_tiles.X6, 1e-5)])


@ROUGH_AND_EXACT
def test_every_type_of_unit_has_its_own_value_and_slope(precision, share):
    """One tile of 64 pixels, where few roundings cancel."""
    assert same(both(tuple((name, 1) for name in sorted(UNITS)), 2, 8, precision), share)


@ROUGH_AND_EXACT
def test_a_wide_network_of_more_than_32_columns_is_taken(precision, share):
    assert same(both((("cache", 16), ("gaussian", 12), ("identity", 4), ("sin", 6)), 1, 8, precision), share)


def test_factors_of_11_bits_are_taken():
    assert same(both((("gaussian", 2), ("sin", 1)), 1, 8, ROUNDED), share=1e-3)


def test_a_network_without_linear_units_and_one_of_nothing_else_are_taken():
    assert same(both((("gaussian", 14), ("tanh", 1)), 1, 8, cppn_tiles.X6), share=1e-5)
    assert same(both((("cache", 3),), 2, 8, cppn_tiles.X6), share=1e-5)


def test_the_kernel_takes_whole_tiles_of_small_networks_in_float32():
    shapes = [(4, 22), *[(22, 22)] * 11, (22, 3)]
    assert cppn_tiles.fits(256 * 256, shapes, jnp.float32)
    assert not cppn_tiles.fits(100, shapes, jnp.float32)
    assert not cppn_tiles.fits(64 * 257, shapes, jnp.float32), "a prime number of tiles cannot be shared out"
    assert not cppn_tiles.fits(256, shapes, jnp.bfloat16)
    assert cppn_tiles.fits(48 * 48, [(4, 38), *[(38, 38)] * 32, (38, 3)], jnp.float32)
    assert not cppn_tiles.fits(256, [(4, 61), (61, 3)], jnp.float32)


def test_sine_and_cosine_are_exact_to_3e_7_up_to_a_thousand():
    x = np.concatenate([np.linspace(-1e3, 1e3, 100_001), np.linspace(-8, 8, 100_001), np.arange(-300, 300) * np.pi])
    x = x.astype(np.float32)
    sine, cosine = jax.jit(cppn_tiles.sine_and_cosine)(x)
    assert np.abs(sine - np.sin(x.astype(np.float64))).max() < 3e-7
    assert np.abs(cosine - np.cos(x.astype(np.float64))).max() < 3e-7
    far = np.asarray([1e5, 1e6, 1e7, 1e10, 1e20, 3e38], np.float32)
    assert all(np.abs(a).max() < 1.001 for a in cppn_tiles.sine_and_cosine(jnp.concatenate([far, -far])))


@pytest.mark.parametrize(("precision", "bits"), [(cppn_tiles.X3, 16), (cppn_tiles.X6, 24)])
def test_the_parts_of_a_number_add_up_to_it(precision, bits):
    draw = np.random.default_rng(0)
    numbers = (draw.normal(size=10_000) * 2.0 ** draw.integers(-60, 60, 10_000)).astype(np.float32)
    parts = cppn_tiles.parts(jnp.asarray(numbers), cppn_tiles.Kind((), channels, precision))
    assert all(part.dtype == jnp.bfloat16 for part in parts)
    assert np.all(np.abs(sum(np.asarray(part, np.float64) for part in parts) - numbers) <= 2.0**-bits * np.abs(numbers))


def for_cuda(function, *arguments) -> str:
    checks = [export.DisabledSafetyCheck.custom_call(name) for name in CALLS]
    return export.export(jax.jit(function), platforms=["cuda"], disabled_checks=checks)(*arguments).mlir_module()


@pytest.fixture(scope="module")
def cuda():
    """`for_cuda`, where this JAX translates a kernel for a GPU that is not there."""

    def double(x_ref, y_ref):
        y_ref[...] = 2 * x_ref[...]

    array = jax.ShapeDtypeStruct((64,), jnp.float32)
    try:
        for_cuda(pl.pallas_call(double, out_shape=array, compiler_params=triton.CompilerParams()), array)
    except Exception as error:
        pytest.skip(f"no kernel can be translated here: {error}")
    return for_cuda


@pytest.mark.parametrize("precision", [cppn_tiles.X3, cppn_tiles.X6, ROUNDED])
@pytest.mark.parametrize("text", ["12;cache:15,gaussian:4,identity:2,sin:1", "33;cache:17,cos:4,gaussian:9,tanh:8"])
def test_a_population_is_one_call_of_a_kernel_that_a_gpu_takes(cuda, text, precision):
    depth, mix = parse_mix(text)
    kind = cppn_tiles.Kind(tuple((UNITS[name], count) for name, count in mix), channels, precision)
    shapes = [
        w.shape for w in eqx.filter_eval_shape(lambda key: rc.CPPN(mix, depth, key=key), jax.random.key(0)).weights
    ]
    weights = [jax.ShapeDtypeStruct((5, *shape), jnp.float32) for shape in shapes]
    x, y = (jax.ShapeDtypeStruct((128 * 128, n), jnp.float32) for n in (4, 3))
    slopes = jax.value_and_grad(lambda w, x, y: cppn_loss.squared_error(w, x, y, kind))
    program = cuda(jax.vmap(slopes, in_axes=(0, None, None)), weights, x, y)
    assert sum(program.count(f"custom_call @{name}") for name in CALLS) == 1
    grids = re.findall(r"grid_x = (\d+) : i32, grid_y = (\d+) : i32", program)
    pixels = cppn_loss.LARGE if precision != cppn_tiles.X6 and sum(n for _, n in mix) <= 28 else cppn_tiles.TILE
    assert grids in ([], [(str(cppn_tiles.blocks(128 * 128 // pixels)), "5")])


@pytest.mark.parametrize("text", ["12;cache:15,gaussian:4,identity:2,sin:1", "33;cache:17,cos:4,gaussian:9,tanh:8"])
def test_changed_pictures_are_one_call_of_a_kernel_that_a_gpu_takes(cuda, text):
    depth, mix = parse_mix(text)
    kind, units = (
        cppn_tiles.Kind(tuple((UNITS[name], n) for name, n in mix), channels, cppn_tiles.X6),
        sum(n for _, n in mix),
    )
    shapes = [(depth + 2, units, units), (), (), (units, 64 * 64), (5, 64 * 64), (units, 5)]
    kinds = [jnp.float32, jnp.int32, jnp.int32, *[jnp.float32] * 3]
    given = [jax.ShapeDtypeStruct(*both) for both in zip(shapes, kinds, strict=True)]
    program = cuda(lambda m, a, b, sums, *push: cppn_sweep.colours(m, (a, b), sums, push, kind), *given)
    assert sum(program.count(f"custom_call @{name}") for name in CALLS) == 1


@pytest.mark.parametrize(
    ("tiles_of", "blocks"), [(1, 1), (4, 4), (32, 32), (64, 32), (128, 64), (512, 256), (4096, 256)]
)
def test_a_block_has_some_tiles_where_there_are_many(tiles_of, blocks):
    assert cppn_tiles.blocks(tiles_of) == blocks


def test_networks_on_a_gpu_are_trained_by_the_kernel_where_it_fits(cuda, monkeypatch):
    monkeypatch.setattr(cppn_tiles, "available", lambda: True)
    models = rc.initial_models(lambda key: rc.CPPN((("cache", 2), ("sin", 1)), 2, key=key), rc.member_keys(0, range(2)))

    def calls(pixels):
        x, y = (jax.ShapeDtypeStruct((1, pixels, n), jnp.float32) for n in (4, 3))
        error = jax.grad(lambda model, x, y: jax.vmap(model.squared_error)(x, y).mean())
        program = cuda(jax.vmap(error, in_axes=(0, None, None)), models, x, y)
        return sum(program.count(f"custom_call @{name}") for name in CALLS)

    assert calls(256) == 1
    assert calls(100) == 0
