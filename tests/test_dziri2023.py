"""Experiments on remembered subgraphs: what is withheld, what was seen, how errors are told, and planted answers."""

from __future__ import annotations

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
import pytest

import recombine as rc
from recombine.experiments.dziri2023 import (
    compounding,
    longer,
    multiplication,
    patching,
    products,
    programmes,
    seen,
    subgraphs,
)
from recombine.experiments.tokens import shared, worlds
from recombine.measures import nodes
from recombine.tasks.subsequence import LARGEST, solved, subsequence

TINY = replace(compounding.QUICK, rows=400, larger=(4, 6), n_eval=40)


@pytest.mark.parametrize(
    ("kind", "changes", "says"),
    [
        (subgraphs, {"withheld": (0.5,)}, "withheld must be different shares, 0.25 among them"),
        (subgraphs, {"longest": 2}, "chains of two and three functions"),
        (subgraphs, {"held_out": 1.0}, "held_out must lie between 0 and 1"),
        (subgraphs, {"width": 9}, "width must be a multiple of head"),
        (longer, {"larger": (3, 4)}, "larger must be rising numbers above 3"),
        (longer, {"kinds": ("plain", "round")}, "kinds have both plain and coupled"),
        (compounding, {"withheld": 0.0}, "withheld must lie between 0 and 1"),
        (multiplication, {"first": 2}, "first is 3 digits or more"),
        (multiplication, {"longer": (3, 4)}, "longer must be rising numbers above 3"),
        (multiplication, {"longer": ()}, "longer must name one length"),
        (multiplication, {"more": (1,)}, "more must be rising numbers above 1"),
        (multiplication, {"held_out": 1.0}, "held_out must lie between 0 and 1"),
        (multiplication, {"once_steps": 0}, "once_steps must be at least 1"),
    ],
)
def test_settings_that_cannot_be_are_told(kind, changes, says):
    with pytest.raises(rc.UserError, match=says):
        replace(kind.QUICK, **changes)


def test_rows_of_programmes_are_distinct_and_no_trained_row_ends_in_what_is_withheld():
    z, train = programmes.family(TINY).combinations, compounding.training(TINY, 0)
    out = seen.withheld(TINY, z, 0)
    assert train.sum() > 100
    assert not out[train].any()
    assert out[:, 2].mean() == pytest.approx(TINY.withheld, abs=0.1)
    assert not out[:, :2].any()
    assert np.any(out != seen.withheld(TINY, z, 1))


def test_a_suffix_is_withheld_as_a_whole():
    z = programmes.family(TINY).combinations
    full = (z != rc.ABSENT).all(axis=1)
    out = seen.withheld(TINY, z[full], 0)[:, 2]
    ends = {tuple(row[-3:]): bool(o) for row, o in zip(z[full], out, strict=True)}
    assert all(ends[tuple(row[-3:])] == bool(o) for row, o in zip(z[full], out, strict=True))


