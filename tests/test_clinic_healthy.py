"""Of healthy programs neither `watching` nor the health check says that anything is wrong.

Each is set up, loops while it is watched, and computes its loss once more for `diagnose`.
"""

import re

import pytest
import torch
from clinic_runner import shown

SETUP = """
import copy, torch
from collections import deque
from torch import nn
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint
from helpers import watching
torch.manual_seed(0)
x, y, labels = torch.randn(16, 4), torch.randn(16, 1), torch.arange(16) % 3
net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.01)
"""
STEP = "opt.zero_grad(); loss.backward(); opt.step()"
HEALTHY = """
## an autoencoder that keeps numbers
losses, last, total = [], deque(maxlen=5), 0.0
# loop
for _ in range(6):
    loss = F.mse_loss(net(x), y)
    STEP
    losses.append(loss.item()); last.append(float(loss)); total += loss.item()
# then
loss = F.mse_loss(net(x), y)

## the losses of one round in a list
net = nn.Linear(4, 3); opt = torch.optim.SGD(net.parameters(), lr=0.1)
# loop
for _ in range(6):
    losses = [F.cross_entropy(net(x[i:i + 4]), labels[i:i + 4]) for i in range(0, 16, 4)]
    loss = torch.stack(losses).mean()
    STEP
# then
losses = [F.cross_entropy(net(x[i:i + 4]), labels[i:i + 4]) for i in range(0, 16, 4)]
loss = torch.stack(losses).mean()

## the losses of one round, appended and summed
# loop
for _ in range(6):
    parts, loss = [], 0
    for part, wanted in zip(x.split(4), y.split(4)):
        parts.append(F.mse_loss(net(part), wanted))
    for part in parts:
        loss = loss + part / 4
    STEP
# then
loss = sum(F.mse_loss(net(part), wanted) for part, wanted in zip(x.split(4), y.split(4)))

## an episode of REINFORCE
net = nn.Linear(4, 3); opt = torch.optim.Adam(net.parameters())
def play():
    logps = []
    for state in x:
        dist = torch.distributions.Categorical(logits=net(state))
        logps.append(dist.log_prob(dist.sample()))
    return logps
# loop
for _ in range(6):
    logps = play()
    loss = -(torch.stack(logps) * torch.randn(16)).sum()
    STEP
# then
logps = play()
loss = -(torch.stack(logps) * torch.randn(16)).sum()

## several heads, and one list from an earlier cell
class Heads(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.heads = nn.Linear(4, 8), nn.ModuleDict({"a": nn.Linear(8, 1), "b": nn.Linear(8, 1)})
    def forward(self, x):
        self.features = self.body(x).tanh()
        return {name: head(self.features) for name, head in self.heads.items()}
net = Heads(); opt = torch.optim.AdamW(net.parameters())
old = [net(x)["a"].mean() for _ in range(3)]
# loop
for _ in range(6):
    out = net(x)
    loss = F.mse_loss(out["a"], y) + F.smooth_l1_loss(out["b"], y)
    STEP
# then
out = net(x)
loss = F.mse_loss(out["a"], y) + F.smooth_l1_loss(out["b"], y)

## a GAN whose two losses come before the two steps
net, critic = nn.Linear(2, 2), nn.Linear(2, 1)
opt = torch.optim.Adam(net.parameters()); other = torch.optim.Adam(critic.parameters())
noise, real = torch.randn(16, 2), torch.randn(16, 2)
one, zero = torch.ones(16, 1), torch.zeros(16, 1)
bce = F.binary_cross_entropy_with_logits
# loop
for _ in range(6):
    fake = net(noise)
    loss = bce(critic(fake), one)
    opt.zero_grad(); loss.backward()
    other.zero_grad()
    (bce(critic(real), one) + bce(critic(fake.detach()), zero)).backward()
    opt.step(); other.step()
# then
loss = bce(critic(net(noise)), one)

## the generator of a Wasserstein GAN, one step for five of its critic
net, critic = nn.Linear(2, 2), nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 1, bias=False))
opt = torch.optim.RMSprop(net.parameters()); other = torch.optim.RMSprop(critic.parameters())
noise, real = torch.randn(16, 2), torch.randn(16, 2)
# loop
for step in range(30):
    other.zero_grad()
    (critic(net(noise).detach()).mean() - critic(real).mean()).backward()
    other.step()
    if step % 5 == 4:
        loss = -critic(net(noise)).mean()
        STEP
# then
loss = -critic(net(noise)).mean()

## a gradient penalty
# loop
for _ in range(6):
    given = x.clone().requires_grad_()
    out = net(given)
    slope, = torch.autograd.grad(out.sum(), given, create_graph=True)
    loss = F.mse_loss(out, y) + (slope.norm(dim=1) - 1).square().mean()
    STEP
# then
given = x.clone().requires_grad_()
out = net(given)
slope, = torch.autograd.grad(out.sum(), given, create_graph=True)
loss = F.mse_loss(out, y) + (slope.norm(dim=1) - 1).square().mean()

## a state that is detached (TBPTT)
net = nn.LSTMCell(4, 3); opt = torch.optim.Adam(net.parameters())
h = c = torch.zeros(2, 3)
# loop
for chunk in torch.randn(6, 5, 2, 4):
    h, c = h.detach(), c.detach()
    loss = 0
    for piece in chunk:
        h, c = net(piece, (h, c))
        loss = loss + h.square().mean()
    opt.zero_grad(); loss.backward()
    nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    opt.step()
# then
h, c = net(torch.randn(2, 4), (h.detach(), c.detach()))
loss = h.square().mean()

## a state of two tensors that is detached
net = nn.LSTM(4, 1); opt = torch.optim.AdamW(net.parameters())
state = None
# loop
for _ in range(6):
    out, state = net(x, state)
    state = tuple(part.detach() for part in state)
    loss = F.mse_loss(out, y)
    STEP
# then
loss = F.mse_loss(net(x, state)[0], y)

## a mean over the batches of one step
batches = list(zip(x.split(4), y.split(4)))
# loop
for _ in range(6):
    opt.zero_grad()
    for part, wanted in batches:
        loss = F.mse_loss(net(part), wanted) / len(batches)
        loss.backward()
    opt.step()
# then
loss = F.mse_loss(net(part), wanted) / len(batches)

## an average of the weights and a frozen teacher
teacher = nn.Linear(4, 1).requires_grad_(False)
ema = copy.deepcopy(net)
# loop
for _ in range(6):
    loss = F.mse_loss(net(x), teacher(x))
    STEP
    with torch.no_grad():
        for kept, now in zip(ema.parameters(), net.parameters()):
            kept.lerp_(now, 0.1)
# then
loss = F.mse_loss(net(x), teacher(x))

## accumulation, its last chunk included, with a scheduler
plan = torch.optim.lr_scheduler.StepLR(opt, 2)
# loop
for number in range(12):
    loss = F.mse_loss(net(x), y) / 4
    loss.backward()
    if number % 4 == 3:
        opt.step()
        opt.zero_grad()
        plan.step()
# then
loss = F.mse_loss(net(x), y) / 4

## accumulation, weighted by a factor
# loop
for number in range(12):
    loss = F.mse_loss(net(x), y)
    (loss * 0.25).backward()
    if (number + 1) % 4 == 0:
        opt.step()
        opt.zero_grad()
# then
loss = F.mse_loss(net(x), y)

## mixed precision on a CPU, clipped after unscale_, with skipped steps
scaler = torch.amp.GradScaler("cpu", init_scale=2.0**127, growth_interval=2)
# loop
for _ in range(9):
    opt.zero_grad()
    with torch.autocast("cpu"):
        loss = F.mse_loss(net(x), y) * 100
    scaler.scale(loss).backward()
    scaler.unscale_(opt)
    nn.utils.clip_grad_norm_(net.parameters(), 0.1)
    scaler.step(opt)
    scaler.update()
# then
with torch.autocast("cpu"):
    loss = F.mse_loss(net(x), y)

## a frozen backbone in eval mode
net = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Dropout(0.2), nn.Linear(8, 1))
net[:3].requires_grad_(False)
opt = torch.optim.SGD(net[3].parameters(), lr=0.1)
# loop
for _ in range(6):
    net.train(); net[:3].eval()
    loss = F.mse_loss(net(x), y)
    STEP
# then
loss = F.mse_loss(net(x), y)

## LBFGS with a closure
opt = torch.optim.LBFGS(net.parameters(), max_iter=3)
def closure():
    opt.zero_grad()
    loss = F.mse_loss(net(x), y)
    loss.backward()
    return loss
# loop
for _ in range(6):
    opt.step(closure)
# then
loss = F.mse_loss(net(x), y)

## a checkpoint, and an older one elsewhere
class Other(nn.Module):
    def forward(self, x):
        return checkpoint(torch.relu, x, use_reentrant=True)
# loop
for _ in range(6):
    loss = F.mse_loss(net[2](checkpoint(net[:2], x, use_reentrant=False)), y)
    STEP
# then
loss = F.mse_loss(net[2](checkpoint(net[:2], x, use_reentrant=False)), y)

## a low-rank addition to a frozen layer
class Lora(nn.Module):
    def __init__(self):
        super().__init__()
        self.base = nn.Linear(4, 1).requires_grad_(False)
        self.a, self.b = nn.Parameter(torch.randn(4, 2)), nn.Parameter(torch.zeros(2, 1))
    def forward(self, x):
        return self.base(x) + x @ self.a @ self.b
net = Lora(); opt = torch.optim.AdamW([p for p in net.parameters() if p.requires_grad])
# loop
for _ in range(6):
    loss = F.mse_loss(net(x), y)
    STEP
# then
loss = F.mse_loss(net(x), y)

## tied weights
class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.out = nn.Embedding(5, 4), nn.Linear(4, 5, bias=False)
        self.out.weight = self.embed.weight
    def forward(self, numbers):
        return self.out(self.embed(numbers))
net = Tied(); opt = torch.optim.Adam(net.parameters())
# loop
for _ in range(6):
    loss = F.cross_entropy(net(labels), labels)
    STEP
# then
loss = F.cross_entropy(net(labels), labels)

## a straight-through Function of one's own
class Round(torch.autograd.Function):
    forward = staticmethod(lambda ctx, x: x.round())
    backward = staticmethod(lambda ctx, grad: grad)
# loop
for _ in range(6):
    loss = F.mse_loss(Round.apply(3 * net(x)), y)
    STEP
# then
loss = F.mse_loss(Round.apply(3 * net(x)), y)

## an optimizer for each part
opt, other = torch.optim.SGD(net[0].parameters(), lr=0.1), torch.optim.Adam(net[2].parameters())
# loop
for number in range(6):
    loss = F.mse_loss(net(x), y)
    opt.zero_grad(); other.zero_grad()
    loss.backward()
    opt.step()
    if number % 2:
        other.step()
# then
loss = F.mse_loss(net(x), y)

## gradients emptied by a function, and a loss divided in another
def reset():
    for p in net.parameters():
        p.grad = None
def part_of(n):
    return F.mse_loss(net(x), y) / n
# loop
for number in range(12):
    if number % 4 == 0:
        reset()
    loss = part_of(4)
    loss.backward()
    if number % 4 == 3:
        opt.step()
# then
loss = part_of(4)

## two losses that share a graph
# loop
for _ in range(6):
    opt.zero_grad()
    out = net(x)
    F.mse_loss(out, y).backward(retain_graph=True)
    loss = out.abs().mean()
    loss.backward()
    opt.step()
# then
loss = net(x).abs().mean()

## adversarial inputs (FGSM)
# loop
for _ in range(6):
    given = x.clone().requires_grad_()
    loss = F.mse_loss(net(given), y)
    loss.backward()
    given = (given + 0.1 * given.grad.sign()).detach()
    opt.zero_grad()
    loss = F.mse_loss(net(given), y)
    loss.backward()
    opt.step()
# then
loss = F.mse_loss(net(x), y)

## actor and critic, a delayed actor and a target network
net, critic = nn.Linear(4, 1), nn.Linear(5, 1)
target = copy.deepcopy(critic)
opt, other = torch.optim.Adam(net.parameters()), torch.optim.Adam(critic.parameters())
# loop
for number in range(8):
    with torch.no_grad():
        wanted = y + 0.9 * target(torch.cat([x, net(x)], 1))
    value = F.mse_loss(critic(torch.cat([x, net(x).detach()], 1)), wanted)
    other.zero_grad(); value.backward(); other.step()
    if number % 2:
        loss = -critic(torch.cat([x, net(x)], 1)).mean()
        STEP
# then
loss = -critic(torch.cat([x, net(x)], 1)).mean()

## a normalization, a spread of equal values, a power below 0
net.insert(1, nn.BatchNorm1d(8)); opt = torch.optim.SGD(net.parameters(), lr=0.01)
# loop
for _ in range(6):
    out = net(x)
    loss = F.mse_loss(out, y) + (0 * out).std() + (-1 - out.square()).pow(-1).mean()
    STEP
# then
out = net(x)
loss = F.mse_loss(out, y) + (0 * out).std() + (-1 - out.square()).pow(-1).mean()

## a distance between all pairs
net = nn.Linear(4, 1); opt = torch.optim.SGD(net.parameters(), lr=0.1)
# loop
for _ in range(6):
    out = net(x).squeeze(1)
    loss = (out[:, None] - y.squeeze(1)[None, :]).square().mean() - out.var()
    STEP
# then
out = net(x).squeeze(1)
loss = (out[:, None] - y.squeeze(1)[None, :]).square().mean() - out.var()

## an evaluation at the end of each epoch
net.append(nn.Dropout(0.2))
# loop
for _ in range(6):
    net.train()
    loss = F.mse_loss(net(x), y)
    STEP
    net.eval()
    with torch.no_grad():
        best = F.mse_loss(net(x), y)
# then
net.train()
loss = F.mse_loss(net(x), y)

## eval mode, where it changes nothing
net.insert(1, nn.BatchNorm1d(8, track_running_stats=False)); net.append(nn.Dropout(0)).eval()
opt = torch.optim.SGD(net.parameters(), lr=0.01)
# loop
for _ in range(6):
    loss = F.mse_loss(net(x), y)
    STEP
# then
loss = F.mse_loss(net(x), y)

## a generator in eval mode while its critic learns
net, critic = nn.Sequential(nn.Linear(2, 8), nn.Dropout(0.2), nn.Linear(8, 2)), nn.Linear(2, 1)
opt, other = torch.optim.Adam(net.parameters()), torch.optim.Adam(critic.parameters())
# loop
for _ in range(6):
    net.eval()
    with torch.no_grad():
        fake = net(torch.randn(16, 2))
    other.zero_grad(); (critic(fake).mean() - critic(torch.randn(16, 2)).mean()).backward(); other.step()
    net.train()
    loss = -critic(net(torch.randn(16, 2))).mean()
    STEP
# then
loss = -critic(net(torch.randn(16, 2))).mean()

## a model that keeps results of its last forward, of an input that asks for a gradient
class Keeps(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.head, self.maps = nn.Linear(1, 8), nn.Linear(8, 1), []
    def forward(self, t):
        self.features = self.body(t).tanh()
        self.maps = [self.features.softmax(1)]
        return self.head(self.features)
net = Keeps(); opt = torch.optim.Adam(net.parameters())
t = torch.rand(8, 1, requires_grad=True)
# loop
for _ in range(6):
    u = net(t)
    slope, = torch.autograd.grad(u.sum(), t, create_graph=True)
    loss = (slope + u).square().mean()
    STEP
# then
u = net(t)
slope, = torch.autograd.grad(u.sum(), t, create_graph=True)
loss = (slope + u).square().mean()

## steps that are left out where a gradient is not finite
# loop
for _ in range(6):
    loss = F.mse_loss(net(x), y)
    loss.backward()
    norm = nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    if not norm.isfinite():
        opt.zero_grad()
        continue
    if norm > 100:
        opt.zero_grad()
    else:
        opt.step()
    opt.zero_grad()
# then
loss = F.mse_loss(net(x), y)

## gradients that are written by hand (Reptile)
# loop
for _ in range(6):
    fast = copy.deepcopy(net)
    inner = torch.optim.SGD(fast.parameters(), lr=0.1)
    for _ in range(2):
        inner.zero_grad()
        loss = F.mse_loss(fast(x), y)
        loss.backward()
        inner.step()
    for slow, quick in zip(net.parameters(), fast.parameters()):
        slow.grad = (slow - quick).detach()
    opt.step()
# then
loss = F.mse_loss(net(x), y)

## a step in every second round, with the gradients of that round
# loop
for number in range(6):
    opt.zero_grad()
    loss = F.mse_loss(net(x), y)
    loss.backward()
    if number % 2 == 0:
        opt.step()
# then
loss = F.mse_loss(net(x), y)

## accumulation whose gradients are divided before the step
# loop
for number in range(12):
    loss = F.mse_loss(net(x), y)
    loss.backward()
    if number % 4 == 3:
        for p in net.parameters():
            p.grad.div_(4)
        opt.step()
        opt.zero_grad()
# then
loss = F.mse_loss(net(x), y)

## gradients emptied by a function of a function
def clear():
    for p in net.parameters():
        p.grad = None
def begin():
    net.train()
    clear()
# loop
for _ in range(6):
    begin()
    loss = F.mse_loss(net(x), y)
    loss.backward()
    opt.step()
# then
loss = F.mse_loss(net(x), y)

## a mean over a variance, and a sum over the batch
spread = y.var()
# loop
for _ in range(6):
    out = net(x)
    loss = F.mse_loss(out, y) / spread + 0.1 * out.square().sum() / x.size(0)
    STEP
# then
out = net(x)
loss = F.mse_loss(out, y) / spread + 0.1 * out.square().sum() / x.size(0)

## adversarial inputs, by the function that trains
def back(given):
    loss = F.mse_loss(net(given), y)
    loss.backward()
    return loss
# loop
for _ in range(6):
    given = x.clone().requires_grad_()
    back(given)
    given = (given + 0.1 * given.grad.sign()).detach()
    opt.zero_grad()
    loss = back(given)
    opt.step()
    opt.zero_grad()
# then
loss = F.mse_loss(net(x), y)

## a grid of differences that views make
net = nn.Linear(4, 1); opt = torch.optim.SGD(net.parameters(), lr=0.1)
# loop
for _ in range(6):
    out = net(x)[:, 0]
    loss = (out.view(-1, 1) - torch.linspace(0, 1, 16).view(1, -1)).abs().amin(1).mean()
    STEP
# then
out = net(x)[:, 0]
loss = (out.view(-1, 1) - torch.linspace(0, 1, 16).view(1, -1)).abs().amin(1).mean()

## optimizers in a list
opts = [torch.optim.SGD(net[0].parameters(), lr=0.1), torch.optim.Adam(net[2].parameters())]
# loop
for _ in range(6):
    loss = F.mse_loss(net(x), y)
    [one.zero_grad() for one in opts]
    loss.backward()
    [one.step() for one in opts]
# then
loss = F.mse_loss(net(x), y)
opt = opts[0]

## a target network and a body that stand still in the model
class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.online, self.target = nn.Linear(4, 8), nn.Linear(8, 1), nn.Linear(8, 1)
    def forward(self, x):
        with torch.no_grad():
            h = self.body(x).tanh()
        return self.online(h) - self.target(h).detach()
net = Agent(); opt = torch.optim.Adam(net.online.parameters())
# loop
for _ in range(6):
    loss = F.mse_loss(net(x), y)
    STEP
# then
loss = F.mse_loss(net(x), y)

## a compiled model
fast = torch.compile(net, backend="aot_eager")
# loop
for _ in range(6):
    loss = F.mse_loss(fast(x), y)
    STEP
# then
loss = F.mse_loss(fast(x), y)

## a compiled loss, and a layer that is frozen
net[0].requires_grad_(False)
@torch.compile(backend="aot_eager")
def wrong(x, y):
    return F.mse_loss(net(x), y)
# loop
for _ in range(6):
    loss = wrong(x, y)
    STEP
# then
loss = wrong(x, y)

## a penalty on the slope of a compiled critic that keeps its graph
fast = torch.compile(net, backend="eager")
x.requires_grad_()
# loop
for _ in range(6):
    (slope,) = torch.autograd.grad(fast(x).sum(), x, create_graph=True)
    loss = F.mse_loss(fast(x), y) + ((slope.norm(dim=1) - 1) ** 2).mean()
    STEP
# then
(slope,) = torch.autograd.grad(fast(x).sum(), x, create_graph=True)
loss = F.mse_loss(fast(x), y) + ((slope.norm(dim=1) - 1) ** 2).mean()

## a traced model that keeps its dropout as a module
net = nn.Sequential(nn.Linear(4, 8), nn.Dropout(0.5), nn.Linear(8, 1)).eval()
net = torch.fx.symbolic_trace(net).train()
opt = torch.optim.SGD(net.parameters(), lr=0.01)
# loop
for _ in range(6):
    loss = F.mse_loss(net(x), y)
    STEP
# then
loss = F.mse_loss(net(x), y)

## a model that was traced in the mode in which it runs
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner, self.outer = nn.Linear(4, 8), nn.Linear(8, 1)
    def forward(self, x):
        return self.outer(F.dropout(self.inner(x), 0.5, self.training))
net = torch.fx.symbolic_trace(Net())
opt = torch.optim.SGD(net.parameters(), lr=0.01)
# loop
for _ in range(6):
    loss = F.mse_loss(net(x), y)
    STEP
# then
loss = F.mse_loss(net(x), y)

## per-sample gradients, clipped one by one
net = nn.Linear(4, 1); opt = torch.optim.SGD(net.parameters(), lr=0.1)
def wrong(weights, x, y):
    return F.mse_loss(torch.func.functional_call(net, weights, (x,)), y)
each = torch.vmap(torch.func.grad(wrong), in_dims=(None, 0, 0))
# loop
for _ in range(6):
    weights = {name: one.detach() for name, one in net.named_parameters()}
    for name, slopes in each(weights, x, y).items():
        norms = slopes.flatten(1).norm(dim=1).clamp(min=1)
        net.get_parameter(name).grad = (slopes.flatten(1) / norms[:, None]).mean(0).view_as(weights[name])
    opt.step()
    opt.zero_grad()
# then
loss = F.mse_loss(net(x), y)

## a model in DDP, of which one looks at the module inside
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
net = DDP(net); opt = torch.optim.SGD(net.parameters(), lr=0.01)
with torch.no_grad():
    before = F.mse_loss(net.module(x), y)
# loop
for _ in range(6):
    loss = F.mse_loss(net(x), y)
    STEP
    with torch.no_grad():
        seen_by = F.mse_loss(net.module(x), y).item()
# then
loss = F.mse_loss(net(x), y)

## a model in DDP at its first step, in no_sync
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
net = DDP(net); opt = torch.optim.SGD(net.parameters(), lr=0.01)
# loop
for _ in range(2):
    with net.no_sync():
        F.mse_loss(net(x[:8]), y[:8]).backward()
    F.mse_loss(net(x[8:]), y[8:]).backward()
    opt.step()
    opt.zero_grad()
# then
net = DDP(net.module); opt = torch.optim.SGD(net.parameters(), lr=0.01)
with net.no_sync():
    loss = F.mse_loss(net(x), y)

## a model in DDP whose spare layer is frozen before
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
net = nn.Linear(4, 1)
net.spare = nn.Linear(4, 1).requires_grad_(False)
net = DDP(net); opt = torch.optim.SGD(net.parameters(), lr=0.01)
# loop
for _ in range(3):
    loss = F.mse_loss(net(x), y)
    STEP
# then
loss = F.mse_loss(net(x), y)
"""


