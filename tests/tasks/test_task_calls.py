from __future__ import annotations

import numpy as np
import pytest

import recombine as rc
from recombine.tasks import calls
from recombine.tasks.tokens import PAD, SEP

ROWS = np.concatenate(
    [
        calls.asking(calls.FORMS, range(4), (1, 2)),
        calls.asking(("full",), range(4), (3,)),
        calls.asking(("full",), range(4), (1, 2), calls.NEW),
    ]
)
TASK = calls.calls(ROWS, key=rc.key(0, "calls"))


@pytest.fixture(scope="module")
def examples() -> tuple[np.ndarray, np.ndarray]:
    record = rc.truth(TASK, ROWS, key=rc.key(0, "test"))
    return record.x, record.y


def words(examples, row: np.ndarray) -> tuple[list[str], list[str]]:
    """The prompt and the answer of one combination, in words."""
    i = int(np.flatnonzero(np.all(row == ROWS, axis=1))[0])
    x, y = examples[0][i], examples[1][i]
    prompt = calls.VOCABULARY.words(x[: x.tolist().index(SEP)])
    return prompt, calls.VOCABULARY.words(y[y[:, 1] > 0, 0])


def form(name: str, depth: int = 2, item: int = 0) -> np.ndarray:
    return calls.asking((name,), (item,), (depth,))[0]


def called(prompt: list[str], verb: str) -> tuple[list[str], list[str]]:
    """Name and slots of the listed function that does this."""
    i = prompt.index(verb)
    return prompt[i + 1 : i + 3], prompt[i + 3 : i + 5]


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_the_full_call_is_what_the_list_and_the_request_say(examples, depth):
    prompt, answer = words(examples, form("full", depth))
    first, a, b, *rest = prompt[31:]
    name, (one, two) = called(prompt, first)
    expected = [*name, "(", one, a, two, b, ")"]
    for verb, value in zip(rest[::2], rest[1::2], strict=True):
        name, (one, two) = called(prompt, verb)
        expected = [*name, "(", one, *expected, two, value, ")"]
    assert answer == [*expected, "EOS"]
    assert prompt[30] == "full"


def test_the_seven_forms_speak_of_the_same_item(examples):
    answers = {name: words(examples, form(name))[1][:-1] for name in calls.FORMS}
    full, chain, parallel = (answers[name] for name in ("full", "chain", "parallel"))
    assert answers["nested"] == answers["paraphrase"] == full
    inner, outer = chain[:8], chain[8:]
    assert inner == full[4:12]
    assert outer[:4] == full[:4]
    assert outer[4] == "result"
    assert parallel[:8] == inner
    assert parallel[8:12] + parallel[13:] == outer[:4] + outer[5:]
    assert answers["name"] == inner[:2] + outer[:2]
    assert answers["pairs"] == inner[3:7] + outer[5:7]
    assert answers["next"] == outer[:2]
    assert answers["response"][1] == words(examples, form("response"))[0][-1]


def test_a_paraphrase_puts_values_first(examples):
    plain, other = (words(examples, form(name))[0][31:] for name in ("full", "paraphrase"))
    assert sorted(plain) == sorted(other)
    assert other == [plain[1], plain[2], plain[0], plain[4], plain[3]]


def test_new_names_are_never_listed_in_training(examples):
    shown, new = calls.names(TASK.sample.seed)  # pyrefly: ignore
    assert (len(shown), len(new)) == (200, 56)
    assert not set(shown) & set(new)
    letter = calls.VOCABULARY.ids(["letter 0"])[0]
    listed = calls.listed_names(examples[0]) - letter
    numbers = listed[..., 0] * calls.LETTERS + listed[..., 1]
    for kind, group in ((calls.TRAINED, shown), (calls.NEW, new)):
        assert np.isin(numbers[ROWS[:, 0] == kind], group).all()
    assert all(len(set(row)) == 6 for row in numbers)


def test_the_count_of_scored_tokens_is_right(examples):
    for name in calls.FORMS:
        mine = (ROWS[:, 3] == calls.FORMS.index(name)) & (ROWS[:, 0] == calls.TRAINED) & (ROWS[:, 1] < 3)
        assert examples[1][mine][..., 1].sum(axis=1).mean() == calls.scored_tokens((name,), (1, 2))
    assert np.all(examples[0][:, -1] == PAD)


def test_bad_requests_are_refused():
    with pytest.raises(rc.UserError, match="no form is called 'novel'"):
        calls.asking(("novel",), range(2), (1,))
    with pytest.raises(rc.UserError, match="a row has 62 tokens where there is room for 50"):
        calls.calls(ROWS, key=rc.key(0, "calls"), length=50)
    with pytest.raises(rc.UserError, match="combinations of calls"):
        calls.calls(np.array([[0, 4, 0, 0]]), key=rc.key(0, "calls"))
    for shape in ((0, 4), (4,), (2, 3)):
        with pytest.raises(rc.UserError, match=r"combinations of calls .* got shape"):
            calls.calls(np.ones(shape, int), key=rc.key(0, "calls"))
