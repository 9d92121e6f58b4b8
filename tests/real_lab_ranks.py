"""The programs of lesson 18's lab on real ranks: each writes into a folder what it ran. A rank imports it."""

import time
from pathlib import Path

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

RATE, X = 0.1, (1.0, 3.0)


class Net(nn.Module):
    """Hold a and b, and in one program a c that a step may leave out."""

    def __init__(self, program):
        super().__init__()
        self.a, self.b = nn.Parameter(torch.tensor(2.0)), nn.Parameter(torch.tensor(5.0))
        if program == "spare":
            self.c = nn.Parameter(torch.tensor(0.0))

    def forward(self, x, is_whole=False):
        if is_whole and hasattr(self, "c"):
            x = x + self.c
        return self.b * (self.a * x)


class Lane:
    """Be a rank: `run` runs its program, once DDP knows the order of the buckets."""

    def __init__(self, rank, program, folder):
        self.rank, self.program, self.folder = rank, program, Path(folder)
        self.net, self.x, self.sent = Net(program), torch.tensor(X[rank]), []
        self.model = DistributedDataParallel(self.net, bucket_cap_mb=1e-6)
        self.sgd = torch.optim.SGD(self.model.parameters(), lr=RATE)
        for _ in range(2):  # in the second forward ranks agree on new buckets, and wait for that
            self.model(self.x, True).backward()
        self.sgd.zero_grad()
        if program != "extra":  # there DDP's own hook shows that it, too, divides first
            self.model.register_comm_hook(None, self.halve)

    def halve(self, _, bucket):
        self.sent.append(bucket.buffer().div_(len(X)).item())
        work = dist.all_reduce(bucket.buffer(), async_op=True)
        return work.get_future().then(lambda future: future.value()[0])

    def tell(self, line):
        with open(self.folder / f"{self.rank}.lines", "a") as file:
            file.write(line + "\n")

    def lines_of_0(self):
        path = self.folder / "0.lines"
        return len(path.read_text().splitlines()) if path.exists() else 0

    def begin_after(self, lines):
        """Wait until rank 0 has run so many lines, and write how many it has run a while later."""
        while self.lines_of_0() < lines:
            time.sleep(0.01)
        time.sleep(0.5)
        (self.folder / "alone").write_text(str(self.lines_of_0()))

    def run(self):
        if self.program == "no_sync":
            with self.model.no_sync():
                self.model(self.x).backward()
            self.tell(f"in no_sync(): {self.both('grad')}")
        for name in "ba":
            getattr(self.net, name).register_post_accumulate_grad_hook(
                lambda one, name=name: self.tell(f"{name} arrives: {one.grad.item():g}")
            )
        y = self.forward()
        if self.program == "extra" and self.rank == 0:
            self.tell("all_reduce(y): ")
            dist.all_reduce(y.detach())
        y.backward()
        self.tell(f"backward ends: {self.both('grad')}")
        self.sgd.step()
        self.tell(f"sgd.step(): {self.both('data')}")
        (self.folder / f"{self.rank}.sent").write_text(repr(self.sent))
        if self.program == "spare":
            self.call_once_more()

    def forward(self):
        goes_around = self.program == "module"
        y = self.model.module(self.x) if goes_around else self.model(self.x)
        self.tell(f"{'model.module(x)' if goes_around else 'y = model(x)'}: {y.item():g}")
        return y

    def call_once_more(self):
        try:
            self.model(self.x)
        except RuntimeError as problem:
            (self.folder / f"{self.rank}.error").write_text(str(problem))

    def both(self, what):
        numbers = [round(getattr(one, what).item(), 6) + 0.0 for one in (self.net.b, self.net.a)]
        return "b {:g}, a {:g}".format(*numbers)
