"""The rules of a verdict on a model, in their order; docs/diagnose.md says what calibrates each.

A verdict is one of four words. It rests on answers to new combinations alone: no measure of hidden layers decides it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from recombine.diagnosis import guards, partly
from recombine.diagnosis.behaviour import LOCAL, SMOOTH, SUM, Behaviour
from recombine.diagnosis.ruling import (
    CANNOT_TELL,
    COMPOSES,
    FAILED,
    FEWEST,
    FITTED,
    LEAST_ROOM,
    MANY,
    MEMORIZES,
    NOTICED,
    PARTLY,
    ROOM,
    SOLVED,
    Ruling,
    fails,
    solves,
    verdict_on,
)
from recombine.diagnosis.tells import Tells, tells
from recombine.diagnosis.words import extra_error, percent
from recombine.measures.gap import Interval

_UNMARKED = (
    "no example is marked as trained on, so seen and new cannot be told apart: give trained=, one boolean per example"
)


def rule(b: Behaviour) -> tuple[Ruling, Tells | None]:
    """The first rule that applies."""
    if early := _preconditions(b):
        return early, None
    found = tells(b)
    for ruling in _in_order(b, found):
        if ruling is not None:
            return _with_doubts(b, ruling), found
    raise AssertionError("the last rule always applies")


def _preconditions(b: Behaviour) -> Ruling | None:
    e = b.evidence
    if not e.seen.any():
        return Ruling(CANNOT_TELL, "seen", _UNMARKED)
    new = int(e.new.sum())
    if new < FEWEST:
        values = int((e.unseen_value & ~e.seen).sum())
        more = f"; {values} more have a value that was never trained on, which tests another ability" if values else ""
        said = f"only {new} of the {FEWEST} new combinations that a verdict needs" if new else "no new combination"
        return Ruling(CANNOT_TELL, "new", f"the data have {said}{more}")
    if b.flat:
        return Ruling(CANNOT_TELL, "target", "the target is the same for new combinations as in the mean of seen ones")
    if guards.same_everywhere(b):
        return Ruling(CANNOT_TELL, "target", "the target is the same for all new combinations")
    if b.fit < FITTED:
        return Ruling(
            CANNOT_TELL,
            "fit",
            f"the model has not learnt the seen combinations (fit {b.fit:.2f}, asked at least {FITTED:g}), or the"
            " targets are too noisy: what it does on new ones says nothing",
        )
    return None


def _in_order(b: Behaviour, t: Tells) -> Iterator[Ruling | None]:
    yield _composes(b, t)
    yield partly.nearby(b)
    yield partly.by_pair(b)
    yield _copies(b, t)
    yield partly.some_factors(b, t)
    yield _superposes(b, t)
    yield _adds_up(b)
    yield partly.mixture(b)
    yield _memorizes(b, t)
    yield _too_easy(b)
    yield _between(b)


def _said(b: Behaviour, g: Interval) -> str:
    return extra_error(g, b.best(b.new), b.evidence.answers.labels)


def _composes(b: Behaviour, t: Tells) -> Ruling | None:
    """The extra error on new combinations is small beside a memory's, and beside that of smoothing and adding up."""
    g = b.gap(b.new)
    if not solves(g) or b.room(b.new) < LEAST_ROOM:
        return None
    if _as_good(b, LOCAL):
        return _easy("smoothing what was seen a few steps away")
    table = guards.by_table(b)
    if table and (table.room < LEAST_ROOM or not solves(table.gap)):
        why = (
            f"a table of the seen answers by {' and '.join(table.factors)} alone does about as well on new combinations"
        )
        return Ruling(CANNOT_TELL, "table", f"{why}: little that matters is new")
    caveats = _many_times(b, g)
    if _as_good(b, SMOOTH):
        caveats.append("a smooth surface through the seen answers does as well here: a sharper target would test more")
    if (word := _beyond_sum(b)) is not None:
        return word
    if guards.additive(b, ROOM):
        caveats.append("the target is a sum of its parts, so adding up memories of each part would do as well")
    if wrong := guards.values_where(b, lambda rows, level: verdict_on(b, rows, level) == MEMORIZES):
        return Ruling(PARTLY, "values", f"it composes, but not where {' or '.join(wrong)}")
    if b.irrelevant:
        caveats.append(f"the target does not depend on {' and '.join(b.irrelevant)}: nothing is said about it")
    return Ruling(COMPOSES, "gap", f"{_said(b, g)}", tuple(caveats))


def _beyond_sum(b: Behaviour) -> Ruling | None:
    """What stands against composing where the target is more than a sum of its parts."""
    if guards.additive(b, ROOM):
        return None
    if b.room(b.new, SUM) < ROOM:
        why = "it errs on seen combinations as much as the sum of seen parts does on new ones: how parts interact"
        more = ", or the targets are noisy: several examples of each would tell" if guards.noise(b) is None else ""
        return Ruling(CANNOT_TELL, "sum", f"{why} is not learnt well enough to be asked{more}")
    added = b.gap(b.new, SUM)
    if solves(added):
        return None
    if fails(added):
        return _adds_up(b)
    if added.low > SOLVED:
        return Ruling(PARTLY, "sum", f"it misses {percent(added.value)} of what the sum of seen parts misses")
    return Ruling(CANNOT_TELL, "sum", "more new combinations would tell composing from adding up seen parts")


