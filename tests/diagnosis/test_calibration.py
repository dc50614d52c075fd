"""The bounds of G beside our own networks: what a picture's peak says of them, and how supports were made."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from recombine.diagnosis.ruling import SOLVED

RESULTS = Path(__file__).parents[2] / "results"
MEMORIES = ["nearest memory", "superposition", "blind"]
SWEEP = ", sweep"
"""Ends the names of what `encodings` asks in another hole."""


def networks(path: Path) -> pd.DataFrame:
    """G of every decoder that fitted its training set, and the share of the interior it places within one pixel."""
    table = pd.read_parquet(path)
    if not {"system", "condition", "mse_trained", "mse_interior", "accuracy1_interior"} <= set(table.columns):
        return pd.DataFrame()
    table = table[table["variant"] == "primary"]
    swept = table["condition"].fillna("").str.endswith(SWEEP) | table["system"].str.endswith(SWEEP)
    return pd.concat([beside_memories(table[swept == other_hole]) for other_hole in (False, True)])


def beside_memories(table: pd.DataFrame) -> pd.DataFrame:
    """The same of the networks that were asked in one hole, beside memories that were asked there."""
    systems = table["system"].str.removesuffix(SWEEP)
    memory = table[systems.isin(MEMORIES)].groupby("system")["mse_interior"].mean().min()
    mine = table[(systems == "network") & (table["mse_trained"] < 0.1 * memory)]
    g = (mine["mse_interior"] - mine["mse_trained"]) / (memory - mine["mse_trained"])
    return pd.DataFrame({"g": g, "placed": mine["accuracy1_interior"]}).dropna()


def test_no_decoder_is_said_to_compose_that_does_not_place_bumps():
    """A network that places none lies above one half, and only networks that place them lie below SOLVED."""
    found = pd.concat([networks(path) for path in sorted(RESULTS.glob("liang2025/*/*/table.parquet"))])
    assert len(found) > 100
    assert (found["g"][found["placed"] <= 0.1] > 0.5).all()
    assert (found["placed"][found["g"] < SOLVED] >= 0.9).all()
    assert (found["g"] < SOLVED).any()


def test_supports_that_compose_and_one_that_does_not():
    table = pd.read_parquet(RESULTS / "redhardt2025" / "support" / "laptop" / "table.parquet")
    memory = table[table["system"].isin(["mean", "nearest task"])]["r2_unseen"].max()
    mine = table[table["system"] == "network"]
    g = ((mine["r2_seen"] - mine["r2_unseen"]) / (mine["r2_seen"] - memory)).groupby(mine["condition"]).mean()
    assert g["random"] == pytest.approx(0.02, abs=0.1)
    assert g["random"] < SOLVED < g["disconnected"] < 0.5 < g["non-compositional"]
