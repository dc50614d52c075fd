"""What `rotation` claims, of what a convolutional decoder and an MLP make of a gap of angles."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import log10

import recombine as rc
from recombine.experiments.liang2025 import figures

CNN, MLP = "CNN", "MLP"


def known(system: str, first: str, second: str):
    """One column minus another of a system whose answer is known."""
    return lambda t: rc.control(t, system, first) - rc.control(t, system, second)


def each_network(effect: Callable[..., Callable]):
    """An effect with a column for each kind of network."""
    return rc.each({network: effect(condition=network) for network in (CNN, MLP)})


def speed_gained(**where):
    """By how many decades training makes the layer faster or slower in the gap than outside, by seed."""
    return lambda t: figures.minus("gap_speed", "initial_gap_speed", **where)(t).abs()


JUDGED = {"fits": (each_network(partial(rc.fitted, "mse_seen", at_most=0.005)),), "over": "networks"}
STATED = (
    rc.Claim(
        "the error peaks in the gap of angles",
        "The mean error in the gap is at least eight times that on the angles seen.",
        "Fig. 9a",
        effect=each_network(partial(figures.log_over, "mse_gap", "mse_seen")),
        above=log10(8),
        unit="log10 of the error in the gap over the error outside it",
        **JUDGED,
        controls=(
            rc.reads("perfect", "mse_gap", at_most=0.0),
            rc.reads("mixing", "mse_gap", at_least=1e-2),
        ),
    ),
    rc.Claim(
        "the gap of angles is filled with its edges",
        "In the middle of the gap the answer is like what lies at the gap's two edges, mixed, rather than like the"
        " rotated digit. (A picture of the nearer edge alone would do.)",
        "Fig. 9c, 9d",
        effect=each_network(partial(figures.minus, "r_mixture", "r_truth")),
        above=0.1,
        unit="correlation with the mixture of the edges, minus with the truth",
        **JUDGED,
        controls=(
            rc.Check("a mixture reads as a mixture", known("mixing", "r_mixture", "r_truth"), at_least=0.1),
            rc.Check("a perfect solver reads as the truth", known("perfect", "r_truth", "r_mixture"), at_least=0.1),
        ),
    ),
    rc.Claim(
        "the gap of angles is filled with a mixture of its edges",
        "In the middle of the gap the answer is like a linear mixture of both edges rather than like the nearer one.",
        "Fig. 9d; the margin is half of what a pure mixture reads",
        effect=each_network(partial(figures.minus, "r_mixture", "r_edge")),
        above=0.05,
        unit="correlation with the mixture of the edges, minus with the nearer edge",
        **JUDGED,
        controls=(
            rc.Check("a mixture reads as a mixture", known("mixing", "r_mixture", "r_edge"), at_least=0.05),
            rc.Check("the nearer edge reads as such", known("nearest edge", "r_edge", "r_mixture"), at_least=0.05),
        ),
    ),
    rc.Claim(
        "the last hidden layer keeps its speed through the gap of angles",
        "Unlike with bumps, training does not warp the last hidden layer: on average it moves with the angle in the gap"
        " as fast as outside, within a factor of two.",
        "Fig. 9b, where layers look smooth; by the metric in place of a UMAP",
        effect=each_network(speed_gained),
        below=0.3,
        unit="decades that training puts between the speed along the angle in the gap and outside, last hidden layer",
        **JUDGED,
        controls=(
            rc.reads("perfect", "gap_speed", at_least=-0.1, at_most=0.1),
            rc.reads("nearest edge", "gap_speed", at_most=-0.3),
        ),
    ),
)
