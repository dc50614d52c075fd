"""How claims on families of tasks, built networks, recovered tasks and preferences read tables."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import recombine as rc
from recombine.experiments.redhardt2025 import (
    built_networks,
    construction,
    data,
    family_effects,
    made_up_models,
    precision,
    preference_students,
    preferences,
    preferences_law,
    preferences_size,
    recovery,
    shared,
)
from recombine.theory.memorising import stored_neurons
from recombine.theory.recovery import far_apart, separation


def rows_of(rows: list[dict]) -> pd.DataFrame:
    """A table with one row per network."""
    return pd.DataFrame({"system": "network", "condition": "", "variant": "primary"} | row for row in rows)


def families_table() -> pd.DataFrame:
    """One family whose fewest masks leave a gap of .5, and one whose fewest leave none."""
    numbers = {("small", 4): 0.5, ("small", 16): 0.95, ("large", 40): 0.99, ("large", 160): 0.995}
    return rows_of(
        [
            {"family": name, "count": n, "seed": seed, "r2_seen": 1.0, "r2_unseen": r2, "own": float(name == "small")}
            for (name, n), r2 in numbers.items()
            for seed in range(3)
        ]
    )


def test_families_without_room_for_improvement_are_left_out():
    table = families_table()
    assert family_effects.roomy(table) == ["small"]
    found = family_effects.improved(table)
    assert list(found) == ["small"]
    np.testing.assert_allclose(found, 0.45)


def test_the_gap_after_the_most_masks_is_judged_for_the_default_family_and_for_all():
    default, every = (claim for claim in data.CLAIMS if claim.name.startswith("enough"))
    table = families_table()
    np.testing.assert_allclose(default.effect(table)["small"], 0.05)
    assert list(default.effect(table)) == ["small"] == list(default.fits[0](table))
    assert list(every.effect(table)) == ["large", "small"]


def test_large_families_are_also_tried_with_a_few_masks_per_module():
    settings = data.GPU
    assert list(data.possible(settings, 16, 5).values())[:2] == [32, 138]
    assert min(data.possible(settings, 32, 3).values()) == 110


def built_table(student: float) -> pd.DataFrame:
    """Built networks whose error falls as the square of the neurons, stored ones that grow as the cube of modules."""
    rows = []
    for seed in range(2):
        rows += [
            {"condition": "built", "modules": 8, "hidden": n, "missed": n**-2.0, "error": 5 * n**-2.0, "seed": seed}
            for n in (64, 256, 1024)
        ]
        rows += [{"condition": "memorizing", "modules": m, "hidden": m**3, "seed": seed} for m in (4, 8, 16)]
        rows += [{"condition": "trained", "modules": 8, "hidden": n, "missed": student, "seed": seed} for n in (9, 99)]
    return rows_of(rows)


@pytest.mark.parametrize("neurons", [27, 512, 4096])
def test_storing_overtakes_building_where_both_need_as_many_neurons(neurons):
    found = built_networks.crossing(built_table(neurons**-2.0))
    np.testing.assert_allclose(found, np.log2(neurons) / 3)


def test_the_error_of_built_networks_is_set_against_their_neurons():
    table = rc.pick(built_table(0.1), condition="built")
    np.testing.assert_allclose(construction.exponents(table), -2.0)


def test_stored_combinations_need_neurons_as_triples_of_modules_grow():
    assert stored_neurons(64, 3, 8) / stored_neurons(32, 3, 8) == pytest.approx(8, rel=0.05)


def test_students_of_the_gpu_tier_have_the_sizes_of_built_networks():
    settings = construction.GPU
    hidden = [2 * settings.size * settings.size * pieces + 2 * settings.size for pieces in settings.pieces]
    for width in (*settings.narrower, settings.width):
        assert min(abs(np.log(n / (settings.depth * width))) for n in hidden) < 0.1


def test_tasks_far_apart_are_farther_than_all():
    y = np.random.default_rng(0).normal(size=(30, 50, 2))
    y[1] = y[0]
    far = far_apart(y, 0.3, 6)
    assert len(set(far.tolist())) == 6
    assert separation(y[far], 0.3) > separation(y, 0.3) == 0
    assert len(far_apart(y, 0.3, 99)) == 30


def promised(systems: list[str], excess: float) -> pd.DataFrame:
    rows = [
        {"system": system, "seed": seed, "premise": met, "excess": excess * met, "wrong": 0.05}
        for system in systems
        for seed in range(5)
        for met in (0.0, 1.0)
    ]
    return pd.DataFrame(rows).assign(condition="", variant="primary")


def test_students_and_made_up_models_are_judged_apart():
    students, made_up = recovery.CLAIMS[:2]
    table = pd.concat([promised(["network"], -0.1), promised(list(recovery.MADE_UP), 0.1)])
    assert (students.effect(table) == 0).all()
    assert (made_up.effect(table) == 1).all()
    assert students.preconditions[0].value(table) == 5
    assert made_up.preconditions[0].value(table) == 10
    assert students.preconditions[0].value(promised(list(recovery.MADE_UP), 0.1)) == 0


def test_made_up_models_are_asked_about_tasks_far_apart_and_about_all():
    settings = recovery.Settings(wrong=(0.1,), candidates=4)
    y = np.random.default_rng(0).normal(size=(12, 32, 3))
    rows = made_up_models.rows(settings, 0, y)
    assert [(row["tasks"], row["system"]) for row in rows] == [
        (tasks, system) for tasks in ("far apart", "all") for system in recovery.MADE_UP
    ]
    assert rows[0]["separation"] >= rows[2]["separation"]
    assert made_up_models.asked(settings, y, y)["recovered_all"] == 1


def test_precision_has_more_seeds_where_outcomes_vary_most():
    rows = [
        {"kind": kind, "precision": p, "seed": seed, "r2_unseen": (p == "bfloat16") * 0.01, "r2_seen": 1.0}
        | {"constituents_deepest": np.array([-3.0 * (p == "bfloat16"), 0.5]), "r2_rarest": (p == "float32") * 0.1}
        for kind, seeds in (("random", 3), ("few", 3), ("disconnected", 6))
        for p in ("bfloat16", "float32")
        for seed in range(seeds)
    ]
    table = rows_of(rows)
    effects = [claim.effect(table) for claim in precision.CLAIMS]
    assert [effect.shape for effect in effects] == [(3, 2), (3, 2), (6, 1), (6, 1), (6,)]
    np.testing.assert_allclose(effects[0], 0.01)
    np.testing.assert_allclose(effects[1], 0.0)  # a constituent far below 0 counts as 0
    np.testing.assert_allclose(effects[4], -0.1)


def test_students_that_are_not_compared_do_not_veto_what_transformers_need():
    rows = [
        {
            "seed": seed,
            "model": model,
            "modules": m,
            "multiple": n,
            "step_seen": 0.9,
            "seen_over_memory": 20.0 - m,
        }
        for seed in range(2)
        for model, modules, multiples in (("MLP", (16, 24), (1, 7)), ("transformer", (16,), (1, 2.5)))
        for m in modules
        for n in multiples
    ]
    found = preferences_law.both_learnt(rows_of(rows))
    assert found.columns.tolist() == ["16 modules"]
    assert found.to_numpy().ravel().tolist() == [1, 1]
    assert preferences_law.learnt(rows_of(rows)).tolist() == [0, 0]


def test_a_student_of_preferences_fits_if_it_does_better_than_memory():
    table = rows_of([{"seed": s, "seen_over_memory": v, "step_seen": 0.9} for s, v in enumerate((0.1, -0.1))])
    assert preference_students.fits()(table).tolist() == [1, 0]


def test_memory_of_a_student_is_that_of_its_own_mixtures_in_every_encoding():
    settings = preference_students.PreferenceSettings(**preference_students.TINY)
    task = preference_students.family(settings, 2)
    masks = shared.masks(task)
    support = rc.supports.random(masks, 0.25, shared.support_key(settings, 1))
    found = preference_students.beside_memory(settings, task, (1, support), 0.9)
    table = pd.DataFrame(preference_students.controls(settings, 0.25))
    assert found["memory"] == table.set_index(["system", "seed"])["episode_unseen"]["nearest mixture", 1]
    assert found["seen_over_memory"] == pytest.approx(0.9 - found["memory"])


def test_memory_is_subtracted_by_seed():
    numbers = [{"seed": s, "condition": "random", "episode_unseen": 0.8, "memory": 0.5 + s / 10} for s in range(3)]
    np.testing.assert_allclose(preferences.over_memory(rows_of(numbers)), [0.3, 0.2, 0.1])


def law_table() -> pd.DataFrame:
    """Held-out mixtures keep their level of training ones at two mixtures per preference."""
    return rows_of(
        [
            {"seed": seed, "model": "MLP", "max_active": 3, "modules": m, "total": m**3, "multiple": n, "masks": n * m}
            | {"episode_seen": seen, "episode_unseen": kept * seen, "seen_over_memory": 0.1}
            for seed in range(3)
            for m, seen in ((6, 0.9), (12, 0.6))
            for n, kept in ((1, 0.7), (4, 0.9))
        ]
    )


def test_mixtures_needed_are_read_at_shares_of_training_mixtures():
    claim = preferences_law.CLAIMS[0]
    np.testing.assert_allclose(claim.effect(law_table()), 1.0)
    assert (claim.fits[0](law_table()) == 1).all()


def test_sizes_are_judged_where_the_largest_students_of_preferences_learnt():
    rows = [
        {"seed": seed, "task_encoding": name, "width": width, "depth": 2, "seen_over_memory": over}
        | {"episode_unseen": 0.5, "episode_seen": 0.6, "probe_hidden": 0.5, "probe_code": 0.1}
        for seed in range(3)
        for name, width, over in (
            ("identity", 8, -0.1),
            ("identity", 64, 0.1),
            ("interval shuffle", 8, -0.1),
            ("interval shuffle", 64, -0.1),
        )
    ]
    wider, *_, hidden = preferences_size.CLAIMS
    table = rows_of(rows)
    assert wider.fits[0](table).mean().to_dict() == {"identity": 1, "interval shuffle": 0}
    assert hidden.fits[0](table).mean().to_dict() == {"interval shuffle": 0}
    assert list(hidden.effect(table)) == ["interval shuffle"]
