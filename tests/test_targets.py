"""The targets: many, distinct, the same every time and at every size, not dull, and of the depth that they say."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recombine.core import UserError
from recombine.cppn.designed import designs
from recombine.cppn.gallery import (
    DEPTHS,
    EACH,
    SHAPES,
    Target,
    _sample,
    dull,
    random_genome,
    random_networks,
    refused,
    smooth,
    targets,
)
from recombine.cppn.genome import layerise
from recombine.cppn.picbreeder import Artifact, network, render
from recombine.cppn.task import picture
from recombine.measures.similarity import pearson

SIZE = 64


@pytest.fixture(scope="module")
def drawn() -> list[Target]:
    return targets(SIZE)


def test_there_are_many_of_every_kind(drawn):
    kinds = Counter(t.kind for t in drawn)
    assert len(drawn) >= 30
    assert kinds == {"designed": 4, "network": len(DEPTHS) * EACH, "shape": len(SHAPES), "found": 6}
    assert len({t.name for t in drawn}) == len(drawn)


def test_all_are_pictures_that_a_task_takes(drawn):
    assert all(t.picture.shape == (SIZE, SIZE, 3) and t.picture.dtype == np.float32 for t in drawn)
    assert len(picture([t.picture for t in drawn]).combinations) == len(drawn)
    assert min(t.picture.min() for t in drawn) >= 0
    assert max(t.picture.max() for t in drawn) <= 1


def test_no_two_are_alike_and_none_is_plain(drawn):
    flat = np.stack([t.picture.ravel() for t in drawn])
    apart = np.sqrt(np.mean((flat[:, None] - flat) ** 2, axis=2)) + np.eye(len(flat))
    assert apart.min() > 0.1
    assert flat.std(axis=1).min() > 0.1


def test_they_are_the_same_every_time(drawn):
    random_networks.cache_clear()
    for before, after in zip(drawn, targets(SIZE), strict=True):
        assert before[:2] + before[3:] == after[:2] + after[3:]
        assert np.array_equal(before.picture, after.picture)


def test_they_are_the_same_at_every_size(drawn):
    for large, small in zip(drawn, targets(SIZE // 2), strict=True):
        assert (large.name, large.depth) == (small.name, small.depth)
        halved = large.picture.reshape(SIZE // 2, 2, SIZE // 2, 2, 3).mean(axis=(1, 3))
        assert pearson(halved.reshape(1, -1), small.picture.reshape(1, -1))[0] > 0.9, large.name


def test_the_depth_is_that_of_the_network_that_drew_it(drawn):
    genomes = designs() | random_networks()
    assert {t.name: t.depth for t in drawn if t.depth} == {name: layerise(g).depth for name, g in genomes.items()}
    assert Counter(t.depth for t in drawn if t.kind == "network") == dict.fromkeys(DEPTHS, EACH)
    assert (min(DEPTHS), max(DEPTHS)) == (2, 16)
    for name in ("network 2a", "network 16b"):
        model = network(genomes[name])
        assert len(model.weights) - 1 == layerise(genomes[name]).depth
        (found,) = (t.picture for t in drawn if t.name == name)
        assert np.abs(render(model, SIZE) - found).max() <= 1e-3


@settings(deadline=None, max_examples=30)
@given(depth=st.integers(2, 20), seed=st.integers(0, 2**20))
def test_a_random_genome_has_the_depth_that_was_asked_for(depth, seed):
    genome = random_genome(depth, seed)
    assert layerise(genome).depth == depth
    assert genome == random_genome(depth, seed) != random_genome(depth, seed + 1)


def test_a_random_genome_needs_a_hidden_layer():
    with pytest.raises(ValueError, match="depth 1"):
        random_genome(1, 0)


def test_dull_is_plain_grey_mostly_one_colour_or_noise():
    rng, ramp = np.random.default_rng(0), np.linspace(0, 1, SIZE)
    colourful = np.stack(np.broadcast_arrays(ramp[:, None], ramp, 0.3), axis=2)
    assert not dull(colourful)
    spot = colourful.copy()
    spot[:40, :40] = 0.5
    for one in (0.4 + 0.2 * colourful, np.repeat(ramp[:, None, None], SIZE, 1) * np.ones(3), spot):
        assert dull(one)
    assert dull(rng.random((SIZE, SIZE, 3)))


def test_no_network_is_dull_and_one_with_an_idle_layer_is_refused(drawn):
    assert not any(dull(t.picture) for t in drawn if t.kind == "network")
    for genome in random_networks().values():
        assert not refused(genome)
        cut = replace(
            genome, links=tuple(k._replace(weight=0.0) if k.target in ("1a", "1b") else k for k in genome.links)
        )
        assert refused(cut)


def test_an_edge_has_no_steps_and_a_disc_its_area():
    def disc(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return np.repeat((np.hypot(x, y) < 0.6)[..., None], 3, axis=2)

    found = smooth(disc, SIZE)
    assert found.mean() == pytest.approx(np.pi * 0.6**2 / (2 * SIZE / (SIZE - 1)) ** 2, abs=1e-3)
    assert len(np.unique(found)) >= 8


@pytest.mark.parametrize("name", ["disc", "ring", "triangle", "cross", "star"])
def test_symmetric_shapes_are_their_own_mirror_images(name):
    found = smooth(SHAPES[name], 32)
    assert np.allclose(found, found[:, ::-1], atol=1e-6)


def test_a_users_genomes_come_last_with_their_depths():
    mine = Artifact("mine", designs()["moth"], None)
    found = targets(8, artifacts=[mine])
    assert (found[-1].name, found[-1].kind, found[-1].depth) == ("mine", "artifact", 9)
    assert len(found) == len(targets(8)) + 1
    with pytest.raises(UserError, match="two targets are called 'disc'"):
        targets(8, artifacts=[mine._replace(name="disc")])


@pytest.mark.parametrize("size", [0, 7, 1025])
def test_a_size_is_one_that_can_be_seen_and_held(size):
    with pytest.raises(ValueError, match="8 to 1024"):
        targets(size)


def test_a_sample_that_is_not_shipped_is_named():
    with pytest.raises(UserError, match="no sample nothing"):
        _sample("nothing.png")
