"""Does depth at a fixed number of weights help on SCAN's novel commands?

Petty et al. find that deeper language models compose better, and that gains fade. Here decoders of several depths and
as many weights learn SCAN without longer commands, without "jump around right", or with "jump" alone, and are asked for
these. `iid` are commands of the trained kind that were held out at random. Answers are also scored where their length
is given, since such networks are known to end too early. One layer does not fit the trained commands: two are the
shallowest here. In a laptop's minutes no depth fits all of them (seen on trained commands of another seed): a GPU
decides.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

import recombine as rc
from recombine.experiments.liu2024 import depth_claims as of_depth
from recombine.experiments.liu2024 import scan_claims
from recombine.experiments.liu2024.trades import inner_units
from recombine.experiments.tokens import shared

if TYPE_CHECKING:
    import pandas as pd

LENGTH, TEMPLATE, JUMP = "longer commands", "jump around right", "jump"
ASKED = (LENGTH, TEMPLATE, JUMP)


@dataclass(frozen=True, kw_only=True)
class Settings(shared.Decoders):
    depths: tuple[int, ...] = (2, 4, 8)
    """numbers of layers"""
    widths: tuple[int, ...] = (40, 24, 16)
    """numbers of a token at each depth"""
    rates: tuple[float, ...] = (4e-3, 4e-3, 4e-3)
    """AdamW's learning rate at each depth"""
    weights: int = 36_864
    """trained numbers of all layers together"""
    most: int = 12
    """the most actions of a command that is trained on or asked"""
    cut: int = 6
    """the most actions of a trained command where longer ones are asked"""
    held_out: float = 0.1
    """share of the commands of the trained kind that is held out at random"""
    n_eval: int = 512
    """commands of each kind on which a network is evaluated, at most"""

    def __post_init__(self) -> None:
        if (self.width, self.depth) != (shared.Decoders.width, shared.Decoders.depth):
            raise rc.UserError("width and depth are not read here: set widths, depths and weights")
        if self.learning_rate not in (shared.Decoders.learning_rate, *self.rates):
            raise rc.UserError("learning_rate is not read here: set rates, one for each depth")
        super().__post_init__()
        self.need_positive("cut", "n_eval")
        if not len(self.depths) == len(self.widths) == len(self.rates) or list(self.depths) != sorted(set(self.depths)):
            raise rc.UserError(f"rising depths have a width and a rate each, got {self.depths}, {self.widths}")
        if not {of_depth.SHALLOW, of_depth.DEEP} <= set(self.depths):
            raise rc.UserError(f"depths must have {of_depth.SHALLOW} and {of_depth.DEEP} among them, got {self.depths}")
        if not 8 <= self.most <= 48 or not self.cut < self.most:
            raise rc.UserError(f"most lies in 8 .. 48 and cut below it, got {self.most} and {self.cut}")
        if not 0 < self.held_out < 1:
            raise rc.UserError(f"held_out must lie between 0 and 1, got {self.held_out}")
        for depth, width in zip(self.depths, self.widths, strict=True):
            shared.check_heads(width, self.head)
            inner_units(self.weights, depth, width)


_TINY = {"depths": (2, 4), "widths": (12, 8), "rates": (4e-3,) * 2, "weights": 1200, "head": 4}
QUICK = Settings(seeds=2, steps=20, batch=8, most=8, cut=4, n_eval=32, **_TINY)  # pyrefly: ignore
LAPTOP = Settings(seed=4, steps=300, batch=32, most=8, cut=4)
# Rates by depth as `depth` has them, where they were chosen: eight layers take half the rate of two and of four.
_SIZES = {"widths": (256, 192, 128), "rates": (1e-3, 1e-3, 5e-4), "weights": 1_500_000}
_WHOLE = {"most": 48, "cut": 22, "head": 32, "batch": 128, "n_eval": 1024, "precision": "bfloat16"}
GPU = Settings(seed=3, seeds=8, block=8, steps=5_000, **_SIZES, **_WHOLE)  # pyrefly: ignore
PAPER = replace(GPU, seeds=10, block=5, steps=100_000, batch=256, precision="float32")
VARIANTS = (
    rc.Variant(
        "twice the rates",
        "the best rate is not known",
        depths=lambda s: s.depths[:2],
        widths=lambda s: s.widths[:2],
        rates=lambda s: tuple(2 * r for r in s.rates[:2]),
        seeds=lambda s: min(s.seeds, 5),
    ),
)


@cache
def family(most: int) -> rc.Task:
    """All commands of at most so many actions."""
    from recombine.tasks.scan import by_length, combinations, scan

    rows = combinations()
    return scan(rows[by_length(rows, most).train])


@cache
def sides(most: int, cut: int) -> dict:
    """Which commands are of the trained kind and which are asked, by what is asked."""
    from recombine.tasks.scan import add_primitive, by_length, filler

    rows = family(most).combinations
    return {LENGTH: by_length(rows, cut), TEMPLATE: filler(rows, 3), JUMP: add_primitive(rows, "jump")}


def kinds(settings: Settings, asked: str, seed: int) -> dict[str, np.ndarray]:
    """Masks over the commands of a seed: trained, held out at random (iid), and asked (ood)."""
    side = sides(settings.most, settings.cut)[asked]
    lot = rc.rng(settings.seed, "commands", asked, seed).uniform(size=len(side.train)) < settings.held_out
    lot &= family(settings.most).combinations[:, 2] != rc.ABSENT  # single commands stay: the bare verb is one
    return {"trained": side.train & ~lot, "iid": side.train & lot, "ood": side.test}


def cells(settings: Settings) -> list[rc.Cell]:
    return rc.cells(settings, [{"layers": depth} for depth in settings.depths])


