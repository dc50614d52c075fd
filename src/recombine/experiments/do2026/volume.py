"""Are compositional wirings most common at one width and depth, and do trained networks follow the count?

Theory: of all wirings of P primitives in W units and L layers, which share is compositional? The paper's formulas could
not be read, so the counting is ours (theory/volume.py): it falls in W and in L from the smallest network that can carry
the target. Beside it stand trained networks: y is a sum of three functions of two numbers each, and a unit is pure if
nine tenths of its gradient's energy fall on the numbers of one of them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

import recombine as rc
from recombine.experiments import _seeds

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, kw_only=True)
class Settings(_seeds.Seeded):
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
    asked: int = 512
    """points at which gradients are taken"""

    def __post_init__(self) -> None:
        self.need_positive("parts", "steps", "asked")
        self.need_rates("learning_rate")
        for name in ("widths", "depths"):
            numbers = getattr(self, name)
            if len(numbers) < 2 or list(numbers) != sorted(set(numbers)) or numbers[0] < 1:
                raise rc.UserError(f"{name} must be two or more rising numbers from 1 on, got {numbers}")


QUICK = Settings(seeds=2, widths=(4, 6), depths=(1, 2), steps=20, asked=16)
LAPTOP = Settings(depths=(1, 2, 4))
GPU = Settings(seeds=16, block=16, widths=(3, 6, 12, 24, 48), depths=(1, 2, 3, 4, 6), steps=10_000)
PAPER = replace(GPU, seeds=64, block=64, widths=(3, 6, 12, 24, 48, 96, 192), depths=tuple(range(1, 10)))
PURE = 0.9
"""Share of a unit's gradient energy on one part from which on it is pure."""


@dataclass(frozen=True)
class Cell:
    """The networks of one size for one block of seeds."""

    settings: Settings
    width: int
    depth: int
    members: tuple[int, ...]


def cells(settings: Settings) -> list[Cell]:
    blocks = _seeds.blocks(settings)
    return [Cell(settings, w, d, members) for d in settings.depths for w in settings.widths for members in blocks]


def run(cell: Cell, watch) -> list[dict]:
    import jax

    settings = cell.settings
    task = rc.sum_of_parts(settings.parts)
    trained = rc.population(
        task,
        rc.Split(task.combinations, np.ones(1, bool)),
        lambda key: rc.StudentMLP(2 * settings.parts, 1, width=cell.width, depth=cell.depth, key=key),
        rc.member_keys(settings.seed, cell.members),
        rc.Recipe(settings.steps, 1, rc.adamw_cosine),
        dials={"learning_rate": settings.learning_rate, "weight_decay": 1e-4},
        watch=watch,
        label="networks",
    )
    x, y = rc.sum_of_parts(settings.parts, points=settings.asked).sample(np.zeros(1), _seeds.test_key(settings))
    rows = []
    for i, seed in enumerate(cell.members):
        model = trained[i].model
        shares = purity(jax.jacobian(lambda x, m=model: list(m(x)[1].values())), x, settings.parts)
        answers = model(x)[0]
        watch.recorded(
            f"networks-{seed}", rc.Record(np.zeros((len(x), 1)), np.asarray(x), np.asarray(y), np.asarray(answers))
        )
        error = float(((answers - y) ** 2).mean() / y.var())
        every, last = np.concatenate(shares), shares[-1]
        found = {"missed": error, "pure": every.mean() if every.size else np.nan}
        found["pure_last"] = last.mean() if last.size else np.nan
        facts = {"condition": f"{cell.depth} x {cell.width}", "width": cell.width, "depth": cell.depth, "seed": seed}
        ratio = rc.log_volume_ratio(rc.PURE, cell.width, cell.depth, primitives=settings.parts)
        lost = trained.diverged_at[i]
        rows.append(facts | {"log_ratio": ratio, "diverged_at": int(lost)} | _seeds.unless_lost(found, lost))
    return rows


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
    """The measure on made-up layers: units that read one part each, and units that read all alike."""
    eye = np.kron(np.eye(settings.parts), np.ones((1, 2)))
    systems = {"apart": eye, "mixed": np.ones_like(eye)}
    x = np.zeros((2, 2 * settings.parts), np.float32)
    return [
        {
            "condition": f"control: {name}",
            "seed": 0,
            "pure": float(purity(lambda _, w=weights: [np.asarray(w, np.float32)], x, settings.parts)[0].mean()),
        }
        for name, weights in systems.items()
    ]


