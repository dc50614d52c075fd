"""Surfaces whose metric is known, and networks whose derivatives and energies JAX and NumPy compute another way."""

from __future__ import annotations

from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import recombine as rc
from recombine.bench import geometry
from recombine.measures.anova import anova_energies
from recombine.measures.tuning import tuning_shares
from recombine.recording.jacobians import Geometry, additive, layer_geometries, layer_geometry, tuning

SIZE = 8
decoder = partial(rc.CNNDecoder, 2 * SIZE, SIZE, width=3, depth=3)


class Drawer(eqx.Module):
    """Draws the true picture from two codes: no weights, one layer that repeats the input."""

    def __call__(self, x):
        across, down = jnp.split(x, 2)
        return jnp.outer(down, across), {"code": x}


class Plane(eqx.Module):
    """alpha = W x, a linear map of the codes, named so that the alphabet would turn the order round."""

    weight: jax.Array

    def __call__(self, x):
        return x, {"zeroth": self.weight @ x, "first": jnp.stack([x[0] - x[1], jnp.ones(())])}


def on_grid(model, encode, size: int = SIZE) -> dict[str, np.ndarray]:
    """All layers of a model at every cell, in double precision, indexed [x, y, units]."""
    v = jnp.arange(size, dtype=jnp.float32)
    cells = jax.vmap(lambda x: jax.vmap(lambda y: model(jnp.concatenate([encode(x), encode(y)])))(v))
    asked = jax.jit(cells)(v)
    layers = {**asked[1], "output": asked[0]}
    return {name: np.asarray(a, float).reshape(size, size, -1) for name, a in layers.items()}


@pytest.fixture(scope="module")
def network():
    return decoder(key=jax.random.key(0))


@pytest.fixture(scope="module")
def found(network) -> dict[str, Geometry]:
    return layer_geometry(network, rc.local_bump(SIZE), SIZE)


def test_the_code_and_the_true_pictures_have_their_exact_volumes():
    """Of bumps of width 1, far from the border: sum_k k^2 exp(-k^2), and for pictures that times sum_k exp(-k^2)."""
    found = layer_geometry(Drawer(), rc.local_bump(16), 16)
    far = (slice(6, 10), slice(6, 10))
    assert list(found) == ["code", "output"]
    assert found["code"].g.shape == (16, 16, 2, 2)
    units = np.arange(-20, 21)
    code, bump = np.sum(units**2 * np.exp(-(units**2.0))), np.sum(np.exp(-(units**2.0)))
    assert np.allclose(found["code"].g[far], code * np.eye(2), atol=1e-5)
    assert np.allclose(found["output"].g[far], code * bump * np.eye(2), atol=1e-5)
    assert np.allclose(rc.log_volume(found["code"].g[far]), -0.053, atol=1e-3)
    assert np.allclose(rc.log_volume(found["output"].g[far]), 0.196, atol=1e-3)


def test_finite_differences_agree_exactly_where_the_surface_is_a_plane():
    model = Plane(jax.random.normal(jax.random.key(0), (5, 2)))
    found = layer_geometry(model, rc.rate(flag=False), (4, 6))
    assert list(found) == ["zeroth", "first", "output"], "in the model's order"
    acts = on_grid(model, rc.rate(flag=False), 6)["zeroth"][:4]
    assert np.allclose(found["zeroth"].g, rc.metric(*rc.finite_differences(acts)), rtol=1e-5)
    assert np.allclose(found["output"].g, np.eye(2))
    assert all(additive(layer.energies) == 1.0 for layer in found.values())


def test_the_volume_survives_where_the_tangents_are_nearly_parallel():
    """d_x = (1, 0), d_y = (1, s) span s; a metric in single precision would lose it below 3e-4."""
    slant = 1e-5
    model = Plane(jnp.array([[1.0, 1.0], [0.0, slant]]))
    g = layer_geometry(model, rc.rate(flag=False), 3, keep=["zeroth"])["zeroth"].g
    assert np.allclose(rc.volume(g), slant, rtol=1e-4)
    assert np.allclose(g, 1.0)


def test_a_constant_layer_has_neither_volume_nor_shares():
    g, energies = layer_geometry(lambda x: (0 * x + 0.1, {}), rc.local_bump(5), 5)["output"]
    assert np.all(g == 0)
    assert np.all(energies == 0)
    assert np.isnan(additive(energies))
    assert np.isnan(tuning(energies).xy).all()


