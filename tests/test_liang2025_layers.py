"""What the experiments on layers, likeness and appendix A of the bump paper compute, on known answers."""

from __future__ import annotations

from dataclasses import replace

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
import pytest

import recombine as rc
from recombine.experiments.liang2025 import (
    angles,
    blocks,
    encodings,
    framework,
    layers,
    likeness,
    rates,
    rendered,
    rendering,
    shared,
    superposition,
    surfaces,
    targets,
)
from recombine.measures.peak import regions


class Scaled(eqx.Module):
    """A network whose last hidden layer is its input times a number."""

    gain: jax.Array

    def __call__(self, x: jax.Array) -> tuple[jax.Array, dict[str, jax.Array]]:
        return x, {"layer0": x, "layer1": self.gain * x}


Z = np.array([(x, y) for x in range(8) for y in range(8)])
STILL = {"learning_rate": 0.0, "weight_decay": 0.0}


def pictures(values: np.ndarray) -> rc.Record:
    task = rc.bumps(8, rc.local_bump(8))
    return rc.truth(task, Z, key=rc.key(0, "test")).answering(values)


def test_surfaces_on_the_device_are_those_of_the_measures():
    settings = layers.QUICK
    record = pictures(np.random.default_rng(0).normal(size=(64, 8, 8)))
    held_out = rc.on_grid(record, rc.square(record.z, settings.low, settings.high).held_out)
    g = rc.metric(*rc.finite_differences(rc.on_grid(record, record.y_hat)))
    found = surfaces.of_answers(settings, record)
    assert found["factorisation"] == pytest.approx(rc.factorisation(g), rel=1e-4)
    assert found["hole_depth"] == pytest.approx(rc.hole_depth(rc.log_volume(g), held_out, ~held_out), abs=1e-4)
    assert found["additive"] == pytest.approx(rc.additive_share(rc.on_grid(record, record.y_hat)), rel=1e-4)
    probe = rc.held_out_r2(record.y_hat, record.z.astype(float), ~held_out.ravel())
    assert found["probe"] == pytest.approx(probe, abs=1e-3)


def test_layers_of_a_network_come_in_its_own_order():
    settings = layers.QUICK
    network = shared.initial_models(settings, shared.decoder(settings, 10))
    found = surfaces.of_network(settings, shared.grid(settings), network, 11)
    kept = [f"layer{i}" for i in range(11)]
    z = shared.truth(settings).z
    record = rc.record(network, shared.grid(settings), z, key=rc.key(0, "test"), keep=kept)
    acts = [*(record.acts[name] for name in kept), record.y_hat]
    wanted = [rc.additive_share(rc.on_grid(record, a.astype(float))) for a in acts]
    assert found["additive"] == pytest.approx(np.array(wanted), rel=1e-3)


def test_pixel_overlap_tells_a_sum_of_memories_from_the_truth():
    settings = superposition.LAPTOP
    truth = shared.as_intensity(settings, shared.truth(settings))
    known = rc.square(truth.z, settings.low, settings.high).train
    by_factor = likeness.memories(truth, known)
    added = by_factor[0][truth.z[:, 0]] + by_factor[1][truth.z[:, 1]]
    sums = truth.answering(np.where(known[:, None, None], truth.y, added))
    summed, perfect = (likeness.scores(settings, answer, by_factor, seed=0) for answer in (sums, truth))
    assert summed["overlap_or"] > 0.1 > perfect["overlap_or"]
    assert summed["r_code"] == pytest.approx(1.0)
    assert perfect["matrices"].shape == (3, 256, 256)
    assert perfect["matrices"][0].diagonal() == pytest.approx(1.0, abs=1e-5)


def test_the_answers_to_one_factor_average_out_the_code_of_the_other():
    settings = replace(superposition.QUICK, dark=False)
    encode = superposition.encoding(settings, superposition.RATE_CODE)

    def network(x):
        return jnp.full((8, 8), x[0] + 100 * x[1]), {}

    by_x, by_y = superposition.one_factor(settings, encode, network)
    middle = (settings.size - 1) / 2
    assert by_x[:, 0, 0] == pytest.approx(np.arange(8) + 100 * middle)
    assert by_y[:, 0, 0] == pytest.approx(middle + 100 * np.arange(8))


