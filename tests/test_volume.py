"""Units that carry one value of a composition are pure, and the count is judged against simpler numbers."""

from __future__ import annotations

from dataclasses import replace

import jax.numpy as jnp
import numpy as np
import pandas as pd
import pytest

import recombine as rc
from recombine.experiments.do2026 import volume
from recombine.experiments.do2026.pure_effects import TARGETS
from recombine.experiments.do2026.pure_units import looked
from recombine.tasks.sums import values

SETTINGS = replace(volume.GPU, seeds=16, block=16, n_eval=64)


def test_controls_read_what_they_must():
    read = pd.DataFrame(volume.controls(SETTINGS)).set_index("system")["pure"].to_dict()
    beside = {"apart beside absent inputs": 1.0}
    assert read == {"apart": 1.0, "mixed": 0.0, "designed in two steps": 1.0, "composed too early": 0.5} | beside


def test_a_value_of_a_later_step_counts_only_for_a_target_that_has_that_step():
    x = np.random.default_rng(0).uniform(-1, 1, (3, 64, 6)).astype(np.float32)
    z = np.array([[3, 1], [3, 2], [3, 3]])

    def later(x):
        return x[:1], {"layer": values(x, 3)[0][-2:]}

    assert looked(later, x, z).pure.tolist() == [0.0, 0.5, 1.0]


def test_weights_to_inputs_that_a_target_does_not_have_do_not_count():
    x = np.random.default_rng(0).uniform(-1, 1, (1, 64, 10)).astype(np.float32)
    x[..., 4:] = 0

    def model(x):
        return x[:1], {"layer": jnp.stack([x[0] + 2 * x[5], x[2] - 2 * x[9], x[0] + x[2], x[7]])}

    assert looked(model, x, np.array([[2, 1]])).pure.tolist() == pytest.approx([2 / 3]), "the last unit is never on"
    assert looked(model, x, np.array([[5, 1]])).pure.tolist() == [0.0]


def test_counts_of_no_wiring_are_not_ranked():
    rows = table(ratio)
    rows["missed"] = 0.01  # all learn, even with too few layers
    effect = volume.CLAIMS[0].effect(rows)
    rows.loc[~np.isfinite(rows["log_ratio"]), "gained"] = 9.0
    assert volume.CLAIMS[0].effect(rows).equals(effect)


def test_a_unit_that_is_never_on_does_not_count():
    def model(x):
        return x[:1], {"layer": jnp.stack([x[0], x[0] * 0.1 - 9.0, x.sum()])}

    x = np.random.default_rng(0).uniform(-1, 1, (1, 64, 6)).astype(np.float32)
    assert looked(model, x, np.array([[3, 1]])).pure.tolist() == [0.5]


def table(gained, *, seed: int = 0) -> pd.DataFrame:
    """Networks of every size on every target, with so many pure units gained by a function of what is known of each."""
    rng, rows = np.random.default_rng(seed), []
    for cell in volume.cells(SETTINGS):
        for steps in TARGETS:
            for parts in SETTINGS.parts:
                facts = volume.size(cell, parts, steps)
                able = cell.depth >= steps
                for number in cell.members:
                    noise = 0.02 * rng.standard_normal()
                    missed = {"missed": 0.01 if able else 0.5, "gained": gained(facts, steps) + noise}
                    rows.append({"system": "network", "seed": number, **facts, **missed})
    return pd.DataFrame(rows)


def words(rows: pd.DataFrame) -> dict[str, str]:
    bare = [replace(claim, controls=()) for claim in volume.CLAIMS]
    return {v.claim: v.verdict for v in rc.judge_all(rows, bare)}


def ratio(facts, steps) -> float:
    return 1 / (1 - 0.05 * facts["log_ratio"]) if np.isfinite(facts["log_ratio"]) else 0.0


def test_networks_that_follow_the_count_are_found_to_and_those_that_follow_depth_alone_are_not():
    found = words(table(ratio))
    assert found["training adds fewer pure units where compositional wirings are rarer by count"] == "holds"
    for rival in ("the number of layers", "the width"):
        assert found[f"the count says more than {rival} alone"] == "holds"
    assert found["the count says more than the number of parameters alone"] != "fails", "these two go together most"
    for name in (
        "training adds fewer pure units to wider networks",
        "beyond the target's own depth training adds fewer pure units",
    ):
        assert found[name] == "holds"
    assert found["with fewer layers than steps the target is learnt at fewer widths"] == "holds"
    assert found["training adds fewer pure units for targets of more primitives"] == "holds"
    found = words(table(lambda facts, steps: 1 / facts["depth"]))
    assert found["the count says more than the number of layers alone"] == "fails"
    assert (
        words(table(lambda f, _: f["parameters"] ** -0.2))["the count says more than the number of parameters alone"]
        == "fails"
    )
    assert found["training adds fewer pure units to wider networks"] == "fails"


@pytest.mark.parametrize("seed", range(3))
def test_nothing_holds_of_networks_that_are_alike(seed):
    found = words(table(lambda facts, steps: 0.3, seed=seed))
    assert "holds" not in {word for name, word in found.items() if "is learnt at" not in name}


def test_the_narrowest_width_is_the_first_that_nearly_all_learn_at():
    rows = table(lambda facts, steps: float(facts["width"] == 12))
    rows.loc[rows["width"] == 6, "missed"] = 0.5
    (claim,) = (c for c in volume.CLAIMS if c.name.endswith("to wider networks"))
    assert claim.effect(rows)["sum"].mean() == pytest.approx(1.0, abs=0.05)