def test_the_metric_is_that_of_the_jacobian(network, found):
    encode = rc.local_bump(SIZE)

    @jax.jit
    def jacobians(z):
        y, acts = jax.jacfwd(lambda z: network(jnp.concatenate([encode(z[0]), encode(z[1])])))(z)
        return {**acts, "output": y}

    for x, y in ((0, 0), (3, 5), (7, 1)):
        for name, jacobian in jacobians(jnp.array([x, y], jnp.float32)).items():
            tangents = np.asarray(jacobian, float).reshape(-1, 2)
            assert np.allclose(found[name].g[x, y], tangents.T @ tangents, rtol=1e-4, atol=1e-9), name


@pytest.mark.parametrize("make", [decoder, partial(rc.MLPDecoder, 2 * SIZE, SIZE, width=8, depth=2)])
def test_energies_and_shares_are_those_of_the_activations(make):
    model = make(key=jax.random.key(0))
    found = layer_geometry(model, rc.local_bump(SIZE), SIZE)
    for name, acts in on_grid(model, rc.local_bump(SIZE)).items():
        energies = anova_energies(acts)
        wanted = np.stack([energies[parts] for parts in ((0,), (1,), (0, 1))])
        assert np.allclose(found[name].energies, wanted, rtol=1e-3, atol=1e-6 * wanted.max()), name
        assert additive(found[name].energies) == pytest.approx(rc.additive_share(acts), abs=1e-4)
        alive = wanted.sum(axis=0) > 1e-9
        assert np.allclose(tuning(found[name].energies).x[alive], tuning_shares(acts).x[alive], atol=1e-3)


def test_a_large_mean_does_not_drown_small_energies():
    """alpha = 100 + u v / 100 with u, v in [-1, 1]: all of its variance is interaction, 1e-9 of its square."""

    def model(x):
        return 100.0 + 0.01 * x[:1] * x[1:], {}

    (v_x, v_y, v_xy) = layer_geometry(model, rc.scaled_rate(SIZE, flag=False), SIZE)["output"].energies[:, 0]
    squares = np.linspace(-1, 1, SIZE) ** 2
    assert v_xy == pytest.approx(1e-4 * squares.mean() ** 2, rel=1e-2)
    assert max(v_x, v_y) < 1e-3 * v_xy


def test_members_of_a_population_are_measured_as_if_alone(network, found):
    models = jax.tree.map(lambda *a: jnp.stack(a), decoder(key=jax.random.key(5)), network)
    other, same = layer_geometries(models, rc.local_bump(SIZE), SIZE)
    assert all(np.allclose(same[name].g, found[name].g) for name in found)
    assert not np.allclose(other["output"].g, found["output"].g)


def test_what_has_no_derivative_is_refused(network):
    with pytest.raises(rc.UserError, match="discontinuous"):
        layer_geometry(network, rc.one_hot(SIZE), SIZE)


def test_a_layer_that_is_not_there_is_named_together_with_those_that_are(network):
    with pytest.raises(rc.UserError, match=r"no layer 'layer9'; it has layer0, .*, output"):
        layer_geometry(network, rc.local_bump(SIZE), SIZE, keep=["layer9"])


def test_an_empty_grid_is_refused(network):
    with pytest.raises(ValueError, match="must be a whole number of at least 1"):
        layer_geometry(network, rc.local_bump(SIZE), 0)


def test_all_rows_of_the_benchmark_find_the_same():
    """The loops, when they visit every cell, agree with the batch; differences agree in what is no derivative."""
    model = rc.CNNDecoder(8, 4, width=4, depth=2, key=jax.random.key(0))

    def done(row):
        work = row(model, 4)
        for cell in range(16):
            work.visit(cell)
        return work.conclude()

    batch, *loops, differences = (done(row) for row in geometry.ROWS.values())
    for name, (volumes, share) in batch.items():
        for volume, loop_share in (loop[name] for loop in loops):
            assert np.allclose(volumes, volume, rtol=1e-3, atol=1e-6 * volumes.max())
            assert share == pytest.approx(loop_share, abs=1e-4)
        assert share == pytest.approx(differences[name][1], abs=1e-4)
        assert not np.allclose(volumes, differences[name][0], rtol=1e-3)


def test_the_benchmark_tells_time_and_memory_of_a_row_in_a_process_of_its_own(monkeypatch):
    monkeypatch.setattr(geometry, "ROWS", {"batched": geometry.batched})
    told = geometry.measure(size=4, width=2, depth=2, points=99, repeats=1)
    assert told["cells"] == told["points_visited_by_the_loops"] == 16
    assert told["rows"]["batched"]["ratio"]["median"] == 1
    assert told["rows"]["batched"]["seconds"]["median"] > 0
    assert 0 < told["rows"]["batched"]["megabytes"] < 1000


@pytest.mark.slow
def test_the_whole_benchmark_runs():
    told = geometry.measure(size=4, width=2, depth=2, points=2, repeats=1)
    assert list(told["rows"]) == ["batched", "code_jacobians", "cell_jacobians", "differences"]
