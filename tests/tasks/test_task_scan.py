from __future__ import annotations

import hashlib

import numpy as np
import pytest

import recombine as rc
from recombine.splits import coverage
from recombine.tasks import scan
from recombine.tasks.tokens import EOS, SEP

ROWS = scan.combinations()
SIZES = {
    "length": (scan.by_length(ROWS), 16_990, 3_920),
    "add jump": (scan.add_primitive(ROWS, "jump"), 13_204, 7_706),
    "add turn left": (scan.add_primitive(ROWS, "turn left"), 19_702, 1_208),
    "around right": (scan.template(ROWS, "around right"), 15_225, 4_476),
    "opposite right": (scan.template(ROWS, "opposite right"), 15_225, 4_476),
    "right": (scan.template(ROWS, "right"), 15_225, 4_476),
    "jump around right": (scan.template(ROWS, "around right", ("walk", "look", "run"), ("jump",)), 18_528, 1_173),
    "filler 0": (scan.filler(ROWS, 0), 15_225, 1_173),
    "filler 1": (scan.filler(ROWS, 1), 16_290, 1_173),
    "filler 2": (scan.filler(ROWS, 2), 17_391, 1_173),
    "filler 3": (scan.filler(ROWS, 3), 18_528, 1_173),
}


def test_the_sorted_lines_are_those_of_the_public_files():
    lines = sorted(f"IN: {' '.join(scan.command(r))} OUT: {' '.join(scan.actions(r))}" for r in ROWS.tolist())
    assert len(set(lines)) == len(lines) == 20_910
    digest = hashlib.sha256("\n".join(lines).encode()).hexdigest()
    assert digest == "345bff3c25864652f326ba1960aa515d156b63f45067ea57268f71d7362a2440"


@pytest.mark.parametrize(("sides", "train", "test"), SIZES.values(), ids=SIZES)
def test_a_split_has_as_many_commands_as_the_public_one(sides, train, test):
    assert (sides.train.sum(), sides.test.sum()) == (train, test)
    assert not (sides.train & sides.test).any()


def test_commands_longer_than_22_actions_have_24_to_48():
    counts = {len(scan.actions(row)) for row in ROWS[scan.by_length(ROWS).test].tolist()}
    assert (min(counts), max(counts)) == (24, 48)


def test_an_example_has_the_words_then_the_actions():
    task = scan.scan(ROWS[:200])
    record = rc.truth(task, task.combinations, key=rc.key(0, "test"))
    for row, tokens, answers in zip(record.z.tolist(), record.x, record.y, strict=True):
        place = tokens.tolist().index(SEP)
        asked = answers[answers[:, 1] > 0, 0]
        assert scan.VOCABULARY.words(tokens[:place]) == scan.command(row)
        assert scan.VOCABULARY.words(asked[:-1]) == scan.actions(row)
        assert asked[-1] == EOS
    assert scan.scan().sample.length == scan.LENGTH == 59  # pyrefly: ignore


def test_fillers_cover_their_own_pairs_and_not_that_of_jump():
    nodes = scan.pairs(ROWS)
    shares = [coverage.covered(nodes, scan.filler(ROWS, n).train) for n in range(4)]
    assert shares == pytest.approx([25 / 30, 26 / 30, 27 / 30, 28 / 30])
    asked = scan.filler(ROWS, 3).test
    assert coverage.seen_share(nodes, scan.filler(ROWS, 3).train)[asked].max() < 1


def test_what_is_no_command_is_refused():
    with pytest.raises(rc.UserError, match="no phrase 'fly left'"):
        scan.holding(ROWS, ["fly left"])
    with pytest.raises(rc.UserError, match="between 0 and 3 verbs"):
        scan.filler(ROWS, 4)
    with pytest.raises(rc.UserError, match="combinations of SCAN"):
        scan.scan(np.array([[34, 0, -1, -1, -1]]))
    with pytest.raises(rc.UserError, match="unknown token 'fly'"):
        scan.VOCABULARY.ids(["fly"])
    with pytest.raises(rc.UserError, match="no phrase 'fly'"):
        scan.add_primitive(ROWS, "fly")


@pytest.mark.parametrize("row", [[-1, 0, -1, -1, -1], [3, 0, 0, -1, -1], [3, 0, -1, 2, -1]])
def test_a_malformed_row_is_refused(row):
    with pytest.raises(rc.UserError, match="is none"):
        scan.scan(np.array([[3, 0, -1, -1, -1], row]))
    for shape in ((0, 5), (5,), (2, 4)):
        with pytest.raises(rc.UserError, match=r"combinations of SCAN .* got shape"):
            scan.scan(np.zeros(shape, int))


def test_parts_are_verbs_and_manners():
    parts = scan.parts(ROWS)
    for row, (verb, how, *_) in zip(ROWS[:102].tolist(), parts.tolist(), strict=False):
        first, *rest = scan.PHRASES[row[0]].split()
        assert verb == ("turn", *scan.VERBS).index(first)
        assert (how == rc.ABSENT) == (not rest)
    assert len(np.unique(parts)) == 5 + 6 + 1
    assert np.all(parts[:102, 2:] == rc.ABSENT)
