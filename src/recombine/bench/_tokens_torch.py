"""The decoder over tokens as a PyTorch user would write and train it: torch.compile, SDPA, a fused AdamW."""

from __future__ import annotations

import time
from typing import Any

from recombine.bench._tokens import RATE, VOCABULARY


def train(*, half: bool, sizes: dict[str, int], batch: int, steps: int, repeats: int) -> list[float]:
    """Seconds of `repeats` stretches of `steps` updates of one network, after one that compiles; data made before."""
    import torch

    torch.manual_seed(0)
    place = "cuda" if torch.cuda.is_available() else "cpu"
    torch.set_float32_matmul_precision("high")
    net = network(sizes).to(place)
    forward = torch.compile(net)
    optimiser = torch.optim.AdamW(net.parameters(), lr=RATE, weight_decay=1e-2, fused=True)
    rows = torch.randint(0, VOCABULARY, (16, batch, sizes["tokens"] + 1), device=place)
    times = []
    for _ in range(repeats + 1):
        start = time.perf_counter()
        for i in range(steps):
            x, y = rows[i % 16, :, :-1], rows[i % 16, :, 1:]
            optimiser.zero_grad(set_to_none=True)
            with torch.autocast(place, torch.bfloat16, enabled=half):
                loss = torch.nn.functional.cross_entropy(forward(x).flatten(0, 1).float(), y.flatten())
            loss.backward()
            optimiser.step()
        if place == "cuda":
            torch.cuda.synchronize()
        times.append(time.perf_counter() - start)
    return times[1:]


def network(sizes: dict[str, int]) -> Any:
    """The same layers as `TokenDecoder`'s."""
    import torch
    from torch.nn import functional

    width, heads, tokens = sizes["width"], sizes["heads"], sizes["tokens"]
    size = width // heads

    def rotate(h: Any, cos: Any, sin: Any) -> Any:
        first, last = h.chunk(2, -1)
        return torch.cat([first * cos - last * sin, last * cos + first * sin], -1)

    class Layer(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            ends = {"mix": (width, 3 * width), "merge": (width, width), "up": (width, 4 * width)}
            ends["down"] = (4 * width, width)
            for name, (inputs, outputs) in ends.items():
                self.add_module(name, torch.nn.Linear(inputs, outputs, bias=False))
            self.sharpness = torch.nn.Parameter(torch.ones(heads, 1))

        def forward(self, h: Any, cos: Any, sin: Any) -> Any:
            mixed = self.mix(functional.rms_norm(h, (width,))).view(-1, tokens, 3, heads, size)
            query, key, value = mixed.unbind(2)
            query = rotate(functional.rms_norm(query, (size,)) * self.sharpness, cos, sin)
            key = rotate(functional.rms_norm(key, (size,)), cos, sin)
            turned = (a.transpose(1, 2).to(value.dtype) for a in (query, key, value))
            seen = functional.scaled_dot_product_attention(*turned, is_causal=True)
            h = h + self.merge(seen.transpose(1, 2).reshape(-1, tokens, width))
            inner = functional.gelu(self.up(functional.rms_norm(h, (width,))), approximate="tanh")
            return h + self.down(inner)

    class Decoder(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.embed = torch.nn.Embedding(VOCABULARY, width)
            self.layers = torch.nn.ModuleList(Layer() for _ in range(sizes["depth"]))
            angles = torch.arange(tokens)[:, None, None] * 10000.0 ** (-2 * torch.arange(size // 2) / size)
            self.register_buffer("cos", angles.cos())
            self.register_buffer("sin", angles.sin())

        def forward(self, x: Any) -> Any:
            h = self.embed(x) * width**0.5
            for layer in self.layers:
                h = layer(h, self.cos, self.sin)
            return functional.rms_norm(h, (width,)) @ self.embed.weight.T

    return Decoder()