def decoder(settings: Settings, layers: int):
    """How a decoder of this depth and of the settings' number of weights is made."""
    from recombine.tasks.scan import VOCABULARY

    width = settings.widths[settings.depths.index(layers)]
    inner = inner_units(settings.weights, layers, width)
    return shared.maker(len(VOCABULARY), width, layers, settings.head, inner=inner)


def run(cell: rc.Cell, monitor) -> list[dict]:
    settings, task, make = cell.settings, family(cell.settings.most), decoder(cell.settings, cell.layers)
    rate = settings.rates[settings.depths.index(cell.layers)]
    who = [
        {"condition": f"{asked}, {cell.layers} layers", "asked": asked, "layers": cell.layers, "seed": seed}
        for asked in ASKED
        for seed in cell.members
    ]
    masks = [kinds(settings, w["asked"], w["seed"]) for w in who]
    trained = shared.fit(
        replace(settings, learning_rate=rate),
        task,
        make,
        seeds=[w["seed"] for w in who],
        chosen=[each["trained"] for each in masks],
        monitor=monitor,
        label=f"layers-{cell.layers}",
    )
    found = []
    for i, (w, each) in enumerate(zip(who, masks, strict=True)):
        scores, record = measured(settings, trained[i].model, each)
        monitor.recorded(f"{cell.layers}-{ASKED.index(w['asked'])}-{w['seed']}", record)
        found.append(scores | shared.sizes(make, record.x.shape[1]))
    return rc.rows(trained, who, found)


def measured(settings: Settings, model, masks: dict[str, np.ndarray]) -> tuple[dict[str, float], rc.Record]:
    """Exact answers to commands of each kind; and to those asked where the length of the answer is given."""
    from recombine.measures.tokens import exact_match

    task, key, rng = family(settings.most), rc.key(settings.seed, "test"), rc.rng(settings.seed, "asked")
    rows = {name: rng.permutation(np.flatnonzero(mask))[: settings.n_eval] for name, mask in masks.items()}
    said = {name: rc.record(model, task, task.combinations[some], key=key) for name, some in rows.items()}
    found = {"exact_trained" if name == "trained" else name: exact_match(each) for name, each in said.items()}
    return found | {"ood_given_length": exact_match(length_given(said["ood"]))}, said["ood"]


def length_given(record: rc.Record) -> rc.Record:
    """The same answers where the length is told: the end is never said early, nor asked for."""
    from recombine.tasks.tokens import EOS

    y = record.y * np.where(record.y[..., :1] == EOS, [1, 0], 1)  # the end has no weight
    least = record.y_hat.min(axis=-1, keepdims=True) - 1
    ends = np.arange(record.y_hat.shape[-1]) == EOS
    return rc.Record(record.z, record.x, y, np.where(ends, least, record.y_hat))


def controls(settings: Settings) -> list[dict]:
    """A perfect solver, one that takes "jump" for "walk", and an untrained network."""
    from recombine.measures.tokens import exact_match
    from recombine.tasks.scan import ACTIONS, VOCABULARY

    masks = kinds(settings, JUMP, 0)
    truth = rc.truth(family(settings.most), family(settings.most).combinations[masks["ood"]], key=rc.key(0, "test"))
    walk, jump = VOCABULARY.ids([ACTIONS[0], ACTIONS[3]])
    said = {"perfect": truth.y[..., 0], "walks": np.where(truth.y[..., 0] == jump, walk, truth.y[..., 0])}
    systems = {name: truth.answering(np.eye(len(VOCABULARY), dtype=np.float32)[ids]) for name, ids in said.items()}
    born, _ = measured(settings, shared.untrained(settings, decoder(settings, 2)), masks)
    known = rc.control_rows(lambda record: {"ood": exact_match(record)}, systems)
    return [*known, {"system": "untrained", "seed": 0} | born]


CLAIMS = scan_claims.STATED


def figure(settings: Settings, table: pd.DataFrame):
    """Exact answers to novel commands, to those held out at random and to trained ones by depth, a dot per network."""
    plots, rows = rc.plots, rc.networks(table)
    picture, axes = plots.panels(rows=1, columns=3, side=3.7)
    columns = {"iid": plots.NEUTRAL, "exact_trained": "black", "ood_given_length": plots.BAD, "ood": plots.GOOD}
    words = {"iid": "held out at random", "ood": "novel", "ood_given_length": "novel, length given"}
    words["exact_trained"] = f"trained (fit from {scan_claims.FITS:g} on)"
    for place, asked in zip(axes[0], ASKED, strict=True):
        mine = rows[rows["asked"] == asked]
        for i, (column, colour) in enumerate(columns.items()):
            means = mine.groupby("layers")[column].mean()
            beside = 1.04 ** (i - 1.5)  # side by side, so that equal numbers are seen
            place.plot(mine["layers"] * beside, mine[column], "o", color=colour, alpha=0.35, markersize=3)
            style = "o:" if column == "exact_trained" else "o-"
            place.plot(means.index * beside, means, style, color=colour, markersize=5, label=words[column])
        why = scan_claims.open_kinds(table).get(asked, ("", ""))[1]
        below = "layers" + f"\n(novel ones are not compared:\n{why.partition(':')[0]})" * bool(why)
        place.set(title=asked, xlabel=below, ylabel="exact answers", ylim=(-0.03, 1.05), xscale="log")
        place.grid(alpha=0.2, linewidth=0.6)
        place.minorticks_off()
        place.set_xticks(settings.depths, settings.depths)
    picture.legend(
        *axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=4, fontsize=7, frameon=False
    )
    return picture
