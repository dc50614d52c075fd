"""What `depth` claims: how the hole is warped, what factorisation and decodability lose, layer by layer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

import recombine as rc
from recombine.experiments.liang2025 import figures
from recombine.experiments.liang2025.layers_claims import FACTORS, PROBE, VOLUME, fall, whole_fall

if TYPE_CHECKING:
    import pandas as pd

CNN, SHORT, LONG = "CNN", "MLP as released", "MLP trained long"
FIRST, LAST, PICTURE = 0, -2, -1


def by_depth(kind: str, effect):
    """An effect of one kind of network, with a column for each of its depths."""
    return lambda t: rc.each_of("depth", effect)(of(t, kind))


def of(table: pd.DataFrame, kind: str, depth: int | None = None) -> pd.DataFrame:
    """The networks of a kind; of one depth, or all."""
    rows = rc.pick(table, condition=kind).astype({"depth": int})
    return rows if depth is None else rows[rows["depth"] == depth]


def by_pair(kind: str, effect, join=np.subtract):
    """An effect of an MLP minus that of a CNN, or joined otherwise, for each pair with as many hidden layers."""

    def pairs(table: pd.DataFrame):
        mlps, cnns = (set(of(table, k)["depth"]) for k in (kind, CNN))
        both = {
            f"{m} hidden layers": (of(table, kind, m), of(table, CNN, m - 1)) for m in sorted(mlps) if m - 1 in cnns
        }
        return rc.each({name: lambda _, pair=pair: join(*map(effect, pair)) for name, pair in both.items()})(table)

    return pairs


def fits(kind: str):
    """Whether networks of a kind have learnt the donut; those as released are judged as they are."""
    return () if kind == SHORT else (by_depth(kind, figures.close()),)


def pairs_fit(kind: str):
    """The same of both networks of a pair, or of the CNN alone."""

    def learnt(rows: pd.DataFrame) -> pd.Series:
        found = figures.close()(rows)
        return found.where(found.isna(), 1.0) if (rows["condition"] == SHORT).all() else found

    return (by_pair(kind, learnt, np.minimum),)


HOW = {"_fd": "finite differences", "": "exact derivatives"}
UNLEARNT = " By then most have not learnt the donut, and none is asked to."


def collapse(where: str, place: int, ends: str) -> rc.Claim:
    return rc.Claim(
        f"the volume collapses in the hole at every depth, {where}, {HOW[ends]}",
        "At every depth of a convolutional decoder that fits the donut, training takes more than 0.6 decades of volume"
        f" from the hole, {where}.",
        "Fig. 11; in the hidden layers as the paper, at the picture ours",
        effect=by_depth(CNN, figures.learnt_layer(f"hole_depth{ends}", place)),
        below=-0.6,
        unit=f"decades of volume in the hole over the donut that training adds, {where}",
        fits=fits(CNN),
        controls=VOLUME,
        over="depths",
    )


def swells(kind: str, ends: str, where: str, place: int) -> rc.Claim:
    return rc.Claim(
        f"the hole swells in the {where}: {kind}, {HOW[ends]}",
        f"In an MLP of every depth training makes the hole's volume element larger, in the {where}. ({kind};"
        f" {HOW[ends]}.{UNLEARNT if kind == SHORT else ''})",
        "Fig. 13" if (kind, ends) == (SHORT, "_fd") else "Fig. 13, by another protocol than the release's",
        effect=by_depth(kind, figures.learnt_layer(f"hole_depth{ends}", place)),
        above=0.05,
        unit=f"decades of volume in the hole over the donut that training adds, {where}",
        fits=fits(kind),
        controls=VOLUME,
        over="depths",
    )


def turned(name: str, says: str, first: tuple[str, str], second: tuple[str, str]) -> rc.Claim:
    """What the derivative or the length of training does to the swelling of the last hidden layer."""

    def swelling(kind: str, ends: str):
        return by_depth(kind, figures.learnt_layer(f"hole_depth{ends}", LAST))

    return rc.Claim(
        name,
        says,
        "our contrast, of choices of the release",
        effect=lambda t: swelling(*first)(t) - swelling(*second)(t),
        above=0.05,
        unit="decades of volume in the hole that training adds, last hidden layer, one protocol minus the other",
        fits=fits(second[0]),
        controls=VOLUME,
        over="depths",
    )


def loses(kind: str, ends: str, *, since: bool) -> rc.Claim:
    """As the paper's curves show it, or `since` training: less what the same network loses before."""
    effect = fall if since else whole_fall
    return rc.Claim(
        f"MLPs lose more factorisation than CNNs{', beyond their start (ours)' if since else ''}: {kind}, {HOW[ends]}",
        "From the input to the last hidden layer an MLP's factorisation falls more than that of a convolutional decoder"
        f" with as many hidden layers{', each less what it loses before training' if since else ''}.",
        f"{'ours, of ' if since else ''}Fig. 14; untrained MLPs already lose more than untrained CNNs",
        effect=by_pair(kind, effect(f"factorisation{ends}")),
        above=0.01,
        unit=f"factorisation lost{' since training' if since else ''}, from the input to the last hidden layer,"
        " MLP minus CNN",
        fits=pairs_fit(kind),
        controls=FACTORS,
        over="numbers of hidden layers",
    )