def programs():
    named = re.split(r"^## (.*)\n", HEALTHY.replace("STEP", STEP), flags=re.MULTILINE)
    return dict(zip(named[1::2], named[2::2], strict=True))


def cells_of(program):
    """Return the cells of a program; the last one asks what was noticed."""
    first, loop, then = re.split(r"^# (?:loop|then)\n", program, flags=re.MULTILINE)
    loop = "\n".join(f"    {line}" for line in loop.splitlines())
    ask = "print(*seen.mistakes, sep='\\n')\ndiagnose(net, loss, opt)"
    return [SETUP + first, f"with watching(net, opt) as seen:\n{loop}", then, ask]


@pytest.mark.parametrize("name", programs())
def test_of_a_healthy_program_nothing_is_said_to_be_wrong(name):
    text = shown(cells_of(programs()[name])).strip()
    assert text.startswith("I found nothing wrong in this step."), text


HEAD = """
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint
torch.manual_seed(0)
net = nn.Linear(3, 1); opt = torch.optim.SGD(net.parameters(), lr=0.1)
x, positive = torch.randn(8, 3), torch.arange(8) > 3
"""
CARRIED = """
cell, h = nn.GRUCell(3, 4), torch.zeros(2, 4)
opt = torch.optim.SGD(cell.parameters(), lr=0.1)
for piece in torch.randn(4, 2, 3):
    opt.zero_grad()
    {}
    loss = h.pow(2).mean()
    loss.backward(retain_graph=True)
    opt.step()
    {}
"""
ASK = "diagnose(net, loss, opt)"
EXPERTS = """
class Experts(nn.Module):
    def __init__(self):
        super().__init__()
        self.experts, self.spare = nn.ModuleList(nn.Linear(3, 1) for _ in range(3)), nn.Linear(1, 1)
    def forward(self, x, chosen):
        {}
net = Experts(); opt = torch.optim.SGD(net.parameters(), lr=0.1)
loss = net(x, torch.tensor([0, 0, 0, 0, 2, 2, 2, 2]))
"""
IN_A_LOOP = """out = 0
        for nr, one in enumerate(self.experts):
            rows = (chosen == nr).unsqueeze(1)
            if rows.any():
                out = out + (one(x) * rows).sum()
        return out"""
