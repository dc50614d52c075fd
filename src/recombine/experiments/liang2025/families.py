"""Networks that differ in code, depth, architecture, penalty and training data, to see what predicts composition."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

import recombine as rc
from recombine.experiments.liang2025 import shared
from recombine.experiments.liang2025.rendering import ABLATIONS

if TYPE_CHECKING:
    from recombine.experiments.liang2025.predictors import Settings

DONUT, STRIPES, BUMPS = "donut", "stripes", "bumps"


@dataclass(frozen=True)
class Family:
    """Networks of one shape, which train in one population: their code, how they are made, and what each is shown."""

    name: str
    code: str
    make: Callable[[Settings, int], Callable]
    layer: str
    shown: tuple[str, ...] = (DONUT, STRIPES, BUMPS)
    ablations: tuple[str, ...] = ("none",)
    slow: bool = False


def families(settings: Settings) -> list[Family]:
    """Every code at one depth, one code at every depth, a fully connected, a per-pixel and a rendering network."""
    pairs = [(code, settings.depth) for code in settings.codes] + [("local bump", d) for d in settings.depths]
    convolutional = [Family(f"CNN {d}, {code}", code, partial(cnn, d), f"layer{d}") for code, d in pairs]
    return [
        *convolutional,
        Family("MLP", "local bump", mlp, "layer1"),
        Family("per-pixel", "local bump", pixels, "layer1", shown=(DONUT, BUMPS), slow=True),
        Family("rendering", "one-hot", rendering, "layer2", shown=(DONUT,), ablations=settings.ablations, slow=True),
    ]


def cnn(depth: int, settings: Settings, inputs: int):
    return lambda key: rc.CNNDecoder(inputs, settings.size, width=settings.width, depth=depth, key=key)


def mlp(settings: Settings, inputs: int):
    return lambda key: rc.MLPDecoder(inputs, settings.size, width=8 * settings.width, depth=2, key=key)


def pixels(settings: Settings, inputs: int):
    return lambda key: rc.PixelMLP(inputs, settings.size, width=2 * settings.width, depth=2, key=key)


def rendering(settings: Settings, inputs: int):
    return lambda key: rc.Rendering(inputs // 2, channels=8, key=key)


def training_set(settings: Settings, shown: str, task: rc.Task, key) -> rc.Split:
    """Every bump of the donut; all stripes and some bumps; or as many bumps without stripes."""
    region, whole = shared.hole(settings, task), rc.whole(task.combinations)
    donut, stripes = region.train & whole, int((~whole).sum())
    if shown == STRIPES:
        return rc.narrow(region, rc.sample(donut, settings.bumps, key) | ~whole)
    return rc.narrow(region, donut if shown == DONUT else rc.sample(donut, settings.bumps + stripes, key))


def penalised(family: Family, who: list[dict]) -> dict:
    """The rendering network's penalties, at the paper's weights, entropy setting in late; nothing for the others."""
    if family.make is not rendering:
        return {}
    on = np.array([ABLATIONS[person["penalty"]] for person in who])
    dials = {"entropy": 0.1 * on[:, 0], "variance": 0.01 * on[:, 1], "weight_decay": 1e-4}
    return {"penalty": rc.weighted(rc.Ramp(0.2, 0.4)), "dials": dials}
