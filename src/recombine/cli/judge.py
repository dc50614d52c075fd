"""recombine judge: two judges look at pictures: is a picture with one weight changed still a coherent variation?

The offline judge is a classifier of compressed sizes and symmetries, fitted on all other pictures; the vision-language
judge is any model behind an OpenAI-compatible address. Both see the same changed pictures, matched in size of change.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import tyro

from recombine.cli.options import parse
from recombine.core import UserError
from recombine.experiments.pictures.shared import PictureSettings

if TYPE_CHECKING:
    from recombine.cppn.sweep.scores import SweptFeatures


Answers = dict[tuple[str, str], np.ndarray]
"""By picture and kind of network, 1 for yes, 0 for no and NaN for no answer, for each changed picture."""

DRAWN = 1e-2
"""The mean squared error that a network trained for the judge may have."""


@dataclass(frozen=True, kw_only=True)
class JudgeOptions(PictureSettings):
    """What is judged, and by whom."""

    seeds: tyro.conf.Suppress[int] = 1
    block: tyro.conf.Suppress[int] = 1
    targets: tuple[str, ...] = ("face", "moth")
    """designed pictures to draw; one network is trained on each"""
    size: int = 48
    """pixels per side"""
    n_weights: int = 24
    """weights of each network that are changed, down and up"""
    answers: Path = Path("judged")
    """folder in which the model's answers are kept, so that a run that is broken off goes on"""
    per_minute: float = 60.0
    """requests per minute, at most"""
    price: float = 0.0
    """what a million tokens cost, for the estimate; 0 if unknown"""
    agreed: bool = False
    """do not ask whether the estimate is all right"""
    alone: bool = False
    """ask the offline judge alone: nothing leaves this machine"""


class Swept(NamedTuple):
    """A network's changed pictures: what the offline judge reads of them, and pairs for the other."""

    features: SweptFeatures
    pairs: list[tuple[np.ndarray, np.ndarray]]


def judge(words: list[str]) -> int:
    """Ask both judges and say how far they agree; or the offline judge alone."""
    options = parse(
        JudgeOptions,
        words,
        "recombine judge",
        "Designed (or evolved) networks and their trained twins, one weight changed at a time: what do the offline"
        " judge and a vision-language model say? Address, key and model come from RECOMBINE_JUDGE_URL,"
        " RECOMBINE_JUDGE_KEY and RECOMBINE_JUDGE_MODEL; the key is never written anywhere.\n"
        "Example: RECOMBINE_JUDGE_URL=http://localhost:8000/v1 RECOMBINE_JUDGE_MODEL=my-model RECOMBINE_JUDGE_KEY=none"
        " recombine judge --n-weights 10\nWithout a model: recombine judge --alone",
    )
    from recombine.vlm.endpoint import find_endpoint

    endpoint = None if options.alone else find_endpoint()
    networks = swept_networks(options)
    theirs = seen(networks, options, endpoint) if endpoint else {}
    ours = offline(networks)
    report(ours, theirs)
    if theirs:
        compare(ours, theirs)
    return 0


def swept_networks(options: JudgeOptions) -> dict[str, dict[str, Swept]]:
    """For each picture its designed (or evolved) network, then a trained one, with the changes of their weights."""
    from recombine.experiments.pictures import shared

    found, every = {}, shared.goals(options)
    if len(every) < 2:
        raise UserError("the offline judge is fitted on other pictures: name two targets or more")
    for name, goal in every.items():
        twin = goal.trained
        if twin is None:
            print(f"training a network on {name} ({options.steps} updates)", flush=True)
            twin = shared.train(options, goal, shared.dense(goal), [0], monitor=None, label="twin")[0].model
        if (error := shared.error(options, goal, twin)) > DRAWN:
            worse = f"mean squared error {error:.3g} where {DRAWN:g} is options for"
            raise UserError(f"the network trained on {name} does not draw it ({worse}): give it more --steps")
        known = "evolved" if goal.evolved else "designed"
        found[name] = {known: swept(goal.model, options), "trained": swept(twin, options)}
    return found


def swept(model: Any, options: JudgeOptions) -> Swept:
    from recombine.cppn.sweep.matching import matched
    from recombine.cppn.sweep.scores import swept_features
    from recombine.cppn.sweep.sweep import every_weight, sweep

    where = every_weight(model, options.n_weights, options.seed)
    found = matched(model, where, options.size)
    shape = (options.size, options.size, 3)
    changed = np.asarray(sweep(model, where, found.deltas, options.size))[~found.inert].reshape(-1, *shape)
    plain = np.asarray(sweep(model, where, np.zeros(1), options.size))[0, 0].reshape(shape)
    return Swept(swept_features(model, where, options.size)[0], [(plain, one) for one in changed])