HALF = """
class Half(nn.Module):
    def __init__(self):
        super().__init__()
        self.left, self.right = nn.Linear(3, 1), nn.Linear(3, 1)
    def forward(self, x):
        return self.left(x) + self.right(x).detach()
net = Half(); opt = torch.optim.SGD(net.parameters(), lr=0.1)
loss = net(x).mean()
"""
EDITED = """
for _ in range(3):
    h = net(x).sigmoid()
    h.mul_(2)
    loss = h.mean(); opt.zero_grad(); loss.backward(); opt.step()
"""
COLUMN = (
    "target, l1, huber = torch.randn(8), nn.L1Loss(), nn.HuberLoss()\nloss = {}(net(x), target)"
)
BROADCAST = "has shape (8, 1), but the target has a different one. The two were broadcast to (8, 8)"
TOLD = {  # a program, what asks, what is said of it, and what is not
    "an unused layer, and a checkpoint in another class": (
        "class Other(nn.Module):\n    def forward(self, x):\n"
        "        return checkpoint(torch.relu, x, use_reentrant=True)\n"
        "net.spare = nn.Linear(2, 2)\nloss = net(x).mean()",
        "diagnose(net, loss)",
        "net.spare.weight and net.spare.bias get no gradient: the graph of loss doesn't lead there",
        "checkpoint",
    ),
    "a reentrant checkpoint whose line nobody knows": (
        "run, body = checkpoint, nn.Linear(3, 3)\nnet = nn.Sequential(body, net)\n"
        "loss = net[1](run(body, x.requires_grad_(), use_reentrant=True)).mean()",
        "diagnose(net, loss)",
        "A checkpoint with use_reentrant=True hides what is in it.",
        "get no gradient",
    ),
    "experts that no row chose": (
        EXPERTS.format(IN_A_LOOP),
        ASK,
        "net.experts[1].weight, net.experts[1].bias, net.spare.weight and 1 more get no gradient",
        "comparison",
    ),
    "experts that no row chose, which a line uses": (
        EXPERTS.format(
            "return sum(one(x).sum() for nr, one in enumerate(self.experts) if nr in chosen)"
        ),
        ASK,
        "the graph of loss doesn't lead there. Look",
        "I see no line",
    ),
    "half of a model, detached": (
        HALF,
        ASK,
        "net.right.bias: no gradient gets there. The graph ends at this line: detach() cuts it off",
        "ends at self",
    ),
    "softmax of a result that has no name": (
        "net = nn.Linear(3, 3)\nopt = torch.optim.SGD(net.parameters(), lr=0.1)\n"
        "loss = nn.functional.cross_entropy(torch.softmax(net(x), 1), torch.arange(8) % 3)",
        ASK,
        "its input has been through softmax already",
        "x has been",
    ),
    "an edit, and a line of several statements": (
        EDITED,
        "diagnose()",
        "h was edited in place here, after an operation had saved it for backward().",
        "I do not know yet",
    ),
    **{
        f"a column and a row in {loss}": (COLUMN.format(loss), ASK, BROADCAST, "nothing wrong")
        for loss in ("nn.functional.mse_loss", "l1", "nn.functional.smooth_l1_loss", "huber")
    },
    "a bias that cancels": (
        "loss = net(x[:4]).mean() - net(x[4:]).mean()",
        ASK,
        "I found nothing wrong in this step.",
        "multiplies",
    ),
    "a factor of 0": (
        "loss = (net(x) * 0).mean()",
        ASK,
        "is 0 everywhere: on its way back from the loss it becomes 0.",
        "multiplies",
    ),
    "a dead relu beside a flat operation that is not to blame": (
        "net = nn.Sequential(net, nn.ReLU(), nn.Linear(1, 2))\nnet[0].bias.data.fill_(-100)\n"
        "opt = torch.optim.SGD(net.parameters(), lr=0.1)\nloss = net(x).mean() + net[2].bias.ceil().sum()",
        ASK,
        "The gradient of net[0].weight and net[0].bias is 0 everywhere. Every value that goes into "
        "one relu is at or below 0",
        "slope 0",
    ),
    "numbers that are drawn": (
        "loss = net(x).sigmoid().bernoulli().mean()",
        ASK,
        "is 0 everywhere. PyTorch gives bernoulli() the slope 0",
        "ended",
    ),
    "equal values before the line of the NaN": (
        "same = net(torch.ones(4, 3)).std()\nlogs = net(x).square().log()\n"
        "loss = torch.where(positive.unsqueeze(1), logs * 0, (net(x) * 0).log()).mean() + same",
        ASK,
        "It began at log.",
        "std",
    ),
    "the std of one value": (
        "spread = net(x[:1]).std()\nloss = spread + net(x).mean()",
        ASK,
        "It began at std. It divides by the number of values minus 1",
        "infinite slope",
    ),
    "a negative number to the power of -1": (
        "low = (-1 - net(x).square()) ** -1\nloss = low.mean() + (net(x) * 0).sqrt().mean()",
        ASK,
        "It began at sqrt.",
        "low = ",
    ),
    "a negative number to a power that is a fraction": (
        "low = (-1 - net(x).square()) ** 1.5\nloss = low.mean()",
        ASK,
        "It began at pow",
        "the slope of",
    ),
    "another loss that went backward": (
        "warm_up = net(x).sum(); warm_up.backward()\nloss = (net(x * 1e6) ** 2).sum()",
        ASK,
        "The gradients of net.weight and net.bias explode.",
        "warm_up",
    ),
    "weights that are NaN": (
        "net.weight.data.fill_(torch.nan)\nopt.step()\nloss = net(x).mean()",
        ASK,
        "loss is NaN or infinite, because net.weight is so already.",
        "Look at line",
    ),
    "eval mode, and the eval() of another model": (
        "net = nn.Sequential(net, nn.Dropout())\nloss = net.eval()(x).mean()\nother = net[0].eval()",
        "diagnose(net, loss)",
        "net[1] is in eval mode",
        "Look at line 3",
    ),
    "log_softmax twice": (
        "net = nn.Linear(3, 3)\nopt = torch.optim.SGD(net.parameters(), lr=0.1)\n"
        "loss = nn.functional.cross_entropy(net(x).log_softmax(1), torch.arange(8) % 3)",
        ASK,
        "I found nothing wrong in this step.",
        "softmax",
    ),
    "a state that is carried on, with retain_graph": (
        CARRIED.format("h = cell(piece, h)", ""),
        "diagnose()",
        "h carries the graph of an earlier round along, and the optimizer's step() has changed "
        "cell.weight_hh since then.",
        "running the model again",
    ),
    "the same, watched": (
        CARRIED.format("h = cell(piece, h)", ""),
        "diagnose(rerun=True)",
        "Try: hand h on without its graph: h = h.detach()",
        "running the model again",
    ),
    "a state that is detached, and a step too early": (
        CARRIED.format("h = cell(piece.requires_grad_(), h.detach())", "loss.backward()"),
        "diagnose()",
        "Most likely the optimizer's step() changed cell.weight_ih in place.",
        "an earlier round along, and",
    ),
    "an edit of what came from a nameless leaf": (
        "s = torch.randn(4, requires_grad=True).softmax(0)\ns[0] = 0\n(s + 1).log().sum().backward()",
        "diagnose()",
        "s was edited in place here, after an operation had saved it for backward(). So backward() "
        "found a different version from the one that was saved. Edited by line 2: s[0] = 0",
        "I do not know yet",
    ),
    "an edit that no line of the loss shows": (
        "def model(x):\n    z = net(x)\n    g = z.sigmoid()\n    out = z * g\n    g += 1\n    return out\n"
        "model(x).sum().backward()",
        "diagnose()",
        "To see which line of forward had saved it, run it again under "
        "torch.autograd.set_detect_anomaly(True)",
        "Edited by",
    ),
    "a part of a leaf that is set": (
        "net.weight[0] = 0.0",
        "diagnose()",
        "net.weight is a leaf that requires grad, and this line writes into it.",
        "w -= lr",
    ),
    "autograd.grad under vmap": (
        "torch.vmap(lambda x: torch.autograd.grad(x.sin().sum(), x)[0])(x)",
        "diagnose()",
        "This ran inside torch.vmap().",
        "made without requires_grad=True",
    ),
    "a scheduler in each batch, and a step in each fourth": (
        "plan = torch.optim.lr_scheduler.StepLR(opt, 2)\nfor number in range(1, 9):\n"
        "    net(x).mean().backward()\n    if number % 4 == 0:\n        opt.step()\n    plan.step()",
        "diagnose()",
        "inside the same if when several batches make one step",
        "call optimizer.step() first",
    ),
}


@pytest.mark.parametrize("name", TOLD)
def test_what_is_said_of_a_program_is_true_of_it(name):
    program, ask, said, unsaid = TOLD[name]
    text = " ".join(shown([HEAD, program, ask]).split())
    assert said in text, text
    assert unsaid not in text, text


def test_a_loss_in_the_place_of_the_model_is_told_in_which_order_they_go(capsys):
    from helpers import diagnose

    net = torch.nn.Linear(2, 1)
    diagnose(net(torch.ones(1, 2)).sum(), net, torch.optim.SGD(net.parameters(), lr=0.1))
    assert "write diagnose(model, loss, optimizer), in this order" in capsys.readouterr().out
