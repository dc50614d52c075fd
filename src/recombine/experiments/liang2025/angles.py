"""How fast layers and pictures move with an angle, and the mixtures that would fill a gap of angles: Fig. 9."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import recombine as rc

if TYPE_CHECKING:
    import jax
    import pandas as pd


def last_hidden_speeds(models: Any) -> jax.Array:
    """How fast the last hidden layer of each network moves with the angle, at every degree (networks, 360)."""
    import equinox as eqx
    import jax
    import jax.numpy as jnp

    def of_network(network: Any) -> jax.Array:
        def hidden(angle: jax.Array) -> jax.Array:
            return list(network(jnp.stack([jnp.cos(angle), jnp.sin(angle)]))[1].values())[-1]

        def speed(angle: jax.Array) -> jax.Array:
            return jnp.linalg.norm(jax.jvp(hidden, (angle,), (jnp.ones_like(angle),))[1])

        return jax.vmap(speed)(jnp.deg2rad(jnp.arange(360.0)))

    return eqx.filter_jit(eqx.filter_vmap(of_network))(models)


def picture_speeds(pictures: np.ndarray) -> np.ndarray:
    """How fast pictures, one per degree, move with the angle, by differences between neighbours."""
    flat = pictures.reshape(len(pictures), -1)
    return np.linalg.norm(np.roll(flat, -1, axis=0) - np.roll(flat, 1, axis=0), axis=1) * 90 / np.pi


def mixtures(truth: np.ndarray, low: int, high: int) -> np.ndarray:
    """For every angle the linear mixture of the two edges of the gap that lies between them."""
    share = np.clip((np.arange(360) - low) / (high - low), 0.0, 1.0)[:, None, None]
    return (1 - share) * truth[low] + share * truth[high]


def nearer_edges(truth: np.ndarray, low: int, high: int) -> np.ndarray:
    """For every angle the picture at the nearer edge of the gap."""
    return np.where((np.arange(360) < (low + high) / 2)[:, None, None], truth[low], truth[high])


def draw(axes, rows: pd.DataFrame, low: int, high: int) -> None:
    """Error and speed by angle, and one dot per network."""
    plots = rc.plots
    for errors, speeds in zip(rows["errors"], rows["speeds"], strict=True):
        axes[0].semilogy(errors, color=plots.BAD, alpha=0.6, linewidth=0.8)
        axes[1].plot(speeds - np.mean(speeds), color=plots.BAD, alpha=0.6, linewidth=0.8)
    for place, label in zip(axes, ("squared error", "log10 of speed,\nlast hidden layer"), strict=False):
        place.axvspan(low, high, color=plots.NEUTRAL, alpha=0.2)
        place.set(xlabel="degrees (gap shaded)", ylabel=label)
    for place, column in enumerate(("mse_seen", "mse_gap")):
        axes[2].semilogy([place] * len(rows), rows[column], "o", color=plots.BAD, alpha=0.75, markersize=4)
    axes[2].set_xticks((0, 1), ("seen", "gap"))
    axes[2].set(xlim=(-0.6, 1.6), title="error at the angles\n(one dot per network)")
    columns = {"both\nedges": "r_mixture", "nearer\nedge": "r_edge", "truth\n": "r_truth"}
    groups = {name: rows[column].to_numpy() for name, column in columns.items()}
    plots.dots(axes[3], groups, colour=plots.BAD)
    axes[3].set_title("correlation in mid-gap with")
    plots.dots(axes[4], {"gap less seen": rows["gap_speed"].to_numpy()}, colour=plots.BAD)
    axes[4].set(ylim=(-1.0, 1.0), title="speed (decades)")
