#!/usr/bin/env python3
"""A schedule of pipesim, executed by PyTorch's own pipeline runtime: profiles for `pipesim compare`.

  torchrun --nproc-per-node RANKS bench/torch_pipeline.py SCHEDULE.csv MICRO_BATCHES FOLDER [FORMAT]

SCHEDULE.csv: from `pipesim export --to pytorch` (FORMAT compute_only) or pytorch-waits (compute_comms). A stage
is a block of a transformer; messages go by gloo. Each rank writes FOLDER/rank-R.json, of the last of three
steps, and process 0 says the loss with the schedule and that of all stages in a row."""
import os
import sys

import torch
import torch.distributed as dist
from torch.distributed.pipelining import PipelineStage
from torch.distributed.pipelining.schedules import _PipelineScheduleRuntime
from torch.profiler import ProfilerActivity, profile, schedule

HIDDEN, SEQ, SAMPLES = 256, 128, 4  # SAMPLES: of a micro-batch


def stage_of(number):
    torch.manual_seed(number)
    return torch.nn.TransformerEncoderLayer(HIDDEN, 4, 4 * HIDDEN, dropout=0.0, batch_first=True)


def mean_square(out, target):
    return torch.nn.functional.mse_loss(out, target)


def main(path, micro_batches, folder, form="compute_only"):
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    rank, ranks = dist.get_rank(), dist.get_world_size()
    rows = [line.replace(",", " ").split() for line in open(path) if not line.startswith("#")]
    mine = sorted({int(cell.split("F")[0]) for cell in rows[rank] if cell[-1].isdigit() and "F" in cell and "_" not in cell})
    count = 1 + max(int(cell.split("F")[0]) for row in rows for cell in row if "F" in cell and "_" not in cell)
    inputs = torch.randn(micro_batches * SAMPLES, SEQ, HIDDEN, generator=torch.Generator().manual_seed(1))
    targets = torch.zeros_like(inputs)
    stages = [PipelineStage(stage_of(s), s, count, torch.device("cpu")) for s in mine]
    runtime = _PipelineScheduleRuntime(stages, micro_batches, loss_fn=mean_square)
    runtime._load_csv(path, format=form)
    os.makedirs(folder, exist_ok=True)
    write = lambda p: p.export_chrome_trace(os.path.join(folder, "rank-%d.json" % rank))
    with profile(activities=[ProfilerActivity.CPU], schedule=schedule(wait=0, warmup=2, active=1), on_trace_ready=write) as profiler:
        for _ in range(3):
            losses = []
            dist.barrier()
            first, last = 0 in mine, count - 1 in mine
            runtime.step(*([inputs] if first else []), **({"target": targets, "losses": losses} if last else {}))
            if last:
                loss = torch.stack(losses).mean().item()
            profiler.step()
    if count - 1 in mine:
        with torch.no_grad():
            out = inputs
            for s in range(count):
                out = stage_of(s)(out)
        print("rank %d: loss %.9f, of all stages in a row %.9f" % (rank, loss, mean_square(out, targets).item()))
    dist.barrier()
    dist.destroy_process_group()


if len(sys.argv) not in (4, 5):
    sys.exit(__doc__)
main(sys.argv[1], int(sys.argv[2]), *sys.argv[3:])
