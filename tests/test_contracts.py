"""One list per kind: what stands in it keeps the contract of its kind, and every module of the package stands in it.

A case is named after its module: "bumps", or "bumps: dark" for a second one of the same module. The list of models is
in `tests/models/test_model_contract.py`.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from pkgutil import iter_modules

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import recombine as rc
from recombine.measures import (
    additive,
    agreement,
    anova,
    bands,
    complexity,
    cp,
    gap,
    geometry,
    grid,
    identify,
    memory,
    mixture,
    nodes,
    pairs,
    pf,
    prediction,
    probe,
    ridge,
    schmidt,
    similarity,
    spectrum,
    tokens,
    tuning,
)
from recombine.splits import chains as chain_splits
from recombine.splits import coverage
from recombine.tasks import calls, chains, conjunctions, houses, multiplication, scan, subsequence
from recombine.tasks.modules import masks

KEY = jax.random.key(0)
GRID = np.array([(x, y) for x in range(8) for y in range(8)])
MASKS = masks(8, 2)
PARTS = {
    "tasks": {
        "mnist": "loads a digit",
        "modules": "masks and magnitudes that two families share",
        "tokens": "what families of tokens share",
    },
    "measures": {
        "controls": "the systems that measures are tried on",
        "recall": "what memories answer, to compare with",
    },
}
"""The modules that hold no task or measure, and what they hold."""

TASKS = {
    "bumps": lambda: rc.bumps(8, rc.local_bump(8)),
    "bumps: dark": lambda: rc.bumps(8, rc.one_hot(8), dark=True),
    "bumps: stripes": lambda: rc.stripes(rc.bumps(8, rc.local_bump(8))),
    "calls": lambda: calls.calls(calls.asking(calls.FORMS, range(2), (1, 2)), key=KEY),
    "chains": lambda: chains.chains(symbols=3, functions=3, worlds=2, key=KEY),
    "chains: steps": lambda: chains.chains(symbols=3, functions=2, longest=2, steps=True, key=KEY),
    "conjunctions": lambda: conjunctions.conjunctions(4, rc.local_bump(4)),
    "conjunctions: graded": lambda: conjunctions.graded_bumps(4, 3, rc.local_bump(4)),
    "continuous": lambda: rc.continuous_bumps(8, rc.local_bump(8)),
    "houses": lambda: houses.houses(((2, 2), (2, 3)), 3, key=KEY),
    "hyperteacher": lambda: rc.hyperteacher(
        modules=4, max_active=2, teachers=2, inputs=2, hidden=(3,), outputs=2, samples=2, key=KEY
    ),
    "multiplication": lambda: multiplication.multiplication(multiplication.every((2, 1)), (2, 1), steps=False),
    "multiplication: steps": lambda: multiplication.multiplication(multiplication.every((2, 1)), (2, 1), steps=True),
    "preferences": lambda: rc.preferences(modules=3, max_active=2, features=3, objects=2, key=KEY),
    "rotation": lambda: rc.rotation(np.eye(4)),
    "scan": lambda: scan.scan(scan.combinations()[:500]),
    "subsequence": lambda: subsequence.subsequence(subsequence.every(3), steps=False),
    "subsequence: steps": lambda: subsequence.subsequence(subsequence.every(3), steps=True),
    "sums": lambda: rc.sum_of_parts(2, points=3),
    "cppn.task": lambda: rc.picture(np.linspace(0, 1, 24).reshape(2, 2, 2, 3), told=True),
}
SPLITS = {
    "chains": lambda: chain_splits.withholding(
        chains.chains(symbols=3, functions=3, key=KEY).combinations, np.eye(3, dtype=bool), 0.2, dice()
    ),
    "coverage": lambda: coverage.withholding(GRID, coverage.by_hash(GRID, 0.25, salt=0)),
    "grid": lambda: rc.square(GRID, 2, 5),
    "grid: corner": lambda: rc.corner(GRID, 4),
    "grid: cross": lambda: rc.cross(GRID, 3, 4),
    "grid: gap": lambda: rc.gap(GRID, 2, 5),
    "grid: random": lambda: rc.random_fraction(GRID, 0.3, KEY),
    "grid: percent": lambda: rc.percent(rc.square(GRID, 2, 5), 40, KEY),
    "grid: narrowed": lambda: rc.narrow(rc.square(GRID, 2, 5), rc.sample(np.ones(64, bool), 40, KEY)),
    **{
        f"modules: {name}": lambda name=name: rc.supports.split(MASKS, getattr(rc.supports, name)(MASKS, 0.25, KEY))
        for name in ("random", "equal", "popular", "unpopular", "disconnected", "non_compositional", "parted")
    },
}
ENCODINGS = {
    "position": lambda: rc.one_hot(8),
    "position: local bump": lambda: rc.local_bump(8),
    "position: wide bump": lambda: rc.local_bump(8, multiplier=9.0),
    "position: padded bump": lambda: rc.padded_bump(8),
    "position: positional": lambda: rc.positional(8),
    "position: rate": rc.rate,
    "position: scaled rate": lambda: rc.scaled_rate(8),
    "tasks": lambda: rc.task_encodings.identity,
    "tasks: tokens": lambda: rc.task_encodings.tokens,
    "tasks: few shot": lambda: rc.task_encodings.few_shot(2),
    "tasks: orthogonal": lambda: rc.task_encodings.orthogonal(8, KEY),
    "tasks: interval shuffle": lambda: rc.task_encodings.interval_shuffle(KEY),
    "tasks: invertible": lambda: rc.task_encodings.invertible(8, KEY),
    "tasks: nonlinear": lambda: rc.task_encodings.nonlinear(8, KEY),
}


def answers(record: rc.Record) -> np.ndarray:
    """The answers as [x, y, row, column]."""
    return grid.on_grid(record, record.y_hat)


def kernel(record: rc.Record) -> np.ndarray:
    return similarity.cosine_matrix(record.y_hat, record.y_hat)


def values(record: rc.Record) -> np.ndarray:
    return schmidt.schmidt_values(kernel(record), record.z)


def tangents(record: rc.Record) -> np.ndarray:
    return geometry.metric(*geometry.finite_differences(answers(record)))


def even(record: rc.Record) -> np.ndarray:
    return record.z.sum(axis=1) % 2 == 0


def read(record: rc.Record) -> np.ndarray:
    """The parts of every other combination, read off its answer."""
    rows, fit = record.y_hat.reshape(len(record), -1), even(record)
    return ridge.ridge_predictions(rows[fit], record.z[fit].astype(float), rows[~fit])


def dice() -> np.random.Generator:
    return np.random.default_rng(0)


def as_tokens(record: rc.Record) -> rc.Record:
    """The place of the bump as a token to be predicted, and the picture as logits."""
    y = record.y.reshape(len(record), -1).argmax(axis=1)
    y_hat = record.y_hat.reshape(len(record), 1, -1)
    return rc.Record(record.z, record.z, np.stack([y, np.ones_like(y)], axis=-1)[:, None], y_hat)


# A function of a record, and whether a higher number is better.
MEASURES = {
    "additive": (lambda r: additive.additive_share(answers(r)), True),
    "additive: factorised": (lambda r: additive.generally_factorised(answers(r)), True),
    "agreement": (
        lambda r: agreement.roc_area(similarity.cosine_matrix(r.y_hat, r.y).ravel(), np.eye(len(r)).ravel()),
        True,
    ),
    "anova": (lambda r: anova.anova_energies(answers(r))[0, 1].mean(), False),
    "bands": (lambda r: bands.table_rank(answers(r).mean(axis=0)).mean(), False),
    "complexity": (lambda r: complexity.exact_rank(answers(r)), False),
    "cp": (lambda r: cp.cp_error(answers(r)[:, :, 3, 3], 1, dice()), False),
    "error": (rc.mse, False),
    "error: nmse": (rc.nmse, False),
    "gap": (lambda r: gap.gap(rc.errors(r), np.mean(r.y**2, axis=(1, 2)), [0.0]).value, False),
    "geometry": (lambda r: geometry.log_volume(tangents(r)).mean(), True),
    "geometry: factorisation": (lambda r: geometry.factorisation(tangents(r)), True),
    "grid": (lambda r: np.abs(answers(r) - grid.on_grid(r, r.y)).max(), False),
    "identify": (lambda r: identify.identified(r.y_hat, r.y, r.z, r.z).mean(), True),
    "memory": (memory.box_share, True),
    "mixture": (lambda r: mixture.mixture_divergence(answers(r)[:, :, 3, 3], 1, dice()), False),
    "nodes": (lambda r: nodes.predicted_exact(tokens.right_tokens(as_tokens(r))), True),
    "pairs": (lambda r: np.nanmax(pairs.over_pairs(r, rc.errors(r))), False),
    "peak": (rc.peak_accuracy, True),
    "peak: misplacement": (lambda r: rc.misplacement(r).mean(), False),
    "pf": (lambda r: pf.pf_coefficient(kernel(r), r.z), True),
    "prediction": (
        lambda r: prediction.predict_left_out(r.y_hat.mean(axis=1).argmax(axis=1), r.z[:, 0], draws=9).gain,
        True,
    ),
    "probe": (lambda r: probe.held_out_r2(r.y_hat, r.z, even(r)), True),
    "regression": (rc.r2_pooled, True),
    "regression: by unit": (rc.r2_by_unit, True),
    "ridge": (lambda r: ridge.scores(r.z[~even(r)], read(r)).mean(), True),
    "schmidt": (lambda r: np.sum(values(r) > 1e-6 * values(r)[0]), False),
    "similarity": (lambda r: rc.agreement(kernel(r), rc.and_kernel(r.z, r.z, rc.near(1.0))), True),
    "spectrum": (lambda r: spectrum.effective_rank(values(r)), False),
    "spectrum: top share": (lambda r: spectrum.top_share(values(r)), True),
    "tokens": (lambda r: tokens.exact_match(as_tokens(r)), True),
    "tokens: accuracy": (lambda r: tokens.token_accuracy(as_tokens(r)), True),
    "tuning": (lambda r: np.nanmean(tuning.bump_index(tuning.tuning_shares(answers(r)))), False),
}


def missing(package: str, cases: Iterable[str]) -> set[str]:
    """The modules of a package that have no case and are not named as parts; a case or a part of no module is one."""
    modules = {found.name for found in iter_modules(import_module(f"recombine.{package}").__path__)}
    named = {case.split(":")[0] for case in cases if "." not in case.split(":")[0]} | set(PARTS.get(package, {}))
    return modules ^ named


@pytest.mark.parametrize(
    ("package", "cases"),
    [("tasks", TASKS), ("splits", SPLITS), ("encodings", ENCODINGS), ("measures", MEASURES)],
    ids=["tasks", "splits", "encodings", "measures"],
)
def test_every_module_has_a_case(package, cases):
    assert not missing(package, cases), "give each of these a case in this file, or name it in PARTS"


@pytest.mark.parametrize("make", TASKS.values(), ids=TASKS)
def test_a_task_samples_one_combination_as_a_pure_function_of_its_key(make):
    rc.check_task(make())


@pytest.mark.parametrize("make", SPLITS.values(), ids=SPLITS)
def test_a_split_leaves_something_to_train_on_and_something_to_hold_out(make):
    rc.check_split(make())


@pytest.mark.parametrize("make", ENCODINGS.values(), ids=ENCODINGS)
def test_an_encoding_tells_values_apart_and_says_nothing_of_an_absent_part(make):
    rc.check_encoding(make())


@pytest.mark.parametrize(("measure", "higher_is_better"), MEASURES.values(), ids=MEASURES)
def test_a_measure_tells_a_perfect_system_from_a_memoriser_in_the_hole(measure, higher_is_better):
    rc.check_measure(measure, higher_is_better)


def test_modular_addition_is_a_task():
    z = np.array([(a, b) for a in range(5) for b in range(5)])
    rc.check_task(rc.Task("addition", z, lambda z, key: (jax.nn.one_hot(z, 5), jax.nn.one_hot(z.sum() % 5, 5))))


NUMPY = np.random.default_rng(0)
WRONG_TASKS = {
    "must return two arrays": lambda z, key: z.astype(float),
    "draw with jax.random and the key": lambda z, key: (z * NUMPY.normal(), z * 1.0),
    "traceable by JAX": lambda z, key: (z * 1.0, z * 2.0 if z[0] > 1 else z * 3.0),
    "y has a NaN": lambda z, key: (z * 1.0, 0.0 / z),
    "the same for all combinations": lambda z, key: (z * 1.0, jnp.ones(2)),
}


@pytest.mark.parametrize(("says", "sample"), WRONG_TASKS.items(), ids=WRONG_TASKS)
def test_a_broken_task_is_told_what_is_wrong(says, sample):
    with pytest.raises(AssertionError, match=says):
        rc.check_task(rc.Task("mine", GRID, sample))


def test_a_task_of_fractions_is_refused():
    with pytest.raises(AssertionError, match="must be integers"):
        rc.check_task(rc.Task("mine", GRID / 2, lambda z, key: (z, z)))


def test_a_broken_split_or_encoding_is_told_what_is_wrong():
    every = np.ones(64, bool)
    with pytest.raises(AssertionError, match="holds out nothing"):
        rc.check_split(rc.Split(GRID, every))
    with pytest.raises(AssertionError, match="trains on nothing"):
        rc.check_split(rc.Split(GRID, ~every))
    with pytest.raises(AssertionError, match="tell all values apart"):
        rc.check_encoding(lambda v: jnp.where(v < 0, 0.0, jnp.ones(2)))
    with pytest.raises(AssertionError, match="absent part must be zero"):
        rc.check_encoding(lambda v: jnp.stack([v, 1.0]))
    with pytest.raises(AssertionError, match="one vector"):
        rc.check_encoding(lambda v: v)


def zeroed(record: rc.Record) -> float:
    record.y_hat[0] = 0.0
    return 0.0


WRONG_MEASURES = {
    "finite numbers": (lambda r: float("nan"), True),
    "changes the record": (zeroed, True),
    "another number when asked again": (lambda r: rc.mse(r) + NUMPY.normal(), False),
    "where lower should be better": (rc.peak_accuracy, False),
}


@pytest.mark.parametrize(("says", "case"), WRONG_MEASURES.items(), ids=WRONG_MEASURES)
def test_a_broken_measure_is_told_what_is_wrong(says, case):
    with pytest.raises(AssertionError, match=says):
        rc.check_measure(*case)


class Hasty(rc.MLPDecoder):
    """Answers a batch in another way than one example."""

    def many(self, x: jax.Array) -> jax.Array:
        return -super().many(x)


def test_a_fast_path_that_says_another_thing_is_refused():
    with pytest.raises(AssertionError, match="many of this network differs"):
        rc.check_model(lambda key: Hasty(8, 4, width=4, depth=1, key=key), np.zeros(8))  # pyrefly: ignore
