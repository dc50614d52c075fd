"""The report is one file that reads by itself, the numbers are JSON, and the command says the same."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from itertools import product

import numpy as np
import pytest
from diagnosis import zoo

import recombine as rc
from recombine.cli.main import main
from recombine.diagnosis.diagnosis import Diagnosis


def layered(world: str, case: str) -> dict[str, np.ndarray]:
    """Arrays of a zoo's system with an input and two random layers."""
    arrays, rng = zoo.arrays(world, case, seed=0), np.random.default_rng(0)
    x = np.concatenate([part[:, None] == np.unique(part) for part in arrays["z"].T], axis=1).astype(np.float32)
    x = x if x.shape[1] < 100 else arrays["z"]
    hidden = np.tanh(x @ rng.normal(size=(x.shape[1], 20)))
    return {**arrays, "x": x, "acts/first": hidden, "acts/second": np.tanh(hidden @ rng.normal(size=(20, 10)))}


@pytest.fixture(scope="module", params=["2 factors, images", "3 factors, vectors", "2 factors, continuous"])
def diagnosis(request) -> Diagnosis:
    return rc.diagnose(layered(request.param, "look-up table"), name="<mine & yours>")


class Tags(HTMLParser):
    """Which tags are open, and what is fetched from elsewhere."""

    def __init__(self):
        super().__init__()
        self.open, self.fetched = [], []

    def handle_starttag(self, tag, attrs):
        if tag not in {"meta", "path", "use", "br", "image"}:
            self.open.append(tag)
        said = dict(attrs)
        address = said.get("src") or said.get("href") or said.get("xlink:href") or ""
        if tag != "a" and address and not address.startswith(("#", "data:")):
            self.fetched.append(address)

    def handle_endtag(self, tag):
        if tag not in {"meta", "path", "use", "br", "image"}:
            assert self.open.pop() == tag


def test_the_report_is_whole_and_fetches_nothing(diagnosis, tmp_path):
    path = diagnosis.save(tmp_path)
    text, tags = path.read_text(encoding="utf-8"), Tags()
    tags.feed(text)
    assert not tags.open
    assert not tags.fetched
    assert "&lt;mine &amp; yours&gt;" in text
    assert "<mine" not in text
    assert "prefers-color-scheme: dark" in text
    assert "@media print" in text
    assert text.count("<figure>") >= 4
    assert "#010203" not in text


def test_every_number_is_in_the_json(diagnosis, tmp_path):
    diagnosis.save(tmp_path)
    told = json.loads((tmp_path / "numbers.json").read_text(), parse_constant=pytest.fail)
    assert told["verdict"] == diagnosis.verdict == "memorizes"
    assert told["errors"]["new combinations"]["value"] == pytest.approx(diagnosis.errors["new combinations"].value)
    assert [layer["name"] for layer in told["layers"]] == ["input", "first", "second", "output"]
    assert len(told["combinations"]) == len(diagnosis.evidence.combinations)
    assert set(told["errors"]) >= {"seen combinations", "new combinations", "nearest", "sum of parts", "mean"}


def test_the_summary_begins_with_the_verdict(diagnosis):
    assert str(diagnosis).splitlines()[0] == "<mine & yours>: MEMORIZES"
    assert max(map(len, str(diagnosis).splitlines())) <= 96


def test_measures_have_controls_and_say_when_they_cannot_speak(diagnosis):
    for layer in diagnosis.layers:
        assert layer.shuffled.keys() == layer.decodability.keys()
        assert all(value < 0.3 for value in layer.shuffled.values())
        assert "additive_share" in layer.controls
        if diagnosis.evidence.continuous:
            assert any(said.startswith("kernels:") for said in layer.silent)
    first = diagnosis.layers[0]
    assert all(value.value > 0.9 for value in first.decodability.values())  # the input tells every factor


