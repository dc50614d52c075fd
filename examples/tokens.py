"""Sequences of tokens: are chains of functions composed, or their pieces remembered? In seconds.

A quarter of the pairs of functions is never adjacent in training. Small decoders learn the rest; then we ask for both,
let a network write an answer token by token, and give it another row's activations at one place.

    python examples/tokens.py
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

import recombine as rc
from recombine.interventions.patch import patched
from recombine.measures.tokens import exact_match
from recombine.models.decoder import TokenDecoder
from recombine.recording.generation import generate
from recombine.splits.chains import groups, withheld_pairs, withholding
from recombine.tasks.chains import chains
from recombine.tasks.tokens import EOS


def main(functions: int = 5, steps: int = 600, seeds: int = 2) -> dict[str, float]:
    task = chains(symbols=5, functions=functions, longest=2, steps=True, key=rc.key(0, "chains"))
    rng, words = np.random.default_rng(0), task.sample.vocabulary  # pyrefly: ignore
    pairs = withheld_pairs(functions, 0.25, rng)
    split = withholding(task.combinations, pairs, 0.1, rng)

    def make(key: jax.Array) -> TokenDecoder:
        return TokenDecoder(len(words), width=32, depth=2, heads=4, key=key)

    recipe = rc.Recipe(steps, 64, rc.adamw_cosine, loss=rc.masked_cross_entropy)
    dials = {"learning_rate": 4e-3}
    run = rc.population(task, split, make, rc.member_keys(0, range(seeds)), recipe, dials=dials)

    # Exact answers of each group of rows, mean over networks. No generation is needed for these. `row_2` are chains of
    # two functions that are held out singly, though their pair is trained on; `pair_2` have a pair that never is.
    # Answers here have their steps written out, so that both can be right; `row_2` are few rows, its share is rough.
    records = rc.records(run.model, task, task.combinations, key=rc.key(0, "test"))
    rows = groups(split, pairs)
    found = {name: float(np.mean([exact_match(r.where(mask)) for r in records])) for name, mask in rows.items()}
    for name, score in found.items():
        print(f"{name:8} {score:.2f} of {int(rows[name].sum())} rows")

    # What the networks write after a prompt, token by token.
    asked = records[0].where(rows["pair_2"])
    written = generate(run.model, asked, end=EOS)  # (networks, rows, tokens)
    right = " ".join(words.words(asked.y[0, 3:, 0]))
    print(" ".join(words.words(asked.x[0, :4])), "-> network 0 writes", " ".join(words.words(written[0, 0, 3:])))
    print("right is", right)

    # What the first network says after SEP if it sees x of another row, before the first layer.
    x, donor = jnp.asarray(asked.x[0]), jnp.asarray(asked.x[-1])
    logits = patched(run[0].model, x, donor, before=0, places=jnp.arange(len(x)) == 0)
    print("with x of another row it says", words.words([int(logits[3].argmax())])[0])
    return found


if __name__ == "__main__":
    main()
