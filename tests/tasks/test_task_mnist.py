from __future__ import annotations

import gzip

import numpy as np
import pytest

from recombine.core import UserError
from recombine.tasks.mnist import first_digit, load_digit


def idx(array: np.ndarray) -> bytes:
    return bytes((0, 0, 8, array.ndim)) + np.array(array.shape, ">u4").tobytes() + array.astype(np.uint8).tobytes()


PICTURES = np.arange(4 * 3 * 3).reshape(4, 3, 3)
IMAGES, LABELS = idx(PICTURES), idx(np.array([5, 0, 4, 4]))


def test_the_first_digit_with_the_label_comes_scaled_to_one():
    assert np.allclose(first_digit(IMAGES, LABELS), PICTURES[2] / 255)
    assert np.allclose(first_digit(IMAGES, LABELS, digit=5), PICTURES[0] / 255)


def test_files_may_be_plain_or_gzipped(tmp_path):
    (tmp_path / "images.gz").write_bytes(gzip.compress(IMAGES, mtime=0))
    (tmp_path / "labels").write_bytes(LABELS)
    assert np.allclose(load_digit(tmp_path / "images.gz", tmp_path / "labels"), PICTURES[2] / 255)


@pytest.mark.parametrize(
    ("images", "labels", "complaint"),
    [
        (b"", LABELS, "not an MNIST file"),
        (b"PK\x03\x04 something else", LABELS, "not an MNIST file"),
        (LABELS, LABELS, "with 3 axes was expected"),
        (IMAGES, IMAGES, "with 1 axes was expected"),
        (IMAGES[:-1], LABELS, "36 values announced, 35 found"),
        (gzip.compress(IMAGES, mtime=0)[:-9], LABELS, "damaged gzip"),
        (b"\x1f\x8b nonsense", LABELS, "damaged gzip"),
        (IMAGES, idx(np.array([4])), "4 MNIST pictures do not go with 1 labels"),
        (IMAGES, idx(np.array([1, 2, 3, 0])), "have no 4"),
    ],
)
def test_anything_else_is_said_in_one_line(images, labels, complaint):
    with pytest.raises(UserError, match=complaint):
        first_digit(images, labels)


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(UserError, match="cannot read"):
        load_digit(tmp_path / "nowhere", tmp_path / "nowhere")
