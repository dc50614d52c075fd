"""Measures of layers: what they read where the answer is known, their controls, their intervals, their silence."""

from __future__ import annotations

from itertools import product

import jax.numpy as jnp
import numpy as np
import pytest

import recombine as rc
from recombine.diagnosis.from_arrays import from_arrays
from recombine.diagnosis.from_jax import from_jax
from recombine.diagnosis.jackknife import jackknifed
from recombine.diagnosis.layers import Clock, Layer, measured
from recombine.measures.gap import mean_interval
from recombine.measures.ridge import STRENGTHS, ridge_predictions
from recombine.measures.similarity import and_kernel, near, or_kernel

RNG = np.random.default_rng
Z = np.array(list(product(range(7), repeat=2)))
SEEN = RNG(0).random(49) < 0.7
Y = RNG(1).normal(size=(49, 2))
CODES = np.concatenate([np.eye(7)[column] for column in Z.T], axis=1)
HIDDEN = np.tanh(CODES @ RNG(2).normal(size=(14, 30))) + 0.3 * RNG(3).normal(size=(49, 30))


def layer(acts: np.ndarray, z: np.ndarray = Z, seen: np.ndarray = SEEN, rows: np.ndarray | None = None) -> Layer:
    rows = np.arange(49) if rows is None else rows
    arrays = {"z": z[rows], "trained": seen[rows], "y": Y[rows], "y_hat": Y[rows], "acts/here": acts}
    return measured(from_arrays(arrays), Clock(), [])[0]


def features(kernel: np.ndarray) -> np.ndarray:
    """A layer with these products, as nearly as there is one."""
    values, sides = np.linalg.eigh(kernel)
    return sides * np.sqrt(np.maximum(values, 0))


@pytest.mark.parametrize("repeats", [5, 60])  # 60 are more than a group that chooses the penalty may have
def test_repeated_examples_tell_a_probe_nothing_new(repeats):
    once = layer(HIDDEN)
    rows = np.repeat(np.arange(49), repeats)
    often = layer(HIDDEN[rows] + 1e-3 * RNG(4).normal(size=(len(rows), 30)), rows=rows)
    for name, interval in once.decodability.items():
        assert often.decodability[name].value == pytest.approx(interval.value, abs=0.02)
        assert often.shuffled[name] == pytest.approx(once.shuffled[name], abs=0.1)
    assert once.few
    assert often.few


def test_a_penalty_is_chosen_by_groups_left_out_one_by_one():
    rng = RNG(0)
    groups = np.repeat(np.arange(12), rng.integers(1, 5, size=12))
    acts, extra = rng.normal(size=(len(groups), 9)), rng.normal(size=(5, 9))
    targets = acts[:, :3] @ rng.normal(size=(3, 2)) + rng.normal(size=(12, 2))[groups]
    penalties = STRENGTHS * np.sum((acts - acts.mean(axis=0)) ** 2) / 9

    def plain(x, t, asked, penalty):
        middle, xc = x.mean(axis=0), x - x.mean(axis=0)
        return t.mean(axis=0) + (asked - middle) @ np.linalg.solve(
            xc.T @ xc + penalty * np.eye(9), xc.T @ (t - t.mean(0))
        )

    errors = np.zeros((len(penalties), 2))
    for i, penalty in enumerate(penalties):
        for g in range(12):
            out = groups == g
            errors[i] += np.mean((targets[out] - plain(acts[~out], targets[~out], acts[out], penalty)) ** 2, axis=0)
    best = [plain(acts, targets, extra, p) for p in penalties[errors.argmin(axis=0)]]
    wanted = np.stack([best[k][:, k] for k in range(2)], axis=1)
    assert np.allclose(ridge_predictions(acts, targets, extra, penalties, groups), wanted)


def test_and_reads_one_on_and_and_or_reads_one_on_or():
    found = {k: layer(features(kernel(Z, Z, near(1.0)))) for k, kernel in (("and", and_kernel), ("or", or_kernel))}
    for kind, other in (("and", "or"), ("or", "and")):
        mine, reads = found[kind], {"and": found[kind].if_and, "or": found[kind].if_or}[kind]
        assert getattr(mine, f"{kind}_agreement") == pytest.approx(1, abs=0.01)
        assert getattr(mine, f"{other}_agreement") == pytest.approx(reads[f"{other}_agreement"], abs=0.02)
        assert list(mine.schmidt.values()) == pytest.approx([reads[f"schmidt/{n}"] for n in mine.schmidt], abs=0.05)
        assert abs(mine.controls[f"{kind}_agreement"]) < 0.15
    assert found["or"].schmidt["factor 0"] > found["and"].schmidt["factor 0"] + 0.3


