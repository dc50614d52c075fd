"""Are compositional wirings most common at one width and depth, and do trained networks follow the count?

Theory: of all wirings of P primitives in W units and L layers, which share is compositional? The paper's formulas could
not be read, so the counting is ours (theory/volume.py): it falls in W and in L from the smallest network that can carry
the target. Beside it stand trained networks: y is a sum of three functions of two numbers each, and a unit is pure if
nine tenths of its gradient's energy fall on the numbers of one of them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

import recombine as rc
from recombine.experiments.seeds import Seeded
from recombine.theory import volume as theory
from recombine.theory.volume import log_volume_ratio

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, kw_only=True)
class Settings(Seeded):
    parts: int = 3
    """functions that add up, P"""
    widths: tuple[int, ...] = (6, 12, 24, 48)
    """units of a hidden layer, rising"""
    depths: tuple[int, ...] = (1, 2, 3, 4)
    """hidden layers, rising"""
    steps: int = 3000
    """updates of each network"""
    learning_rate: float = 5e-3
    """AdamW's learning rate, which falls along a cosine"""
    n_eval: int = 512
    """points at which gradients are taken"""

    def __post_init__(self) -> None:
        self.need_positive("parts", "steps", "n_eval")
        self.need_rates("learning_rate")
        for name in ("widths", "depths"):
            numbers = getattr(self, name)
            if len(numbers) < 2 or list(numbers) != sorted(set(numbers)) or numbers[0] < 1:
                raise rc.UserError(f"{name} must be two or more rising numbers from 1 on, got {numbers}")


QUICK = Settings(seeds=2, widths=(4, 6), depths=(1, 2), steps=20, n_eval=16)
LAPTOP = Settings(depths=(1, 2, 4))
GPU = Settings(seeds=16, block=16, widths=(3, 6, 12, 24, 48), depths=(1, 2, 3, 4, 6), steps=10_000)
PAPER = replace(GPU, seeds=64, block=64, widths=(3, 6, 12, 24, 48, 96, 192), depths=tuple(range(1, 10)))
PURE = 0.9
"""Share of a unit's gradient energy on one part from which on it is pure."""


def cells(settings: Settings) -> list[rc.Cell]:
    """The networks of one size for one block of seeds."""
    return rc.cells(settings, [{"width": w, "depth": d} for d in settings.depths for w in settings.widths])


def maker(settings: Settings, width: int, depth: int):
    return lambda key: rc.StudentMLP(2 * settings.parts, 1, width=width, depth=depth, key=key)


def run(cell: rc.Cell, monitor) -> list[dict]:
    settings, task = cell.settings, rc.sum_of_parts(cell.settings.parts)
    trained = rc.population(
        task,
        rc.Split(task.combinations, np.ones(1, bool)),
        maker(settings, cell.width, cell.depth),
        rc.member_keys(settings.seed, cell.members),
        rc.Recipe(settings.steps, 1, rc.adamw_cosine),
        dials={"learning_rate": settings.learning_rate, "weight_decay": 1e-4},
        monitor=monitor,
        label="networks",
    )
    x, y = asked(settings)
    for i, seed in enumerate(cell.members):
        answers = np.asarray(trained[i].model(x)[0])
        monitor.recorded(f"networks-{seed}", rc.Record(np.zeros((len(x), 1)), x, y, answers))
    who = [{"condition": f"{cell.depth} x {cell.width}", **size(cell), "seed": seed} for seed in cell.members]
    return rc.rows(trained, who, [measured(settings, trained[i].model) for i in range(len(trained))])


def size(cell: rc.Cell) -> dict[str, float]:
    """Width and depth, and the share of compositional wirings that the count gives them."""
    ratio = log_volume_ratio(theory.PURE, cell.width, cell.depth, primitives=cell.settings.parts)
    return {"width": cell.width, "depth": cell.depth, "log_ratio": ratio}


def asked(settings: Settings) -> tuple[np.ndarray, np.ndarray]:
    """The points at which networks are evaluated, and the sums there."""
    x, y = rc.sum_of_parts(settings.parts, points=settings.n_eval).sample(np.zeros(1), rc.key(settings.seed, "test"))  # pyrefly: ignore
    return np.asarray(x), np.asarray(y)


def measured(settings: Settings, model: Any) -> dict[str, float]:
    """The share of the variance that a network misses, and of its units that are pure: all, and in the last layer."""
    import jax

    x, y = asked(settings)
    shares = purity(jax.jacobian(lambda x: list(model(x)[1].values())), x, settings.parts)
    every, last = np.concatenate(shares), shares[-1]
    missed = float(((model(x)[0] - y) ** 2).mean() / y.var())
    pure, pure_last = (float(some.mean()) if some.size else np.nan for some in (every, last))
    return {"missed": missed, "pure": pure, "pure_last": pure_last}


def purity(jacobian, x, parts: int) -> list[np.ndarray]:
    """For each layer, which of its living units are pure: 1 or 0."""
    import jax

    found = []
    for layer in jax.device_get(jax.jit(jax.vmap(jacobian))(x)):
        energy = (np.asarray(layer) ** 2).mean(axis=0).reshape(layer.shape[1], parts, 2).sum(axis=2)
        living = energy.sum(axis=1) > 0
        found.append((energy[living].max(axis=1) >= PURE * energy[living].sum(axis=1)).astype(float))
    return found