def test_a_hole_in_three_factors_is_held_out_at_every_grade_or_at_one():
    settings = blocks.QUICK
    every, top = (split.held_out for split in blocks.training_sets(settings).values())
    assert every.sum() == settings.grades * top.sum() == settings.grades * 16


def test_targets_are_trained_on_their_own_kind_and_never_in_the_hole():
    settings = framework.QUICK
    for name, split in framework.training_sets(settings, rc.key(0, "test")).items():
        z = split.combinations[split.train]
        assert len(np.unique(z[:, 0])) == 1, name
        inside = ((z[:, 1:] >= settings.low) & (z[:, 1:] <= settings.high)).all(axis=1)
        assert not inside.any()


def test_reversible_mixing_keeps_a_code_and_irreversible_mixing_does_not():
    rows = {row["system"]: row["factorised"] for row in targets.mixed_codes(blocks.QUICK, 0)}
    assert [rows[name] for name in ("separate", *blocks.REVERSIBLE)] == [1.0] * 3
    assert [rows[name] for name in blocks.IRREVERSIBLE] == [0.0] * 2


def test_a_smooth_volume_is_even_and_one_that_stops_is_not():
    settings = rendering.LAPTOP
    task = rc.bumps(settings.size, rc.one_hot(settings.size))
    truth = rc.truth(task, task.combinations, key=rc.key(0, "test"))
    still = rc.nearest_memory(truth, rc.corner(truth.z, settings.start).train)
    even, torn = (rendered.volume(settings, answer) for answer in (truth, still))
    assert abs(even["corner_depth"]) < 0.1 > even["roughness"]
    assert torn["corner_depth"] < -0.6
    assert torn["roughness"] > 0.3


def test_speed_along_an_angle_is_that_of_the_circle_and_a_mixture_lies_between_its_edges():
    angle = np.deg2rad(np.arange(360))
    circle = 3 * np.stack([np.cos(angle), np.sin(angle)], axis=1)[:, :, None]
    assert angles.picture_speeds(circle) == pytest.approx(3.0, rel=1e-3)
    mixed = angles.mixtures(circle, 160, 200)
    assert np.allclose(mixed[180], (circle[160] + circle[200]) / 2)
    speeds = np.asarray(angles.last_hidden_speeds(Scaled(jnp.array([5.0, 2.0]))))
    assert speeds == pytest.approx(np.repeat([[5.0], [2.0]], 360, axis=1), rel=1e-4)


def test_artefacts_are_counted_where_they_are():
    settings = replace(encodings.QUICK, dark=False)
    truth = shared.truth(settings)
    inside = rc.interior(rc.square(truth.z, settings.low, settings.high), settings.rim)
    double = truth.y.copy()
    double[inside, 0, 0] = 1.0
    found = encodings.artefacts(settings, truth.answering(double))
    assert found == {"several_donut": 0.0, "several_interior": 1.0}
    assert regions(np.zeros((1, 4, 4))).tolist() == [0]


def test_faint_ripples_are_no_bumps():
    settings = replace(encodings.QUICK, dark=False)
    truth = shared.truth(settings)
    ripples = truth.answering(np.random.default_rng(0).normal(scale=0.05, size=truth.y.shape))
    assert encodings.artefacts(settings, ripples) == {"several_donut": 0.0, "several_interior": 0.0}


def test_right_places_at_the_wrong_grade_gain_nothing_over_ignoring_it():
    rows = {row["system"]: row for row in blocks.controls(blocks.QUICK)[:4]}
    assert rows["grade-blind"]["grade_gain"] == pytest.approx(0.0)
    assert rows["grade-blind"]["accuracy0_interior"] == 1.0
    assert rows["blind"]["grade_gain"] < 0
    assert rows["perfect"]["grade_gain"] > 5


