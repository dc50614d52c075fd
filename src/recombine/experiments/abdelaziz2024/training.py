"""How decoders learn to call functions: what each arm is shown, on how many tokens, and what all are asked afterwards.

Every arm learns from as many tokens that bear loss, so that arms of shorter answers take more updates. Then all see
the same few examples of the full call, at a tenth of the learning rate. All are asked full calls about items that
training never drew: with names and depths of training, with new names, and nested more deeply.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np

import recombine as rc
from recombine.measures.tokens import exact_match, token_accuracy

if TYPE_CHECKING:
    from recombine.experiments.abdelaziz2024.subtasks import Settings

UMBRELLA, GRANULAR, WITHOUT, PARAPHRASED = "umbrella", "granular", "without the skill", "paraphrased"
ARMS = (UMBRELLA, GRANULAR, WITHOUT, PARAPHRASED)
DEPTHS, DEEPER = (1, 2), (3,)


def forms(arm: str) -> tuple[str, ...]:
    """What an arm is shown of each item, before the few examples of the full call."""
    from recombine.tasks.calls import GRANULAR as SEVEN

    return {UMBRELLA: ("full",), GRANULAR: SEVEN, WITHOUT: SEVEN[3:], PARAPHRASED: ("full", "paraphrase")}[arm]


def steps(settings: Settings, arm: str) -> int:
    """As many updates as give an arm the tokens that bear loss of the umbrella."""
    from recombine.tasks.calls import scored_tokens

    return round(settings.steps * scored_tokens(forms(UMBRELLA), DEPTHS) / scored_tokens(forms(arm), DEPTHS))


@cache
def shown(settings: Settings, arm: str) -> rc.Task:
    """The training items of an arm, and the few examples of the full call that all arms see."""
    from recombine.tasks.calls import asking

    mine = asking(forms(arm), range(settings.items), DEPTHS)
    few = asking(("full",), range(settings.examples // len(DEPTHS)), DEPTHS)
    return task(settings, np.unique(np.concatenate([mine, few]), axis=0))


def task(settings: Settings, rows: np.ndarray) -> rc.Task:
    """Calls as tokens, with names that depend on the settings' seed alone."""
    from recombine.tasks.calls import calls

    return calls(rows, key=rc.key(settings.seed, "calls"), length=settings.tokens)


@cache
def maker(width: int, depth: int, heads: int):
    """One function for equal sizes, so that it is compiled once."""
    from recombine.models.decoder import TokenDecoder
    from recombine.tasks.calls import VOCABULARY

    return lambda key: TokenDecoder(len(VOCABULARY), width=width, depth=depth, heads=heads, key=key)


