from __future__ import annotations

import jax
import numpy as np
import pytest

import recombine as rc
from recombine.core import Record
from recombine.tasks.rotation import drawn_four, rotate, rotation


@pytest.fixture(scope="module")
def degrees() -> Record:
    task = rotation()
    return rc.truth(task, task.combinations, key=jax.random.key(0))


def test_there_is_a_row_for_every_degree_told_as_cosine_and_sine(degrees):
    assert degrees.z.shape == (360, 1)
    assert degrees.y.shape == (360, 28, 28)
    angle = np.deg2rad(degrees.z[:, 0])
    assert np.allclose(degrees.x, np.stack([np.cos(angle), np.sin(angle)], axis=1), atol=1e-5)


def test_the_drawn_four_is_soft_edged_ink_inside_the_picture():
    four = drawn_four()
    assert four.shape == (28, 28)
    assert four.min() == 0.0
    assert four.max() == pytest.approx(1.0)
    assert 0.1 < four.mean() < 0.25
    assert np.any((four > 0.2) & (four < 0.8))
    assert not np.any(four[[0, -1]])
    assert not np.any(four[:, [0, -1]])


def test_quarter_turns_are_exact_and_anticlockwise(degrees):
    for quarter in range(4):
        assert np.allclose(degrees.y[90 * quarter], np.rot90(drawn_four(), quarter), atol=1e-5)


def test_between_degrees_the_turn_is_bilinear_with_zeros_from_outside():
    from scipy import ndimage

    picture = np.random.default_rng(0).uniform(size=(9, 9)).astype(np.float32)
    wanted = ndimage.rotate(picture, 33.0, reshape=False, order=1, mode="grid-constant")
    assert np.allclose(jax.jit(rotate)(picture, np.deg2rad(33.0)), wanted, atol=1e-5)


def test_interpolation_across_the_gap_is_not_the_truth(degrees):
    mix = (degrees.y[160] + degrees.y[200]) / 2
    assert np.corrcoef(degrees.y[180].ravel(), mix.ravel())[0, 1] == pytest.approx(0.72, abs=0.03)


def test_only_a_square_picture_can_be_rotated():
    _, y = jax.eval_shape(rotation(np.ones((6, 6))).sample, np.array([0]), jax.random.key(0))
    assert y.shape == (6, 6)
    with pytest.raises(ValueError, match="square"):
        rotation(np.ones((6, 5)))
