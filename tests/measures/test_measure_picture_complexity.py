"""Complexities of pictures on known answers, and on the evolved pictures of Picbreeder where they are at hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from recombine.cppn.complexity import COMPLEXITIES, SIZE, png_ratio, squares_needed, waves_needed
from recombine.cppn.genome import load_genome
from recombine.cppn.picbreeder import network, render

DATA = Path(__file__).parents[3] / "shared" / "data" / "picbreeder"
needs_data = pytest.mark.skipif(not DATA.is_dir(), reason=f"the evolved pictures are not at {DATA}")
EVOLVED = {"skull": (0.2097, 0.191), "butterfly": (0.2262, 0.217), "apple": (0.2598, 0.242)}
every = pytest.mark.parametrize("complexity", COMPLEXITIES.values(), ids=COMPLEXITIES)
turnable = pytest.mark.parametrize("complexity", [waves_needed, squares_needed])


def plain(size: int = SIZE) -> np.ndarray:
    return np.full((size, size, 3), 0.3)


def gradient(size: int = SIZE) -> np.ndarray:
    t = np.linspace(0, 1, size)
    return np.stack(np.broadcast_arrays(t[:, None], t, 0.4 * t + 0.5 * t[:, None]), axis=2)


def noise(size: int = SIZE, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).random((size, size, 3))


@every
def test_plain_is_simpler_than_a_gradient_and_that_than_noise(complexity):
    assert complexity(plain()) < complexity(gradient()) < complexity(noise()) / 20


@every
def test_a_sharper_grain_of_the_same_noise_is_more_complex(complexity):
    coarse = [np.kron(noise(SIZE // k), np.ones((k, k, 1))) for k in (32, 8, 2)]
    found = [complexity(picture) for picture in coarse]
    assert found == sorted(found)
    assert found[0] < found[-1] / 10


@every
def test_a_picture_is_the_bytes_that_a_file_would_hold(complexity):
    """A byte that was read and divided by 255, at either precision, counts as itself; half of its step as nothing."""
    pixels = np.random.default_rng(1).integers(0, 256, (SIZE, SIZE, 3))
    read = complexity(pixels / 255)
    assert complexity((pixels / 255).astype(np.float32)) == read
    assert complexity(np.clip(pixels / 255 + 0.4 / 255, 0, 1)) == read


@every
def test_what_is_no_picture_is_refused(complexity):
    for shape in ((8, 8), (8, 4, 3), (8, 8, 4), (0, 0, 3)):
        with pytest.raises(ValueError, match="a picture is"):
            complexity(np.zeros(shape))
    for value in (-0.1, 1.1, 255, np.nan):
        with pytest.raises(ValueError, match="between 0 and 1"):
            complexity(np.full((SIZE, SIZE, 3), value))


def test_a_png_cannot_shorten_noise_and_its_ratio_has_one_size():
    assert png_ratio(noise()) == pytest.approx(1, abs=0.01)
    assert 0 < png_ratio(plain()) < 0.005
    with pytest.raises(ValueError, match="256 pixels per side, got 64"):
        png_ratio(noise(64))


def test_waves_by_hand():
    """Two waves whose energies are 4 : 1, which is 80 % and 20 %; grey or in one colour, they are two."""
    i = np.pi * (np.arange(64) + 0.5) / 64
    two = np.cos(3 * i)[:, None] * np.cos(5 * i) + 0.5 * np.cos(7 * i)[:, None] * np.cos(2 * i)
    for colours in ([0.3, 0.3, 0.3], [0.3, 0, 0], [0.3, -0.1, 0.2]):
        picture = 0.5 + two[..., None] * np.array(colours)
        assert [waves_needed(picture, share) for share in (0.7, 0.9, 0.99)] == [1, 2, 2]
    assert waves_needed(plain()) == 0


def test_waves_of_noise_are_nearly_all():
    assert waves_needed(noise(64)) > 0.85 * 64**2
    assert waves_needed(noise(64), 1 - 1e-12) == 64**2 - 1


@pytest.mark.parametrize("share", [0, 1, np.nan])
def test_a_share_lies_between_none_and_all(share):
    with pytest.raises(ValueError, match="share"):
        waves_needed(noise(8), share)


def test_squares_by_hand():
    board = np.kron(np.indices((8, 8)).sum(axis=0) % 2, np.ones((8, 8)))[..., None] * [1.0, 0.5, 0.2]
    halves = np.zeros((64, 64, 3))
    halves[:, :32] = 1
    dot = plain(64)
    dot[5, 9] = 1
    assert [squares_needed(p, 0.001) for p in (plain(64), halves, board, dot)] == [1, 4, 64, 1 + 3 * 6]
    assert squares_needed(dot, 0.1) < 19, "a dot is lost in a large square"
    assert squares_needed(noise(64), 0) == 64**2


def test_squares_are_halved_to_the_end():
    with pytest.raises(ValueError, match="power of two, got 48"):
        squares_needed(noise(48))


@turnable
@settings(deadline=None, max_examples=20)
@given(seed=st.integers(0, 2**16), grain=st.sampled_from([1, 2, 8]))
def test_turning_mirroring_inverting_or_swapping_colours_changes_nothing(complexity, seed, grain):
    picture = np.kron(noise(32 // grain, seed), np.ones((grain, grain, 1))) * 0.8 + gradient(32) * 0.2
    found = complexity(picture)
    for other in (picture[::-1], picture[:, ::-1], picture.swapaxes(0, 1), 1 - picture, picture[..., ::-1]):
        assert complexity(other) == found


@settings(deadline=None, max_examples=20)
@given(seed=st.integers(0, 2**16), bounds=st.tuples(*[st.floats(0.01, 0.99)] * 2))
def test_asking_for_more_takes_more(seed, bounds):
    picture, (low, high) = noise(16, seed), sorted(bounds)
    assert waves_needed(picture, low) <= waves_needed(picture, high)
    assert squares_needed(picture, high) <= squares_needed(picture, low)


@needs_data
def test_the_ratios_of_the_evolved_pictures_are_in_the_order_of_their_depths():
    published = [png_ratio(np.asarray(Image.open(DATA / f"{name}.png")) / 255) for name in EVOLVED]
    drawn = [png_ratio(render(network(load_genome(DATA / f"{name}.json")), SIZE)) for name in EVOLVED]
    assert published == pytest.approx([there for there, _ in EVOLVED.values()], abs=0.005)
    assert drawn == pytest.approx([here for _, here in EVOLVED.values()], abs=0.005)
    assert published == sorted(published)
    assert drawn == sorted(drawn)
