"""What `rotation` claims, of what a convolutional decoder, the paper's network, and an MLP make of a gap of angles."""

from __future__ import annotations

from math import log10

import recombine as rc
from recombine.experiments.liang2025 import figures

CNN, MLP = "CNN", "MLP"


def known(system: str, first: str, second: str):
    """One column minus another of a system whose answer is known."""
    return lambda t: rc.control(t, system, first) - rc.control(t, system, second)


def speed_gained(**where):
    """By how many decades training makes the layer faster or slower in the gap than outside, by seed."""
    return lambda t: figures.minus("gap_speed", "initial_gap_speed", **where)(t).abs()


PEAK = (rc.reads("perfect", "mse_gap", at_most=0.0), rc.reads("mixing", "mse_gap", at_least=1e-2))
EDGES = (
    rc.Check("a mixture reads as a mixture", known("mixing", "r_mixture", "r_truth"), at_least=0.1),
    rc.Check("a perfect solver reads as the truth", known("perfect", "r_truth", "r_mixture"), at_least=0.1),
)
BOTH_EDGES = (
    rc.Check("a mixture reads as a mixture", known("mixing", "r_mixture", "r_edge"), at_least=0.05),
    rc.Check("the nearer edge reads as such", known("nearest edge", "r_edge", "r_mixture"), at_least=0.05),
)
SPEED = (
    rc.reads("perfect", "gap_speed", at_least=-0.1, at_most=0.1),
    rc.reads("nearest edge", "gap_speed", at_most=-0.3),
)


def claim(network: str, name: str, says: str, source: str, **judged) -> rc.Claim:
    """A claim on one kind of network; those on the MLP are ours."""
    end, ours = ("", "") if network == CNN else (" in an MLP (ours)", "ours, after ")
    fits = (rc.fitted("mse_seen", at_most=0.005, condition=network),)
    return rc.Claim(f"{name}{end}", says, f"{ours}{source}", fits=fits, **judged)


def peaked(network: str) -> rc.Claim:
    return claim(
        network,
        "the error peaks in the gap of angles",
        "The mean error in the gap is at least eight times that on the angles seen.",
        "Fig. 9a",
        effect=figures.log_over("mse_gap", "mse_seen", condition=network),
        above=log10(8),
        unit="log10 of the error in the gap over the error outside it",
        controls=PEAK,
    )


def filled(network: str) -> tuple[rc.Claim, ...]:
    edges = claim(
        network,
        "the gap of angles is filled with its edges",
        "In the middle of the gap the answer is like what lies at the gap's two edges, mixed, rather than like the"
        " rotated digit. (A picture of the nearer edge alone would do.)",
        "Fig. 9c, 9d",
        effect=figures.minus("r_mixture", "r_truth", condition=network),
        above=0.1,
        unit="correlation with the mixture of the edges, minus with the truth",
        controls=EDGES,
    )
    mixed = claim(
        network,
        "the gap of angles is filled with a mixture of its edges",
        "In the middle of the gap the answer is like a linear mixture of both edges rather than like the nearer one.",
        "Fig. 9d; the margin is half of what a pure mixture reads",
        effect=figures.minus("r_mixture", "r_edge", condition=network),
        above=0.05,
        unit="correlation with the mixture of the edges, minus with the nearer edge",
        controls=BOTH_EDGES,
    )
    return edges, mixed


def steady(network: str) -> rc.Claim:
    return claim(
        network,
        "the last hidden layer keeps its speed through the gap of angles",
        "Unlike with bumps, training does not warp the last hidden layer: on average it moves with the angle in the gap"
        " as fast as outside, within a factor of two.",
        "Fig. 9b, where layers look smooth; by the metric in place of a UMAP (pictures that are a mixture of the edges"
        " move 0.40 decades more slowly in the gap)",
        effect=speed_gained(condition=network),
        below=0.3,
        unit="decades that training puts between the speed along the angle in the gap and outside, last hidden layer",
        controls=SPEED,
    )


STATED = tuple(one for network in (CNN, MLP) for one in (peaked(network), *filled(network), steady(network)))
