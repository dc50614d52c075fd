from __future__ import annotations

import jax
import numpy as np
import pytest

import recombine as rc


def cells(size: int) -> np.ndarray:
    return rc.bumps(size, rc.one_hot(size)).combinations


@pytest.mark.parametrize(("size", "hole", "depth", "inside"), [(28, (6, 22), 4, 81), (16, (3, 12), 3, 16)])
def test_the_square_and_its_interior_have_the_papers_sizes(size, hole, depth, inside):
    split = rc.square(cells(size), *hole)
    assert split.held_out.sum() == (hole[1] - hole[0] + 1) ** 2
    assert rc.interior(split, depth).sum() == inside
    assert split.covers
    assert split.connected


def test_the_corner_leaves_an_l():
    split = rc.corner(cells(32), 12)
    assert (split.train.sum(), split.held_out.sum()) == (624, 400)
    assert rc.interior(split, 3)[split.combinations.tolist().index([31, 31])]


def test_a_random_fraction_has_its_size_and_depends_on_its_key_alone():
    first, again, other = (rc.random_fraction(cells(8), 0.25, jax.random.key(k)).train for k in (0, 0, 1))
    assert (~first).sum() == 16
    assert (first == again).all()
    assert (first != other).any()


@pytest.mark.parametrize("fraction", [-0.1, 1.0, 2.0])
def test_a_random_fraction_refuses_what_is_not_one(fraction):
    with pytest.raises(ValueError, match="fraction"):
        rc.random_fraction(cells(4), fraction, jax.random.key(0))


def test_drawing_stays_inside_the_mask():
    mask = np.arange(16) < 5
    assert (rc.sample(mask, 3, jax.random.key(1)) <= mask).all()
    with pytest.raises(ValueError, match="cannot draw 6"):
        rc.sample(mask, 6, jax.random.key(1))


def test_stripes_are_never_held_out_by_a_square_and_do_not_count_as_near():
    task = rc.stripes(rc.bumps(8, rc.one_hot(8)))
    split = rc.square(task.combinations, 2, 5)
    stripe = ~rc.whole(task.combinations)
    assert stripe.sum() == 16
    assert split.train[stripe].all()
    assert rc.interior(split, 1).sum() == 4


def test_a_cross_leaves_four_corners_and_does_not_cover():
    split = rc.cross(cells(28), 10, 17)
    assert split.train.sum() == 20**2
    assert not split.covers


def test_a_percentage_keeps_that_share_of_what_is_trained_on():
    donut = rc.square(cells(28), 6, 22)
    some = rc.percent(donut, 20, jax.random.key(0))
    assert some.train.sum() == 99
    assert (some.train <= donut.train).all()
    with pytest.raises(ValueError, match="percent"):
        rc.percent(donut, 0, jax.random.key(0))
