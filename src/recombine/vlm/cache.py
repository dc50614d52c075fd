"""Keeps a judge's answers in a folder, one small JSON file each, written whole or not at all."""

from __future__ import annotations

import json
import os
from pathlib import Path

from recombine.core import UserError
from recombine.engine.store import write

WORDS = {"yes": 1.0, "no": 0.0, "unknown": float("nan")}


class Answers:
    """Answers by the hash of their question; whatever is not such a file counts as not there."""

    def __init__(self, folder: Path):
        self.folder = Path(folder)

    def prepare(self) -> None:
        """Make the folder, and find out that it takes no files before a question is paid for."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UserError(f"cannot write answers to {self.folder}: {error.strerror}") from error
        if not os.access(self.folder, os.W_OK):
            raise UserError(f"cannot write answers to {self.folder}: no permission")

    def load(self, question: str) -> float | None:
        """1 for yes, 0 for no, NaN for a model that would say neither, None for a question not answered yet."""
        try:
            kept = json.loads(self._path(question).read_bytes())
            return WORDS[kept["answer"]] if kept["question"] == question else None
        except (OSError, ValueError, LookupError, TypeError):
            return None

    def save(self, question: str, answer: float, *, model: str, said: str) -> None:
        word = next((word for word, value in WORDS.items() if value == answer), "unknown")
        content = {"question": question, "answer": word, "said": said, "model": model}
        write(self._path(question), (json.dumps(content, indent=1) + "\n").encode())

    def _path(self, question: str) -> Path:
        return self.folder / f"{question}.json"
