"""What a user may give wrongly, each answered by one line that says how to mend it."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import recombine as rc

Z = np.array(list(product(range(5), repeat=2)))
Y = np.random.default_rng(0).normal(size=(25, 3))
GOOD = {"z": Z, "trained": Z.sum(axis=1) % 5 < 3, "y": Y, "y_hat": Y}
HOLED = np.where(np.arange(25)[:, None] == 3, np.nan, Y)

WRONG = {
    "factors of the wrong length": ({"z": Z[:20]}, "targets has 25 examples, but the factors have 20"),
    "factors that differ in length": ({"z": {"a": Z[:, 0], "b": Z[:9, 1]}}, "equally long, got a: 25, b: 9"),
    "a factor with one value": ({"z": np.stack([Z[:, 0], 0 * Z[:, 1]], axis=1)}, "'factor 1' has one value only"),
    "one factor": ({"z": Z[:, :1]}, "two factors or more"),
    "a factor with a NaN": ({"z": {"a": Z[:, 0], "b": HOLED[:, 0]}}, "'b' has a label that is NaN"),
    "factors of three axes": ({"z": Z[None]}, "one column each"),
    "a mask of the wrong length": ({"trained": np.ones(7, bool)}, "one boolean per example \\(25\\)"),
    "outputs with a NaN": ({"y_hat": HOLED}, r"in 1 of 25 examples \(row 3, counted from 0\)"),
    "outputs of another shape": ({"y_hat": Y[:, :2]}, "targets \\(25, 3\\) and outputs \\(25, 2\\) do not fit"),
    "no outputs": ({"y_hat": None}, "outputs are missing: give 'outputs' or 'y_hat'"),
    "labels beyond the classes": ({"y": np.arange(25), "y_hat": Y}, "outputs have 3 classes"),
    "whole numbers and words": (
        {"y": Z.sum(axis=1), "y_hat": np.array(list("abcde"))[Z[:, 0]]},
        "share no label: labels are like '0', answers like 'a'",
    ),
    "words and logits": ({"y": np.array(list("abcde"))[Z[:, 0]]}, "targets are words, but outputs are numbers"),
    "no rows": ({k: v[:0] for k, v in GOOD.items()}, "there are 0 examples"),
    "trained ones that are not there": ({"trained": [(9, 9)]}, "none of the 1 combinations in trained matches"),
    "trained without a factor": ({"trained": {"a": [1]}}, "trained lacks the factor 'factor 0'"),
    "complex targets": ({"y": Y + 1j, "y_hat": Y}, "complex numbers"),
}


@pytest.mark.parametrize(("change", "says"), WRONG.values(), ids=WRONG)
def test_one_line_says_what_is_wrong(change, says):
    given = {k: v for k, v in {**GOOD, **change}.items() if v is not None}
    with pytest.raises(rc.UserError, match=says) as caught:
        rc.diagnose(given)
    assert "\n" not in str(caught.value)


def test_files_that_are_none(tmp_path):
    (tmp_path / "bad.npz").write_text("nothing")
    for path in (tmp_path / "bad.npz", tmp_path / "none.npz", tmp_path):
        with pytest.raises(rc.UserError, match=r"cannot be read|no \.npy"):
            rc.diagnose(path)
    np.save(tmp_path / "single.npy", Y)
    with pytest.raises(rc.UserError, match="has one array: give an npz file"):
        rc.diagnose(tmp_path / "single.npy")
    np.savez(tmp_path / "objects.npz", z=np.array([["a", 1]], object))
    with pytest.raises(rc.UserError, match="save words as"):
        rc.diagnose(tmp_path / "objects.npz")
    with pytest.raises(rc.UserError) as caught:
        rc.diagnose(tmp_path / "bad.npz")
    assert "pickle" not in str(caught.value)
    with pytest.raises(rc.UserError, match="output= chooses among the outputs of a model"):
        rc.diagnose(GOOD, output="logits")
    with pytest.raises(rc.UserError, match="1 or more, got 0"):
        rc.diagnose(GOOD, batch=0)
    with pytest.raises(rc.UserError, match="not a int"):
        rc.diagnose(3)
    with pytest.raises(rc.UserError, match="needs data="):
        rc.diagnose(lambda x: x)


def test_without_new_combinations_it_cannot_tell_and_says_what_to_collect():
    everything = rc.diagnose({**GOOD, "trained": np.ones(25, bool)})
    assert everything.verdict == "cannot tell"
    assert "train again without" in str(everything)
    two_halves = (Z[:, 0] < 2) == (Z[:, 1] < 2)
    parted = rc.diagnose({k: v[two_halves] for k, v in {**GOOD, "trained": np.ones(25, bool)}.items()})
    assert not parted.coverage.connected
    said = str(parted).replace("\n  ", " ")
    assert "link: train on this combination to link the 2 parts of what was seen (then all hang together)" in said
    assert "collect: these 11 combinations, held out of training, to test 100 % of the pairs" in said
    unmarked = rc.diagnose({**GOOD, "trained": None})
    assert "no example is marked as trained on" in unmarked.why
    assert "give trained=" in unmarked.why


def test_what_to_collect_links_the_support_and_is_not_there_yet():
    two_halves = (Z[:, 0] < 2) == (Z[:, 1] < 2)
    found = rc.diagnose({k: v[two_halves] for k, v in {**GOOD, "trained": np.ones(25, bool)}.items()}).coverage
    there = {tuple(map(str, row)) for row in Z[two_halves].tolist()}
    assert not there & {*found.link, *found.test}
    assert not {*found.link} & {*found.test}  # what is trained on cannot test
    assert (found.parts, len(found.link), found.parts_left) == (2, 1, 1)
    assert found.tests == 1  # twelve pairs are missing, one is trained on, and fourteen may be asked for
    many = np.stack([np.arange(40)] * 2, axis=1)
    apart = rc.diagnose({"z": many, "trained": np.ones(40, bool), "y": np.arange(40.0), "y_hat": np.arange(40.0)})
    assert (apart.coverage.parts, len(apart.coverage.link), apart.coverage.parts_left) == (40, 14, 26)
    assert "26 parts would still be apart" in str(apart).replace("\n  ", " ")


def test_a_layer_with_a_nan_is_left_out_and_named():
    found = rc.diagnose({**GOOD, "acts/bad": HOLED, "acts/good": Y})
    assert [layer.name for layer in found.layers] == ["good", "output"]
    assert "the layer 'bad' has a NaN or an infinity in 1 of 25 examples: it is left out" in str(found).replace(
        "\n  ", " "
    )


@pytest.mark.parametrize(
    "labels",
    [Z, Z.astype(float), Z.astype(str), Z.astype(object), [tuple(row) for row in Z.tolist()], Z.astype(np.uint8)],
    ids=["int", "float", "str", "object", "tuples", "uint8"],
)
def test_labels_of_any_kind_give_one_verdict(labels):
    assert rc.diagnose({**GOOD, "z": labels}).verdict == "composes"


def test_many_examples_are_sampled_and_the_error_is_stated(monkeypatch):
    from recombine.diagnosis import evidence

    monkeypatch.setattr(evidence, "MOST", 100)
    rows = np.repeat(np.arange(25), 10)
    found = rc.diagnose({k: v[rows] for k, v in GOOD.items()})
    assert len(found.evidence.of) == 100
    assert np.all(np.bincount(found.evidence.of) == 4)
    assert any("100 of 250 examples were sampled" in note for note in found.notes)
    assert found.verdict == "composes"


def test_too_few_examples_for_a_probe_are_said_to_be_too_few():
    found = rc.diagnose({**GOOD, "acts/wide": np.random.default_rng(0).normal(size=(25, 40))})
    assert found.layers[0].few
    assert "15 combinations for 40 units, 4 per unit are needed" in found.layers[0].silent[0]


def test_a_list_of_what_was_trained_on_says_how_many_the_data_lack():
    z = np.array([[a, b] for a in range(4) for b in range(4)])
    y = z[:, :1] * 10.0 + z[:, 1:]
    listed = [[a, b] for a in range(4) for b in range(4) if (a + b) % 3] + [[9, 9], [8, 8]]
    found = rc.diagnose({"z": z, "y": y, "y_hat": y, "trained": listed})
    assert any(note.startswith("2 of the 12 combinations in trained are not in the data") for note in found.notes)
