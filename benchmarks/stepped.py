"""What is stepped through to be looked at and timed: the scenes of the player, and models of every
common kind, each as a trace. `torch.nn` only, small widths, fixed seeds.
"""

from __future__ import annotations

import linecache
from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from autograd_graphs.recording.trace import Trace
from helpers import module_calls, record

Maker = Callable[[], Trace]
NUMBERS = "a, b, c = (torch.tensor(v, requires_grad=True) for v in (2.0, 3.0, 4.0))\n"


def cell(source: str, **given: object) -> Trace:
    """Run source as a notebook's cell would, its last line the trace; its lines stand over the graph."""
    name = f"<stepped {len(linecache.cache)}>"
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    scope = {"torch": torch, "nn": nn, "F": F, "record": record, **given}
    exec(compile(source, name, "exec"), scope)
    return scope["trace"]


def square() -> Trace:
    return cell(f"{NUMBERS}e = (a*b + c)**2\ntrace = record(e)\n")


def held_grad() -> Trace:
    """Return a backward onto a leaf that has a `.grad` already."""
    before = "a.grad = torch.tensor(5.0)\n"
    return cell(f"{NUMBERS}{before}e = (a*b + c)**2\ntrace = record(e)\n")


def sine() -> Trace:
    return cell(
        "x = torch.tensor([[0.5, 1.0, 1.5], [-0.5, -2.0, 3.0]], requires_grad=True)\n"
        "y = (torch.sin(x)**2).sum()\ntrace = record(y)\n"
    )


def small_mlp() -> Trace:
    torch.manual_seed(0)
    return cell(
        "x, target = torch.randn(1, 3), torch.zeros(1, 1)\n"
        "W1, b1 = torch.randn(4, 3, requires_grad=True), torch.zeros(4, requires_grad=True)\n"
        "W2, b2 = torch.randn(1, 4, requires_grad=True), torch.zeros(1, requires_grad=True)\n"
        "h = F.relu(F.linear(x, W1, b1))\ny = F.linear(h, W2, b2)\n"
        "loss = F.mse_loss(y, target)\ntrace = record(loss)\n"
    )


def nan() -> Trace:
    return cell(
        "x = torch.tensor([0.0, 1.0, 4.0], requires_grad=True)\n"
        "y = (x.sqrt() * 0).sum()\ntrace = record(y)\n"
    )


def hook() -> Trace:
    more = "t = a*b\nt.register_hook(lambda grad: grad / 10)\n"
    return cell(f"{NUMBERS}{more}e = (t + c)**2\ntrace = record(e)\n")


def twelve_layers(has_calls: bool) -> Trace:
    """Record an embedding, twelve layers of a transformer, and a head."""
    torch.manual_seed(0)
    embed, head = nn.Embedding(20, 16), nn.Linear(16, 20)
    layer = nn.TransformerEncoderLayer(16, 2, 32, dropout=0.0, batch_first=True)
    encoder = nn.TransformerEncoder(layer, 12, enable_nested_tensor=False)
    model, text = nn.Sequential(embed, encoder, head), torch.arange(10).reshape(2, 5)
    given = {"embed": embed, "encoder": encoder, "head": head, "text": text}
    lines = (
        "h = encoder(embed(text))\nout = head(h).flatten(0, 1)\n"
        "loss = F.nll_loss(F.log_softmax(out, -1), text.flatten())\n"
    )
    if not has_calls:
        return cell(f"{lines}trace = record(loss)\n", **given)
    indented = "".join(f"    {line}\n" for line in lines.splitlines())
    source = f"with module_calls(model) as calls:\n{indented}trace = record(loss, names=calls)\n"
    return cell(source, model=model, module_calls=module_calls, **given)


SCENES: dict[str, Maker] = {
    "square": square,
    "sine": sine,
    "small mlp": small_mlp,
    "held .grad": held_grad,
    "hook": hook,
    "nan": nan,
    "12 layers": lambda: twelve_layers(False),
    "12 layers, calls": lambda: twelve_layers(True),
}


