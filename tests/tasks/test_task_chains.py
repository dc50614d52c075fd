"""Chains of functions: counts, values, tokens, splits, and what can be answered without composing."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import recombine as rc
from recombine.experiments.tokens import worlds
from recombine.measures import controls
from recombine.measures.tokens import exact_match
from recombine.models.decoder import TokenDecoder
from recombine.splits import chains as splits
from recombine.tasks.chains import chains
from recombine.tasks.tokens import EOS, FIRST, SEP

KEY = jax.random.key(0)


@pytest.fixture(scope="module")
def task() -> rc.Task:
    return chains(worlds=5, key=KEY)


def test_a_world_has_so_many_rows(task):
    assert len(task.combinations) == 5 * 4672
    assert len(chains(symbols=12, functions=12, key=KEY).combinations) == 22_608
    assert len(chains(symbols=6, functions=6, longest=5, key=KEY).combinations) == 55_980


def test_the_answer_is_the_value_of_the_chain(task):
    tables = task.sample.tables
    row = jnp.array([2, 5, 1, 7, rc.ABSENT])
    value = int(tables[2, 7, tables[2, 1, 5]])
    x, y = task.sample(row, KEY)
    none = FIRST + 16
    assert x.tolist() == [FIRST + 5, FIRST + 8 + 1, FIRST + 8 + 7, none, SEP, FIRST + value]
    assert y[:, 1].tolist() == [0, 0, 0, 0, 1, 1]
    assert y[4:, 0].tolist() == [FIRST + value, EOS]
    assert task.sample.values(np.asarray(row)[None])[0].tolist() == [tables[2, 1, 5], value, value]


def test_with_steps_all_values_are_written():
    task = chains(worlds=3, steps=True, key=KEY)
    row = np.array([2, 5, 1, 7, rc.ABSENT])
    _, y = task.sample(jnp.asarray(row), KEY)
    first, second, _ = FIRST + task.sample.values(row[None])[0]  # pyrefly: ignore
    assert y[4:, 0].tolist() == [first, second, FIRST + 16, EOS]
    assert int(y[:, 1].sum()) == 4


def test_a_world_depends_on_its_number_alone(task):
    assert np.array_equal(chains(worlds=2, key=KEY).sample.tables, task.sample.tables[:2])  # pyrefly: ignore
    assert np.any(task.sample.tables[0] != task.sample.tables[1])


def test_bad_families_and_worlds_are_told(task):
    with pytest.raises(rc.UserError, match="a family of chains has two symbols"):
        chains(symbols=1, key=KEY)
    with pytest.raises(rc.UserError, match="there is no world 5: they are numbered from 0 to 4"):
        task.sample.values(np.array([[5, 0, 0, 0, 0]]))
    with pytest.raises(rc.UserError, match="there is no world 9: they are numbered from 0 to 4"):
        splits.of_world(task.combinations, 9, np.ones(4672, bool))


@pytest.mark.parametrize("world", [5, -1])
def test_a_world_that_is_not_there_has_no_tokens_and_no_scores(task, world):
    asked = rc.truth(task, np.array([[4, 0, 0, 0, 0], [world, 0, 0, 0, 0]]), key=KEY)
    assert np.all(asked.x[0] >= 0)
    assert np.all(asked.x[1] == -1)
    model = TokenDecoder(FIRST + 17, width=8, depth=1, heads=2, key=jax.random.key(0))
    said = rc.record(model, task, asked.z, key=KEY)
    with pytest.raises(rc.UserError, match="token -1, from a world that does not exist"):
        exact_match(said)


def test_a_split_that_leaves_no_pair_covered_is_told(task):
    z, rng = task.combinations[task.combinations[:, 0] == 0], np.random.default_rng(0)
    for pairs, held_out in ((np.ones((8, 8), bool), 0.2), (np.zeros((8, 8), bool), 1 - 1e-9)):
        with pytest.raises(rc.UserError, match="leaves no pair of functions covered: hold out less"):
            splits.withholding(z, pairs, held_out, rng)


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_a_split_that_leaves_no_pair_covered_or_none_withheld_is_told(share):
    with pytest.raises(rc.UserError, match="covered and"):
        splits.withheld_pairs(4, share, np.random.default_rng(0))
    with pytest.raises(rc.UserError, match="at least 0 and below 1"):
        splits.withholding(np.zeros((1, 4), int), np.zeros((2, 2), bool), 1.0, np.random.default_rng(0))


SETTINGS = worlds.Worlds(seeds=20)


@pytest.fixture(scope="module")
def known() -> list[worlds.World]:
    task = worlds.family(SETTINGS, 20)
    return [worlds.world(SETTINGS, task, seed, 0.25) for seed in range(20)]


def test_groups_have_the_sizes_that_arithmetic_gives(known):
    for each in known:
        assert each.groups["pair_2"].sum() == 8 * 16
        assert sum(mask.sum() for mask in each.groups.values()) == 4672
        assert not (each.groups["row_3"] & each.train).any()
    means = {name: np.mean([w.groups[name].sum() for w in known]) for name in ("trained", "row_2")}
    assert means["trained"] == pytest.approx(2206, abs=40)
    assert means["row_2"] == pytest.approx(0.2 * 8 * 48, abs=5)


def test_withheld_pairs_are_never_adjacent_in_training_and_all_others_are(known):
    for each in known[:5]:
        shown = each.rows[each.train]
        pairs = np.zeros((8, 8), bool)
        for first, second in ((2, 3), (3, 4)):
            there = shown[:, second] != rc.ABSENT
            pairs[shown[there, first], shown[there, second]] = True
        assert np.array_equal(pairs, ~each.pairs)


def test_voters_and_rememberer_read_what_arithmetic_gives(known):
    """Means over worlds: what can be got without looking at x, and by memory alone."""
    wanted = {"last": (0.37, 0.30, 0.35, 0.32), "last two": (0.43, 0.27, 0.45, 0.35)}
    names = ("row_2", "pair_2", "row_3", "pair_3")
    for voter, numbers in wanted.items():
        right = [worlds.scored(w, worlds.voters(w)[voter] == w.answers) for w in known]
        found = [np.mean([each[f"exact_{name}"] for each in right]) for name in names]
        assert found == pytest.approx(numbers, abs=0.05)
    for w in known[:5]:
        told = controls.longest_prefix(w.rows[:, 1:], w.answers, w.train)
        scores, best = worlds.scored(w, told == w.answers), worlds.described(w)
        assert scores["exact_trained"] == 1.0
        assert all(scores[f"exact_{name}"] <= best[f"voter_{name}"] for name in names)


def test_controls_of_a_world_are_read_rightly():
    rows = {row["system"]: row for row in worlds.known_systems(SETTINGS, 0.25)}
    assert all(rows["perfect"][f"exact_{name}"] == 1.0 for name in ("trained", "row_2", "pair_2", "pair_3"))
    assert rows["rememberer"]["exact_trained"] == 1.0
    assert rows["perfect"]["coverage_pairs"] == 0.75
