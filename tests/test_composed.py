"""The pictures written by hand: they are the same as graph and as layers, and their parts are where they should be."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import pytest
from scipy import ndimage

from recombine.cppn.designed import designs
from recombine.cppn.genome import evaluate, hsv_of, layerise, load_genome, save_genome
from recombine.cppn.network import hsv_to_rgb
from recombine.cppn.picbreeder import network, render
from recombine.cppn.task import grid

SIZE = 129  # odd, so that the axis of symmetry is a column of pixels
GENOMES = designs()
every = pytest.mark.parametrize("name", GENOMES)


@pytest.fixture(scope="module")
def maps() -> dict[str, dict[str, np.ndarray]]:
    """The value of every node of every picture, (SIZE, SIZE)."""
    values = {name: evaluate(genome, grid(SIZE)) for name, genome in GENOMES.items()}
    return {name: {node: v.reshape(SIZE, SIZE) for node, v in nodes.items()} for name, nodes in values.items()}


def within(inner: np.ndarray, outer: np.ndarray) -> bool:
    """Is nearly all of one part inside another?"""
    return float(np.mean(outer[inner > 0.5] > 0)) > 0.97


def pieces(part: np.ndarray) -> int:
    """How many connected pieces of more than a few pixels a part has."""
    labels, count = ndimage.label(part > 0)
    return int(np.sum(np.bincount(labels.ravel(), minlength=count + 1)[1:] > 5))


@every
def test_the_layered_network_draws_the_graph(name):
    genome = GENOMES[name]
    graph = hsv_to_rgb(jnp.asarray(hsv_of(genome, grid(64)), jnp.float32)).reshape(64, 64, 3)
    assert np.abs(render(network(genome), 64) - graph).max() <= 1e-4


@every
def test_it_is_deep_small_and_says_what_each_node_draws(name, tmp_path):
    genome, layered = GENOMES[name], layerise(GENOMES[name])
    assert 6 <= layered.depth <= 14
    assert 50 <= len(genome.links) <= 100
    labels = [n.label for n in genome.nodes if n.type == "hidden"]
    assert all(labels)
    assert len(set(labels)) == len(labels)
    assert {n.id for n in genome.nodes} == {node for held in layered.slots for node in held.values()}, "no idle node"
    save_genome(tmp_path / "a.json", genome, name=name)
    assert load_genome(tmp_path / "a.json") == genome


@every
def test_it_uses_colour(name):
    h, s, v = hsv_of(GENOMES[name], grid(64)).T
    vivid = np.clip(s, 0, 1) * np.clip(np.abs(v), 0, 1) > 0.2
    hues = np.histogram((h[vivid] + 1) % 1, bins=12, range=(0, 1))[0]
    assert np.sum(hues > 0.01 * len(h)) >= 3
    assert s.min() < 0.35
    assert np.ptp(v) > 0.3


@pytest.mark.parametrize("name", ["face", "moth"])
def test_face_and_moth_are_mirror_images_of_themselves(name):
    drawn = hsv_of(GENOMES[name], grid(SIZE)).reshape(SIZE, SIZE, 3)
    assert np.allclose(drawn, drawn[:, ::-1], atol=1e-5)
    assert not np.allclose(drawn, drawn[::-1], atol=0.1)


def test_the_parts_of_the_face_are_nested(maps):
    m = maps["face"]
    for inner, outer in (
        ("pupil", "iris"),
        ("iris", "eye"),
        ("eye", "head"),
        ("opening", "mouth"),
        ("mouth", "head"),
        ("nose", "head"),
        ("brow", "head"),
        ("hair", "head"),
    ):
        assert within(m[inner], m[outer]), (inner, outer)
    assert [pieces(m[part]) for part in ("head", "eye", "pupil", "mouth", "cheek", "brow")] == [1, 2, 2, 1, 2, 2]
    rows = [np.flatnonzero((m[part] > 0).any(axis=1)).mean() for part in ("hair", "brow", "eye", "nose", "mouth")]
    assert rows == sorted(rows)


def test_the_moth_has_two_pairs_of_wings_with_spots_and_a_body_between(maps):
    m = maps["moth"]
    assert [pieces(m[part]) for part in ("upper wing", "lower wing", "marks", "body", "feeler")] == [2, 2, 4, 1, 2]
    assert within(m["marks"], m["colour"])
    assert within(m["colour"], m["shape"])
    assert not np.any((m["colour"] > 0) & (m["body"] > 0))
    assert m["body"][SIZE // 2, SIZE // 2] > 0


def test_the_flower_has_eight_equal_petals_on_a_stem(maps):
    m = maps["flower"]
    assert pieces(m["petal"]) == 8
    assert pieces(m["leaf"]) == 2
    assert np.all(m["stem"][-1].max() > 0)
    assert not np.any((m["behind"] > 0) & (m["petal"] > 0))
    genome, angles = GENOMES["flower"], np.linspace(0, 2 * np.pi, 8, endpoint=False)
    rotated = []
    for angle in angles:
        x, y = 0.1 + 0.3 * np.random.default_rng(0).uniform(-1, 1, (2, 50))
        c, s = np.cos(angle), np.sin(angle)
        points = np.stack([c * x - s * y, s * x + c * y - 0.28, 0 * x, 0 * x + 1], axis=1)
        rotated.append(evaluate(genome, points)["petal"])
    assert np.ptp(rotated, axis=0).max() < 1e-9
    assert np.ptp(rotated[0]) > 1.5