def sound(table: pd.DataFrame) -> pd.DataFrame:
    """Networks that have learnt the sum: a tenth of its variance is left at most."""
    return table[table["missed"] <= 0.1]


def from_first_to_last(table: pd.DataFrame, name: str, other: str) -> pd.Series:
    """By seed, the share of pure units at the smallest width or depth minus that at the largest, at equal other size.

    Over all sizes of the other kind at which both have learnt the sum; no number where there is none.
    """
    rows = sound(table)
    ends = [sorted(table[name].dropna().unique())[i] for i in (0, -1)]
    first, last = (rows[rows[name] == end].set_index(["seed", other])["pure"] for end in ends)
    return (first - last).dropna().groupby("seed").mean().reindex(seeds(table))


def seeds(table: pd.DataFrame) -> pd.Series:
    """Every seed that was trained."""
    return table.loc[table["diverged_at"].notna(), "seed"].drop_duplicates().sort_values()


def following(table: pd.DataFrame) -> pd.Series:
    """By seed, the rank correlation of the counted ratio with the share of pure units, over sound networks."""
    rows = sound(table)

    def of(seed: int) -> float:
        mine = rows[rows["seed"] == seed]
        return rc.rank_correlation(mine["log_ratio"], mine["pure"]) if len(mine) > 3 else float("nan")

    return seeds(table).map(of).set_axis(seeds(table))


def control(table: pd.DataFrame, name: str) -> float:
    return float(rc.by_seed(table, "pure", condition=f"control: {name}").iloc[0])


CONTROLS = (
    rc.Check("units that read one part each are pure", lambda t: control(t, "apart"), at_least=1.0),
    rc.Check("units that read all alike are not", lambda t: -control(t, "mixed"), at_least=0.0),
)
ENOUGH = (
    rc.Check(
        "half of the networks have learnt the sum, at least",
        lambda t: len(sound(t)) / max(1, t["missed"].notna().sum()),
        at_least=0.5,
    ),
)
CLAIMS = (
    rc.Claim(
        "the rarer by count, the less pure",
        "Over widths and depths, networks whose compositional wirings are rarer by count have fewer pure units.",
        "volume ratio, figure 6 (our counting)",
        effect=following,
        margin=0.3,
        unit="rank correlation of the counted log ratio with the share of pure units",
        preconditions=ENOUGH,
        controls=CONTROLS,
    ),
    rc.Claim(
        "wider is less pure",
        "Of the networks that have learnt the sum, the narrowest have a larger share of pure units than the widest.",
        "volume ratio, figure 6 (our counting)",
        effect=lambda t: from_first_to_last(t, "width", "depth"),
        margin=0.05,
        unit="share of pure units, narrowest minus widest, at equal depth",
        preconditions=ENOUGH,
        controls=CONTROLS,
    ),
    rc.Claim(
        "deeper is less pure",
        "Of the networks that have learnt the sum, the shallowest have a larger share of pure units than the deepest.",
        "volume ratio, figure 6 (our counting)",
        effect=lambda t: from_first_to_last(t, "depth", "width"),
        margin=0.05,
        unit="share of pure units, shallowest minus deepest, at equal width",
        preconditions=ENOUGH,
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
            [rc.log_volume_ratio(rc.PURE, w, d, primitives=settings.parts) for w in settings.widths]
            for d in settings.depths
        ]
    )
    rows = table[table["diverged_at"].notna()]
    panels = {
        "counted: ln of the share of wirings": counted,
        "trained: share of pure units": grid(settings, sound(rows), "pure"),
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
