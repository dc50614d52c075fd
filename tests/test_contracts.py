"""One list a kind: whatever stands in it keeps the contract of its kind."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import recombine as rc

KEY = jax.random.key(0)
GRID = np.array([(x, y) for x in range(8) for y in range(8)])

TASKS = {
    "bumps": rc.bumps(8, rc.local_bump(8)),
    "dark bumps": rc.bumps(8, rc.one_hot(8), dark=True),
    "bumps with stripes": rc.stripes(rc.bumps(8, rc.local_bump(8))),
    "continuous bumps": rc.continuous_bumps(8, rc.local_bump(8)),
    "rotation": rc.rotation(),
}
SPLITS = {
    "square": rc.square(GRID, 2, 5),
    "corner": rc.corner(GRID, 4),
    "cross": rc.cross(GRID, 3, 4),
    "gap": rc.gap(GRID, 2, 5),
    "random": rc.random_fraction(GRID, 0.3, KEY),
    "percent": rc.percent(rc.square(GRID, 2, 5), 40, KEY),
    "narrowed": rc.narrow(rc.square(GRID, 2, 5), rc.sample(np.ones(64, bool), 40, KEY)),
}
ENCODINGS = {
    "one-hot": rc.one_hot(8),
    "local bump": rc.local_bump(8),
    "wide bump": rc.local_bump(8, multiplier=9.0),
    "padded bump": rc.padded_bump(8),
    "positional": rc.positional(8),
    "rate": rc.rate(),
    "scaled rate": rc.scaled_rate(8),
}
MODELS = {
    "cnn": (rc.CNNDecoder(16, 8, width=3, depth=3, key=KEY), 16),
    "mlp": (rc.MLPDecoder(16, 8, width=4, depth=2, key=KEY), 16),
    "pixels": (rc.PixelMLP(16, 8, width=8, depth=2, key=KEY), 16),
    "rendering": (rc.Rendering(8, channels=2, depth=2, key=KEY), 16),
    "transformer": (rc.TransformerDecoder(16, 8, width=8, depth=2, heads=2, key=KEY), 16),
}
# A measure, and whether it must rise (+1) or fall (-1) from a memoriser to a perfect solver in the hole.
MEASURES = {
    "mse": (rc.mse, -1),
    "nmse": (rc.nmse, -1),
    "peak accuracy": (rc.peak_accuracy, +1),
    "misplacement": (lambda r: float(rc.misplacement(r).mean()), -1),
}


@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
def test_a_task_samples_one_combination_as_a_pure_function_of_its_key(task):
    z = jnp.asarray(task.combinations)
    x, y = task.sample(z[3], KEY)
    again = task.sample(z[3], KEY)
    assert jnp.array_equal(x, again[0])
    assert jnp.array_equal(y, again[1])
    xs, ys = jax.vmap(task.sample)(z, jax.random.split(KEY, len(z)))
    assert xs.shape == (len(z), *x.shape)
    assert ys.shape == (len(z), *y.shape)
    assert jnp.isfinite(xs).all()
    assert jnp.isfinite(ys).all()
    assert len(np.unique(np.asarray(ys).reshape(len(z), -1), axis=0)) == len(z), "every combination must matter"


@pytest.mark.parametrize("split", SPLITS.values(), ids=SPLITS)
def test_a_split_leaves_something_to_train_on_and_something_to_hold_out(split):
    assert split.train.shape == (len(GRID),)
    assert 0 < split.train.sum() < len(GRID)
    assert 0 <= split.coverage(2) <= split.coverage(1) <= 1


@pytest.mark.parametrize("encode", ENCODINGS.values(), ids=ENCODINGS)
def test_an_encoding_tells_values_apart_and_says_nothing_of_an_absent_part(encode):
    codes = np.stack([encode(jnp.asarray(v)) for v in range(8)])
    assert len(np.unique(codes.round(5), axis=0)) == 8
    assert not np.any(encode(jnp.asarray(rc.ABSENT)))


@pytest.mark.parametrize(("model", "inputs"), MODELS.values(), ids=MODELS)
def test_a_model_maps_one_example_and_names_its_activations(model, inputs):
    y, acts = model(jnp.ones(inputs))
    assert jnp.isfinite(y).all()
    assert acts
    assert all(isinstance(name, str) for name in acts)
    ys, many = jax.vmap(model)(jnp.ones((3, inputs)))
    assert ys.shape == (3, *y.shape)
    assert all(many[name].shape == (3, *a.shape) for name, a in acts.items())


@pytest.mark.parametrize(("measure", "direction"), MEASURES.values(), ids=MEASURES)
def test_a_measure_tells_a_perfect_solver_from_a_memoriser_in_the_hole(measure, direction):
    perfect = rc.truth(TASKS["bumps"], GRID, key=KEY)
    hole = SPLITS["square"].held_out
    memory = rc.nearest_memory(perfect, ~hole)
    assert direction * (measure(perfect.where(hole)) - measure(memory.where(hole))) > 0
