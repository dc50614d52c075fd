"""Both judges on the same changed pictures, from the command line, before a server on this machine."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

from recombine import cli
from recombine.cli import judge

WORDS = [
    "judge",
    "--targets",
    "face",
    "moth",
    "--size",
    "12",
    "--steps",
    "2000",
    "--n-weights",
    "3",
    "--per-minute",
    "1e6",
]


class Handler(BaseHTTPRequestHandler):
    """Says yes to every other question."""

    asked = 0

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        Handler.asked += 1
        said = json.dumps({"choices": [{"message": {"content": ("yes", "no")[Handler.asked % 2]}}]}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(said)))
        self.end_headers()
        self.wfile.write(said)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing."""


@pytest.fixture
def address():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/v1"
    server.shutdown()
    server.server_close()


@pytest.mark.slow
def test_both_judges_are_asked_and_answers_are_kept(address, monkeypatch, tmp_path, capsys):
    for name, value in {"URL": address, "KEY": "sk-a-secret-key", "MODEL": "m"}.items():
        monkeypatch.setenv(f"RECOMBINE_JUDGE_{name}", value)
    words = [*WORDS, "--answers", str(tmp_path), "--agreed"]
    assert cli.main(words) == 0
    said, asked = capsys.readouterr().out, Handler.asked
    assert "moth, trained" in said
    assert "kappa" in said
    assert "sk-a-secret-key" not in said
    assert asked > 0
    assert cli.main(words) == 0
    assert Handler.asked == asked
    monkeypatch.setattr("builtins.input", lambda _: "n")
    assert cli.main([*WORDS, "--answers", str(tmp_path / "other")]) == 2
    assert Handler.asked == asked


def test_without_an_address_nothing_is_trained_or_asked(monkeypatch, capsys):
    monkeypatch.delenv("RECOMBINE_JUDGE_URL", raising=False)
    assert cli.main(WORDS) == 2
    assert "RECOMBINE_JUDGE_URL" in capsys.readouterr().err


def test_the_offline_judge_may_speak_alone(capsys):
    ours = {("moth", "designed"): np.array([1.0, 0.0]), ("moth", "trained"): np.array([0.0, np.nan])}
    judge.report(ours, {})
    head, designed, trained, *said = capsys.readouterr().out.splitlines()
    assert head.split() == ["network", "changes", "offline", "yes"]
    assert designed.split() == ["moth,", "designed", "2", "0.50"]
    assert trained.split() == ["moth,", "trained", "2", "0.00"]
    assert said[:2] == ["designed or evolved: yes to 0.50 of 2 changes", "trained: yes to 0.00 of 2 changes"]
