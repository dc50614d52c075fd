from __future__ import annotations

import struct
import zlib

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from PIL import Image

import recombine as rc
from recombine.core import UserError
from recombine.cppn.network import CPPN
from recombine.cppn.task import grid, load_picture, picture

KEY = jax.random.key(0)


def noise(*shape: int) -> np.ndarray:
    return np.random.default_rng(0).uniform(size=shape).astype(np.float32)


def test_the_inputs_are_x_y_distance_and_one_row_by_row():
    g = grid(3)
    assert g.shape == (9, 4)
    assert g.dtype == np.float32
    assert np.allclose(g[:, 0], [-1, 0, 1] * 3)
    assert np.allclose(g[:, 1], np.repeat([-1, 0, 1], 3))
    assert np.allclose(g[:, 2], 1.4 * np.sqrt(g[:, 0] ** 2 + g[:, 1] ** 2))
    assert np.all(g[:, 3] == 1)
    with pytest.raises(ValueError, match="size must be a whole number"):
        grid(0)


def test_an_example_is_a_whole_picture_whatever_the_key():
    targets = noise(3, 4, 4, 3)
    task = picture(targets)
    assert task.combinations.tolist() == [[0], [1], [2]]
    for z in task.combinations:
        x, y = task.sample(jnp.asarray(z), jax.random.key(int(z[0])))
        assert np.array_equal(x, grid(4))
        assert np.array_equal(y, targets[z[0]].reshape(16, 3))


def test_a_fifth_input_tells_which_picture():
    task = picture(list(noise(3, 4, 4, 3)), told=True)
    x, y = jax.vmap(task.sample)(jnp.asarray(task.combinations), jax.random.split(KEY, 3))
    assert x.shape == (3, 16, 5)
    assert y.shape == (3, 16, 3)
    assert np.array_equal(x[..., :4], np.broadcast_to(grid(4), (3, 16, 4)))
    assert np.array_equal(x[..., 4], np.repeat([[-1.0], [0.0], [1.0]], 16, axis=1))


def test_equal_pictures_share_a_program_and_others_do_not():
    one, same, other = picture(noise(4, 4, 3)), picture(noise(4, 4, 3).copy()), picture(noise(4, 4, 3) / 2)
    assert one.sample == same.sample
    assert hash(one.sample) == hash(same.sample)
    assert one.sample != other.sample
    assert one.sample != picture(noise(4, 4, 3), told=True).sample
    assert len(repr(one.sample)) < 80


@pytest.mark.parametrize("shape", [(4, 5, 3), (4, 4), (4, 4, 4), (0, 4, 4, 3), (2, 2, 4, 4, 3)])
def test_what_is_no_square_colour_picture_is_refused(shape):
    with pytest.raises(ValueError, match="size, size, 3"):
        picture(np.zeros(shape))


@pytest.mark.parametrize("value", [-0.1, 1.1, np.nan])
def test_colours_outside_of_their_range_are_refused(value):
    with pytest.raises(ValueError, match="between 0 and 1"):
        picture(np.full((2, 2, 3), value))


def test_a_picture_network_learns_a_picture():
    task = picture(np.broadcast_to(np.linspace(0.1, 0.9, 6, dtype=np.float32)[None, :, None], (6, 6, 3)))
    recipe = rc.Recipe(steps=60, batch=1, chunks=1)
    whole = rc.Split(task.combinations, np.ones(1, bool))
    make = lambda key: CPPN((("cache", 2), ("gaussian", 3)), 1, key=key)  # noqa: E731
    run = rc.fit(task, whole, make, KEY, recipe, dials={"learning_rate": 3e-2})
    assert run.losses[-1] < 0.3 * run.losses[0]


def test_a_png_comes_as_it_is(tmp_path):
    pixels = (255 * noise(8, 8, 3)).astype(np.uint8)
    Image.fromarray(pixels).save(tmp_path / "a.png")
    found = load_picture(tmp_path / "a.png", 8)
    assert found.dtype == np.float32
    assert np.array_equal(found, pixels.astype(np.float32) / 255)
    assert load_picture(str(tmp_path / "a.png"), 5).shape == (5, 5, 3)
    picture(found)


