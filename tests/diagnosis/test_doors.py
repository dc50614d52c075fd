"""Three doors, one diagnosis: arrays from dicts and files, JAX callables, PyTorch modules (where it is installed)."""

from __future__ import annotations

from itertools import product

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest

import recombine as rc
from recombine.diagnosis.from_jax import from_jax

SIZE = 6
Z = np.array(list(product(range(SIZE), repeat=2)))
PARTS = np.random.default_rng(0).normal(size=(2, SIZE, 4)).astype(np.float32)
X = np.concatenate([np.eye(SIZE, dtype=np.float32)[column] for column in Z.T], axis=1)
Y = PARTS[0][Z[:, 0]] * PARTS[1][Z[:, 1]]
SEEN = (Z.sum(axis=1) % SIZE) < 4
GIVEN = {"factors": {"a": Z[:, 0], "b": Z[:, 1]}, "trained": SEEN}


def composing(x):
    """The truth, with a layer of its own."""
    parts = [jnp.asarray(p) for p in PARTS]
    left, right = x[:SIZE] @ parts[0], x[SIZE:] @ parts[1]
    return left * right, {"z_first": jnp.concatenate([left, right]), "a_second": left * right}


def same(one, other) -> bool:
    return np.allclose(one, other)


def test_a_dict_a_record_and_files_give_one_diagnosis(tmp_path):
    arrays = {"z": Z, "trained": SEEN, "y": Y, "y_hat": Y, "x": X, "acts/hidden": X @ np.ones((12, 3))}
    np.savez(tmp_path / "mine.npz", **arrays)
    (tmp_path / "folder" / "acts").mkdir(parents=True)
    for name, values in arrays.items():
        np.save(tmp_path / "folder" / f"{name}.npy", values)
    record = rc.Record(Z, X, Y, Y, {"hidden": arrays["acts/hidden"]})
    doors = [arrays, tmp_path / "mine.npz", str(tmp_path / "folder")]
    found = [rc.diagnose(door) for door in doors] + [rc.diagnose(record, trained=SEEN)]
    assert {d.verdict for d in found} == {"composes"}
    assert len({str(d.numbers()["layers"]) for d in found}) == 1
    assert [layer.name for layer in found[0].layers] == ["input", "hidden", "output"]
    assert found[1].name == "mine"


def test_trained_may_be_a_list_of_combinations_with_words():
    words = np.array(["red", "green", "blue", "grey", "pink", "teal"])
    labels = {"colour": words[Z[:, 0]], "place": Z[:, 1]}
    rows = [(words[a], b) for a, b in Z[SEEN]]
    found = rc.diagnose({"y": Y, "y_hat": Y}, factors=labels, trained=rows)
    assert np.array_equal(found.evidence.trained, SEEN)
    assert found.verdict == "composes"


@pytest.mark.parametrize("returns", ["pair", "answer", "dict"])
def test_a_jax_callable_may_return_an_answer_a_pair_or_a_dict(returns):
    def model(x):
        y, acts = composing(x)
        return {"pair": (y, acts), "answer": y, "dict": {"logits": y, **acts}}[returns]

    found = rc.diagnose(model, (X, Y), **GIVEN)
    layers = [layer.name for layer in found.layers]
    assert found.verdict == "composes"
    assert layers == ["input", *([] if returns == "answer" else ["z_first", "a_second"]), "output"]


def test_layers_are_chosen_by_name_or_glob_in_the_models_order():
    found = rc.diagnose(composing, (X, Y), layers=["a_*", "z_first"], **GIVEN)
    assert [layer.name for layer in found.layers] == ["input", "z_first", "a_second", "output"]
    with pytest.raises(rc.UserError, match="no layer 'z_frist': did you mean 'z_first'"):
        rc.diagnose(composing, (X, Y), layers=["z_frist"], **GIVEN)


def test_dropout_of_an_equinox_model_is_off():
    class Noisy(eqx.Module):
        drop: eqx.nn.Dropout

        def __call__(self, x):
            return self.drop(composing(x)[0])

    model = Noisy(eqx.nn.Dropout(0.9))
    assert rc.diagnose(model, (X, Y), **GIVEN).verdict == "composes"
    assert not model.drop.inference


def test_a_model_that_cannot_take_one_example_is_told_so():
    with pytest.raises(rc.UserError, match="cannot take one example of shape"):
        rc.diagnose(lambda x: x @ jnp.ones((3, 2)), (X, Y), **GIVEN)


WRONG = {
    "a numpy function": (lambda x: np.tanh(np.asarray(x)), "give the PyTorch nn.Module itself, or arrays"),
    "a choice by value": (lambda x: x if x[0] > 0 else -x, "which JAX cannot trace"),
    "an error of its own": (lambda x: {}["weights"], "the model raised KeyError: 'weights'"),
    "a maker of models": (lambda width: object(), "a function that makes a model takes no argument"),
    "an output that is not there": (lambda x: {"y": x}, "no 'z': choose output= from y"),
}