def test_larger_rows_have_sums_that_were_trained_on_and_others_are_apart():
    them = programmes.asked(TINY)
    most = LARGEST * ((TINY.longest + 1) // 2)
    for n, rows in them.rows.items():
        assert len(rows)
        assert np.all((rows != rc.ABSENT).sum(axis=1) == n)
        dp, _ = jax.vmap(solved)(jnp.asarray(rows, jnp.int32) - LARGEST, jnp.asarray(rows != rc.ABSENT))
        assert int(dp.max()) <= most
    assert len(them.new)


@pytest.mark.parametrize(("wrong", "exact"), [(0.0, 1.0), (0.02, 0.98**10)])
def test_solvers_that_never_err_or_err_by_lot_read_as_independent_errors(wrong, exact):
    rows = np.random.default_rng(0).integers(0, 11, (3000, 4)).astype(np.int8)
    task = subsequence(np.unique(rows, axis=0), steps=True)
    right = programmes.answered(
        4, programmes.solver(task, task.combinations, wrong=wrong, rng=np.random.default_rng(1))
    )
    assert right.shape[1] == 10
    assert right.all(axis=1).mean() == pytest.approx(exact, abs=0.03)
    assert nodes.predicted_exact(right) == pytest.approx(exact, abs=0.02)


def test_steps_that_are_written_are_told_apart():
    z = np.array([[10, 10, 10]])  # three fives: dp from the right 5, 5, 10
    truth = np.array([[5, 5, 10]])
    for written, wanted in {
        (5, 5, 10): ["right", "right", "right"],
        (5, 6, 10): ["right", "local", "restored"],
        (4, 4, 9): ["local", "local", "propagated"],
        (4, 5, 9): ["local", "restored", "propagated"],
        (5, 5, 11): ["right", "right", "local"],
    }.items():
        found = seen.outcomes(z, np.array([written]), truth)
        assert [nodes.OUTCOMES[i] for i in found[0]] == wanted, written


def test_counts_are_of_training_rows_with_the_same_ending():
    train = compounding.training(TINY, 0)
    counts = seen.counted(TINY, train)
    z = programmes.family(TINY).combinations[train]
    asked = programmes.asked(TINY)
    row = asked.task.combinations[0]
    ends = [tuple(r[r != rc.ABSENT]) for r in z]
    last = tuple(row[row != rc.ABSENT])
    for depth in (1, 2, 3):
        assert counts["subgraph"][0, depth - 1] == sum(
            end[-depth:] == last[-depth:] for end in ends if len(end) >= depth
        )
    assert np.all(counts["step"] >= counts["subgraph"])


def test_donors_end_alike_and_change_the_answer():
    settings = worlds.Worlds(seed=3)
    task = worlds.family(settings, 1)
    known = worlds.world(settings, task, 0, 0.25)
    tables = task.sample.tables[0]  # pyrefly: ignore
    asked, given = patching.donors(known, tables, np.random.default_rng(0))
    z, donor = known.rows[asked], known.rows[given]
    assert len(z) == patching.ROWS
    assert known.train[asked].all()
    assert known.train[given].all()
    assert np.array_equal(z[:, 3], donor[:, 3])
    own, other = (tables[r[:, 3], tables[r[:, 2], r[:, 1]]] for r in (z, donor))
    assert np.all(own != other)


def test_a_network_that_uses_the_value_in_between_follows_the_donor():
    settings = worlds.Worlds(seed=3)
    task = worlds.family(settings, 1)
    known = worlds.world(settings, task, 0, 0.25)
    model = patching.Composer(task.sample.tables[0], settings.symbols)  # pyrefly: ignore
    found = patching.followed(model, task, known, np.random.default_rng(0))
    assert found["patch_follows"] == 1.0
    assert found["patch_layer"] == 1.0
    assert found["patch_x"] == 1.0
    assert found["patch_by_lot"] < 0.5


def test_steps_are_compared_at_equal_length():
    """Short endings are easy and mostly seen: pooled, seen ones would be ahead; at each length they are not."""
    rng = np.random.default_rng(0)
    seen_ones = rng.uniform(size=(4000, 4)) < [1, 1, 0.9, 0.1]
    right = rng.uniform(size=(4000, 4)) < [1, 1, 0.9, 0.5]
    found = seen.by_length(right, {"node_seen": seen_ones, "node_withheld": ~seen_ones})
    assert found["node_seen"] == pytest.approx(found["node_withheld"], abs=0.05)
    assert found["node_seen_3"] == pytest.approx(0.9, abs=0.03)
    assert found["node_withheld_4"] == pytest.approx(0.5, abs=0.03)
    pooled = [right[:, 2:][mask[:, 2:]].mean() for mask in (seen_ones, ~seen_ones)]
    assert pooled[0] - pooled[1] > 0.2


def test_a_length_without_both_kinds_does_not_count():
    mask = np.array([[True, True, True, True], [True, True, False, True]])
    found = seen.by_length(np.ones((2, 4), bool), {"node_seen": mask, "node_withheld": ~mask})
    assert set(found) == {"node_seen", "node_withheld", "node_seen_3", "node_withheld_3"}


def test_errors_that_come_in_whole_rows_do_not_read_as_independent():
    row = compounding.whole_rows(TINY, wrong=0.1)
    assert row["sizes"] > 0
    assert row["gap"] > 0.2


def test_rows_of_up_to_seven_inputs_are_of_all_lengths():
    z = programmes.family(replace(TINY, rows=3000, longest=7, larger=(8, 9))).combinations
    counts = np.bincount((z != rc.ABSENT).sum(axis=1), minlength=8)
    assert counts[1:4].tolist() == [11, 121, 1331]
    assert (counts[4:] > 100).all()
    assert len(np.unique(z, axis=0)) == len(z)


def test_copying_a_step_is_right_where_sums_stay():
    found = programmes.copied(TINY)
    assert set(found) == {f"node_{n}" for n in TINY.larger}
    assert all(0.2 < share < 0.8 for share in found.values())


def planted(condition: str, **columns: float) -> list[dict]:
    noise = np.random.default_rng(0).normal(0, 0.01, 5)
    return [
        {"system": "network", "condition": condition, "withheld": 0.25, "seed": s, "diverged_at": -1}
        | {name: value + noise[s] * (value < 1) for name, value in columns.items()}
        for s in range(5)
    ]


def test_planted_memory_and_planted_composition_are_judged_so():
    groups = {f"n_{kind}_{d}": 80.0 for kind in ("row", "pair") for d in (2, 3)}
    voters = {f"voter_{kind}_{d}": 0.35 for kind in ("row", "pair") for d in (2, 3)} | groups
    patch = {"patch_follows": 0.6, "patch_by_lot": 0.1, "patch_x": 1.0}
    memory = {"exact_trained": 1.0, "exact_row_2": 0.65, "exact_pair_2": 0.36, "exact_row_3": 0.6, "exact_pair_3": 0.35}
    composed = dict.fromkeys(memory, 0.97) | {"exact_trained": 1.0}
    controls = worlds.known_systems(worlds.Worlds(seed=3), 0.25)
    born = {"system": "untrained", "seed": 0, "exact_trained": 0.1, "patch_gain": 0.0}
    controls.append({"system": "composes", "seed": 0, "patch_gain": 0.7})
    for once, words in ((memory, ["holds", "holds"]), (composed, ["fails", "fails"])):
        rows = planted(subgraphs.ONCE, **once, **voters, **patch) + planted(subgraphs.STEPS, **composed, **voters)
        table = pd.DataFrame([*rows, *controls, born])
        found = rc.judge_all(table, subgraphs.CLAIMS)
        assert [v.verdict for v in found] == [*words, "holds", "holds"], [v.why for v in found]


def test_work_per_token_counts_every_pass():
    make = shared.maker(10, 8, 1, 4, inner=6)
    weights = 4 * 64 + 2 * 8 * 6 + 2
    found = shared.sizes(make, 5, repeats=3)
    assert found == {
        "parameters": 80.0 + weights,
        "layer_parameters": float(weights),
        "flops_token": float(3 * (2 * weights + 4 * 8 * 5) + 160),
    }


def test_no_trained_product_has_a_withheld_ending_and_all_pairs_of_digits_are_trained():
    settings = multiplication.QUICK
    known, z = products.world(settings, 0), products.family(settings.digits, steps=False).combinations
    groups = np.stack(list(known.groups.values()))
    assert groups.sum(axis=0).max() == 1
    full = (z != rc.ABSENT).all(axis=1)
    assert np.array_equal(groups.any(axis=0), known.train | full)
    assert full[groups[[0, 2, 3]].any(axis=0)].all()
    trained = set(map(tuple, z[known.train][:, [0, 1, 3]]))
    out = {tuple(row) for row, o in zip(z[:, [0, 1, 3]], known.out[:, 0], strict=True) if o}
    assert not trained & out
    assert set(map(tuple, z[known.groups["row"]][:, [0, 1, 3]])) <= trained
    assert len(out) / 810 == pytest.approx(settings.withheld, abs=0.05)  # endings 00 to 99, but one-digit numbers none
    assert products.described(settings, known)["coverage_pairs"] == 1.0
    assert np.any(known.out != products.world(settings, 1).out)


def test_a_rememberer_of_products_is_right_only_where_it_was_trained():
    perfect, memory = products.known_systems(replace(multiplication.QUICK, n_eval=64))
    for name in ("exact_trained", "exact_row", "exact_withheld", "exact_4x1", "exact_longer", "step_withheld"):
        assert perfect[name] == 1.0
    assert memory["exact_trained"] == 1.0
    assert memory["step_seen"] == 1.0
    assert memory["step_withheld"] < 0.1
    assert max(memory[f"exact_{name}"] for name in ("row", "withheld", "longer")) < 0.05


def test_planted_memory_and_planted_multiplication_are_judged_so():
    sizes = {"n_row": 1000.0, "n_withheld": 1000.0, "exact_trained": 1.0, "exact_smaller": 1.0}
    wrong = {"exact_row": 0.9, "exact_withheld": 0.3, "step_seen": 0.99, "step_withheld": 0.6, "exact_longer": 0.01}
    right = dict.fromkeys(wrong, 0.98)
    controls = products.known_systems(multiplication.QUICK)
    controls.append({"system": "untrained", "seed": 0, "exact_trained": 0.0, "exact_longer": 0.0})
    for plain, words in (
        (wrong, ["holds", "holds", "fails", "holds", "holds", "holds"]),
        (right, ["fails", "fails", "holds", "fails", "fails", "fails"]),
    ):
        arms = {multiplication.ONCE: plain, multiplication.STEPS: plain, multiplication.COUPLED: right}
        rows = [row for arm, columns in arms.items() for row in planted(arm, **columns, **sizes)]
        found = rc.judge_all(pd.DataFrame([*rows, *controls]), multiplication.CLAIMS)
        assert [v.verdict for v in found] == words, [v.why for v in found]
        # networks that have not learnt the smaller sizes say nothing about larger ones
        table = pd.DataFrame([*rows, *controls])
        table.loc[table["condition"] == multiplication.STEPS, "exact_smaller"] = 0.8
        found = rc.judge_all(table, multiplication.CLAIMS)
        assert [v.verdict for v in found] == [*words[:4], "undecided", "undecided"]


def test_larger_products_are_judged_by_which_number_is_longer():
    columns = {"exact_trained": 1.0, "exact_longer": 0.0, "exact_more": 0.9}
    table = pd.DataFrame(planted(multiplication.STEPS, **columns))
    found = multiplication.by_direction(multiplication.falls)(table)
    assert list(found) == ["longer first number", "longer second number"]
    assert found.mean().tolist() == pytest.approx([1.0, 0.1], abs=0.02)
