"""What a report may say, and when it must be silent: scales, lost factors, caveats, words, what to train on."""

from __future__ import annotations

import json
import time
from itertools import product

import numpy as np
import pytest

import recombine as rc
from recombine.diagnosis.diagnosis import Diagnosis, readable
from recombine.diagnosis.layers import Layer
from recombine.diagnosis.report import page, save
from recombine.measures.gap import Interval

Z = np.array(list(product(range(8), repeat=2)))
SEEN = (Z[:, 0] + 2 * Z[:, 1]) % 8 < 5
RNG = np.random.default_rng


def one_line(d: Diagnosis) -> str:
    return " ".join(str(d).split())


def given(y: np.ndarray, y_hat: np.ndarray, **more: np.ndarray) -> dict[str, np.ndarray]:
    return {"z": Z, "trained": SEEN, "y": y, "y_hat": y_hat, **more}


def product_target(outputs: int, seed: int = 0) -> np.ndarray:
    rng = RNG(seed)
    return np.prod([rng.normal(size=(8, outputs))[part] for part in Z.T], axis=0)


@pytest.mark.parametrize("outputs", [16, 17, 40])
def test_one_large_output_does_not_hide_the_others(outputs):
    y = product_target(outputs) * np.where(np.arange(outputs) == 0, 1000.0, 1.0)
    y_hat = y.copy()
    y_hat[~SEEN, 1:] = RNG(1).normal(size=((~SEEN).sum(), outputs - 1))
    found = rc.diagnose(given(y, y_hat))
    assert found.verdict == "memorizes"
    assert any("scaled to unit variance" in note for note in found.notes) == (outputs > 16)


def test_some_large_outputs_are_said_to_carry_the_error():
    y = product_target(20) * np.where(np.arange(20) < 8, 1000.0, 1.0)
    notes = rc.diagnose(given(y, y)).notes
    assert any("of 20 outputs have 90 % of the targets' variance: the errors are mostly theirs" in n for n in notes)
    pictures = (product_target(36) * (np.arange(36) < 4)).reshape(-1, 6, 6)
    assert not rc.diagnose(given(pictures, pictures)).notes


class TestLost:
    """Colour and shape as words; `first` has both, `second` only the shape."""

    grid = np.array(list(product(range(10), repeat=2)))  # 70 are seen: probes of 16 units need 64
    seen = (grid[:, 0] + 2 * grid[:, 1]) % 10 < 7
    codes = np.stack([table[part] for table, part in zip(RNG(2).normal(size=(2, 10, 8)), grid.T, strict=True)])
    z = np.array([f"v{v}" for v in range(10)])[grid]
    rows = np.repeat(np.arange(100), 4)

    def diagnosed(self, target: np.ndarray, answers: np.ndarray, **more: np.ndarray) -> Diagnosis:
        names = {"colour": self.z[:, 0], "shape": self.z[:, 1]}
        both = np.concatenate(self.codes, axis=1)
        acts = {"acts/first": both, "acts/second": self.codes[1], **more}
        noise = lambda a: a[self.rows] + 0.01 * RNG(0).normal(size=(400, *a.shape[1:]))  # noqa: E731
        arrays = {k: noise(v) for k, v in {"y": target, "y_hat": answers, **acts}.items()}
        factors = {k: v[self.rows] for k, v in names.items()}
        return rc.diagnose(arrays, factors=factors, trained=self.seen[self.rows])

    def without_colour(self) -> np.ndarray:
        """The target with the colour of some other example wherever the combination is new."""
        y = np.concatenate(self.codes, axis=1)
        other = RNG(3).normal(size=(100, 8))
        return np.where(self.seen[:, None], y, np.concatenate([other, self.codes[1]], axis=1))

    def test_it_is_named_where_target_and_an_earlier_layer_have_it(self):
        found = self.diagnosed(np.concatenate(self.codes, axis=1), self.without_colour())
        assert found.verdict == "partly"
        assert found.lost == {"colour": "first"}
        assert "colour is lost after layer 'first'" in one_line(found)

    def test_a_branch_without_the_factor_loses_nothing(self):
        y = np.concatenate(self.codes, axis=1)
        assert not self.diagnosed(y, y).lost

    def test_what_the_target_hides_is_not_lost(self):
        y = self.codes[0] * self.codes[1]
        wrong = np.where(self.seen[:, None], y, RNG(4).normal(size=y.shape))
        found = self.diagnosed(y, wrong)
        assert found.verdict == "memorizes"
        assert not found.lost

    def test_a_model_that_has_not_learnt_loses_nothing(self):
        y = np.concatenate(self.codes, axis=1)
        assert not self.diagnosed(y, RNG(5).normal(size=y.shape)).lost

    def test_only_a_whole_interval_beside_the_bound_tells(self):
        readings = {(0.454, 0.17, 0.74): None, (0.9, 0.8, 1.0): True, (0.1, -0.1, 0.3): False, (0.6, 0.45, 0.7): None}
        for numbers, can in readings.items():
            told = {"decodability": {"a": Interval(*numbers)}, "shuffled": {"a": -0.09}}
            assert readable(Layer("output", 4, **told), "a") is can
            assert readable(Layer("output", 4, few=True, **told), "a") is None
        assert readable(Layer("output", 4), "a") is None


def test_output_is_read_as_the_model_gave_it():
    labels, logits = Z.sum(axis=1) % 5, RNG(0).normal(size=(64, 5))
    found = rc.diagnose(given(labels, logits, **{"acts/head": logits}))
    head, output = found.layers
    assert (head.units, output.units) == (5, 5)
    assert head.decodability == output.decodability
    words = np.array(list("abcde"))
    assert rc.diagnose(given(words[labels], words[labels], **{"acts/head": logits})).layers[-1].units == 5


