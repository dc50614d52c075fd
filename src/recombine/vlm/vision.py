"""Turns pairs of pictures into a vision-language model's answers: is the second a coherent variation of the first?

The share of yes over perturbed weights is the score of "Compositionality Emerges in a Narrow Depth-Connectivity
Regime" (arXiv 2606.19941), which gives neither prompt nor model: `prompt.txt` is ours. Judge pictures that are changed
equally much: at equal perturbations a judge of likeness only finds out which network is the least sensitive.
"""

from __future__ import annotations

import base64
import hashlib
import io
import json
import re
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cache as once
from importlib.resources import files
from pathlib import Path

import numpy as np
from PIL import Image

from recombine.core import UserError
from recombine.vlm.asking import Manner, Pace, all_at_once, patiently
from recombine.vlm.cache import WORDS, Answers
from recombine.vlm.endpoint import Endpoint, clean, post

SIDE = 128
"""Pictures are enlarged by the least whole factor that makes both sides at least so many pixels."""

Pair = tuple[np.ndarray, np.ndarray]
_ANSWER = re.compile(r"[\W_]*(yes|no)[\W_]*", re.IGNORECASE)
_SLACK = 1e-3  # what rounding may add to a picture in [0, 1]


@dataclass(frozen=True)
class Price:
    """What a question is taken to cost: tokens a picture and an answer, and the price of a million of them."""

    tokens_per_image: int = 260
    tokens_per_answer: int = 4
    per_million: float | None = None
    per_million_answered: float | None = None


@dataclass(frozen=True)
class Estimate:
    """What a run will ask and cost if nothing has to be asked twice; `cost` is None where no price is given."""

    requests: int
    known: int
    tokens: int
    answer_tokens: int
    cost: float | None

    def __str__(self) -> str:
        cost = "price not given" if self.cost is None else f"cost about {self.cost:.2f}"
        tokens = self.tokens + self.answer_tokens
        return f"{self.requests} requests ({self.known} answered before), about {tokens} tokens, {cost}"


UNPRICED = Price()
GENTLY = Manner()


@dataclass(frozen=True, eq=False)
class Question:
    """One pair as bytes [row, column(, colour)], under the hash of all that decides the answer."""

    name: str
    original: np.ndarray
    perturbed: np.ndarray

    def content(self) -> list[dict]:
        """The message: the prompt, then the original, then the perturbed picture."""
        links = [{"url": data_url(picture)} for picture in (self.original, self.perturbed)]
        return [{"type": "text", "text": prompt()}, *({"type": "image_url", "image_url": link} for link in links)]


def judge_pictures(
    pairs: Sequence[Pair],
    endpoint: Endpoint,
    *,
    cache: Path,
    confirm: Callable[[Estimate], bool] | None = None,
    progress: Callable[[int, int], None] | None = None,
    price: Price = UNPRICED,
    manner: Manner = GENTLY,
) -> np.ndarray:
    """1 for yes, 0 for no, NaN for neither, one a pair (original, perturbed); pictures are bytes or lie in [0, 1].

    Answers are kept in the folder `cache`, and what is found there is not asked again. Before anything is asked,
    `confirm` sees the estimate and may refuse. `progress` is told how many of all distinct questions are answered.
    """
    questions, answers = [_question(pair, endpoint) for pair in pairs], Answers(cache)
    unique = {q.name: q for q in questions}
    known = {name: answer for name in unique if (answer := answers.load(name)) is not None}
    ahead = [q for name, q in unique.items() if name not in known]
    if ahead and confirm is not None and not confirm(_estimate(len(ahead), len(known), price)):
        raise UserError("the judge was not asked: the estimate was refused")
    if ahead:
        answers.prepare()
    pace = Pace(manner)

    def ask(question: Question) -> float:
        answer, said = _ask(question, endpoint, pace, manner)
        answers.save(question.name, answer, model=endpoint.model, said=clean(said, endpoint.key))
        return answer

    tell = progress or (lambda done, total: None)
    tell(len(known), len(unique))
    with closing(all_at_once(ask, ahead, pace, manner)) as replies:
        for question, answer in replies:
            known[question.name] = answer
            tell(len(known), len(unique))
    return np.array([known[q.name] for q in questions], float)


