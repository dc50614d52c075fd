"""Arms of function calling: equal tokens, questions that training never drew, and known answers."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import recombine as rc
from recombine.experiments.abdelaziz2024 import subtasks, subtasks_claims, training
from recombine.tasks import calls

SETTINGS = subtasks.QUICK


def test_every_arm_learns_from_as_many_scored_tokens():
    tokens = [subtasks.sizes(subtasks.LAPTOP, arm)["loss_tokens"] for arm in training.ARMS]
    assert max(tokens) / min(tokens) < 1.001


def test_the_arm_without_the_skill_never_shows_two_calls():
    forms = training.forms(training.WITHOUT)
    assert not {"full", "nested", "chain", "parallel", "paraphrase"} & set(forms)
    assert set(forms) < set(training.forms(training.GRANULAR)) == set(calls.GRANULAR)


def test_questions_are_about_items_that_training_never_drew():
    questions, kinds = training.asked(SETTINGS)
    shown = np.concatenate([training.shown(SETTINGS, arm).combinations for arm in training.ARMS])
    assert questions.combinations[:, 2].min() > shown[:, 2].max()
    assert set(questions.combinations[kinds["nesting"], 1]) == {3}
    assert set(questions.combinations[kinds["names"], 0]) == {calls.NEW}
    assert set(shown[:, 1]) == {1, 2}


@pytest.fixture(scope="module")
def known() -> dict[str, dict[str, float]]:
    return {name: training.answers(SETTINGS, record) for name, record in training.known(SETTINGS).items()}


def test_perfect_calls_are_exact_and_copied_ones_are_not(known):
    assert all(known["perfect"][f"exact_{kind}"] == 1 for kind in subtasks_claims.LABELS)
    assert all(known["perfect"][f"unlisted_{kind}"] == 0 for kind in subtasks_claims.LABELS)
    assert all(known["copier"][f"exact_{kind}"] <= 0.2 for kind in subtasks_claims.LABELS)
    assert all(known["chance"][f"exact_{kind}"] == 0 for kind in subtasks_claims.LABELS)


def test_names_by_lot_are_mostly_unlisted():
    """Of the 16 names with the right first letter, about one and a third of six listed ones have it."""
    truth = training.known(SETTINGS)["perfect"]
    first = np.argmax(truth.y[..., 1] > 0, axis=1)
    letters = calls.VOCABULARY.ids([f"letter {i}" for i in range(calls.LETTERS)])
    found = []
    for letter in letters:
        ids = truth.y[..., 0].copy()
        ids[np.arange(len(ids)), first + 1] = letter
        found.append(training.unlisted(truth.answering(training.logits(ids))))
    listed = calls.listed_names(truth.x)
    same = np.mean(np.sum(listed[..., 0] == truth.y[np.arange(len(truth)), first, 0][:, None], axis=1))
    assert np.mean(found) == pytest.approx(1 - same / calls.LETTERS, abs=1e-6)


def table(**exact) -> pd.DataFrame:
    """Rows of arms whose exact answers are given: (as trained, new names, deeper nesting)."""
    rng, rows = np.random.default_rng(0), []
    for arm, values in exact.items():
        for seed in range(5):
            scores = dict(zip(("exact_iid", "exact_names", "exact_nesting"), values, strict=True))
            noisy = {name: value + 0.002 * rng.normal() for name, value in scores.items()}
            rows.append(
                {"system": "network", "condition": arm.replace("_", " "), "seed": seed, "loss_tokens": 1e6} | noisy
            )
    for system, value in {"perfect": 1.0, "copier": 0.0, "untrained": 0.0}.items():
        row = {f"exact_{kind}": value for kind in subtasks_claims.LABELS}
        rows.append({"system": system, "seed": 0, "unlisted_names": 0.0} | row)
    return pd.DataFrame(rows)


def test_claims_read_tables_of_known_answer():
    both = table(umbrella=(0.97, 0.5, 0.1), granular=(0.98, 0.7, 0.3))
    first, *others = rc.judge_all(both, subtasks.CLAIMS)
    assert first.verdict == "holds"
    assert all(v.verdict == "undecided" and "what the claim compares is not trained here" in v.why for v in others)
    every = table(
        umbrella=(0.97, 0.5, 0.1),
        granular=(0.98, 0.7, 0.1),
        without_the_skill=(0.97, 0.5, 0.1),
        paraphrased=(0.97, 0.7, 0.1),
    )
    assert [v.verdict for v in rc.judge_all(every, subtasks.CLAIMS)] == ["fails", "fails", "fails"]


def test_a_question_that_no_arm_answers_is_left_open():
    found = rc.judge(table(umbrella=(0.97, 0.5, 0.0), granular=(0.98, 0.7, 0.005)), subtasks.CLAIMS[0])
    assert found.groups == {"new names": "holds", "deeper nesting": "undecided"}
    assert "there is nothing to compare" in found.because["deeper nesting"]


def test_a_question_that_full_calls_alone_answer_leaves_no_room():
    found = rc.judge(table(umbrella=(0.98, 0.98, 0.3), granular=(0.99, 0.99, 0.5)), subtasks.CLAIMS[0])
    assert found.groups == {"new names": "undecided", "deeper nesting": "holds"}
    assert found.because["new names"] == "full calls alone answer 98.0% where they learnt: no room"


def test_an_arm_that_is_not_compared_leaves_the_floor_where_it_is():
    both = {"umbrella": (0.97, 0.5, 0.0), "granular": (0.98, 0.7, 0.005)}
    found = rc.judge(table(**both, paraphrased=(0.97, 0.5, 0.4)), subtasks.CLAIMS[0])
    assert found.groups["deeper nesting"] == "undecided"


def test_arms_that_do_not_fit_alike_decide_nothing():
    apart = table(umbrella=(0.97, 0.5, 0.1), granular=(0.6, 0.9, 0.9))
    assert rc.judge_all(apart, subtasks.CLAIMS)[0].verdict == "undecided"


def test_subtasks_without_the_skill_are_judged_though_they_learnt_full_calls_less_well():
    short = table(umbrella=(0.97, 0.5, 0.3), without_the_skill=(0.6, 0.3, 0.1))
    third = rc.judge_all(short, subtasks.CLAIMS)[2]
    assert (third.verdict, third.how) == ("fails", "reversed")
    unlearnt = table(umbrella=(0.6, 0.5, 0.3), without_the_skill=(0.6, 0.3, 0.1))
    assert rc.judge_all(unlearnt, subtasks.CLAIMS)[2].verdict == "undecided"


def test_settings_that_compare_nothing_are_refused():
    with pytest.raises(rc.UserError, match="no arm is called 'mixed'"):
        subtasks.Settings(arms=("umbrella", "mixed"))
    with pytest.raises(rc.UserError, match="arms are 'umbrella' and others, each once; got granular"):
        subtasks.Settings(arms=("granular",))
    with pytest.raises(rc.UserError, match="each once; got umbrella, umbrella"):
        subtasks.Settings(arms=("umbrella", "umbrella"))
    with pytest.raises(rc.UserError, match="width must be an even multiple of heads, got 64 and 5"):
        subtasks.Settings(heads=5)
    with pytest.raises(rc.UserError, match="examples must be from 2 to twice the items, 16000; got 1"):
        subtasks.Settings(examples=1)