def test_composing_far_less_well_than_on_seen_ones_is_a_caveat():
    y = product_target(12)
    noisy = y + 0.05 * RNG(0).normal(size=y.shape)
    worse = np.where(SEEN[:, None], noisy, 0.7 * y)
    found = rc.diagnose(given(y, worse))
    assert found.verdict == "composes"
    assert "times that on seen ones" in one_line(found)
    assert "times that on seen ones" not in one_line(rc.diagnose(given(y, noisy)))


def test_words_of_shares_and_memories():
    y = product_target(12)
    looked_up = np.where(SEEN[:, None], y, y[(np.arange(64) * 7) % 64])
    assert "would cost" in rc.diagnose(given(y, looked_up)).why
    noise = np.where(SEEN[:, None], y, 3 * RNG(0).normal(size=y.shape))
    found = rc.diagnose(given(y, noise))
    assert found.why.startswith("its answers to new combinations are worse than memory would give: its extra error is")
    assert "-0 %" not in one_line(rc.diagnose(given(y, y)))


def test_labels_are_not_said_to_copy():
    labels = RNG(0).integers(0, 4, size=(8, 8))[Z[:, 0], Z[:, 1]]
    wrong = np.where(SEEN, labels, (labels + 1 + RNG(1).integers(0, 3, 64)) % 4)
    found = rc.diagnose(given(labels, wrong))
    assert found.verdict == "memorizes"
    assert "copy a seen one" not in found.why


def test_what_to_train_on_is_failed_and_leaves_some_to_test():
    y = product_target(12)
    found = rc.diagnose(given(y, np.where(SEEN[:, None], y, 0.0)))
    next_ = found.train_on
    assert next_ is not None
    assert next_.failed == (~SEEN).sum()
    assert len(next_.combinations) == min(14, next_.failed // 2) == len(set(next_.combinations))
    assert next_.steps_after <= next_.steps
    new = {tuple(map(str, row)) for row in Z[~SEEN].tolist()}
    assert set(next_.combinations) <= new
    assert "train on: 12 of the 24 new combinations that it fails" in one_line(found)
    assert found.numbers()["train_on"]["failed"] == next_.failed
    assert rc.diagnose(given(y, y)).train_on is None


def test_a_constant_target_says_so():
    y = np.full((64, 3), 0.1)
    for outputs in (y, np.repeat(y, 7, axis=1)):
        found = rc.diagnose(given(outputs, outputs))
        assert (found.verdict, found.ruling.rule) == ("cannot tell", "target")
        assert found.behaviour.fit == 1


@pytest.mark.parametrize("size", [1e200, 1e-200, 1.0])
@pytest.mark.parametrize("outputs", [3, 30])
def test_huge_and_tiny_numbers_are_brought_to_range(size, outputs):
    y = product_target(outputs) * size
    found = rc.diagnose(given(y, y))
    assert found.verdict == "composes"
    assert any("were divided by that" in note for note in found.notes) == (size != 1)
    wild = rc.diagnose(given(y / size, y * 1e100))
    assert wild.ruling.rule == "fit" or size < 1


def test_without_new_combinations_the_probe_is_said_to_be_on_seen_ones():
    y = product_target(3)
    x = np.concatenate([np.eye(8)[part] for part in Z.T], axis=1)
    text = page([rc.diagnose({**given(y, y, x=x), "trained": np.ones(64, bool)})])
    assert "R² on left-out seen ones" in text
    assert "this says nothing about composing" in text
    assert "R² on new combinations" in page([rc.diagnose(given(y, y, x=x))])


def test_intervals_off_the_scale_are_said_to_be_cut():
    y = product_target(3)
    wild = np.where(SEEN[:, None], RNG(0).normal(size=(64, 4)), 30 * RNG(1).normal(size=(64, 4)))
    wild[:, 0] += Z[:, 0]
    assert "drawn at -1" in page([rc.diagnose(given(y, y, **{"acts/wild": wild}))])
    assert "drawn at -1" not in page([rc.diagnose(given(y, y, x=Z))])


@pytest.mark.parametrize("kind", ["continuous", "binary"])
def test_many_factors_end_in_seconds(kind):
    rng, began = RNG(0), time.process_time()
    z = rng.random((400, 40)) if kind == "continuous" else rng.integers(0, 2, (400, 16))
    y = np.stack([z[:, 0] * z[:, 1], z[:, 1] - z[:, 2]], axis=1)
    found = rc.diagnose({"z": z, "trained": ~((z[:, 0] > 0.5) & (z[:, 1] > 0.5)), "y": y, "y_hat": y})
    page([found])
    assert time.process_time() - began < 60
    assert any("-tuples is not counted" in note for note in found.notes)
    assert set(found.coverage.tuples) >= {1, 2}


def test_models_of_one_name_are_numbered_and_an_empty_list_is_refused(tmp_path):
    y = product_target(3)
    save([rc.diagnose(given(y, y)) for _ in range(3)], tmp_path / "out")
    told = json.loads((tmp_path / "out" / "numbers.json").read_text())
    assert [model["name"] for model in told["models"]] == ["model (1)", "model (2)", "model (3)"]
    with pytest.raises(rc.UserError, match="the list is empty"):
        save([], tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(rc.UserError, match="name a folder"):
        rc.diagnose(given(y, y)).save(tmp_path / "file")
