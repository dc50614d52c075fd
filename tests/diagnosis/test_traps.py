"""What could fool a rule: noise, correlated or irrelevant factors, labels, units, smooth targets, fresh examples."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from recombine.diagnosis.behaviour import behaviour
from recombine.diagnosis.from_arrays import from_arrays
from recombine.diagnosis.rules import rule
from recombine.diagnosis.ruling import Ruling

RNG = np.random.default_rng


def grid(*sizes: int) -> np.ndarray:
    return np.array(list(product(*map(range, sizes))))


def judged(z, trained, y, y_hat) -> Ruling:
    return rule(behaviour(from_arrays({"z": z, "trained": trained, "y": y, "y_hat": y_hat})))[0]


def world(seed: int, factors: int = 2, size: int = 8, additive: bool = False):
    """Combinations, which were seen, and targets: a product or a sum of a vector per value."""
    rng = RNG(seed)
    z = grid(*[size] * factors)
    parts = [rng.normal(size=(size, 12))[column] for column in z.T]
    return z, rng.random(len(z)) < 0.7, (np.sum if additive else np.prod)(parts, axis=0), rng


def looked_up(z, trained, y):
    """The nearest memory on new combinations."""
    y_hat = y.copy()
    known = z[trained]
    for i in np.flatnonzero(~trained):
        y_hat[i] = y[trained][np.argmin(np.abs(known - z[i]).sum(axis=1))]
    return y_hat


@pytest.mark.parametrize("system", ["composes", "memorizes"])
class TestBothWays:
    """A system that composes and a look-up table, on data with a snare."""

    def test_factors_that_go_together_in_training(self, system):
        z, _, y, _ = world(0, size=10)
        band = np.abs(z[:, 0] - z[:, 1]) <= 2
        assert judged(z, band, y, y if system == "composes" else looked_up(z, band, y)).verdict == system

    def test_every_pair_seen_and_triples_new(self, system):
        z, _, y, _ = world(1, factors=3, size=5)
        latin = z.sum(axis=1) % 5 < 2
        assert judged(z, latin, y, y if system == "composes" else looked_up(z, latin, y)).verdict == system

    def test_noisy_targets_and_unequal_numbers_of_examples(self, system):
        z, seen, y, rng = world(2)
        rows = np.repeat(np.arange(len(z)), rng.integers(1, 10, len(z)))
        noise = 0.8 * y.std() * rng.normal(size=y[rows].shape)
        y_hat = y if system == "composes" else looked_up(z, seen, y)
        assert judged(z[rows], seen[rows], y[rows] + noise, y_hat[rows]).verdict == system

    def test_a_factor_that_does_not_matter(self, system):
        z, _, _, rng = world(3, factors=3, size=6)
        parts = [rng.normal(size=(6, 12))[column] for column in z.T[:2]]
        y = parts[0] * parts[1]
        seen = ~np.all((z[:, :2] >= 2) & (z[:, :2] < 5), axis=1)
        found = judged(z, seen, y, y if system == "composes" else looked_up(z, seen, y))
        assert found.verdict == system
        assert (system == "composes") == any("does not depend on factor 2" in said for said in found.caveats)

    def test_an_additive_target(self, system):
        z, seen, y, _ = world(4, additive=True)
        found = judged(z, seen, y, y if system == "composes" else looked_up(z, seen, y))
        assert found.verdict == system
        assert (system == "composes") == any("sum of its parts" in said for said in found.caveats)

    def test_logits_of_a_modular_sum(self, system):
        rng, z = RNG(5), grid(11, 11)
        y, seen = z.sum(axis=1) % 11, RNG(6).random(121) < 0.6
        logits = 5 * np.eye(11)[y] + rng.normal(size=(121, 11))
        y_hat = logits if system == "composes" else looked_up(z, seen, logits)
        assert judged(z, seen, y, y_hat).verdict == system

    def test_two_heads_of_labels(self, system):
        z, rng = grid(8, 8), RNG(7)
        seen, logits = rng.random(64) < 0.7, np.stack([np.eye(8)[column] for column in z.T], axis=1)
        assert judged(z, seen, z, logits if system == "composes" else looked_up(z, seen, logits)).verdict == system

    def test_examples_of_seen_combinations_that_were_not_trained_on(self, system):
        z, seen, y, rng = world(8)
        rows = np.repeat(np.arange(64), 6)
        nuisance = 0.3 * rng.normal(size=(len(rows), 12))
        y_hat = y if system == "composes" else looked_up(z, seen, y)
        trained = seen[rows] & (rng.random(len(rows)) < 0.7)
        assert judged(z[rows], trained, y[rows] + nuisance, y_hat[rows] + nuisance).verdict == system

    def test_outputs_of_other_units(self, system):
        z, seen, y, _ = world(9)
        y = y[:, :4] * np.array([1000.0, 1000.0, 0.1, 0.1])
        y_hat = y.copy()
        if system == "memorizes":  # only the small ones are wrong
            y_hat[:, 2:] = looked_up(z, seen, y)[:, 2:]
        assert (judged(z, seen, y, y_hat).verdict == "composes") == (system == "composes")

    def test_outputs_of_many_numbers(self, system):
        rng, z = RNG(10), grid(6, 6)
        y = rng.normal(size=(6, 3000))[z[:, 0]] * rng.normal(size=(6, 3000))[z[:, 1]]
        seen = (z[:, 0] + 2 * z[:, 1]) % 6 < 4
        assert judged(z, seen, y, y if system == "composes" else looked_up(z, seen, y)).verdict == system


def test_a_shortcut_keeps_the_factor_that_it_uses():
    z, _, y, _ = world(0, size=10)
    seen = np.abs(z[:, 0] - z[:, 1]) <= 1
    as_if = {tuple(row): i for i, row in enumerate(z.tolist())}
    y_hat = np.where(seen[:, None], y, y[[as_if[a, a] for a, _ in z.tolist()]])
    found = judged(z, seen, y, y_hat)
    assert (found.verdict, found.factors) == ("partly", ("factor 0",))


def test_new_pairs_of_some_factors_and_not_of_others():
    z, _, y, _ = world(1, factors=3, size=6)
    right, wrong = (z[:, 0] >= 3) & (z[:, 1] >= 3), (z[:, 0] < 2) & (z[:, 2] >= 3)
    y_hat = np.where(wrong[:, None], looked_up(z, ~(right | wrong), y), y)
    found = judged(z, ~(right | wrong), y, y_hat)
    assert found.verdict == "partly"
    assert "new in factor 0 x factor 1, but not what is new in factor 0 x factor 2" in found.why


def test_some_combinations_at_random():
    z, seen, y, rng = world(2, size=10)
    y_hat = np.where((rng.random(100) < 0.5)[:, None], y, looked_up(z, seen, y))
    assert judged(z, seen, y, y_hat).verdict == "partly"


def test_adding_up_parts_of_a_target_that_is_nearly_a_sum():
    z, seen, y, rng = world(3, size=12, additive=True)
    y = y + 0.4 * np.prod([rng.normal(size=(12, 12))[column] for column in z.T], axis=0)
    from recombine.measures.recall import sum_of_parts

    y_hat = np.where(seen[:, None], y, sum_of_parts(z[seen], y[seen], z))
    assert judged(z, seen, y, y_hat).rule in ("sum", "superposition")


@pytest.mark.parametrize("answer", ["right", "nearest"])
def test_single_cells_of_a_smooth_target_show_nothing(answer):
    """A network that errs a little on a smooth target is no better than smoothing its neighbours."""
    z, rng = grid(16, 16), RNG(4)
    y = np.stack([np.sin(z[:, 0] / 5) * np.cos(z[:, 1] / 5), np.cos(z[:, 0] / 7 + z[:, 1] / 6)], axis=1)
    seen = rng.random(256) < 0.9
    y_hat = (y if answer == "right" else looked_up(z, seen, y)) + 0.01 * rng.normal(size=y.shape)
    assert judged(z, seen, y, y_hat).verdict == "cannot tell"


def test_what_was_never_seen_asks_for_more_than_composition():
    z, _, y, _ = world(5)
    found = judged(z, np.all(z < 7, axis=1), y, y)
    assert found.verdict == "cannot tell"
    assert "15 more have a value that was never trained on" in found.why


def test_a_model_that_remembers_single_examples_has_not_learnt():
    z, seen, y, rng = world(6)
    rows = np.repeat(np.arange(64), 6)
    trained = seen[rows] & (rng.random(len(rows)) < 0.7)
    y_hat = y[rows].copy()
    y_hat[~trained] = y[rng.integers(64, size=(~trained).sum())]
    assert judged(z[rows], trained, y[rows], y_hat).rule == "fit"


def test_a_random_split_of_real_valued_factors_has_no_new_combination():
    rng = RNG(7)
    z = rng.random((1500, 2))
    y = np.sin(9 * z)
    assert judged(z, rng.random(1500) < 0.8, y, y).rule == "new"
