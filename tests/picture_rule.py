"""How often the rule of picture networks errs: two scores, as they are and adjusted for error, must agree.

`python tests/picture_rule.py` prints the table of docs/rules.md. Made-up networks of one kind differ from another by a
true distance on C, and by decades of error on which both scores depend.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

import recombine as rc
from recombine.experiments.pictures import closeness, moments

SLOPE, SPREAD = -0.1, {"R": 0.08, "map_zip": 0.04}
"""How scores depend on a decade of error, and their standard deviations over seeds."""
DESIGNED = 0.2


def kind(rng: np.random.Generator, name: str, seeds: int, true: float, error: float) -> pd.DataFrame:
    """Networks at this place on C if their error were 10**-3, with errors around another."""
    log_mse = error + 0.3 * rng.standard_normal(seeds)
    level = 1 - (1 - DESIGNED) * true + SLOPE * (log_mse + 3)
    scores = {score: level + spread * rng.standard_normal(seeds) for score, spread in SPREAD.items()}
    who = {"system": "network", "kind": name, "goal": "face", "seed": range(seeds), "share_left": 0.01}
    steps = {moments.step(share): 1.0 for share in (moments.COARSE, moments.DRAWN)}
    return pd.DataFrame(who | steps | scores | {"log_mse": log_mse, "mse": 10.0**log_mse, "r_own": scores["R"]})


def rates(seeds: int, true: float, decades: float, draws: int) -> dict[str, float]:
    """How often "closer to the designed network" holds and fails of kinds that differ so."""
    rng = np.random.default_rng([seeds, int(100 * true), int(100 * decades)])
    known = pd.DataFrame([{"system": "designed", "goal": "face", "seed": 0, **dict.fromkeys(SPREAD, DESIGNED)}])
    claim = rc.Claim("c", "says", "where", **closeness.closer("a", "b", dense="dense"))
    words = []
    for _ in range(draws):
        every = [kind(rng, "dense", seeds, 0.0, -3.0), kind(rng, "b", seeds, 0.0, -3.0)]
        every += [kind(rng, "a", seeds, true, -3.0 + decades), known.assign(r_own=DESIGNED)]
        words.append(rc.judge(pd.concat(every, ignore_index=True), claim).verdict)
    return {word: words.count(word) / draws for word in ("holds", "fails")}


if __name__ == "__main__":
    print("| seeds | true difference on C | decades of error apart | *holds* | *fails* |\n|---|---|---|---|---|")
    for seeds in (16, 40):
        for decades in (0.0, 0.5):
            for true in (0.0, 0.1, 0.2):
                found = rates(seeds, true, decades, 200)
                cells = [seeds, f"{true:g}", f"{decades:g}", *(f"{100 * share:.1f} %" for share in found.values())]
                print(f"| {' | '.join(map(str, cells))} |", flush=True)