@pytest.mark.parametrize(("model", "says"), WRONG.values(), ids=WRONG)
def test_one_line_says_what_a_jax_model_did_wrong(model, says):
    with pytest.raises(rc.UserError, match=says) as caught:
        rc.diagnose(model, (X, Y), output="z", **GIVEN)
    assert "\n" not in str(caught.value)


def test_a_model_without_layers_is_told_how_to_give_them():
    model = eqx.nn.MLP(2 * SIZE, 4, 8, 1, key=rc.key(0, "untrained"))
    assert any("return (y, {'name': activation" in note for note in rc.diagnose(model, (X, Y), **GIVEN).notes)
    with pytest.raises(rc.UserError, match="it has none by name"):
        rc.diagnose(model, (X, Y), layers=["layers.*"], **GIVEN)
    assert not rc.diagnose(composing, (X, Y), **GIVEN).notes


def test_geometry_is_exact_where_the_model_is_differentiable_in_the_factors():
    """x -> (x0^2, x0 x1) has the tangents (2 x0, x1) and (0, x0)."""
    z = np.random.default_rng(0).random((150, 2)).astype(np.float32)
    seen = ~np.all(z > 0.5, axis=1)

    def model(x):
        y = jnp.stack([x[0] ** 2, x[0] * x[1]])
        return y, {"square": y}

    y = np.stack([z[:, 0] ** 2, z[:, 0] * z[:, 1]], axis=1)
    e = from_jax(model, z, factors=z, trained=seen, targets=y)
    first = z[np.unique(e.of, return_index=True)[1]].astype(float)
    a, b = first.T
    wanted = np.stack([4 * a**2 + b**2, a * b, a * b, a**2], axis=1).reshape(-1, 2, 2)
    assert np.allclose(e.geometry["square"], wanted, atol=1e-4)
    by_code = from_jax(lambda x: model(x / 2), lambda z: 2 * z, factors=z, trained=seen, targets=y)
    assert np.allclose(by_code.geometry["output"], e.geometry["output"], atol=1e-4)


def test_half_precision_and_wide_layers_are_taken():
    def model(x):
        y, _ = composing(x)
        return y.astype(jnp.float16), {"wide": jnp.tile(x, 200).astype(jnp.bfloat16)}

    found = rc.diagnose(model, (X, Y), **GIVEN)
    assert found.verdict == "composes"
    assert any("512 random directions" in note for note in found.notes)
    assert [layer.units for layer in found.layers] == [12, 2400, 4]


def test_the_labs_own_networks_go_through_the_door():
    model = rc.MLPDecoder(2 * SIZE, 4, width=8, depth=1, key=rc.key(0, "untrained"))
    found = rc.diagnose(model, (X, np.zeros((36, 4, 4)) + Y[:, :, None]), **GIVEN)
    assert found.verdict == "cannot tell"
    assert [layer.name for layer in found.layers] == ["input", "layer0", "output"]


def test_a_flax_model_goes_through_the_door():
    nnx = pytest.importorskip("flax.nnx")

    class Small(nnx.Module):
        def __init__(self, rngs):
            self.linear, self.drop = nnx.Linear(12, 4, rngs=rngs), nnx.Dropout(0.5, rngs=rngs)

        def __call__(self, x):
            hidden = self.drop(self.linear(x))
            return hidden, {"hidden": hidden}

    model = Small(nnx.Rngs(0))
    one, two = (rc.diagnose(model, (X, Y), **GIVEN) for _ in range(2))
    assert same(one.evidence.answers.given, two.evidence.answers.given)
    assert not model.drop.deterministic


def test_a_population_is_compared_with_intervals_over_its_members():
    from recombine.diagnosis.report import over_models, page

    rng = np.random.default_rng(0)
    answers = [Y + 0.1 * rng.normal(size=Y.shape) for _ in range(4)]
    runs = [rc.diagnose({"z": Z, "trained": SEEN, "y": Y, "y_hat": y_hat}) for y_hat in answers]
    means = over_models(runs)
    assert all(i.low < i.value < i.high for i in means.values())
    assert "4 models" in page(runs)


def test_jax_is_not_needed_for_arrays():
    import subprocess
    import sys

    asks = (
        "import sys, numpy as np, recombine as rc; z = np.array([(a, b) for a in range(5) for b in range(5)]);"
        "y = np.random.default_rng(0).normal(size=(25, 3)); rc.diagnose({'z': z, 'trained': z.sum(1) % 5 < 3, 'y': y,"
        " 'y_hat': y}); print('jax' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", asks], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_four_examples_do_not_break_the_door():
    rows = np.flatnonzero(np.all(Z < 2, axis=1))
    found = rc.diagnose(composing, (X[rows], Y[rows]), factors=Z[rows], trained=np.ones(4, bool))
    assert found.verdict == "cannot tell"