def seen(networks: dict[str, dict[str, Swept]], options: JudgeOptions, endpoint: Any) -> Answers:
    """What the vision-language judge says: 1, 0 or neither, for each network's changed pictures."""
    from recombine.vlm.asking import Manner
    from recombine.vlm.vision import Price, judge_pictures

    each = [(name, kind, one) for name, kinds in networks.items() for kind, one in kinds.items()]
    pairs = [pair for _, _, one in each for pair in one.pairs]
    price = replace(Price(), per_million=options.price or None)
    said = judge_pictures(
        pairs,
        endpoint,
        cache=options.answers,
        confirm=None if options.agreed else allowed,
        progress=lambda done, of: print(f"\r{done} of {of}", end="" if done < of else "\n", flush=True),
        price=price,
        manner=Manner(per_minute=options.per_minute),
    )
    ends = np.cumsum([len(one.pairs) for _, _, one in each])[:-1]
    return {(name, kind): part for (name, kind, _), part in zip(each, np.split(said, ends), strict=True)}


def allowed(estimate: Any) -> bool:
    """Whether the user agrees to the estimate."""
    try:
        return input(f"{estimate}. Go on? [y/N] ").strip().lower() in ("y", "yes")
    except EOFError:
        raise UserError(f"{estimate}: nobody is there to agree; --agreed does") from None


def offline(networks: dict[str, dict[str, Swept]]) -> Answers:
    """What the offline judge says of the same pictures, fitted without those of their target; NaN where it cannot."""
    from recombine.cppn.sweep.classifier import Pair, fit_pairs, standardised

    pairs = {name: Pair(*(one.features for one in kinds.values())) for name, kinds in networks.items()}
    found = {}
    for name, kinds in networks.items():
        fitted = fit_pairs({other: pair for other, pair in pairs.items() if other != name})
        for kind, one in kinds.items():
            sound = np.isfinite(np.stack(one.features, axis=1)).all(axis=1)
            said = np.full(len(one.pairs), np.nan)
            said[sound] = fitted.log_odds(standardised(one.features, pairs[name].dense)) > 0
            found[name, kind] = said
    return found


def report(ours: Answers, theirs: Answers) -> None:
    """Shares of yes, of each network and each judge."""
    heads = {"changes": 8, "offline yes": 12} | ({"model yes": 10, "no answer": 10} if theirs else {})
    print(f"{'network':28} " + " ".join(f"{head:>{width}}" for head, width in heads.items()))
    for key, a in ours.items():
        shown = [str(len(a)), _yes(a)] + ([_yes(theirs[key]), str(int(np.isnan(theirs[key]).sum()))] if theirs else [])
        cells = " ".join(f"{one:>{width}}" for one, width in zip(shown, heads.values(), strict=True))
        print(f"{', '.join(key):28} {cells}")
    for trained in (False, True):
        some = np.concatenate([said for (_, kind), said in ours.items() if (kind == "trained") == trained])
        print(f"{'trained' if trained else 'designed or evolved'}: yes to {_yes(some)} of {len(some)} changes")
    print("Yes means: still a coherent variation of the picture, as one weight of a designed network makes them. The")
    print("offline judge was fitted on the networks of the other pictures; weights that change nothing are left out.")


def _yes(said: np.ndarray) -> str:
    return f"{np.nanmean(said):.2f}" if np.isfinite(said).any() else "-"


def compare(ours: Answers, theirs: Answers) -> None:
    """How far the two judges agree beyond chance."""
    from recombine.measures.agreement import kappa, kappa_interval, raw_agreement

    a, b = (np.concatenate([said[key] for key in ours]) for said in (ours, theirs))
    both = np.isfinite(a) & np.isfinite(b)
    if both.sum() < 2:
        print("the model answered too little to be compared")
        return
    groups = np.concatenate([np.full(len(said), i) for i, said in enumerate(ours.values())])[both]
    low, high = kappa_interval(a[both], b[both], groups)
    raw, beyond = raw_agreement(a[both], b[both]), kappa(a[both], b[both])
    print(f"the two agree on {raw:.2f} of {both.sum()} changes; kappa {beyond:.2f} [{low:.2f}, {high:.2f}]")
