"""Which of two measures may say that a bump is in its place?

A measure of your own is a function of a Record. Before it may decide a claim, it must read systems whose answer is
known correctly: here one of the two does not, and its verdict is "undecided". Run: python examples/own_measure.py
"""

import numpy as np
import pandas as pd

import recombine as rc

SIZE, LOW, HIGH, DEPTH = 16, 3, 12, 3


def centre_distance(record: rc.Record) -> float:
    """Mean distance, in pixels, of the centre of mass of the positive intensity from (x, y)."""
    light, pixel = np.maximum(record.y_hat, 0), np.arange(record.y_hat.shape[1])
    x, y = (light.sum(axis=axis) @ pixel / (light.sum(axis=(1, 2)) + 1e-9) for axis in (1, 2))
    return float(np.hypot(x - record.z[:, 0], y - record.z[:, 1]).mean())


def peak_distance(record: rc.Record) -> float:
    """Mean distance of the brightest pixel from (x, y), along the worse axis."""
    return float(rc.misplacement(record).mean())


def claim(column: str) -> rc.Claim:
    return rc.Claim(
        f"bumps are in their place ({column})",
        "In the interior of the hole, answers lie within two pixels of the place that was asked for.",
        "our own question",
        effect=rc.value(column),
        below=2.0,
        unit="pixels",
        controls=(rc.reads("perfect", column, at_most=0.5), rc.reads("superposition", column, at_least=2.0)),
    )


def main(seeds: int = 5, noise: float = 0.05) -> dict[str, str]:
    rc.check_measure(peak_distance, higher_is_better=False)
    task = rc.bumps(SIZE, rc.local_bump(SIZE))
    split = rc.square(task.combinations, LOW, HIGH)
    truth = rc.truth(task, task.combinations, key=rc.key(0, "test"))

    def measured(record):
        inside = record.where(rc.interior(split, DEPTH))
        return {"centre": centre_distance(inside), "peak": peak_distance(inside)}

    controls = rc.control_rows(measured, {"perfect": truth, "superposition": rc.superposition(truth, split.train)})
    # Stand-ins for networks, one row per seed: the truth with noise. Put the records of your own networks here.
    errors = [noise * rc.rng(0, "noise", seed).normal(size=truth.y.shape) for seed in range(seeds)]
    rows = [{"system": "network", "seed": s, **measured(truth.answering(truth.y + e))} for s, e in enumerate(errors)]
    verdicts = {column: rc.judge(pd.DataFrame([*rows, *controls]), claim(column)) for column in ("centre", "peak")}
    for one in verdicts.values():
        print(f"{one.verdict}: {one.claim}, {one.effect:.2f} [{one.low:.2f}, {one.high:.2f}]; {one.why}")
    return {column: one.verdict for column, one in verdicts.items()}


if __name__ == "__main__":
    main()
