"""A slip in a call is answered by one sentence that says what is wrong and what to write."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
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
    r"R\^2 compares numbers of one shape": (ValueError, lambda: r2(np.zeros(4), np.zeros((4, 1)))),
}


@pytest.mark.parametrize(("says", "slip"), SLIPS.items(), ids=SLIPS)
def test_a_slip_is_answered_by_a_sentence(says, slip):
    kind, call = slip
    with pytest.raises(kind, match=says):
        call()


PICTURES = rc.Record(Z, Z, np.zeros((16, 4, 4)), np.zeros((16, 4, 4)))
FLAT = rc.Record(np.arange(16), Z, PICTURES.y, PICTURES.y)
TABLE = pd.DataFrame({"system": "network", "seed": range(6), "a": np.arange(6.0)})
RNG = np.random.default_rng(0)
ROWS = np.arange(8.0).reshape(4, 2)
CUBE = np.array(list(np.ndindex(2, 2, 2)))
NAN = float("nan")
A: Any = rc  # what is called with the wrong types on purpose


def claim(effect: Any = None, **more: Any) -> rc.Claim:
    bounds: dict[str, Any] = {"above": 0.0} | more
    return rc.Claim("c", "says", "where", effect or rc.value("a"), **bounds)


def teacher(**more: Any) -> rc.Task:
    call: dict[str, Any] = {
        "modules": 3,
        "max_active": 2,
        "inputs": 2,
        "hidden": (2,),
        "outputs": 2,
        "samples": 2,
        "key": KEY,
    }
    return rc.hyperteacher(**(call | more))


def truth_of(sample: Any) -> rc.Record:
    return rc.truth(rc.Task("t", Z, sample), Z, key=KEY)


def penalised() -> Any:
    recipe = rc.Recipe(1, penalty=rc.weighted())
    return rc.population(TASK, rc.square(Z, 1, 2), lambda key: rc.Rendering(4, key=key), KEYS, recipe)


# What is said, and what was written: every sentence names the argument, what it was, and what it must be.
SENTENCES: dict[str, Callable[[], Any]] = {
    # nouns
    "combinations must be distinct": lambda: rc.Task("t", np.zeros((2, 2), int), TASK.sample),
    r"t: combinations must be distinct rows.*\(0, 2\)": lambda: rc.Task("t", Z[:0], TASK.sample),
    r"sample is a function of \(z, key\), got 3": lambda: A.Task("t", Z, 3),
    r"combinations are rows over parts.*shape \(3,\)": lambda: rc.Split(np.arange(3), np.ones(3, bool)),
    "world counts leading columns of 2, got 5": lambda: rc.Split(Z, Z[:, 0] > 1, world=5),
    "k must be a whole number of at least 1, got -1": lambda: rc.square(Z, 1, 2).coverage(-1),
    "lengths {'z': 16, 'x': 3, 'y': 16, 'y_hat': 16}": lambda: rc.Record(Z, Z[:3], Z, Z),
    'acts are arrays by name, {"layer0": h}; got a list': lambda: A.Record(Z, Z, Z, Z, [Z]),
    "examples of z in a record must have one shape": lambda: A.Record([[0], [1, 2]], [0, 1], [0, 1], [0, 1]),
    "y of a record must hold numbers, got an array of <U1": lambda: A.Record([0], [0], ["a"], ["a"]),
    "got object.*: write split.train": lambda: A.memory_superposition(PICTURES, rc.square(Z, 1, 2)),
    "above of the claim 'c' must be a number, got '0.5'": lambda: claim(above="0.5"),
    "above of the claim 'c' must be a number, got nan": lambda: claim(above=NAN),
    "effect of 'c' is a function of a table": lambda: claim("a"),
    "write preconditions=": lambda: claim(preconditions=rc.Check("x", len)),
    "asks for at least 2 and at most 1": lambda: rc.Check("x", len, at_least=2, at_most=1),
    # keys
    "a seed must be a whole number from 0 on, got 0.5": lambda: A.key(0.5, "test"),
    "a seed must be a whole number from 0 on, got -1": lambda: rc.rng(-1, "test"),
    "words and whole numbers from 0 on, got 0.5": lambda: A.key(0, 0.5),
    "there are no members": lambda: rc.member_keys(0, []),
    r"whole, from 0 on; got \[-1\]": lambda: rc.member_keys(0, [-1]),
    # tasks, encodings, interventions
    "size must be a whole number of at least 1, got -3": lambda: rc.bumps(-3, rc.rate()),
    "encode gives the vector of one value.*; got 'rate'": lambda: A.bumps(4, "rate"),
    "encode gives the vector of one value.*one_hot": lambda: A.bumps(4, rc.one_hot),
    r"encode gives the vector of one value.* gives \(\)": lambda: rc.bumps(4, lambda v: v * 1.0),
    "sigma, the width of a bump, must be a number above 0, got 0": lambda: rc.bumps(4, rc.rate(), sigma=0),
    "a picture to rotate is square": lambda: rc.rotation(np.zeros((0, 0))),
    "points must be a whole number": lambda: A.sum_of_parts(2, points=2.5),
    "inputs must be a whole number of at least 1, got 0": lambda: teacher(inputs=0),
    r"hidden\[0\] must be a whole number of at least 1, got 0": lambda: teacher(hidden=(0,)),
    "hidden holds the width of each hidden layer.*; got 4": lambda: teacher(hidden=4),
    "encode is one of recombine.task_encodings.*; got 'identity'": lambda: teacher(encode="identity"),
    "law is a function.*; got 'khot'": lambda: teacher(law="khot"),
    "key must be one random key.*recombine.key.*; got 0": lambda: teacher(key=0),
    "features must be a whole number": lambda: rc.preferences(features=0, key=KEY),
    "a cell each, and there are 19, got 30": lambda: rc.preferences(objects=30, key=KEY),
    "walks were expected": lambda: rc.step_accuracy(PICTURES),
    "target pictures are arrays": lambda: rc.picture([np.zeros((4, 4, 3)), np.zeros((5, 5, 3))]),
    "size must be a whole number of at least 1, got 0": lambda: rc.one_hot(0),
    "size must be a whole number of at least 1, got '4'": lambda: A.positional("4"),
    "a bump needs a width above 0, got sigma '1'": lambda: A.local_bump(4, "1"),
    "margin must be a whole number from 0 on": lambda: rc.padded_bump(4, margin=-3),
    "absent is a function": lambda: A.padded_bump(4, absent="silent"),
    "stripes are added to a recombine.Task": lambda: A.stripes(Z),
    "a ramp rises from its start to a later point, got 'a'": lambda: A.Ramp("a", 1),
    "a ramp is a function of progress": lambda: A.weighted(0.1),
    # splits
    "as task.combinations or some of its rows; got a Task": lambda: A.square(TASK, 1, 2),
    "nothing is trained on: every combination has parts from 0 on": lambda: rc.corner(Z, 0),
    "the held-out fraction must be in .*, got '0.5'": lambda: A.random_fraction(Z, "0.5", KEY),
    "key must be one random key.*; got 7": lambda: A.random_fraction(Z, 0.5, 7),
    "1 percent of 12 training combinations is less than one": lambda: rc.percent(rc.square(Z, 1, 2), 1, KEY),
    "split must be a recombine.Split, got a ndarray": lambda: A.narrow(Z[:, 0] > 1, Z[:, 0] > 1),
    "cannot draw -1 combinations from 8": lambda: rc.sample(Z[:, 0] > 1, -1, KEY),
    "cannot draw 2.5 combinations from 8": lambda: A.sample(Z[:, 0] > 1, 2.5, KEY),
    "some of its rows; got a Split": lambda: A.supports.popular(rc.square(Z, 1, 2), 0.3, KEY),
    "fraction must be in .*, got nan": lambda: rc.supports.disconnected(CUBE, NAN, KEY),
    # models
    "width must be a whole number of at least 1, got -1": lambda: rc.MLPDecoder(4, 4, width=-1, key=KEY),
    "inputs must be a whole number of at least 1, got 2.5": lambda: A.CNNDecoder(2.5, 4, width=4, depth=2, key=KEY),
    "heads must be a whole number of at least 1, got 0": lambda: rc.TransformerDecoder(4, 4, heads=0, key=KEY),
    "outputs must be a whole number of at least 1, got 0": lambda: rc.StudentMLP(4, 0, key=KEY),
    "code must be a whole number of at least 1, got 0": lambda: rc.Hypernetwork(0, 4, 2, key=KEY),
    "inner must be a whole number of at least 1, got -1": lambda: rc.InContextTransformer(4, 4, 2, inner=-1, key=KEY),
    "rank must be a whole number of at least 1, got 0": lambda: rc.Rendering(4, rank=0, key=KEY),
    "channels holds how many": lambda: A.CNNEncoder(4, 4, channels=3, key=KEY),
    "depth must be a whole number of at least 1, got 0": lambda: rc.PixelMLP(4, 4, depth=0, key=KEY),
    "key must be one random key.*; got 3": lambda: A.MLPDecoder(4, 4, key=3),
    r"key must be one random key.*; got an array of shape \(2,\)": lambda: rc.MLPDecoder(4, 4, key=KEYS),
    "a mix is pairs of unit type and count.*; got '12;cos:2'": lambda: A.CPPN("12;cos:2", 1, key=KEY),
    # train
    "make takes a random key.*; got a Net": lambda: A.population(TASK, rc.square(Z, 1, 2), net(), KEYS, STEP),
    "make takes a random key.*'size'": lambda: A.population(TASK, rc.square(Z, 1, 2), rc.MLPDecoder, KEYS, STEP),
    "task must be a recombine.Task, got a ndarray": lambda: A.population(Z, rc.square(Z, 1, 2), net, KEYS, STEP),
    "0 splits for 2 keys": lambda: rc.population(TASK, [], lambda key: net(), KEYS, STEP),
    "must be made from its own": lambda: A.population(rc.stripes(TASK), rc.square(Z, 1, 2), net, KEYS, STEP),
    "without training combinations": lambda: A.population(TASK, rc.Split(Z, Z[:, 0] > 9), net, KEYS, STEP),
    "'learning_rate' is a number, .*; got '1e-3'": lambda: train(dials={"learning_rate": "1e-3"}),
    "'learning_rate' is a number, .*; got nan": lambda: train(dials={"learning_rate": NAN}),
    "one for each of 2 networks": lambda: train(dials={"learning_rate": [1e-3] * 3}),
    "'learning_rate' must not be negative, got -1": lambda: train(dials={"learning_rate": -1}),
    "dials are numbers by name.*; got 0.001": lambda: train(dials=1e-3),
    "optimiser makes one of .*; got 'adamw'": lambda: A.Recipe(1, optimiser="adamw"),
    "makes an optax transformation of .*, got 3": lambda: train(recipe=A.Recipe(1, optimiser=lambda dials, steps: 3)),
    "loss is a function of": lambda: A.Recipe(1, loss="mse"),
    r"loss of a batch is one number, this one has shape \(32, 4, 4\)": lambda: train(
        recipe=rc.Recipe(1, loss=lambda y_hat, y: y_hat - y)
    ),
    "penalty is a function.*; got 0.1": lambda: A.Recipe(1, penalty=0.1),
    r"until is a loss, or a tuple of losses; got \[0.1\]": lambda: A.Recipe(1, until=[0.1]),
    "needs dials for its weights; entropy, variance is missing": penalised,
    # record
    "a combination of bumps 4x4 has 2 parts, got rows of 5": lambda: rc.truth(TASK, np.zeros((3, 5), int), key=KEY),
    "key must be one random key.*; got 1": lambda: A.truth(TASK, Z, key=1),
    "task must be a recombine.Task": lambda: A.truth(Z, Z, key=KEY),
    r"must give two arrays \(x, y\).*; it gives one array": lambda: truth_of(lambda z, key: z),
    r"must give two arrays \(x, y\).*: .*argument": lambda: truth_of(lambda z: z),
    "record must be a recombine.Record, got a Net": lambda: A.save_record(net(), "nowhere.npz"),
    "a pair with one for each; got": lambda: A.layer_geometry(net(), rc.local_bump(4), (4, 4, 4)),
    r"returns \(y, activations\), an array and a dict": lambda: rc.layer_geometry(net(alone=True), rc.local_bump(4), 4),
    "together 10 numbers": lambda: rc.layer_geometry(net(), rc.local_bump(5), 4),
    # measures
    "reads one recombine.Record, got a list": lambda: A.mse([PICTURES]),
    "number of one of 16 examples, got 99": lambda: rc.blind(PICTURES, 99),
    r"z of this record must be rows over parts.*\(16,\)": lambda: rc.superposition(FLAT, Z[:, 0] > 1),
    "must be rows over parts": lambda: rc.memory_superposition(FLAT, Z[:, 0] > 1),
    "whole parts from 0 on; z is float64": lambda: rc.error_map(vectors(Z + 0.5)),
    "zero everywhere": lambda: rc.nmse(PICTURES),
    r"sums, y and y_hat must have one shape, got \(15, 4, 4\)": lambda: rc.superposition_score(
        PICTURES, np.zeros((15, 4, 4)), RNG
    ),
    "rng must be a NumPy generator.*; got 0": lambda: A.superposition_score(PICTURES, PICTURES.y, 0),
    r"the same row, of one length; got \(3, 2\) and \(3, 4\)": lambda: rc.pearson(np.ones((3, 2)), np.ones((3, 4))),
    r"whose first axis counts them, got shape \(3,\)": lambda: rc.pearson(np.ones(3), np.ones(3)),
    "got 2 and 4 pixels": lambda: rc.cosine_matrix(np.ones((3, 2)), np.ones((3, 4))),
    "sigma, the width of a match, must be a number above 0, got 0": lambda: rc.near(0),
    "of 2 and of 1 parts cannot be matched": lambda: rc.or_kernel(Z, Z[:, :1], rc.near(1.0)),
    "match is a function of differences": lambda: A.and_kernel(Z, Z, 1.0),
    "two matrices of one shape can agree": lambda: rc.agreement(np.eye(3), np.eye(4)),
    r"one axis for each of 2 parts, and then units; got \(3,\)": lambda: rc.additive_share(np.arange(3.0)),
    "blocks are tuples of parts": lambda: A.additive_share(np.zeros((2, 2)), (0, 1)),
    "one row of activations per row of targets": lambda: rc.decodability(ROWS, ROWS[:3], ROWS, ROWS),
    r"and one at least; got float64\(0, 2\)": lambda: rc.decodability(ROWS[:0], ROWS[:0], ROWS, ROWS),
    "fitted on 2 units.*asked of 1": lambda: rc.decodability(ROWS, ROWS, ROWS[:, :1], ROWS),
    "targets of a probe must be finite": lambda: rc.decodability(ROWS, ROWS * NAN, ROWS, ROWS),
    "penalty, the weight of .*, must be above 0, got -1": lambda: rc.decodability(ROWS, ROWS, ROWS, ROWS, penalty=-1),
    "strength, the ridge .*, must be above 0, got 0": lambda: rc.held_out_r2(ROWS, ROWS, ROWS[:, 0] > 2, 0),
    r"two values or more, got shape \(3,\)": lambda: rc.finite_differences(np.zeros(3)),
    "tangents are arrays": lambda: rc.metric(np.zeros((3, 2)), np.zeros((4, 2))),
    r"\(..., parts, parts\); got shape \(2, 3\)": lambda: rc.volume(np.zeros((2, 3))),
    r"\(..., parts, parts\); got shape \(3,\)": lambda: rc.factorisation(np.arange(3.0)),
    r"values \(\) for 16 examples": lambda: A.on_grid(PICTURES, 3.0),
    "a row and a column for each": lambda: rc.schmidt_values(np.eye(17), Z),
    "has no Schmidt decomposition": lambda: rc.schmidt_values(np.full((16, 16), NAN), Z),
    # table and claims
    "seeds must be a whole number of at least 1, got 0": lambda: rc.cells(SimpleNamespace(seeds=0)),
    "seeds must be a whole number of at least 1, got None": lambda: rc.cells(SimpleNamespace()),
    "a population of 2 has 1 meta and 2 measured": lambda: rc.rows(
        Run(None, np.zeros((2, 1)), np.full(2, -1)), [{}], [{}, {}]
    ),
    "an interval needs two effects or more": lambda: rc.interval(np.ones(1)),
    "and a confidence between 0 and 1": lambda: rc.interval(np.arange(3.0), 95),
    "table must be a pandas DataFrame.*, got a list": lambda: A.judge([{}], claim()),
    "effect of the claim 'c' must give a pandas Series.*; got a float": lambda: rc.judge(TABLE, claim(lambda t: 3.0)),
    r"judge_all\(table, \[claim\]\)": lambda: A.judge_all(TABLE, claim()),
}


@pytest.mark.parametrize(("says", "call"), SENTENCES.items(), ids=SENTENCES)
def test_a_wrong_value_is_refused_where_it_enters(says, call):
    with pytest.raises((ValueError, TypeError), match=says) as found:
        call()
    assert "\n" not in str(found.value)


COLUMNS: dict[str, Callable[[], Any]] = {
    "seed": lambda: rc.by_seed(TABLE.drop(columns="seed"), "a"),
    "system": lambda: rc.networks(TABLE.drop(columns="system")),
    "depth": lambda: rc.each_of("depth", rc.value("a"))(TABLE),
    "error": lambda: rc.correlation_by_seed("a", "error")(TABLE),
    "goal": lambda: rc.grouped_correlation(TABLE, "goal", "a", "a"),
}


@pytest.mark.parametrize(("column", "call"), COLUMNS.items(), ids=COLUMNS)
def test_a_column_that_is_not_there_is_named(column, call):
    with pytest.raises(KeyError, match=f"no column is called '{column}'"):
        call()


def test_activations_that_are_not_finite_have_no_decodability():
    """A network that diverged is no slip: its measures are NaN, and the others of a population keep theirs."""
    train, broken = np.array([True, False, True, False]), np.where(ROWS == 0, np.inf, ROWS)
    assert np.isnan(rc.held_out_r2(broken, ROWS, train))
    assert np.isnan(rc.decodability(broken, ROWS, ROWS, ROWS))
    assert np.isnan(rc.decodability(ROWS, ROWS, broken, ROWS))


def test_a_model_of_another_shape_is_not_read(tmp_path):
    rc.save_model(net(), tmp_path / "model.safetensors")
    with pytest.raises(rc.UserError, match=r"weight has shape \(8, 4, 4\) in .* and \(8, 5, 5\) in the model"):
        rc.load_model(net(size=5), tmp_path / "model.safetensors")


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