def test_what_is_transparent_turns_white(tmp_path):
    pixels = np.zeros((4, 4, 4), np.uint8)
    pixels[:, :2] = (255, 0, 0, 255)
    pixels[:, 2:] = (255, 0, 0, 0)
    Image.fromarray(pixels).save(tmp_path / "a.png")
    found = load_picture(tmp_path / "a.png", 4)
    assert np.allclose(found[:, :2], (1, 0, 0))
    assert np.allclose(found[:, 2:], 1)


def test_grey_deep_grey_palettes_and_jpegs_are_pictures_too(tmp_path):
    grey = np.tile(np.linspace(0, 255, 16).astype(np.uint8), (16, 1))
    Image.fromarray(grey).save(tmp_path / "grey.png")
    Image.fromarray(grey.astype(np.uint16) * 257).save(tmp_path / "deep.png")
    Image.fromarray(grey).convert("P").save(tmp_path / "palette.png")
    Image.fromarray(grey).save(tmp_path / "a.jpeg", quality=95)
    Image.fromarray(grey).convert("CMYK").save(tmp_path / "cmyk.jpg", quality=95)
    wanted = np.repeat(grey[..., None] / 255, 3, axis=2)
    for name in ("grey.png", "deep.png", "palette.png", "a.jpeg", "cmyk.jpg"):
        assert np.allclose(load_picture(tmp_path / name, 16), wanted, atol=0.03), name


def test_a_photograph_is_turned_as_its_camera_says(tmp_path):
    pixels = np.zeros((8, 8, 3), np.uint8)
    pixels[:4] = 255
    exif = Image.Exif()
    exif[0x0112] = 3  # upside down
    Image.fromarray(pixels).save(tmp_path / "a.jpg", exif=exif, quality=95)
    found = load_picture(tmp_path / "a.jpg", 8)
    assert found[:4].max() < 0.1
    assert found[4:].min() > 0.9


def huge_png() -> bytes:
    """A small file that announces 60000 x 60000 pixels."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", 60000, 60000, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b"\0" * 100)) + chunk(b"IEND", b"")
    )


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"", "is empty"),
        (b"hello", "cannot be read as a PNG or JPEG"),
        (b"\x89PNG\r\n\x1a\n", "cannot be read as a PNG or JPEG"),
        (b"GIF89a" + bytes(20), "cannot be read as a PNG or JPEG"),
        (huge_png(), "cannot be read as a PNG or JPEG|at most 50 million"),
    ],
    ids=["empty", "text", "cut short", "gif", "huge"],
)
def test_what_is_no_picture_is_one_clear_complaint(content, complaint, tmp_path):
    (tmp_path / "bad.png").write_bytes(content)
    with pytest.raises(UserError, match=complaint) as caught:
        load_picture(tmp_path / "bad.png", 8)
    assert "\n" not in str(caught.value)


def test_truncated_missing_oversized_and_folder_are_complaints_too(tmp_path):
    Image.fromarray((255 * noise(32, 32, 3)).astype(np.uint8)).save(tmp_path / "whole.png")
    (tmp_path / "half.png").write_bytes((tmp_path / "whole.png").read_bytes()[:1500])
    with (tmp_path / "large.png").open("wb") as file:
        file.truncate(65 * 2**20)
    Image.new("L", (8000, 7000)).save(tmp_path / "wide.png")
    for name, complaint in (
        ("half.png", "cannot be read"),
        ("none.png", "No such file"),
        ("large.png", "64 MiB"),
        (".", "cannot be read"),
        ("wide.png", "8000 x 7000"),
    ):
        with pytest.raises(UserError, match=complaint):
            load_picture(tmp_path / name, 8)
    with pytest.raises(ValueError, match="1 to 4096"):
        load_picture(tmp_path / "whole.png", 0)