def test_a_random_layer_agrees_with_neither():
    found = [layer(RNG(k).normal(size=(49, 40))) for k in range(6)]
    for kind in ("and_agreement", "or_agreement"):
        assert abs(np.mean([getattr(f, kind) for f in found])) < 0.05
        covered = [f.intervals[kind].low <= 0 <= f.intervals[kind].high for f in found]
        assert sum(covered) >= 4
    assert found[0].schmidt["factor 0"] == pytest.approx(found[0].controls["schmidt/factor 0"], rel=0.3)


def test_words_have_no_and():
    found = layer(HIDDEN, Z.astype(str))
    assert found.and_agreement is None
    assert any(said.startswith("AND agreement: no factor has an order") for said in found.silent)
    assert found.or_agreement is not None
    assert found.factorisation is None


def test_every_measure_has_an_interval_and_a_control():
    found = layer(HIDDEN)
    names = ["additive_share", "factorisation", "log_volume", "hole_depth", "and_agreement", "or_agreement"]
    for name in [*names, "schmidt/factor 0"]:
        interval = found.intervals[name]
        assert interval.low < interval.value < interval.high
        assert name in found.controls
        assert " ± " in found.said(name)
    whole = rc.diagnose({"z": Z, "trained": SEEN, "y": Y, "y_hat": RNG(5).normal(size=Y.shape), "acts/here": HIDDEN})
    told = whole.numbers()
    assert told["layers"][0]["intervals"]["additive_share"]["high"] > found.additive_share
    assert told["layers"][0]["controls"]["hole_depth"] == found.controls["hole_depth"]


def test_leaving_groups_out_of_a_mean_gives_its_students_interval():
    values = RNG(0).normal(size=20)
    found = jackknifed(lambda there: float(values[there].mean()), 20)
    assert found == pytest.approx(mean_interval(values))


def test_the_interval_of_the_additive_share_is_that_of_leaving_groups_out():
    from recombine.diagnosis.jackknife import around, groups_of
    from recombine.measures.additive import additive_share_of_rows

    groups = groups_of(49)
    left_out = [additive_share_of_rows(HIDDEN[groups != k], Z[groups != k]) for k in range(20)]
    assert layer(HIDDEN).intervals["additive_share"] == pytest.approx(
        around(additive_share_of_rows(HIDDEN, Z), left_out), abs=1e-5
    )


def test_what_does_not_vary_is_silent():
    one_value = (Z[:, 0] != 3) | (Z[:, 1] == 0)  # new combinations all have 3
    found = layer(HIDDEN, seen=one_value)
    assert set(found.decodability) == {"factor 1"}
    assert any("factor 0: it does not vary" in said for said in found.silent)
    still = layer(np.full((49, 3), 0.1))
    assert still.additive_share is None
    assert still.or_agreement is None
    assert any("the same for every combination" in said for said in still.silent)
    arrays = {"z": Z, "trained": one_value, "y": Y, "y_hat": Y, "acts/a": HIDDEN, "acts/b": np.ones((49, 3))}
    from recombine.diagnosis.report import page

    assert ">nan" not in page([rc.diagnose(arrays)])


def waves(z):
    return jnp.stack([jnp.sin(2 * z[0]), z[0] * z[1], z[1] ** 2])


@pytest.mark.parametrize("grid", [True, False])
def test_real_valued_factors_have_a_geometry_without_derivatives(grid):
    """Differences on a grid of fractions, slopes within cells elsewhere; both are near the exact ones."""
    axis = np.linspace(0.01, 1, 26)
    z = np.array(list(product(axis, repeat=2))) if grid else RNG(0).random((1500, 2))
    seen = ~np.all(z > 0.6, axis=1)
    y = np.stack([np.sin(2 * z[:, 0]), z[:, 0] * z[:, 1], z[:, 1] ** 2], axis=1)
    made = {"z": z, "trained": seen, "y": y, "y_hat": y, "acts/here": y}
    mine = rc.diagnose(made).layers[0]
    assert mine.how == ("differences between neighbours" if grid else "slopes within cells of bins")
    exact = measured(from_jax(waves, z.astype(np.float32), factors=z, trained=seen, targets=y), Clock(), [])[-1]
    assert exact.how == "exact derivatives"
    assert mine.factorisation == pytest.approx(exact.factorisation, abs=0.05)
    assert mine.hole_depth == pytest.approx(exact.hole_depth, abs=0.15)
    assert set(mine.controls) >= {"factorisation", "hole_depth"}


def test_output_is_refused_where_there_is_one():
    for model in (lambda x: x, {"z": Z, "y": Y, "y_hat": Y}):
        with pytest.raises(rc.UserError, match=r"there is no output 'logits' to choose|arrays have y_hat only"):
            rc.diagnose(model, (CODES, Y), factors=Z, trained=SEEN, output="logits")
