"""Claims of the bump paper that were restated: what their effects read on tables and systems of known answers."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import recombine as rc
from recombine.experiments.liang2025 import (
    depth,
    depth_claims,
    framework,
    framework_claims,
    layers,
    layers_claims,
    likeness,
    rates,
    shared,
    superposition,
    surfaces,
    targets,
    tuning_claims,
)
from recombine.experiments.liang2025.stripes import DONUT

CODES = (superposition.BUMP_CODE, superposition.RATE_CODE)


def claim(module, name: str) -> rc.Claim:
    return next(c for c in module.CLAIMS if c.name == name)


@pytest.mark.parametrize("code", CODES)
def test_the_input_has_x_and_y_apart_and_decodable(code):
    """So that a fall from the input, the same before and after training, is one of the last hidden layer alone."""
    settings = superposition.LAPTOP
    task = shared.grid(settings, superposition.encoding(settings, code))

    def network(x):
        return x, {}

    found = surfaces.of_network(settings, task, network, 0)
    assert found["factorisation"] == pytest.approx([1.0], abs=1e-4)
    assert found["probe"] == pytest.approx([1.0], abs=1e-3)
    assert found["additive"] == pytest.approx([1.0], abs=1e-4)


def test_a_fall_counts_from_the_input_on_and_beyond_the_networks_own_start():
    """What is lost before the first hidden layer counts, too."""
    row = {"system": "network", "condition": DONUT, "seed": 0, "factorisation": [0.7, 0.7, 0.1]}
    row |= {"initial_factorisation": [0.95, 0.9, 0.2]}
    table = pd.DataFrame([row])
    assert layers_claims.fall("factorisation", condition=DONUT)(table).to_list() == pytest.approx([0.2])
    rate = table.assign(condition=rates.RATE, depth=2.0)
    assert rates.steepness(rates.RATE, 2)(rate).to_list() == pytest.approx([0.2 / 3])


def test_lines_start_at_the_input_where_a_measure_is_one_there():
    places, values = layers.from_input("factorisation_fd", np.array([0.9, 0.8]))
    assert (places.tolist(), values.tolist()) == ([0, 1, 2], [1.0, 0.9, 0.8])
    places, values = layers.from_input("hole_depth", np.array([0.1, 0.2]))
    assert (places.tolist(), values.tolist()) == ([1, 2], [0.1, 0.2])


@pytest.fixture(scope="module")
def known() -> pd.DataFrame:
    return pd.DataFrame(superposition.controls(superposition.LAPTOP))


def reading(name: str, known: pd.DataFrame, system: str, condition: str) -> float:
    """What a claim's effect reads on networks that do as a system whose answer is known."""
    networks = known[known["system"] == system].assign(system="network", condition=condition)
    return claim(superposition, name).effect(pd.concat([known, networks])).iloc[0]


@pytest.mark.parametrize(
    ("name", "condition"),
    [
        ("the failing kernel is OR-like", DONUT),
        ("with plain numbers the failing kernel is OR-like too", superposition.RATE),
        ("with plain numbers the failure is a sum of memories too (ours)", superposition.RATE),
        ("the failure is a sum of the answers to one factor", DONUT),
    ],
)
def test_a_margin_lies_between_a_superposition_and_a_perfect_renderer(known, name, condition):
    margin = claim(superposition, name).above
    assert margin is not None
    low, high = (reading(name, known, system, condition) for system in ("perfect", "superposition"))
    assert low < margin < high - 0.1


def test_the_truth_is_drawn_by_a_perfect_solver_and_not_by_a_superposition(known):
    name = "the failing network does not draw the truth"
    bound = claim(superposition, name).below
    assert bound is not None
    perfect, summed = (reading(name, known, system, DONUT) for system in ("perfect", "superposition"))
    assert perfect > 0.5 > bound > summed
    assert all(check.at_least <= check.value(known) <= check.at_most for check in claim(superposition, name).controls)


def test_matrices_have_the_donut_first():
    settings = superposition.QUICK
    z = np.argwhere(np.ones((settings.size, settings.size)))
    rows, donut = likeness.coarse(settings, z)
    held_out = rc.square(z[rows], settings.low, settings.high).held_out
    assert sorted(rows) == list(range(len(z)))
    assert donut == 48
    assert not held_out[:donut].any()
    assert held_out[donut:].all()