def test_one_answer_to_all_is_no_sum_of_memories_and_no_truth():
    rows = pd.DataFrame(superposition.controls(superposition.LAPTOP))
    networks = rows[rows["system"] == "blind"].assign(system="network", condition=superposition.DONUT)
    names = ("the failing network does not draw the truth", "the failing network draws its sum of memories")
    for claim in (c for c in superposition.CLAIMS if c.name.startswith(names)):
        assert claim.effect(pd.concat([rows, networks])).to_list() == pytest.approx([0.0])


def test_targets_are_ranked_by_plain_errors_first():
    """Errors that are equal shares of the mean picture's rank as the mean picture does, and not as composing does."""
    rows = pd.DataFrame(framework.controls(framework.QUICK))
    networks = rows[rows["system"] == "mean picture"].assign(system="network", loss=0.0)
    table = pd.concat([rows, networks])
    plain, shares = (c for c in framework.CLAIMS if c.name.startswith("additive targets"))
    assert plain.effect(table).iloc[0] > 0.5
    assert "mean picture" in shares.name


def test_the_two_definitions_of_a_factorised_kernel_contradict_each_other():
    """By eq. 30 the AND kernel, one product, is factorised and OR is not; by A.5 OR is, more than AND."""
    for size in (8, 12, 16):
        rows = {row["system"]: row for row in targets.known_kernels(size, 1.0)}
        assert rows["AND"]["schmidt_rank"] == pytest.approx(1.0)
        assert rows["OR"]["schmidt_rank"] > 1.01
        assert rows["AND"]["pf"] < rows["OR"]["pf"]


def test_networks_are_set_against_their_own_start():
    cell = rates.cells(rates.QUICK)[0]
    make = shared.decoder(rates.QUICK, cell.depth, rates.encoding(rates.QUICK, cell.code))
    keys = rc.member_keys(rates.QUICK.seed, cell.members)
    task = shared.grid(rates.QUICK, rates.encoding(rates.QUICK, cell.code))
    born = shared.starts(make, keys)
    still = rc.population(task, shared.donut(rates.QUICK, task), make, keys, rc.Recipe(1), dials=STILL)
    now, before = (surfaces.of_network(rates.QUICK, task, m, cell.depth + 1) for m in (still[1].model, born[1]))
    assert now["hole_depth"] == pytest.approx(before["hole_depth"], abs=1e-4)
    rows = [{"seed": seed} for seed in (1, 0, 1)]
    found = shared.with_initial(rows, {0: {"a": 5}, 1: {"a": 7}}, ["a"])
    assert [row["initial_a"] for row in found] == [7, 5, 7]


def test_a_rate_code_has_one_number_and_no_flag():
    for encode in (encodings.CODES["rate"](encodings.QUICK), rates.encoding(rates.QUICK, rates.RATE)):
        assert encode.size == 1
        assert np.asarray(encode(jnp.asarray(3.0))).tolist() == [3.0]


def test_the_drop_of_a_shallow_network_is_set_against_a_deep_one_and_against_bump_codes():
    lost = {(rates.RATE, 2): 0.4, (rates.RATE, 4): 0.4, (rates.BUMP, 2): 0.1, (rates.BUMP, 4): 0.0}
    rows = [
        {"system": "network", "condition": code, "depth": float(depth), "seed": seed, "accuracy1_donut": 1.0}
        | {"factorisation": [1.0, 1.0 - fall, 0.0], "initial_factorisation": [1.0, 1.0, 0.0], "nmse_trained": 0.04}
        for (code, depth), fall in lost.items()
        for seed in range(3)
    ]
    found = rates.sharper(pd.DataFrame(rows))
    assert found.iloc[0].to_list() == pytest.approx([0.4 / 3 - 0.4 / 5, 0.3 / 3])
    assert rates.shallow_fits(pd.DataFrame(rows)).to_list() == [1.0] * 3


def test_a_sum_of_kernels_is_all_of_one_part_and_a_product_has_one_term():
    rows = {row["system"]: row for row in targets.known_kernels(8, 1.0)}
    assert rows["sum"]["pf"] == pytest.approx(1.0)
    assert rows["AND"]["schmidt_rank"] == pytest.approx(1.0)
    assert rows["OR"]["schmidt_rank"] > 1.2