def estimate(
    pairs: Sequence[Pair], endpoint: Endpoint, *, cache: Path | None = None, price: Price = UNPRICED
) -> Estimate:
    """What judging these pairs will ask and cost, without those that are in the cache; equal pairs are asked once."""
    names = {_question(pair, endpoint).name for pair in pairs}
    known = sum(Answers(cache).load(name) is not None for name in names) if cache is not None else 0
    return _estimate(len(names) - known, known, price)


def parse(said: str) -> float:
    """1 for the one word yes, 0 for no, whatever the case and punctuation; NaN for all else."""
    found = _ANSWER.fullmatch(said)
    return WORDS[found[1].lower() if found else "unknown"]


@once
def prompt() -> str:
    return files("recombine.vlm").joinpath("prompt.txt").read_text("utf-8")


def data_url(picture: np.ndarray) -> str:
    """A picture of bytes, enlarged without smoothing, as a PNG in a data URL."""
    factor = -(-SIDE // min(picture.shape[:2]))
    sink = io.BytesIO()
    Image.fromarray(picture.repeat(factor, axis=0).repeat(factor, axis=1)).save(sink, "PNG")
    return f"data:image/png;base64,{base64.b64encode(sink.getvalue()).decode()}"


def _ask(question: Question, endpoint: Endpoint, pace: Pace, manner: Manner) -> tuple[float, str]:
    """The answer, and the words it was last given in; put again while it is neither yes nor no."""
    content = question.content()
    said = ""
    for _ in range(manner.asks):
        said = patiently(lambda: post(endpoint, content, timeout=manner.timeout), pace, manner, endpoint.host)
        if not np.isnan(parse(said)):
            break
    return parse(said), said


def _question(pair: Pair, endpoint: Endpoint) -> Question:
    original, perturbed = (_pixels(picture) for picture in pair)
    if original.shape != perturbed.shape:
        raise ValueError(f"the pictures of a pair have one shape, got {original.shape} and {perturbed.shape}")
    facts = [prompt(), endpoint.model, dict(endpoint.options), SIDE, original.shape]
    digest = hashlib.sha256(json.dumps(facts, sort_keys=True).encode())  # JSON of fixed shape: where it ends is plain
    digest.update(original.tobytes() + perturbed.tobytes())
    return Question(digest.hexdigest()[:32], original, perturbed)


def _pixels(picture: np.ndarray) -> np.ndarray:
    """A picture as bytes; numbers in [0, 1] are rounded to 255 steps."""
    picture = np.asarray(picture)
    if picture.ndim == 3 and picture.shape[2] == 1:
        picture = picture[:, :, 0]
    if picture.ndim not in (2, 3) or not picture.size or picture.shape[2:] not in ((), (3,), (4,)):
        raise ValueError(f"a picture is [row, column] or [row, column, 3 or 4 colours], got shape {picture.shape}")
    if picture.dtype == np.uint8:
        return np.ascontiguousarray(picture)
    if not np.issubdtype(picture.dtype, np.floating) or not np.all((picture >= -_SLACK) & (picture <= 1 + _SLACK)):
        raise ValueError(f"a picture has bytes or numbers in [0, 1], got {picture.dtype} from another range")
    return np.floor(np.clip(picture, 0, 1) * 255 + 0.5).astype(np.uint8)


def _estimate(requests: int, known: int, price: Price) -> Estimate:
    """Two pictures and the prompt, at four characters a token, for each request."""
    tokens = requests * (2 * price.tokens_per_image + -(-len(prompt()) // 4))
    answers = requests * price.tokens_per_answer
    cost = None
    if price.per_million is not None:
        answered = price.per_million if price.per_million_answered is None else price.per_million_answered
        cost = (tokens * price.per_million + answers * answered) / 1e6
    return Estimate(requests, known, tokens, answers, cost)