def controls(settings: Settings) -> list[dict]:
    """Made-up layers, whose units read one part each or all alike; and networks of every size, untrained."""
    import equinox as eqx
    import jax

    eye = np.kron(np.eye(settings.parts), np.ones((1, 2)))
    x = np.zeros((2, 2 * settings.parts), np.float32)

    def share(weights: np.ndarray) -> dict[str, float]:
        return {"pure": float(purity(lambda _: [np.asarray(weights, np.float32)], x, settings.parts)[0].mean())}

    rows = rc.control_rows(share, {"apart": eye, "mixed": np.ones_like(eye)})
    for cell in cells(replace(settings, seeds=1)):
        born = rc.initial_models(maker(settings, cell.width, cell.depth), rc.key(settings.seed, "untrained")[None])
        model = jax.tree.map(lambda a: a[0] if eqx.is_array(a) else a, born)
        rows.append({"system": "untrained", "seed": 0, **size(cell), **measured(settings, model)})
    return rows


LEARNT = 0.1
"""A network has learnt the sum if it misses a tenth of its variance at most."""


def sound(table: pd.DataFrame) -> pd.DataFrame:
    """Networks that have learnt the sum."""
    rows = rc.networks(table)
    return rows[rows["missed"] <= LEARNT]


def half(table: pd.DataFrame) -> pd.Series:
    """By seed, 1 if at least half of its networks have learnt the sum, else 0."""
    return rc.networks(table).groupby("seed")["missed"].agg(lambda missed: float((missed <= LEARNT).mean() >= 0.5))


def from_first_to_last(name: str, other: str) -> dict[str, Any]:
    """By seed, the share of pure units at the smallest width or depth minus that at the largest, at equal other size.

    Over all sizes of the other kind at which both have learnt the sum; a seed without one does not fit.
    """

    def effect(table: pd.DataFrame) -> pd.Series:
        rows, every = sound(table), rc.networks(table)
        ends = [sorted(every[name].unique())[i] for i in (0, -1)]
        first, last = (rows[rows[name] == end].set_index(["seed", other])["pure"] for end in ends)
        return (first - last).dropna().groupby("seed").mean().reindex(sorted(every["seed"].unique()))

    return {"effect": effect, "fits": (half, lambda table: effect(table).notna().astype(float))}


CONTROLS = (rc.reads("apart", "pure", at_least=1.0), rc.reads("mixed", "pure", at_most=0.0))
CLAIMS = (
    rc.Claim(
        "networks whose compositional wirings are rarer by count have fewer pure units",
        "Over widths and depths, networks whose compositional wirings are rarer by count have fewer pure units.",
        "volume ratio, figure 6 (our counting)",
        effect=rc.correlation_by_seed("log_ratio", "pure", among=sound),
        above=0.3,
        unit="rank correlation of the counted log ratio with the share of pure units",
        fits=(half,),
        controls=CONTROLS,
    ),
    rc.Claim(
        "wider networks have fewer pure units",
        "Of the networks that have learnt the sum, the narrowest have a larger share of pure units than the widest.",
        "volume ratio, figure 6 (our counting)",
        **from_first_to_last("width", "depth"),
        above=0.05,
        unit="share of pure units, narrowest minus widest, at equal depth",
        controls=CONTROLS,
    ),
    rc.Claim(
        "deeper networks have fewer pure units",
        "Of the networks that have learnt the sum, the shallowest have a larger share of pure units than the deepest.",
        "volume ratio, figure 6 (our counting)",
        **from_first_to_last("depth", "width"),
        above=0.05,
        unit="share of pure units, shallowest minus deepest, at equal width",
        controls=CONTROLS,
    ),
)


def figure(settings: Settings, table: pd.DataFrame):
    """The counted ratio over width and depth, the share of pure units of trained networks, and how well they fit."""
    from matplotlib.figure import Figure

    picture = Figure(figsize=(10.5, 3.4), layout="constrained")
    places = picture.subplots(1, 3)
    counted = np.array(
        [
            [log_volume_ratio(theory.PURE, w, d, primitives=settings.parts) for w in settings.widths]
            for d in settings.depths
        ]
    )
    rows = rc.networks(table)
    panels = {
        "counted: ln of the share of wirings": counted,
        "trained: share of pure units, where learnt": grid(settings, sound(rows), "pure"),
        "variance that is left, all networks": grid(settings, rows, "missed"),
    }
    for place, (title, values) in zip(places, panels.items(), strict=True):
        image = place.imshow(np.where(np.isfinite(values), values, np.nan), origin="lower", aspect="auto")
        place.set_xticks(range(len(settings.widths)), [str(w) for w in settings.widths])
        place.set_yticks(range(len(settings.depths)), [str(d) for d in settings.depths])
        place.set(xlabel="width", ylabel="hidden layers", title=title)
        known = values[np.isfinite(values)]
        middle = known.mean() if known.size else np.nan
        for (i, j), value in np.ndenumerate(values):
            said = "-" if not np.isfinite(value) else f"{value:.0f}" if abs(value) >= 10 else f"{value:.2g}"
            dark = np.isfinite(value) and value < middle
            place.text(j, i, said, ha="center", va="center", fontsize=7, color="white" if dark else "black")
        picture.colorbar(image, ax=place)
    return picture


def grid(settings: Settings, rows: pd.DataFrame, column: str) -> np.ndarray:
    """The mean of a column for each depth and width; no number where there is no network."""
    means = rows.groupby(["depth", "width"])[column].mean()
    return np.array([[means.get((d, w), np.nan) for w in settings.widths] for d in settings.depths])
