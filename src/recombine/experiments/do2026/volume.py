"""Are compositional wirings most common at one width and depth, and do trained networks follow the count?

Theory: of all wirings of P primitives in W units and L layers, which share is compositional? The paper's formulas could
not be read, so the counting is ours (theory/volume.py): it falls in W and in L from the smallest network that can carry
the target, and is 0 with fewer layers than the target has steps. Beside it stand trained networks: targets are sums of
P functions of two numbers each, and compositions of them in two and three steps. A unit is pure if nine tenths of its
gradient's energy lie along one value of the composition. Judged is what training adds to the share of pure units, since
some are pure by chance; and the count against simpler rivals: depth, width and number of parameters alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

import recombine as rc
from recombine.experiments.do2026 import volume_figure
from recombine.experiments.do2026.pure_effects import (
    JUDGED,
    TARGETS,
    against,
    by_target,
    fewest_minus_most,
    follows,
    half,
    narrowest,
    own_minus_deepest,
    own_minus_fewer,
)
from recombine.experiments.do2026.pure_units import looked
from recombine.experiments.seeds import Seeded
from recombine.theory import volume as theory

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, kw_only=True)
class Settings(Seeded):
    parts: tuple[int, ...] = (2, 3, 4, 5)
    """functions of two numbers that a target is made of, P; the paper's figure 6 has 3"""
    compositions: tuple[int, ...] = (1, 2, 3)
    """steps in which they are composed: 1 is their sum"""
    widths: tuple[int, ...] = (6, 12, 24, 48, 96)
    """units of a hidden layer, rising"""
    depths: tuple[int, ...] = (1, 2, 3, 4, 8)
    """hidden layers, rising"""
    steps: int = 10_000
    """updates of each network"""
    learning_rate: float = 5e-3
    """AdamW's learning rate, which falls along a cosine"""
    n_eval: int = 512
    """points at which gradients are taken"""

    def __post_init__(self) -> None:
        self.need_positive("steps", "n_eval")
        self.need_rates("learning_rate")
        for name, least in (("widths", 2), ("depths", 2), ("parts", 1), ("compositions", 1)):
            numbers = getattr(self, name)
            if len(numbers) < least or list(numbers) != sorted(set(numbers)) or numbers[0] < 1:
                raise rc.UserError(f"{name} must be {least} or more rising numbers from 1 on, got {numbers}")
        if self.compositions[-1] > len(TARGETS) or JUDGED not in self.parts:
            raise rc.UserError(f"compositions have 1 to {len(TARGETS)} steps, and one target has {JUDGED} parts")


QUICK = Settings(seeds=2, parts=(2, 3), compositions=(1, 2), widths=(4, 6), depths=(1, 2), steps=20, n_eval=16)
LAPTOP = Settings(parts=(2, 3), compositions=(1, 2), widths=(12, 24, 48), depths=(1, 2, 4), steps=3000)
GPU = Settings(seed=1, seeds=16, block=16)
PAPER = replace(GPU, seeds=64, block=64, widths=(3, 6, 12, 24, 48, 96, 192), depths=tuple(range(1, 10)))


def cells(settings: Settings) -> list[rc.Cell]:
    """The networks of one size for one block of seeds, on all targets."""
    return rc.cells(settings, [{"width": w, "depth": d} for d in settings.depths for w in settings.widths])


def run(cell: rc.Cell, monitor) -> list[dict]:
    """All targets and seeds are one population, in which a network's split holds its own target alone."""
    from recombine.tasks.sums import compositions

    settings, task = cell.settings, compositions(cell.settings.parts, cell.settings.compositions)
    alone = [rc.Split(task.combinations, np.arange(len(task.combinations)) == i) for i in range(len(task.combinations))]
    who = [(place, seed) for place in range(len(alone)) for seed in cell.members]
    keys = rc.member_keys(settings.seed, [seed for _, seed in who])

    def make(key):
        return rc.StudentMLP(2 * max(settings.parts), 1, width=cell.width, depth=cell.depth, key=key)

    trained = rc.population(
        task,
        [alone[place] for place, _ in who],
        make,
        keys,
        rc.Recipe(settings.steps, 1, rc.adamw_cosine),
        dials={"learning_rate": settings.learning_rate, "weight_decay": 1e-4},
        monitor=monitor,
        label="networks",
    )
    z = task.combinations[[place for place, _ in who]]
    x, y = asked(settings, z)
    last, first = (looked(models, x, z) for models in (trained.model, rc.initial_models(make, keys)))
    for i, (place, seed) in enumerate(who):
        monitor.recorded(f"networks-{place}-{seed}", rc.Record(np.zeros((len(x[i]), 1)), x[i], y[i], last.y_hat[i]))
    missed = ((last.y_hat - y) ** 2).mean(axis=(1, 2)) / y.var(axis=(1, 2))
    numbers = zip(missed.tolist(), last.pure.tolist(), first.pure.tolist(), strict=True)
    found = [{"missed": missed, "pure": pure, "born": born, "gained": pure - born} for missed, pure, born in numbers]
    who_is = [{**size(cell, *task.combinations[place].tolist()), "seed": seed} for place, seed in who]
    return rc.rows(trained, who_is, found)


