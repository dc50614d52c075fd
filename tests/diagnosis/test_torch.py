"""The PyTorch door, where PyTorch is installed: hooks by name, and the module left exactly as it was."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import recombine as rc
from recombine.diagnosis.from_torch import list_layers

torch = pytest.importorskip("torch")
nn = torch.nn
Z = np.array(list(product(range(6), repeat=2)))
X = torch.tensor(np.concatenate([np.eye(6)[column] for column in Z.T], axis=1), dtype=torch.float32)
Y = torch.tensor(np.random.default_rng(0).normal(size=(36, 3)), dtype=torch.float32)
GIVEN = {"factors": {"a": Z[:, 0], "b": Z[:, 1]}, "trained": Z.sum(axis=1) % 6 < 4}


class Restless(nn.Module):
    """Normalises by the batch, drops units, counts its calls and draws random numbers, in evaluation mode too."""

    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(12, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Dropout(0.5))
        self.head = nn.Linear(32, 3)
        self.register_buffer("calls", torch.zeros(1))

    def forward(self, x):
        self.calls += 1
        torch.rand(3)
        return self.head(self.body(x))


@pytest.fixture
def model():
    torch.manual_seed(0)
    made = Restless()
    made.body[1].eval()  # a part that its owner froze
    made(X).sum().backward()
    return made


def test_the_model_is_left_exactly_as_it_was(model):
    state = {name: value.clone() for name, value in model.state_dict().items()}
    gradients = [p.grad.clone() for p in model.parameters()]
    flags, random = [m.training for m in model.modules()], torch.get_rng_state()
    first = rc.diagnose(model, (X, Y), **GIVEN)
    assert all(torch.equal(state[name], value) for name, value in model.state_dict().items())
    assert all(torch.equal(g, p.grad) for g, p in zip(gradients, model.parameters(), strict=True))
    assert [m.training for m in model.modules()] == flags
    assert torch.equal(torch.get_rng_state(), random)
    assert not any(m._forward_hooks for m in model.modules())
    again = rc.diagnose(model, (X, Y), batch=7, **GIVEN)  # dropout is off, and batches do not matter
    assert np.allclose(first.evidence.answers.given, again.evidence.answers.given, atol=1e-5)


def test_layers_by_name_glob_and_default(model):
    assert [layer.name for layer in rc.diagnose(model, (X, Y), **GIVEN).layers] == [
        "input",
        "body.0",
        "body.1",
        "body.2",
        "head",
        "output",
    ]
    some = rc.diagnose(model, (X, Y), layers=["body.*"], **GIVEN)
    assert [layer.name for layer in some.layers] == ["input", "body.0", "body.1", "body.2", "body.3", "output"]
    with pytest.raises(rc.UserError, match="no layer 'haed': did you mean 'head'"):
        rc.diagnose(model, (X, Y), layers=["haed"], **GIVEN)
    assert ("head", "Linear", "(3,)") in list_layers(model, X)


class Wrapped(nn.Module):
    def __init__(self, kind):
        super().__init__()
        self.kind, self.core = kind, nn.Linear(12, 3)

    def forward(self, x):
        y = self.core(x)
        return {"tuple": (y, x), "dict": {"features": x, "logits": y}, "list": [y]}[self.kind]


@pytest.mark.parametrize("kind", ["tuple", "dict", "list"])
def test_models_that_return_several_things(kind):
    model = Wrapped(kind)
    found = rc.diagnose(model, (X, Y), **GIVEN)
    scale = np.asarray(Y).std(axis=0)
    with torch.no_grad():
        wanted = (model.core(X).numpy() - np.asarray(Y).mean(axis=0)) / scale
    assert np.allclose(found.evidence.answers.given, wanted, atol=1e-4)
    assert any("was taken" in note for note in found.notes)
    with pytest.raises(rc.UserError, match="choose output="):
        rc.diagnose(model, (X, Y), output=9 if kind != "dict" else "nothing", **GIVEN)


def test_half_precision_and_data_that_do_not_fit(model):
    assert rc.diagnose(model.bfloat16(), (X, Y), **GIVEN).verdict == "cannot tell"
    with pytest.raises(rc.UserError, match="the model cannot take these data"):
        rc.diagnose(model, (X[:, :5], Y), **GIVEN)


def test_a_model_that_raises_and_one_that_is_wrapped_are_told_so(model):
    class Broken(nn.Module):
        def forward(self, x):
            return {}["weights"]

    with pytest.raises(rc.UserError, match="there are 0 examples"):
        rc.diagnose(model, (X[:0], Y[:0]), factors=Z[:0], trained=GIVEN["trained"][:0])
    with pytest.raises(rc.UserError, match="it raised KeyError: 'weights'"):
        rc.diagnose(Broken(), (X, Y), **GIVEN)
    with pytest.raises(rc.UserError, match=r"give the PyTorch nn\.Module itself"):
        rc.diagnose(lambda x: 2 * model(x), (X.numpy(), Y.numpy()), **GIVEN)


def test_layers_come_in_the_order_of_their_calls():
    class Backwards(nn.Module):
        def __init__(self):
            super().__init__()
            self.last, self.first = nn.Linear(8, 3), nn.Linear(12, 8)

        def forward(self, x):
            return self.last(self.first(x))

    found = rc.diagnose(Backwards(), (X, Y), **GIVEN)
    assert [layer.name for layer in found.layers] == ["input", "first", "last", "output"]
    last, output = found.layers[-2:]
    assert last.decodability == output.decodability  # they are one tensor
    assert any("chooses nothing" in n for n in rc.diagnose(Backwards(), (X, Y), output="logits", **GIVEN).notes)


def test_dropout_that_is_always_on_is_noticed():
    class Leaky(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(12, 3)

        def forward(self, x):
            return nn.functional.dropout(self.linear(x), 0.5)

    assert any("asked twice" in note for note in rc.diagnose(Leaky(), (X, Y), **GIVEN).notes)
    steady = rc.diagnose(nn.Sequential(nn.Linear(12, 3), nn.Dropout(0.5)), (X, Y), **GIVEN)
    assert not any("asked twice" in note for note in steady.notes)


def test_a_tiny_transformer_passes():
    transformers = pytest.importorskip("transformers")
    settings = transformers.GPT2Config(n_layer=2, n_head=2, n_embd=16, vocab_size=20, n_positions=8)
    model = transformers.GPT2ForSequenceClassification(settings.__class__(**{**settings.to_dict(), "num_labels": 4}))
    model.config.pad_token_id = 0
    tokens = torch.tensor(Z + np.array([1, 10]))
    labels = torch.tensor(Z.sum(axis=1) % 4)
    found = rc.diagnose(model, ({"input_ids": tokens}, labels), layers=["transformer.h.*"], **GIVEN)
    assert found.verdict == "cannot tell"
    assert "transformer.h.1" in [layer.name for layer in found.layers]
