"""Of very many examples some are measured: which, that seen stays seen, and that nothing else is asked or read."""

from __future__ import annotations

from itertools import product

import jax.numpy as jnp
import numpy as np
import pytest

import recombine as rc
from recombine.diagnosis import evidence
from recombine.diagnosis.evidence import gather

Z = np.array(list(product(range(6), repeat=2)))
ROWS = np.repeat(np.arange(36), 50)


@pytest.fixture(autouse=True)
def _few(monkeypatch):
    monkeypatch.setattr(evidence, "MOST", 400)


def rarely_trained(z: np.ndarray, every: int = 25) -> np.ndarray:
    """Two of fifty examples of each seen combination."""
    return (z.sum(axis=1) % 3 > 0) & (np.arange(len(z)) % every == 0)


def test_a_combination_that_was_trained_on_stays_seen():
    z, y = Z[ROWS], Z[ROWS].astype(float)
    trained = rarely_trained(z)
    found = gather(z, trained, y, y)
    assert len(found.of) == 400
    wanted = Z.sum(axis=1) % 3 > 0
    assert np.array_equal(found.seen, wanted)
    assert np.bincount(found.of).min() >= 9
    assert found.trained.sum() == trained.sum()  # they are few, so all of them


def test_more_combinations_than_examples_to_measure_keep_theirs():
    z = np.array(list(product(range(30), repeat=2)))
    rows = np.repeat(np.arange(900), 4)
    trained = (np.arange(3600) % 4 == 3) & (z[rows].sum(axis=1) % 3 > 0)
    y = z[rows].astype(float)
    found = gather(z[rows], trained, y, y)
    assert np.array_equal(found.seen, found.combinations.sum(axis=1) % 3 > 0)


def test_real_valued_factors_keep_what_was_trained_on():
    z = np.random.default_rng(0).random((3000, 2))
    trained = ~np.all(z > 0.5, axis=1) & (np.arange(3000) % 5 == 0)
    found = gather(z, trained, z, z)
    codes = np.stack([f.codes for f in found.factors], axis=1)
    whole = evidence.read_factors(z)
    cells = {tuple(c) for c in np.stack([f.codes for f in whole], axis=1)[trained].tolist()}
    seen = found.seen[found.of]
    here, elsewhere = ({tuple(c) for c in codes[mask].tolist()} for mask in (seen, ~seen))
    assert here <= cells
    assert not elsewhere & cells


def test_a_model_is_asked_only_the_examples_that_are_measured():
    x, calls = jnp.asarray(Z[ROWS], jnp.float32), []
    from jax.experimental import io_callback

    def model(one):
        io_callback(lambda _: calls.append(1), None, one)
        return one, {"wide": jnp.tile(one, 4)}

    found = rc.diagnose(model, (x, x), factors=Z[ROWS], trained=rarely_trained(Z[ROWS]))
    assert len(calls) == 400
    assert [len(v) for v in found.evidence.layers.values()] == [400, 400]


def test_arrays_on_disk_are_read_when_their_layer_is_measured(tmp_path):
    (tmp_path / "acts").mkdir()
    trained = rarely_trained(Z[ROWS])
    y = np.random.default_rng(0).normal(size=(36, 3))[ROWS]
    arrays = {"z": Z[ROWS], "trained": trained, "y": y, "y_hat": y, "acts/wide": np.tile(y, 700)}
    for name, values in arrays.items():
        np.save(tmp_path / f"{name}.npy", values.astype(np.float32) if name.startswith("acts") else values)
    found = rc.diagnose(tmp_path)
    assert isinstance(found.evidence.layers["wide"], evidence.Later)
    in_memory = rc.diagnose(arrays)
    assert [layer.units for layer in found.layers] == [2100, 3]
    assert found.layers[0].additive_share == pytest.approx(in_memory.layers[0].additive_share, abs=1e-5)
