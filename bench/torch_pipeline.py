#!/usr/bin/env python3
"""Schedules of pipesim, executed by PyTorch's own pipeline runtime (tried: 2.15).

  torchrun --nproc-per-node RANKS bench/torch_pipeline.py SCHEDULE.csv MICRO_BATCHES FOLDER [FORMAT]
  torchrun --nproc-per-node RANKS*DP bench/torch_pipeline.py --gradients DP MICRO_BATCHES FORMAT SCHEDULE.csv...

SCHEDULE.csv: from `pipesim export --to pytorch` (FORMAT compute_only) or pytorch-waits (compute_comms). A stage
is a block of a transformer; messages go by gloo.

The first form makes profiles for `pipesim compare`: each rank writes FOLDER/rank-R.json, of the last of three
steps, and says how far loss and gradients are from those of all stages in a row. The second runs one step of each
schedule in 64 bits and says the same, a line a schedule; bench/torch_pipeline.sh runs all of them. With DP > 1 the
stages are cut by FSDP (fully_shard) over DP replicas, which take turns at the ranks."""
import os
import sys

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.pipelining import PipelineStage
from torch.distributed.pipelining.schedules import _PipelineScheduleRuntime
from torch.profiler import ProfilerActivity, profile, schedule

SAMPLES = 4  # of a micro-batch


def stage_of(number, hidden):
    torch.manual_seed(number)
    return torch.nn.TransformerEncoderLayer(hidden, 4, 4 * hidden, dropout=0.0, batch_first=True)


def mean_square(out, target):
    return torch.nn.functional.mse_loss(out, target)


class Job:
    """A schedule with its stages and data. Replica d of DP has the data of seed d + 1."""

    def __init__(self, path, micro_batches, form, hidden, seq, mesh=None):
        self.group = mesh["pp"].get_group() if mesh else None
        self.mesh = mesh
        rank = dist.get_rank(self.group)
        self.replicas = mesh["dp"].size() if mesh else 1
        rows = [line.replace(",", " ").replace("(", " ").replace(";", " ").replace(")", " ").split() for line in open(path) if not line.startswith("#")]
        forwards = [[int(cell.split("F")[0]) for cell in row if cell.replace("F", "", 1).isdigit() and "F" in cell] for row in rows]
        self.mine, self.count = sorted(set(forwards[rank])), 1 + max(map(max, forwards))
        self.hidden, self.micro_batches = hidden, micro_batches
        self.data = [torch.randn(2, micro_batches * SAMPLES, seq, hidden, generator=torch.Generator().manual_seed(1 + d)) for d in range(self.replicas)]
        self.replica = mesh["dp"].get_local_rank() if mesh else 0
        self.inputs, self.targets = self.data[self.replica]
        self.blocks = [self.block_of(s) for s in self.mine]
        stages = [PipelineStage(b, s, self.count, torch.device("cpu"), group=self.group) for s, b in zip(self.mine, self.blocks)]
        self.runtime = _PipelineScheduleRuntime(stages, micro_batches, loss_fn=mean_square)
        self.runtime._load_csv(path, format=form)

    def block_of(self, number):
        block = stage_of(number, self.hidden)
        return fully_shard(block, mesh=self.mesh["dp"], reshard_after_forward=False) if self.replicas > 1 else block

    def step(self):
        """The loss, on the rank that has the last stage; else None."""
        losses = []
        first, last = 0 in self.mine, self.count - 1 in self.mine
        self.runtime.step(*([self.inputs] if first else []), **({"target": self.targets, "losses": losses} if last else {}))
        return torch.stack(losses).mean().item() if last else None

    def errors(self, loss):
        """Of the loss (0: not known here) and the worst of the gradients, relative to a plain loop's."""
        blocks = [stage_of(s, self.hidden) for s in range(self.count)]
        want = [0] * self.replicas
        for replica, (inputs, targets) in enumerate(self.data):
            for out, target in zip(inputs.chunk(self.micro_batches), targets.chunk(self.micro_batches)):
                for block in blocks:
                    out = block(out)
                part = mean_square(out, target) / self.micro_batches
                (part / self.replicas).backward()
                want[replica] += part.item()
        differences = [0.0]
        for number, block in zip(self.mine, self.blocks):
            for mine, plain in zip(block.parameters(), blocks[number].parameters()):
                grad = mine.grad.full_tensor() if self.replicas > 1 else mine.grad
                differences.append(((grad - plain.grad).norm() / plain.grad.norm()).item())
        return abs(loss / want[self.replica] - 1) if loss is not None else 0.0, max(differences, key=lambda d: (d != d, d))


def worst_of_all(errors):
    values = torch.tensor(errors, dtype=torch.float64)
    dist.all_reduce(values, op=dist.ReduceOp.MAX)
    return tuple(values.tolist())


def make_profiles(path, micro_batches, folder, form="compute_only"):
    job = Job(path, int(micro_batches), form, hidden=256, seq=128)
    rank = dist.get_rank()
    os.makedirs(folder, exist_ok=True)
    write = lambda p: p.export_chrome_trace(os.path.join(folder, "rank-%d.json" % rank))
    with profile(activities=[ProfilerActivity.CPU], schedule=schedule(wait=0, warmup=2, active=1), on_trace_ready=write) as profiler:
        for _ in range(3):
            dist.barrier()
            for block in job.blocks:
                block.zero_grad()
            loss = job.step()
            profiler.step()
    errors = worst_of_all(job.errors(loss))
    if loss is not None:
        print("loss %.9f; relative to all stages in a row: loss %.1e, gradients %.1e" % (loss, *errors))


def compare_gradients(dp, micro_batches, form, *paths):
    torch.set_default_dtype(torch.float64)
    mesh = init_device_mesh("cpu", (int(dp), dist.get_world_size() // int(dp)), mesh_dim_names=("dp", "pp"))
    for path in paths:
        job = Job(path, int(micro_batches), form, hidden=16, seq=4, mesh=mesh)
        errors = worst_of_all(job.errors(job.step()))
        if dist.get_rank() == 0:
            print("%-28s %-13s %7.0e %7.0e" % (os.path.basename(path), form, *errors), flush=True)


if len(sys.argv) < 4:
    sys.exit(__doc__)
torch.set_num_threads(1)
dist.init_process_group("gloo")
if sys.argv[1] == "--gradients":
    compare_gradients(*sys.argv[2:])
else:
    make_profiles(*sys.argv[1:])
dist.barrier()
dist.destroy_process_group()
