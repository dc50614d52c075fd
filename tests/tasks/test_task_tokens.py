"""The conventions of token tasks."""

from __future__ import annotations

import numpy as np
import pytest

import recombine as rc
from recombine.tasks.tokens import EOS, FIRST, PAD, SEP, Vocabulary, example, padded, scored

ROW = np.array([FIRST, FIRST + 1, SEP, FIRST + 2, EOS, PAD, PAD])


def test_an_example_is_predicted_where_the_answer_is():
    x, y = example(ROW, scored(ROW))
    assert x.tolist() == ROW[:-1].tolist()
    assert y[:, 0].tolist() == ROW[1:].tolist()
    assert y[:, 1].tolist() == [0, 0, 1, 1, 0, 0]


def test_a_second_separator_belongs_to_the_answer():
    assert scored(np.array([SEP, 5, SEP, EOS, EOS])).tolist() == [False, True, True, True, False]


def test_unknown_tokens_and_rows_that_are_too_long_are_told():
    words = Vocabulary(("walk", "run"))
    assert len(words) == FIRST + 2
    assert words.words(words.ids(["run", "walk"])) == ["run", "walk"]
    assert words.words([PAD, EOS, SEP]) == ["PAD", "EOS", "SEP"]
    with pytest.raises(rc.UserError, match="unknown token 'fly'; there are walk, run"):
        words.ids(["walk", "fly"])
    with pytest.raises(rc.UserError, match="unknown token 5; there are 5"):
        words.words([5])
    with pytest.raises(rc.UserError, match="a row has 3 tokens where there is room for 2"):
        padded([[3, 4, EOS]], 2)
    with pytest.raises(ValueError, match="distinct names"):
        Vocabulary(("walk", "walk"))
