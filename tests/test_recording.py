from __future__ import annotations

import equinox as eqx
import jax
import numpy as np
import pytest

import recombine as rc


@pytest.fixture(scope="module")
def network():
    return rc.CNNDecoder(16, 8, width=2, depth=2, key=jax.random.key(0))


@pytest.fixture(scope="module")
def task():
    return rc.bumps(8, rc.local_bump(8))


def test_a_record_holds_what_the_model_does_one_example_at_a_time(network, task):
    record = rc.record(network, task, task.combinations[:5], key=jax.random.key(1), keep=["layer1"])
    y, acts = network(record.x[3])
    assert np.allclose(record.y_hat[3], y, atol=1e-6)
    assert np.allclose(record.acts["layer1"][3], acts["layer1"], atol=1e-6)
    assert record.y.shape == record.y_hat.shape == (5, 8, 8)


def test_a_record_comes_back_from_its_file(network, task, tmp_path):
    record = rc.record(network, task, task.combinations[:3], key=jax.random.key(1), keep=["layer0"])
    rc.save_record(record, tmp_path / "record.npz")
    back = rc.load_record(tmp_path / "record.npz")
    assert np.array_equal(back.y_hat, record.y_hat)
    assert np.array_equal(back.acts["layer0"], record.acts["layer0"])


@pytest.mark.parametrize("content", [b"", b"not a zip", b"PK\x03\x04 cut"])
def test_a_broken_record_is_one_clear_complaint(content, tmp_path):
    (tmp_path / "bad.npz").write_bytes(content)
    with pytest.raises(rc.UserError, match="is not a record"):
        rc.load_record(tmp_path / "bad.npz")


def test_a_pickled_record_is_refused(tmp_path):
    np.savez(tmp_path / "evil.npz", z=np.array([{"a": 1}], dtype=object))
    with pytest.raises(rc.UserError, match="not a record"):
        rc.load_record(tmp_path / "evil.npz")


def test_a_record_that_lacks_arrays_names_them(tmp_path):
    np.savez(tmp_path / "thin.npz", z=np.zeros(1), x=np.zeros(1))
    with pytest.raises(rc.UserError, match="lacks y, y_hat"):
        rc.load_record(tmp_path / "thin.npz")


def test_weights_come_back_from_safetensors(network, tmp_path):
    rc.save_model(network, tmp_path / "net.safetensors")
    fresh = rc.CNNDecoder(16, 8, width=2, depth=2, key=jax.random.key(9))
    assert eqx.tree_equal(rc.load_model(fresh, tmp_path / "net.safetensors"), network)
    other = rc.CNNDecoder(16, 8, width=2, depth=3, key=jax.random.key(9))
    with pytest.raises(rc.UserError, match="other arrays"):
        rc.load_model(other, tmp_path / "net.safetensors")
    (tmp_path / "bad").write_bytes(b"x")
    with pytest.raises(rc.UserError, match="not a safetensors file"):
        rc.load_model(fresh, tmp_path / "bad")