def trained(settings: Settings, arm: str, members: Sequence[int], monitor):
    """Decoders of an arm, one per seed: first on what the arm shows, then on the few examples of the full call."""
    import jax.numpy as jnp

    family = shown(settings, arm)
    few = (family.combinations[:, 3] == 0) & (family.combinations[:, 2] < settings.examples // len(DEPTHS))
    mine = np.isin(family.combinations[:, 3], numbers(arm))
    fit = partial(
        rc.population,
        family,
        make=maker(settings.width, settings.depth, settings.heads),
        keys=rc.member_keys(settings.seed, members),
        monitor=monitor,
    )
    how = {"loss": rc.masked_cross_entropy, "compute": getattr(jnp, settings.precision)}
    recipe = partial(rc.Recipe, batch=settings.batch, optimiser=rc.adamw_cosine, **how)
    dials = {"learning_rate": settings.learning_rate, "weight_decay": settings.weight_decay}
    first = fit(split=rc.Split(family.combinations, mine), recipe=recipe(steps(settings, arm)), dials=dials, label=arm)
    return fit(
        split=rc.Split(family.combinations, few),
        recipe=recipe(settings.tuning_steps),
        dials=dials | {"learning_rate": settings.learning_rate / 10},
        start=first.model,
        label=f"{arm}-full",
    )


def numbers(arm: str) -> list[int]:
    """The forms of an arm as they are numbered in a combination."""
    from recombine.tasks.calls import FORMS

    return [FORMS.index(form) for form in forms(arm)]


@cache
def asked(settings: Settings) -> tuple[rc.Task, dict[str, np.ndarray]]:
    """The evaluation task, and which of its rows belong to which question; its items are none of training."""
    from recombine.tasks.calls import NEW, asking

    each = range(settings.items, settings.items + settings.n_eval)
    half = range(settings.items, settings.items + settings.n_eval // len(DEPTHS))
    questions = {
        "iid": asking(("full",), half, DEPTHS),
        "names": asking(("full",), half, DEPTHS, NEW),
        "nesting": asking(("full",), each, DEEPER),
    }
    rows = np.concatenate(list(questions.values()))
    kinds = np.repeat(list(questions), [len(q) for q in questions.values()])
    return task(settings, rows), {name: kinds == name for name in questions}


def answers(settings: Settings, record: rc.Record) -> dict[str, float]:
    """Exact calls and right tokens for each question, and how often the outermost name is none that was listed."""
    found: dict[str, float] = {}
    for name, mask in asked(settings)[1].items():
        part = record.where(mask)
        found |= {f"exact_{name}": exact_match(part), f"tokens_{name}": token_accuracy(part)}
        found[f"unlisted_{name}"] = unlisted(part)
    return found


def unlisted(record: rc.Record) -> float:
    """The share of rows in which the two letters predicted first, given the right first one, name no listed function.

    A right first letter is needed, since predictions are made after the right beginning.
    """
    from recombine.tasks.calls import listed_names

    first = np.argmax(record.y[..., 1] > 0, axis=1)
    rows = np.arange(len(record))
    letters = np.stack([record.y_hat[rows, first + k].argmax(axis=-1) for k in range(2)], axis=1)
    known = np.any(np.all(listed_names(record.x) == letters[:, None], axis=2), axis=1)
    begun = letters[:, 0] == record.y[rows, first, 0]
    return float(np.mean(~known[begun])) if begun.any() else float("nan")


def measured(settings: Settings, arm: str, models: Any) -> list[tuple[dict[str, float], rc.Record]]:
    """What each decoder of an arm does on what all are asked, and on what it was shown; and what it said."""
    family, (questions, _) = shown(settings, arm), asked(settings)
    mine = np.flatnonzero(np.isin(family.combinations[:, 3], numbers(arm)))
    rng = rc.rng(settings.seed, "shown rows")
    rows = family.combinations[rng.choice(mine, min(settings.n_eval, len(mine)), replace=False)]
    key = rc.key(settings.seed, "test")
    on = rc.records(models, questions, questions.combinations, key=key), rc.records(models, family, rows, key=key)
    return [(answers(settings, new) | {"exact_trained": exact_match(old)}, new) for new, old in zip(*on, strict=True)]


def known(settings: Settings) -> dict[str, rc.Record]:
    """Systems whose answer is known: one that never errs, one that copies the nearest trained call, and chance."""
    questions, _ = asked(settings)
    truth = rc.truth(questions, questions.combinations, key=rc.key(settings.seed, "test"))
    family = shown(settings, UMBRELLA)
    rng = rc.rng(settings.seed, "copier")
    few = family.combinations[rng.choice(len(family.combinations), min(4096, len(family.combinations)), replace=False)]
    memory = rc.truth(family, few, key=rc.key(settings.seed, "test"))
    lot = rng.integers(0, logits(truth.y[..., 0]).shape[-1], truth.y.shape[:2])
    systems = {"perfect": truth.y[..., 0], "copier": copied(truth, memory), "chance": lot}
    return {name: truth.answering(logits(tokens)) for name, tokens in systems.items()}


def logits(tokens: np.ndarray) -> np.ndarray:
    """Answers that say these tokens with certainty."""
    from recombine.tasks.calls import VOCABULARY

    return np.eye(len(VOCABULARY), dtype=np.float32)[tokens]


def copied(asked: rc.Record, memory: rc.Record) -> np.ndarray:
    """At each place, the token of the remembered row whose prompt and answer begin alike at most places."""
    found = asked.y[..., 0].copy()
    for i, row in enumerate(asked.x):
        prompt = int(np.argmax(asked.y[i, :, 1] > 0)) + 1
        nearest = int(np.argmax(np.sum(memory.x[:, :prompt] == row[:prompt], axis=1)))
        begin = int(np.argmax(memory.y[nearest, :, 1] > 0))
        answer = memory.y[nearest, begin:, 0]
        room = len(row) - prompt + 1
        found[i, prompt - 1 :] = np.pad(answer, (0, room))[:room]
    return found