def test_mlps_that_fit_within_a_pixel_and_miss_the_interior_fail_there():
    rows = [
        {"system": "network", "condition": depth_claims.LONG, "depth": d, "seed": s, "nmse_trained": 0.03}
        | {"accuracy1_donut": 1.0, "accuracy0_donut": 0.5, "accuracy1_interior": 0.0, "accuracy0_interior": 0.0}
        for d in (3.0, 4.0)
        for s in range(5)
    ]
    table = pd.concat([pd.DataFrame(rows), pd.DataFrame(shared.controls(depth.QUICK))])
    verdict = rc.judge(table, claim(depth, "MLPs of every depth fail in the hole"))
    assert verdict.verdict == "holds"
    assert verdict.effect == pytest.approx(1.0)


def test_mlps_as_released_have_as_many_passes_over_their_donut_at_every_tier():
    for settings in (depth.LAPTOP, depth.GPU, depth.PAPER):
        cells = settings.size**2 - (settings.high - settings.low + 1) ** 2
        assert settings.released_steps * settings.batch / cells == pytest.approx(81.5, abs=1)
        assert settings.mlp_learning_rate == 1e-3


def test_controls_of_depth_are_those_of_layers_and_a_superposition_is_no_collapse():
    table = pd.DataFrame(depth.controls(depth.LAPTOP)[:8])
    for check in (*layers_claims.VOLUME, *layers_claims.FACTORS, *layers_claims.PROBE):
        assert check.at_least <= check.value(table) <= check.at_most, check.says
    assert rc.control(table, "blind", "accuracy0_interior") < 0.1


def test_composing_networks_of_the_framework_draw_bumps_and_no_crosses():
    settings = framework.QUICK
    whole = shared.truth(settings)
    inside = rc.interior(rc.square(whole.z, settings.low, settings.high), settings.rim)
    bumps, crosses = targets.joined(settings, whole.z)
    seen = rc.Record(whole.z, whole.x, bumps, bumps).where(inside)
    assert targets.placed(settings, seen) == {"accuracy0_interior": 1.0, "bumps0_interior": 1.0}
    assert targets.placed(settings, seen.answering(crosses[inside]))["bumps0_interior"] == 0.0
    rows = pd.DataFrame(framework.controls(settings))
    perfect = rows[(rows["system"] == "perfect") & rows["condition"].isin(["dark", framework_claims.DONUT])]
    assert perfect["bumps0_interior"].to_list() == [1.0, 1.0]
    dark = rows[(rows["system"] == "perfect") & (rows["condition"] == "dark")].iloc[0]
    assert dark["wanted"] == pytest.approx(dark["samples"])
    assert dark["wanted"].max() == pytest.approx(1.0, abs=0.01)


def test_kernels_are_compared_of_networks_that_fail_and_that_compose():
    def fits(bumps: float, placed: float) -> list[float]:
        base = {"system": "network", "seed": 0, "unexplained_trained": 0.0}
        rows = [base | {"condition": "dark", "bumps0_interior": bumps, "accuracy0_interior": 1.0}]
        rows += [base | {"condition": framework_claims.DONUT, "bumps0_interior": 0.0, "accuracy0_interior": placed}]
        return [float(fit(pd.DataFrame(rows)).min()) for fit in framework_claims.FAILS_AND_COMPOSES]

    assert min(fits(0.9, 0.0)) == 1.0
    assert min(fits(0.7, 0.0)) == 0.0
    assert min(fits(0.9, 0.2)) == 0.0


def test_late_conjunctions_are_compared_of_networks_that_fail_and_that_compose():
    stated = next(c for c in tuning_claims.STATED if c.name.startswith("late conjunctions"))

    def fit(bumps: float, placed: float) -> float:
        names = ("stripes + 0", "stripes + 16", DONUT)
        rows = [
            {"system": "network", "condition": name, "seed": 0, "loss": 0.0, "accuracy1_trained": 1.0}
            | {"bumps0_interior": bumps, "accuracy0_interior": placed if name == DONUT else 1.0}
            for name in names
        ]
        return min(float(one(pd.DataFrame(rows)).min()) for one in stated.fits)

    assert fit(0.9, 0.0) == 1.0
    assert fit(0.7, 0.0) == 0.0
    assert fit(0.9, 0.2) == 0.0
