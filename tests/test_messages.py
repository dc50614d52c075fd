"""A slip in a call is answered by one sentence that says what is wrong and what to write."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import recombine as rc
from recombine.measures.memory import box_share, cross_share
from recombine.measures.probe import r2
from recombine.measures.regression import r2_by_unit, r2_pooled
from recombine.train.population import Run

KEYS = rc.member_keys(0, range(2))
TASK = rc.bumps(4, rc.one_hot(4))
Z = TASK.combinations
KEY = jax.random.key(0)
STEP = rc.Recipe(1)


class Net(eqx.Module):
    """A picture that is linear in x, with a bias."""

    weight: jax.Array
    bias: jax.Array
    alone: bool = eqx.field(static=True)

    def __call__(self, x: jax.Array) -> Any:
        y = jnp.tensordot(x, self.weight, axes=1) + self.bias
        return y if self.alone else (y, {"layer0": y, "layer1": y})


def net(*axes: int, inputs: int = 8, size: int = 4, alone: bool = False) -> Net:
    """One network, or so many stacked."""
    return Net(jnp.ones((*axes, inputs, size, size)), jnp.zeros((*axes, size, size)), alone)


def train(model: Net | None = None, **more: Any) -> Any:
    call: dict[str, Any] = {"keys": KEYS, "recipe": STEP} | more
    return rc.population(TASK, rc.square(Z, 1, 2), lambda key: model or net(), **call)


def recorded(models: Any, **more: Any) -> Any:
    return rc.records(models, TASK, Z, key=KEY, **more)


def vectors(z: np.ndarray = Z) -> rc.Record:
    return rc.Record(z, Z, np.zeros((16, 3)), np.zeros((16, 3)))


SLIPS: dict[str, tuple[type[Exception], Callable[[], Any]]] = {
    r"a network returns \(y, activations\).* one array of shape \(4, 4\)": (TypeError, lambda: train(net(alone=True))),
    r"returns \(y, activations\)": (TypeError, lambda: recorded(net(2, alone=True))),
    r"member_keys\(0, range\(8\)\)": (TypeError, lambda: rc.member_keys(0, 8)),  # pyrefly: ignore
    "one per network": (TypeError, lambda: train(keys=[0, 1, 2])),
    "keys are random keys": (TypeError, lambda: train(keys=KEY)),
    "the numbers of members are whole": (TypeError, lambda: rc.member_keys(0, [0.5])),  # pyrefly: ignore
    "fit takes one random key": (TypeError, lambda: rc.fit(TASK, rc.square(Z, 1, 2), lambda key: net(), KEYS, STEP)),
    "a split is a recombine.Split": (TypeError, lambda: rc.population(TASK, Z[:, 0] > 1, net, KEYS, STEP)),  # pyrefly: ignore
    "rows over parts": (ValueError, lambda: rc.record(net(), TASK, Z[:, 0], key=KEY)),
    r"keep=\('layer0',\)": (rc.UserError, lambda: recorded(net(2), keep="layer0")),
    "of a run give its .model": (TypeError, lambda: recorded(Run(net(2), np.zeros(1), np.zeros(1)))),
    "counts its examples": (ValueError, lambda: rc.Record(1, 2, 3, 4)),  # pyrefly: ignore
    "two parts in every example": (ValueError, lambda: rc.error_map(vectors(Z - 1))),
    "one row of activations per row of targets": (ValueError, lambda: rc.held_out_r2(Z[:4], Z, Z[:, 0] > 1)),
    "this is one network, not a population": (ValueError, lambda: recorded(net())),
    "one network is asked by recombine.record": (ValueError, lambda: recorded(net(inputs=4))),
    r"make a recombine.Record": (TypeError, lambda: recorded(lambda x: x)),
    r"cannot take one example of shape \(8,\)": (ValueError, lambda: train(net(inputs=6))),
    r"cannot take one example of shape \(8,\), without": (ValueError, lambda: recorded(net(2, inputs=6))),
    r"answers with shape \(5, 5\) where the y of bumps 4x4 has shape \(4, 4\)": (
        ValueError,
        lambda: train(net(size=5)),
    ),
    "the same axes|one shape": (ValueError, lambda: rc.mse(recorded(net(2, size=5))[0])),
    r"whole numbers of at least 1, got \(-5, 32, 20\)": (ValueError, lambda: rc.Recipe(steps=-5)),
    r"a recipe is a recombine.Recipe\(steps=...\), got 500": (TypeError, lambda: train(recipe=500)),
    "no layer 'layerX'; it has layer0, layer1": (rc.UserError, lambda: recorded(net(2), keep=("layerX",))),
    r"nothing is held out: no combination has parts 30\.\.40; parts are 0\.\.3": (
        ValueError,
        lambda: rc.square(Z, 30, 40),
    ),
    "no combination has parts from 4 on": (ValueError, lambda: rc.corner(Z, 4)),
    "no combination has parts between 1 and 2": (ValueError, lambda: rc.gap(Z, 1, 2)),
    r"pairs \(x, y\) and pictures were expected": (ValueError, lambda: rc.peak_accuracy(vectors())),
    "one value per example": (ValueError, lambda: rc.on_grid(vectors(), np.zeros(15))),
    "equally long, got z 16, x 16, y 15, y_hat 16": (
        ValueError,
        lambda: rc.Record(Z, Z, np.zeros((15, 3)), np.zeros((16, 3))),
    ),
    r"rows over parts, got shape \(16,\): write z": (ValueError, lambda: vectors(Z[:, 0])),
    "the combinations of a split must be rows": (ValueError, lambda: rc.Split(Z[:, 0], Z[:, 0] > 1)),
    "acts names the activations of each layer": (TypeError, lambda: rc.Record(Z, Z, Z, Z, Z)),  # pyrefly: ignore
    "the dial learning_rate is one number or one per network, 2 here": (
        ValueError,
        lambda: train(dials={"learning_rate": np.ones(3)}),
    ),
    r"write lambda key: Net\(..., key=key\)": (
        TypeError,
        lambda: rc.population(TASK, rc.square(Z, 1, 2), net(), KEYS, STEP),  # pyrefly: ignore
    ),
    "local bump 8 has no unit for the place 15": (ValueError, lambda: rc.bumps(16, rc.local_bump(8))),
    "none is held out": (ValueError, lambda: rc.held_out_r2(Z.astype(float), Z, np.ones(16, bool))),
    "holds nothing out": (ValueError, lambda: rc.interior(rc.Split(Z, np.ones(16, bool)), 1)),
    "the interior is empty: no combination is farther than 1": (
        ValueError,
        lambda: rc.interior(rc.square(Z, 1, 2), 30),
    ),
    "a bound of the claim 'c' is a number, got '1'": (
        TypeError,
        lambda: rc.Claim("c", "says", "where", rc.value("x"), above="1"),  # pyrefly: ignore
    ),
    r"R\^2 compares numbers of one shape": (ValueError, lambda: r2(np.zeros(4), np.zeros((4, 1)))),
}


@pytest.mark.parametrize(("says", "slip"), SLIPS.items(), ids=SLIPS)
def test_a_slip_is_answered_by_a_sentence(says, slip):
    kind, call = slip
    with pytest.raises(kind, match=says):
        call()


MASKED: dict[str, Callable[[Any], Any]] = {
    "held_out_r2": lambda mask: rc.held_out_r2(Z.astype(float), Z, mask),
    "nearest_memory": lambda mask: rc.nearest_memory(vectors(), mask),
    "superposition": lambda mask: rc.superposition(vectors(), mask),
    "memory_superposition": lambda mask: rc.memory_superposition(vectors(), mask),
    "hole_depth": lambda mask: rc.hole_depth(np.zeros(16), mask, mask),
    "agreement": lambda mask: rc.agreement(np.eye(16), np.eye(16), rows=mask),
}
SPLITTING: dict[str, Callable[[Any], Any]] = {
    "Split": lambda mask: rc.Split(Z, mask),
    "narrow": lambda mask: rc.narrow(rc.square(Z, 1, 2), mask),
    "usage": lambda mask: rc.supports.usage(Z, mask),
}
EVERY = MASKED | SPLITTING | {"where": lambda mask: vectors().where(mask)}
MEASURES = (rc.mse, rc.nmse, rc.error_map, rc.peak_accuracy, rc.peak_map, r2_by_unit, r2_pooled, cross_share, box_share)


@pytest.mark.parametrize("call", EVERY.values(), ids=EVERY)
def test_whole_numbers_are_no_mask(call):
    ones = rc.square(Z, 1, 2).train.astype(int)
    with pytest.raises(ValueError, match=r"an array of booleans.*: write mask.astype\(bool\)"):
        call(ones)
    with pytest.raises(ValueError, match=r"an array of booleans of shape \(16,\), got int64\(2,\)$"):
        call(np.array([3, 5]))


@pytest.mark.parametrize("call", MASKED.values(), ids=MASKED)
def test_an_empty_selection_is_refused(call):
    with pytest.raises(ValueError, match="this mask selects none of 16"):
        call(np.zeros(16, bool))


@pytest.mark.parametrize("measure", MEASURES)
def test_nothing_is_measured_on_a_record_without_examples(measure):
    with pytest.raises(ValueError, match="did a mask select none"):
        measure(recorded(net(2))[0].where(np.zeros(16, bool)))


def test_files_may_be_named_by_text(tmp_path):
    record, model = recorded(net(2), keep=("layer0",))[0], net()
    rc.save_record(record, f"{tmp_path}/record.npz")
    assert np.array_equal(rc.load_record(f"{tmp_path}/record.npz").acts["layer0"], record.acts["layer0"])
    rc.save_model(model, f"{tmp_path}/model.safetensors")
    assert eqx.tree_equal(rc.load_model(model, f"{tmp_path}/model.safetensors"), model)