def test_the_command_writes_report_and_numbers(tmp_path, capsys):
    z = np.array(list(product(range(6), repeat=2)))
    y = np.random.default_rng(0).normal(size=(36, 3))
    for name in ("one", "two"):
        np.savez(tmp_path / f"{name}.npz", z=z, trained=z.sum(axis=1) % 6 < 4, y=y, y_hat=y)
    files = [str(tmp_path / f"{name}.npz") for name in ("one", "two")]
    assert main(["diagnose", *files, "--out", str(tmp_path / "out")]) == 0
    said = capsys.readouterr().out
    assert re.search(r"one: COMPOSES(.|\n)*two: COMPOSES", said)
    assert said.rstrip().endswith("numbers.json")
    assert len(json.loads((tmp_path / "out" / "numbers.json").read_text())["models"]) == 2


def test_a_bad_file_does_not_lose_the_others(tmp_path, capsys):
    z, y = np.array(list(product(range(6), repeat=2))), np.random.default_rng(0).normal(size=(36, 3))
    arrays = {"z": z, "trained": z.sum(axis=1) % 6 < 4, "y": y}
    files = [str(tmp_path / name / "mine.npz") for name in ("a", "b", "c")] + [str(tmp_path / "bad.npz")]
    for i, file in enumerate(files):
        (tmp_path / file).parent.mkdir(exist_ok=True)
        np.savez(file, y_hat=y + 0.1 * i if i < 3 else np.full_like(y, np.nan), **arrays)
    assert main(["diagnose", *files, "--out", str(tmp_path / "out")]) == 2
    said, wrong = capsys.readouterr()
    assert re.search(r"a/mine: COMPOSES(.|\n)*b/mine: COMPOSES(.|\n)*c/mine: COMPOSES", said)
    assert "3 MODELS: ALL 3: COMPOSES" in said
    assert "over models" in said
    assert "bad.npz: outputs have a NaN" in wrong
    assert len(wrong.strip().splitlines()) == 1
    assert len(json.loads((tmp_path / "out" / "numbers.json").read_text())["models"]) == 3


MODULE = """
import jax.numpy as jnp, numpy as np
Z = np.array([(a, b) for a in range(6) for b in range(6)])
Y = np.random.default_rng(0).normal(size=(36, 3))
def make_model():
    return lambda x: (jnp.asarray(Y)[(6 * x[0] + x[1]).astype(int)], {"plain": x})
def data():
    return {"x": Z.astype(float), "y": Y, "factors": {"a": Z[:, 0], "b": Z[:, 1]}, "trained": Z.sum(1) % 6 < 4}
def poor():
    return {"x": Z}
def pair():
    return Z, Y
def nothing():
    return None
def two(width, depth):
    return None
"""


def test_the_command_takes_a_model_and_data_by_name(tmp_path, capsys, monkeypatch):
    (tmp_path / "my_module_of_tests.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)
    name = "my_module_of_tests"
    assert main(["diagnose", f"{name}:make_model", "--data", f"{name}:data"]) == 0
    assert f"{name}:make_model: COMPOSES" in capsys.readouterr().out
    wrong = {
        (f"{name}:make_model",): "name its data too",
        (f"{name}:make_modle", "--data", f"{name}:data"): "did you mean 'make_model'",
        (f"{name}:make_model", "--data", f"{name}:poor"): "it lacks y",
        (f"{name}:make_model", "--data", f"{name}:pair"): "a dict with x, y, factors and trained; it is a tuple",
        (f"{name}:make_model", "--data", f"{name}:nothing"): "a dict with x, y, factors and trained; it is a NoneType",
        (f"{name}:two", "--data", f"{name}:data"): "two needs width and depth, but it is called without arguments",
        (f"{name}.py", "--output", "logits"): "--output chooses among the outputs of a model",
        ("nothing.npz",): "no file or folder",
        (): "--demo",
        ("no_such_module:x", "--data", f"{name}:data"): "cannot be imported",
    }
    for words, says in wrong.items():
        assert main(["diagnose", *words]) == 2
        assert says in capsys.readouterr().err
    assert main(["layers", f"{name}:make_model"]) == 2
    assert "only PyTorch modules" in capsys.readouterr().err
    assert main(["layers", f"{name}:make_model", "--layers", "x"]) == 2
    assert "--layers" in capsys.readouterr().err


@pytest.mark.slow
def test_the_demo_gives_three_verdicts():
    from recombine.diagnosis.demo import demo

    assert [d.verdict for d in demo()] == ["memorizes", "composes", "cannot tell"]