def size(cell: rc.Cell, parts: int, steps: int) -> dict[str, Any]:
    """Target, width, depth, parameters, and the share of compositional wirings that the count gives them."""
    ratio = theory.log_volume_ratio(theory.PURE, cell.width, cell.depth, primitives=parts, steps=steps)
    ends = (2 * parts + 2) * cell.width + 1
    return {
        "condition": f"{TARGETS[steps]} of {parts} parts, {cell.depth} x {cell.width}",
        "target": TARGETS[steps],
        "parts": parts,
        "width": cell.width,
        "depth": cell.depth,
        "parameters": ends + (cell.depth - 1) * (cell.width + 1) * cell.width,
        "log_ratio": ratio,
    }


def asked(settings: Settings, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The points at which each network is evaluated, the same for one target, and the answers there."""
    import jax

    from recombine.tasks.sums import Composition

    sample = Composition(max(settings.parts), settings.n_eval)
    x, y = jax.vmap(lambda one: sample(one, rc.key(settings.seed, "test")))(np.asarray(z))
    return np.asarray(x), np.asarray(y)


def controls(settings: Settings) -> list[dict]:
    """Units made by hand: one part each, also with random weights to absent inputs; the sum; parts, then composed."""
    import jax.numpy as jnp

    from recombine.tasks.sums import values

    def layers(*chosen: Callable) -> Callable:
        return lambda x: (x[:1], {str(i): jnp.stack(list(one(x))) for i, one in enumerate(chosen)})

    def parts(x):
        return values(x, JUDGED)[0][:JUDGED]

    few = JUDGED - 1
    absent = rc.rng(settings.seed, "absent inputs").normal(size=(few, 2 * (max(settings.parts) - few)))
    composed = layers(parts, lambda x: values(x, JUDGED)[0][-2:-1].repeat(JUDGED))
    systems = {
        "apart": (JUDGED, 1, layers(parts, parts)),
        "apart beside absent inputs": (few, 1, layers(lambda x: values(x, few)[0][:few] + absent @ x[2 * few :])),
        "mixed": (JUDGED, 1, layers(lambda x: values(x, JUDGED)[1][:1])),
        "designed in two steps": (JUDGED, 2, composed),
        "composed too early": (JUDGED, 1, composed),
    }
    rows = []
    for name, (number, steps, model) in systems.items():
        z = np.array([[number, steps]])
        pure = float(looked(model, asked(settings, z)[0], z).pure[0])
        rows.append({"system": name, "seed": 0, "target": TARGETS[steps], "parts": number, "pure": pure})
    return rows


CONTROLS = (
    rc.reads("apart", "pure", at_least=1.0),
    rc.reads("apart beside absent inputs", "pure", at_least=1.0),
    rc.reads("designed in two steps", "pure", at_least=1.0),
    rc.reads("mixed", "pure", at_most=0.0),
    rc.reads("composed too early", "pure", at_most=0.5),
)
COUNT = "volume ratio, figure 6 (our counting)"
FITS = (by_target(half),)
RIVALS = {"depth": "the number of layers", "width": "the width", "parameters": "the number of parameters"}


def claim(name: str, says: str, source: str, **more: Any) -> rc.Claim:
    return rc.Claim(name, says, source, controls=CONTROLS, over="targets", **more)


CLAIMS = (
    claim(
        "training adds fewer pure units where compositional wirings are rarer by count",
        "Over widths and depths, training adds fewer pure units where compositional wirings are rarer by count.",
        COUNT,
        effect=by_target(follows("log_ratio")),
        above=0.3,
        unit="rank correlation of the counted log ratio with the share of pure units that training adds",
        fits=FITS,
    ),
    *(
        claim(
            f"the count says more than {words} alone",
            f"The counted share ranks networks by their pure units better than {words} alone does.",
            "ours: a count that says no more than a simpler number is not shown by figure 6",
            effect=by_target(against(rival)),
            above=0.1,
            unit=f"rank correlation of the count at equal {rival} minus that of less {rival} at an equal count",
            fits=FITS,
        )
        for rival, words in RIVALS.items()
    ),
    claim(
        "training adds fewer pure units to wider networks",
        "At equal depth, training adds more pure units at the narrowest width that nine tenths learn at than at the"
        " widest.",
        COUNT,
        effect=by_target(narrowest),
        above=0.05,
        unit="share of pure units that training adds, narrowest minus widest learnt",
        fits=FITS,
    ),
    claim(
        "beyond the target's own depth training adds fewer pure units",
        "At equal width, training adds more pure units with as many layers as the target has steps than with the most.",
        f"{COUNT}: the sweet spot",
        effect=by_target(own_minus_deepest, steps=2),
        above=0.05,
        unit="share of pure units that training adds, as many layers as steps minus the deepest",
        fits=(by_target(half, steps=2),),
    ),
    claim(
        "with fewer layers than steps the target is learnt at fewer widths",
        "A target is learnt at more widths with as many layers as it has steps than with one layer less.",
        f"{COUNT}: the sweet spot",
        effect=by_target(own_minus_fewer, steps=2),
        above=0.25,
        unit="share of widths at which the target is learnt",
    ),
    claim(
        "training adds fewer pure units for targets of more primitives",
        "At equal width and depth, training adds more pure units for the fewest primitives than for the most.",
        "sensitivity to P, figure 9 (our counting)",
        effect=by_target(fewest_minus_most, parts=None),
        above=0.05,
        unit="share of pure units that training adds, fewest parts minus most",
        fits=(by_target(half, parts=None),),
    ),
)


def figure(settings: Settings, table: pd.DataFrame):
    """Counted ratio, pure units and learning over width and depth; the same against P; and what is judged."""
    return volume_figure.figure(settings, table, CLAIMS)