def called(model: nn.Module, inputs: Tensor, loss_of: Callable[[Tensor], Tensor]) -> Trace:
    """Record a model with its module calls."""
    with module_calls(model) as calls:
        loss = loss_of(model(inputs))
    return record(loss, names=calls)


def classes(said: Tensor) -> Tensor:
    """Return a loss as if the first classes were right."""
    return F.cross_entropy(said, torch.arange(len(said)))


def mlp() -> Trace:
    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Dropout(0.2), nn.Linear(16, 4))
    return called(model, torch.randn(4, 8), classes)


def step(channels: int, wide: int) -> list[nn.Module]:
    return [nn.Conv2d(channels, wide, 3, padding=1), nn.BatchNorm2d(wide), nn.ReLU()]


def cnn() -> Trace:
    layers = *step(1, 4), nn.MaxPool2d(2), *step(4, 8), nn.AdaptiveAvgPool2d(1), nn.Flatten()
    return called(nn.Sequential(*layers, nn.Linear(8, 3)), torch.randn(2, 1, 8, 8), classes)


class Tagger(nn.Module):
    """Be an embedding, an LSTM and a head."""

    def __init__(self) -> None:
        super().__init__()
        self.embed, self.head = nn.Embedding(12, 6), nn.Linear(8, 5)
        self.lstm = nn.LSTM(6, 8, batch_first=True)

    def forward(self, words: Tensor) -> Tensor:
        states, _ = self.lstm(self.embed(words))
        return self.head(states[:, -1])


def lstm() -> Trace:
    return called(Tagger(), torch.arange(12).reshape(2, 6), classes)


class Attention(nn.Module):
    """Be one head of attention with a mask, written out, and a norm."""

    def __init__(self, wide: int) -> None:
        super().__init__()
        self.query, self.key, self.value = (nn.Linear(wide, wide, bias=False) for _ in range(3))
        self.norm = nn.LayerNorm(wide)

    def forward(self, x: Tensor) -> Tensor:
        query, key, value = self.query(x), self.key(x), self.value(x)
        scores = query @ key.transpose(-2, -1) / x.shape[-1] ** 0.5
        later = torch.ones(scores.shape[-2:]).triu(1).bool()
        weights = scores.masked_fill(later, float("-inf")).softmax(-1)
        return self.norm(x + weights @ value)


def attention() -> Trace:
    return called(Attention(4), torch.randn(1, 3, 4), lambda said: said.square().mean())


class VAE(nn.Module):
    """Be an encoder, a sample by reparametrization, and a decoder."""

    def __init__(self) -> None:
        super().__init__()
        self.encode, self.decode = nn.Linear(6, 4), nn.Linear(2, 6)

    def forward(self, x: Tensor) -> Tensor:
        mean, log_variance = self.encode(x).chunk(2, dim=-1)
        z = mean + torch.randn_like(mean) * torch.exp(0.5 * log_variance)
        missed = F.binary_cross_entropy_with_logits(self.decode(z), x, reduction="sum")
        far = -0.5 * (1 + log_variance - mean**2 - log_variance.exp()).sum()
        return missed + far


def vae() -> Trace:
    return called(VAE(), torch.rand(3, 6), torch.sum)


def gan() -> Trace:
    """Return the discriminator's backward, of two losses, one of them on what was generated."""
    generator = nn.Sequential(nn.Linear(2, 4), nn.ReLU(), nn.Linear(4, 3))
    critic = nn.Sequential(nn.Linear(3, 4), nn.LeakyReLU(0.2), nn.Linear(4, 1))
    return cell(
        "fake = generator(torch.randn(5, 2)).detach()\n"
        "on_real = bce(critic(torch.randn(5, 3)), torch.ones(5, 1))\n"
        "on_fake = bce(critic(fake), torch.zeros(5, 1))\n"
        "loss = (on_real + on_fake) / 2\ntrace = record(loss)\n",
        generator=generator,
        critic=critic,
        bce=nn.BCEWithLogitsLoss(),
    )


