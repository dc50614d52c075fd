"""Protocols and claims of the bump experiments: variants that run, shares of the donut, networks apart, and rulers."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import pytest

import recombine as rc
from recombine.claims import failed
from recombine.engine import audit
from recombine.engine.request import RunRequest
from recombine.experiments.liang2025 import (
    amounts,
    donut_shares,
    efficiency,
    efficiency_claims,
    encodings,
    figures,
    holdouts,
    positions,
    predictors,
    rendering,
    rotation,
    stripes,
)
from recombine.experiments.liang2025 import pictures_needed as needed
from recombine.table import modern
from recombine.train.monitor import Monitor

SEEDS = range(6)


def named(module, name: str) -> rc.Claim:
    return next(claim for claim in module.CLAIMS if claim.name == name)


def ordered(name: str, tier: str, *variants: rc.Variant) -> RunRequest:
    from pathlib import Path

    from recombine.engine.catalogue import find

    experiment = find(f"liang2025/{name}")
    return RunRequest(experiment, tier, experiment.settings(tier), Path("results"), variants=variants)


def test_the_stored_command_names_the_variants_that_were_ordered():
    assert ordered("encodings", "laptop").command.endswith("--tier laptop --variants none")
    assert ordered("encodings", "laptop", *encodings.VARIANTS).command.endswith("--variants all")
    one = efficiency.VARIANTS[2]
    assert ordered("efficiency", "laptop", one).command.endswith("--variants 'MLP on whole cells'")


def test_the_released_rendering_network_has_rows_at_every_tier():
    for tier, settings in (("laptop", rendering.LAPTOP), ("gpu", rendering.GPU)):
        protocols = ordered("rendering", tier, *rendering.VARIANTS).protocols.values()
        released = [one for one in protocols if one.channels == 2 and one.ramp == 0.0]
        stable = [one for one in protocols if one.channels == 8 and one.ramp > 0]
        assert len(released) == len(stable) == 1, tier
        assert released[0].seeds == settings.seeds


def test_cheap_variants_of_efficiency_differ_from_the_laptop_tier():
    found = ordered("efficiency", "laptop", *efficiency.VARIANTS).protocols
    assert {"MLP on whole cells", "MLP for 20 epochs"} <= set(found)
    assert "MLP" not in found


def test_paper_tiers_have_the_released_lengths():
    assert stripes.PAPER.steps == amounts.PAPER.steps == encodings.PAPER.steps == 50 * 63
    assert not positions.PAPER.cosine
    paper = efficiency.PAPER
    largest = needed.sizes(needed.BUMPS, paper.sides[-1], paper.law, paper.sizes)[-1]
    assert paper.epochs == 20
    assert paper.steps * paper.batch == 20 * largest


def untrained_table(**lacking: float) -> pd.DataFrame:
    """Six networks that score .9 on what they saw and .1 on what they did not; an untrained one has a score of .1."""
    rows = [{"system": "network", "condition": "a", "seed": s, "seen": 0.9 + s / 1e3, "unseen": 0.1} for s in SEEDS]
    rows += [{"system": "untrained", "condition": "a", "seed": 0, "unseen": 0.1 + 1e-6, **lacking}]
    return modern(pd.DataFrame(rows))


def test_an_untrained_network_that_lacks_a_number_does_not_keep_a_margin_with_that_of_the_trained():
    lost = rc.Claim("c", "says", "where", lambda t: rc.by_seed(t, "seen") - rc.by_seed(t, "unseen"), above=0.5)
    assert audit.against(lost, audit.Seen(untrained_table())) == []
    assert audit.against(lost, audit.Seen(untrained_table(seen=0.1))) == []
    (said,) = audit.against(lost, audit.Seen(untrained_table(seen=0.95)))
    assert "untrained networks" in said


def test_numbers_from_before_training_are_those_of_each_network():
    table = untrained_table().rename(columns={"seen": "initial_unseen"})
    moved = rc.Claim(
        "c", "says", "where", lambda t: rc.by_seed(t, "initial_unseen") - rc.by_seed(t, "unseen"), above=0.5
    )
    (said,) = audit.against(moved, audit.Seen(table))
    assert "untrained networks" in said


def with_bumps(*numbers: int, share: float = 0.95, side: int = 16) -> pd.DataFrame:
    """Networks with so many bumps that draw this share of bumps on a grid of this side, and known systems."""
    rows = [
        {"system": "network", "seed": seed, "bumps": n, "loss": 0.001, "accuracy1_trained": 1.0}
        | {"bumps1_hole": share - 0.01 * (seed % 2), "images": 2 * side + n}
        for n in numbers
        for seed in SEEDS
    ]
    for system in ("perfect", *figures.NO_BUMPS):
        once = {16: 1 / 100, 28: 1 / 289}[side]
        rows.append({"system": system, "seed": 0, "bumps1_hole": float(system == "perfect"), "accuracy0_hole": once})
    return pd.DataFrame(rows)


def test_the_size_of_the_donut_is_read_off_a_table_without_pictures():
    (cell,) = amounts.cells(replace(amounts.QUICK, steps=1))
    rows = amounts.run(cell, Monitor()) + amounts.controls(amounts.QUICK)
    assert donut_shares.donut(modern(pd.DataFrame(rows))) == amounts.QUICK.outside == 48


@pytest.mark.parametrize(("numbers", "side"), [((0, 3, 16, 64), 16), ((0, 10, 50, 200), 28)])
def test_shares_of_the_donut_are_found_in_every_tier(numbers, side):
    table = with_bumps(*numbers, side=side)
    assert donut_shares.with_share(table, 2) == [numbers[1]]
    assert donut_shares.with_share(table, 10) == [numbers[2]]
    assert rc.judge(table, named(amounts, "10 % of the donut's bumps are enough")).verdict == "holds"
    low = with_bumps(*numbers, share=0.3, side=side)
    assert rc.judge(low, named(amounts, "10 % of the donut's bumps are enough")).verdict == "fails"


def test_a_table_without_a_tenth_of_the_donut_leaves_its_claim_undecided():
    found = rc.judge(with_bumps(0, 10, 200, side=28), named(amounts, "10 % of the donut's bumps are enough"))
    assert (found.verdict, found.why) == ("undecided", "what the claim compares is not trained here")
    assert set(donut_shares.with_share(with_bumps(*amounts.LAPTOP.bumps), 10)) == {16}


def test_what_an_mlp_does_turns_no_claim_of_the_paper_on_rotation():
    rows = [
        {"system": "network", "condition": network, "seed": seed, "mse_seen": 1e-4, "initial_gap_speed": 0.0}
        | {"gap_speed": -(speed + 0.01 * (seed % 2))}
        for network, speed in (("CNN", 0.15), ("MLP", 0.4))
        for seed in SEEDS
    ]
    rows += [{"system": name, "seed": 0, "gap_speed": speed} for name, speed in (("perfect", 0), ("nearest edge", -9))]
    name = "the last hidden layer keeps its speed through the gap of angles"
    assert rc.judge(pd.DataFrame(rows), named(rotation, name)).verdict == "holds"
    assert rc.judge(pd.DataFrame(rows), named(rotation, f"{name} in an MLP (ours)")).verdict == "fails"
    ours = [claim for claim in rotation.CLAIMS if "(ours)" in claim.name]
    assert len(ours) == len(rotation.CLAIMS) / 2 == 4


def test_no_claim_of_efficiency_rests_on_the_nearest_pixel():
    assert set(efficiency_claims.JUDGED) == {"box_0.6", "box_1", "everywhere_0.6", "everywhere_1"}
    assert not any("nearest pixel" in claim.name for claim in efficiency.CLAIMS)


def test_exponents_made_of_bounds_are_drawn_hollow():
    from matplotlib.figure import Figure

    rows = [
        {"seed": seed, "side": side, "needed_box_1": float(side**2), "beyond_box_1": float(seed == 1 and side == 12)}
        for seed in (0, 1)
        for side in (8, 12)
    ]
    axes = Figure().subplots()
    efficiency._exponents(axes, 0, pd.DataFrame(rows), "box_1", "red")
    assert [line.get_markerfacecolor() for line in axes.lines] == ["red", "none"]


def test_widths_are_compared_with_the_hole_of_the_released_sweep():
    for settings in (encodings.LAPTOP, encodings.GPU):
        assert settings.sweep == (round(10 * settings.size / 28), round(18 * settings.size / 28))
    (variant,) = encodings.VARIANTS
    other = variant.applied(encodings.LAPTOP)
    assert (other.of_sweep.low, other.of_sweep.high) == (encodings.LAPTOP.low, encodings.LAPTOP.high)
    with pytest.raises(rc.UserError, match="must lie inside"):
        replace(encodings.LAPTOP, sweep=(0, 9))


def test_the_sweep_trains_on_more_of_the_grid_and_has_rows_of_its_own():
    settings = replace(encodings.QUICK, codes=("local bump",), steps=2)
    rows = [row for cell in encodings.cells(settings) for row in encodings.run(cell, Monitor())]
    images = {row["condition"]: row["images"] for row in rows}
    assert images == {"local bump": 64 - 16, "local bump, sweep": 64 - 9, "wide bump, sweep": 64 - 9}
    wider = named(encodings, "wider codes err a little less (the release)")
    table = modern(pd.DataFrame(rows + encodings.controls(settings)))
    assert not any(failed(table, check) for check in wider.controls)
    assert len(wider.effect(table)) == settings.seeds


def test_no_claim_of_holdouts_lies_at_its_ceiling():
    assert not any("two products" in claim.name for claim in holdouts.CLAIMS)


def test_slow_families_of_predictors_train_longer():
    from recombine.experiments.liang2025.families import families

    slow = {family.name for family in families(predictors.LAPTOP) if family.slow}
    assert slow == {"per-pixel", "rendering"}
    with pytest.raises(rc.UserError, match="longer must be at least 1"):
        replace(predictors.LAPTOP, longer=0)
    assert predictors.GPU.precision == "float32"
    assert not predictors.GPU.cosine


def test_bounds_on_the_largest_side_alone_leave_no_doubt_that_a_power_is_larger():
    """N^5 bumps are needed; on the largest side, or on all, the number is only a bound, or fewer would have done."""
    sides, ruler = (8, 12, 16), needed.PRIMARY
    cubic = next(claim for claim in efficiency.CLAIMS if "N^3" in claim.name)
    for beyond, word in (({16: 1}, "fails"), (dict.fromkeys(sides, 1), "undecided"), ({16: -1}, "undecided")):
        rows = [
            {"system": "network", "condition": needed.BUMPS, "side": side, "seed": seed}
            | {f"needed_{ruler}": side**5.0, f"beyond_{ruler}": float(beyond.get(side, 0))}
            for side in sides
            for seed in range(5)
        ]
        verdict = rc.judge(modern(pd.DataFrame(rows)), replace(cubic, controls=()))
        assert verdict.verdict == word, verdict.why


@pytest.mark.parametrize("name", ["MLP on whole cells", "MLP for 20 epochs"])
def test_the_cheap_variants_of_efficiency_are_judged_as_the_primary_protocol(name):
    variant = next(one for one in efficiency.VARIANTS if one.name == name)
    settings = replace(variant.applied(efficiency.QUICK), sides=(8, 12), width=8, depth=1, steps=20)
    rows = [row for cell in efficiency.cells(settings) for row in efficiency.run(cell, Monitor())]
    table = modern(pd.DataFrame(rows + efficiency.controls(settings)))
    judged = [rc.judge(table, claim, evidence=False) for claim in efficiency.CLAIMS]
    assert len(judged) == 8
    assert all(one.seeds == settings.seeds for one in judged)