def falls_factorised(ends: str) -> rc.Claim:
    return rc.Claim(
        f"training makes factorisation fall with depth: CNN, {HOW[ends]}",
        "From the input to the last hidden layer a convolutional decoder of every depth loses more factorisation than"
        " before training.",
        "Fig. 12; less what an untrained network loses",
        effect=by_depth(CNN, fall(f"factorisation{ends}")),
        above=0.01,
        unit="factorisation lost since training, input minus last hidden layer",
        fits=fits(CNN),
        controls=FACTORS,
        over="depths",
    )


def falls(kind: str, source: str, *, since: bool) -> rc.Claim:
    return rc.Claim(
        f"{'training makes ' if since else ''}decodability fall{'' if since else 's'} with depth: {kind}",
        "From the input to the last hidden layer, a probe fitted outside the hole loses"
        f" {'more of its score in the hole than before training' if since else 'some of its score in the hole'}, at"
        " every depth.",
        f"{source}, with a probe scored where it was not fitted{'; less what an untrained network loses' * since}",
        effect=by_depth(kind, (fall if since else whole_fall)("probe")),
        above=0.05,
        unit=f"R2 in the hole lost{' since training' * since}, input minus last hidden layer",
        fits=fits(kind),
        controls=PROBE,
        over="depths",
    )


STATED = (
    *(
        collapse(where, place, ends)
        for ends in HOW
        for where, place in (("in the last hidden layer", LAST), ("at the picture", PICTURE))
    ),
    rc.Claim(
        "MLPs of every depth fail in the hole",
        "Fully connected decoders of every depth, trained until they fit, place bumps of the donut within one pixel and"
        " fail in the hole.",
        "Fig. 13, 14; within one pixel, for MLPs that fit do not place every bump exactly",
        effect=by_depth(LONG, figures.minus("accuracy1_donut", "accuracy1_interior")),
        above=0.5,
        unit="accuracy within one pixel, donut minus interior",
        fits=(by_depth(LONG, rc.fitted("accuracy1_donut", at_least=0.95)),),
        controls=figures.peak_controls("accuracy1_interior", figures.MEMORISERS, at_most=0.1),
        over="depths",
    ),
    *(swells(kind, ends, "last hidden layer", LAST) for kind in (SHORT, LONG) for ends in HOW),
    swells(SHORT, "_fd", "first hidden layer", FIRST),
    swells(LONG, "_fd", "first hidden layer", FIRST),
    turned(
        "finite differences swell the hole of MLPs as released (ours)",
        "As released, finite differences read more volume in the hole of the same MLPs than exact derivatives do.",
        (SHORT, "_fd"),
        (SHORT, ""),
    ),
    turned(
        "training until they fit makes the hole of MLPs swell less, by finite differences (ours)",
        "By finite differences the hole of an MLP swells less when it is trained until it fits, longer and with a"
        " cosine, than as released.",
        (SHORT, "_fd"),
        (LONG, "_fd"),
    ),
    *(loses(kind, ends, since=since) for since in (False, True) for ends in HOW for kind in (SHORT, LONG)),
    *map(falls_factorised, HOW),
    falls(CNN, "Fig. 12", since=True),
    falls(LONG, "Fig. 14", since=False),
    falls(LONG, "ours, of Fig. 14", since=True),
)
