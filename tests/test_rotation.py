"""The rotation experiment on a digit from the user's own files."""

from __future__ import annotations

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from recombine import cli
from recombine.core import UserError
from recombine.experiments.liang2025 import rotation
from recombine.train.monitor import Monitor

FOUR = np.zeros((8, 8))
FOUR[1:4, 1], FOUR[3, 1:5], FOUR[1:6, 3] = 255, 255, 255


def idx(array: np.ndarray) -> bytes:
    return bytes((0, 0, 8, array.ndim)) + np.array(array.shape, ">u4").tobytes() + array.astype(np.uint8).tobytes()


def upright(settings: rotation.Settings) -> jax.Array:
    return rotation.turning(settings).sample(jnp.array([0]), jax.random.key(0))[1]


@pytest.fixture
def own(tmp_path):
    """Settings whose digit is in two tiny files: a blank 7, then the 4."""
    (tmp_path / "images").write_bytes(idx(np.stack([np.zeros((8, 8)), FOUR])))
    (tmp_path / "labels").write_bytes(idx(np.array([7, 4])))
    return replace(rotation.QUICK, images=str(tmp_path / "images"), labels=str(tmp_path / "labels"))


def test_the_first_four_of_the_files_is_turned_and_measured(own):
    perfect, mixing, edge, untrained, _ = rotation.controls(own)
    systems = ["perfect", "mixing", "nearest edge", "untrained"]
    assert [row["system"] for row in (perfect, mixing, edge, untrained)] == systems
    assert edge["gap_speed"] < -0.3 < perfect["gap_speed"]
    assert np.allclose(upright(own), FOUR / 255, atol=1e-6)
    assert perfect["pictures"].shape == (5, 8, 8)
    assert perfect["mse_gap"] == 0 < mixing["mse_gap"]
    assert untrained["mse_seen"] > mixing["mse_seen"] == 0
    rows = rotation.run(rotation.cells(own)[0], Monitor())
    assert [row["system"] for row in rows] == ["network"] * own.seeds
    assert all(np.isfinite(row["mse_gap"]) and row["pictures"].shape == (5, 8, 8) for row in rows)


def test_other_content_of_the_same_files_makes_other_cells(own, tmp_path):
    before = rotation.cells(own)
    assert before == rotation.cells(own)
    (tmp_path / "images").write_bytes(idx(np.stack([FOUR, FOUR.T])))
    assert before[0].digit != rotation.cells(own)[0].digit
    assert np.allclose(upright(own), FOUR.T / 255, atol=1e-6)


def test_without_files_the_drawn_digit_is_turned():
    assert {cell.digit for cell in rotation.cells(rotation.QUICK)} == {"drawn"}
    assert rotation.turning(rotation.QUICK) is rotation.turning(rotation.LAPTOP)


def test_pictures_that_are_not_square_are_refused(own, tmp_path):
    (tmp_path / "images").write_bytes(idx(np.zeros((2, 8, 4))))
    with pytest.raises(UserError, match="square"):
        rotation.cells(own)


@pytest.mark.parametrize(
    ("files", "said"),
    [
        (["--images", "pictures"], "images and labels go together"),
        (["--labels", "names"], "images and labels go together"),
        (["--images", "nowhere", "--labels", "nowhere"], "cannot read nowhere"),
        (["--images", "broken", "--labels", "broken"], "not an MNIST file"),
    ],
)
def test_a_mistake_with_the_files_is_one_line(files, said, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "broken").write_bytes(b"no digits")
    assert cli.main(["run", "liang2025/rotation", "--tier", "quick", "--out", "results", *files]) == 2
    complaint = capsys.readouterr().err
    assert said in complaint
    assert complaint.count("\n") == 1