class Residual(nn.Module):
    """Be two convolutions and a way around them."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.body = nn.Sequential(*step(channels, channels), *step(channels, channels)[:2])

    def forward(self, x: Tensor) -> Tensor:
        return torch.relu(self.body(x) + x)


def resnet() -> Trace:
    blocks = [Residual(4) for _ in range(8)]
    layers = *step(3, 4), *blocks, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4, 3)
    return called(nn.Sequential(*layers), torch.randn(2, 3, 8, 8), classes)


class UNet(nn.Module):
    """Be a U of two levels: down, up, and the skips between."""

    def __init__(self) -> None:
        super().__init__()
        self.down, self.deep = nn.Sequential(*step(1, 4)), nn.Sequential(*step(4, 8))
        self.raise_ = nn.ConvTranspose2d(8, 4, 2, stride=2)
        self.join, self.out = nn.Sequential(*step(8, 4)), nn.Conv2d(4, 1, 1)

    def forward(self, x: Tensor) -> Tensor:
        first = self.down(x)
        up = self.raise_(self.deep(F.max_pool2d(first, 2)))
        return self.out(self.join(torch.cat([first, up], dim=1)))


def unet() -> Trace:
    return called(UNet(), torch.randn(1, 1, 8, 8), lambda said: F.l1_loss(said, said.detach() + 1))


class Siamese(nn.Module):
    """Be one encoder for both of a pair, with a contrastive loss."""

    def __init__(self) -> None:
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2))

    def forward(self, pair: Tensor) -> Tensor:
        one, other = self.encoder(pair[0]), self.encoder(pair[1])
        far = F.pairwise_distance(one, other)
        is_same = torch.tensor([1.0, 0.0, 1.0])
        return (is_same * far**2 + (1 - is_same) * (1 - far).clamp(min=0) ** 2).mean()


def siamese() -> Trace:
    return called(Siamese(), torch.randn(2, 3, 4), lambda loss: loss)


class Block(nn.Module):
    """Be a block of a GPT, written out."""

    def __init__(self, wide: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.norm_1, self.norm_2 = nn.LayerNorm(wide), nn.LayerNorm(wide)
        self.attend, self.project = nn.Linear(wide, 3 * wide), nn.Linear(wide, wide)
        self.mlp = nn.Sequential(nn.Linear(wide, 4 * wide), nn.GELU(), nn.Linear(4 * wide, wide))

    def forward(self, x: Tensor) -> Tensor:
        batch, length, wide = x.shape
        split = (batch, length, self.heads, wide // self.heads)
        parts = self.attend(self.norm_1(x)).split(wide, dim=2)
        query, key, value = (part.view(split).transpose(1, 2) for part in parts)
        scores = query @ key.transpose(-2, -1) / (wide // self.heads) ** 0.5
        later = torch.ones(length, length).triu(1).bool()
        weights = scores.masked_fill(later, float("-inf")).softmax(-1)
        x = x + self.project((weights @ value).transpose(1, 2).reshape(batch, length, wide))
        return x + self.mlp(self.norm_2(x))


class GPT(nn.Module):
    """Be a small GPT."""

    def __init__(self, blocks: int, wide: int) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(50, wide), nn.Embedding(16, wide)
        self.blocks = nn.ModuleList(Block(wide, 2) for _ in range(blocks))
        self.norm, self.head = nn.LayerNorm(wide), nn.Linear(wide, 50, bias=False)

    def forward(self, text: Tensor) -> Tensor:
        x = self.words(text) + self.places(torch.arange(text.shape[1]))
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x)).flatten(0, 1)


def gpt() -> Trace:
    return called(GPT(24, 16), torch.arange(16).reshape(2, 8), classes)


MODELS: dict[str, Maker] = {
    maker.__name__: maker
    for maker in (mlp, cnn, lstm, attention, vae, gan, resnet, unet, siamese, gpt)
}


def make(name: str) -> Trace:
    """Return a scene or a model: the same numbers at every call."""
    torch.manual_seed(0)
    return {**SCENES, **MODELS}[name]()