def _with_doubts(b: Behaviour, ruling: Ruling) -> Ruling:
    """A verdict by G that turns without one of the new combinations is none; learnt noise can look like a gap."""
    if ruling.rule != "gap":
        return ruling
    if ruling.verdict != COMPOSES and guards.may_have_learnt_noise(b, ROOM):
        doubt = "seen combinations have trained examples only: noise in the targets, if it was learnt, is part of this"
        ruling = replace(ruling, caveats=(*ruling.caveats, doubt))
    if ruling.verdict == PARTLY:
        return ruling
    left = guards.without_each(b) if ruling.verdict == MEMORIZES else 1 - guards.without_each(b)
    if left.min() > 0.5:
        return ruling
    one = guards.named(b, int(left.argmin()))
    why = f"it hangs on one new combination ({one}), without which the answer turns: check its targets, or ask more"
    return Ruling(CANNOT_TELL, "one", why)


def _many_times(b: Behaviour, g: Interval) -> list[str]:
    """Composing is judged beside memories; that the model is far better on seen combinations is said as well."""
    seen, new = b.errors[b.seen].mean(), b.errors[b.new].mean()
    if g.value < NOTICED or new < MANY * seen:
        return []
    if not seen:
        return [f"it errs on new combinations (error {new:.2g}) and not at all on seen ones"]
    return [f"its error on new combinations is {new / seen:.3g} times that on seen ones ({new:.2g} and {seen:.2g})"]


def _as_good(b: Behaviour, name: str) -> bool:
    """Is a reference that composes nothing about as good as the model on new combinations?"""
    if name not in b.references:
        return False
    return b.room(b.new, name) < LEAST_ROOM or not solves(b.gap(b.new, name))


def _easy(what: str) -> Ruling:
    why = f"the new combinations are so near to seen ones that {what} does as well: being right there shows little"
    return Ruling(CANNOT_TELL, "easy", why)


def _too_easy(b: Behaviour) -> Ruling | None:
    """A memory answers the new combinations nearly as well as the model does the seen ones."""
    if b.room(b.new) >= ROOM:
        return None
    name = b.best(b.new)
    if b.gap(b.new, "mean").low > SOLVED:
        return Ruling(MEMORIZES, "easy", f"it errs on new combinations that even a memory ({name}) answers correctly")
    return _easy(f"a memory ({name})")


def _copies(b: Behaviour, t: Tells) -> Ruling | None:
    if t.near_copies < 0.9 or t.true_copies > 0.25 or b.room(b.new) < ROOM:
        return None
    why = f"{percent(t.near_copies)} of its answers to new combinations are those it gives to the nearest seen ones"
    return Ruling(MEMORIZES, "copies", why)


def _superposes(b: Behaviour, t: Tells) -> Ruling | None:
    if not t.superposed or b.room(b.new, SUM) < ROOM or not fails(b.gap(b.new, SUM)):
        return None
    why = (
        f"its answers to new combinations are sums of what it remembers of each part (R² {t.r2_parts:.2f}, by the truth"
        f" {t.r2_truth:.2f})"
    )
    return Ruling(MEMORIZES, "superposition", why)


def _adds_up(b: Behaviour) -> Ruling | None:
    """Better than a memory, but no better than the sum of seen parts, which is not enough."""
    if b.room(b.new, SUM) < ROOM or not fails(b.gap(b.new, SUM)) or b.gap(b.new).value >= FAILED:
        return None
    why = "it is no better on new combinations than the sum of seen parts: how they interact is not composed"
    return Ruling(PARTLY, "sum", why)


def _memorizes(b: Behaviour, t: Tells) -> Ruling | None:
    g = b.gap(b.new)
    if not fails(g) or b.room(b.new) < ROOM:
        return None
    told = t.copies > 0.5 and t.true_copies < 0.25 and not b.evidence.answers.labels  # every label is a seen one
    more = f"; {percent(t.copies)} of the answers copy a seen one" if told else ""
    return Ruling(MEMORIZES, "gap", f"{_said(b, g)}{more}")


def _between(b: Behaviour) -> Ruling:
    g = b.gap(b.new)
    if g.low > SOLVED and g.high < FAILED:
        return Ruling(PARTLY, "gap", f"{_said(b, g)}: neither little nor all of it")
    near = COMPOSES if g.high < FAILED else MEMORIZES if g.low > SOLVED else ""
    said = f"between {near} and partly" if near else "anything between composing and memorizing"
    why = f"{_said(b, g)}, which may be {said}: more new combinations would tell"
    return Ruling(CANNOT_TELL, "interval", why)
