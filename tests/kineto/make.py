#!/usr/bin/env python3
"""Traces as PyTorch's profiler (Kineto) writes them, one for each rank, from a trace of pipesim.

make.py TRACE.csv FOLDER [NAME=VALUE...]

Ranges named PP:<op> on the host, the calls that launch kernels (those of a backward by a thread of
autograd), the kernels, and the ranges that the profiler draws on the device, which lack autograd's
part. What an op took, its kernels take; a message is on the device from its post to its end.

  tp=2           so many processes for each rank of the trace
  skew_us=300    the clock of process k is ahead by k times that
  noise=50       so many other events for each op
  base=1         a base for times, and times since it; 0: since 1970, as PyTorch 2.2 and older
  what=all       host: no device; drawn: no launches
  rank=info      name: no distributedInfo, the rank is in the name of the file
  steps=1        ProfilerStep#N; 0: none
  shape=kineto   names of the files, and .gz
"""
import csv
import gzip
import json
import os
import sys

EPOCH_NS = 1_700_000_000_000_000_000
HOST_PID, MAIN, AUTOGRAD = 4711, 4711, 4799
COMPUTE, NCCL = 7, 20  # streams


class Process:
    def __init__(self, options, number):
        self.options, self.number = options, number
        self.events, self.correlation, self.host_us = [], 1, 0.0
        self.shift_us = number * float(options.get("skew_us", 0))
        self.base_ns = EPOCH_NS if options.get("base", "1") == "1" else 0

    def us(self, seconds):
        since_us = seconds * 1e6 + 5e6 + self.shift_us
        return round(since_us + (0 if self.base_ns else EPOCH_NS / 1000), 3)

    def slice(self, name, category, pid, tid, start_s, duration_s, **args):
        self.events.append({"ph": "X", "cat": category, "name": name, "pid": pid, "tid": tid,
                            "ts": self.us(start_s), "dur": round(duration_s * 1e6, 3), "args": args})

    def launch(self, kernel, stream, host_s, tid, start_s, duration_s):
        """One kernel, and the call that started it."""
        self.correlation += 1
        if self.options.get("what", "all") == "all":
            self.slice("cudaLaunchKernel", "cuda_runtime", HOST_PID, tid, host_s, 2e-6,
                       correlation=self.correlation, cbid=211)
            self.slice(kernel, "kernel", 0, stream, start_s, duration_s, device=0, stream=stream,
                       correlation=self.correlation, grid=[132, 1, 1], block=[256, 1, 1])

    def noise(self, at_s):
        for k in range(int(self.options.get("noise", 3))):
            self.slice("aten::mm \"}]{[", "cpu_op", HOST_PID, MAIN, at_s, 1e-6, **{
                "External id": k, "Input Dims": [[4096, 4096], [4096, 1024]], "Fwd thread id": 0,
                "Concrete Inputs": ["", "]\\", "a\\\"b"]})
        self.events.append({"ph": "s", "id": self.correlation, "pid": HOST_PID, "tid": MAIN,
                            "ts": self.us(at_s), "cat": "ac2g", "name": "ac2g"})

    def op(self, row, host_s, host_end_s):
        """A range of the host, from host_s to host_end_s, and what it runs on the device."""
        cell, what = row["cell"], self.options.get("what", "all")
        start_s, end_s = float(row["start_s"]), float(row["end_s"])
        is_message = row["stream"] == "channel"
        if is_message:
            start_s = float(row["posted_s"])
        name = f"PP:{cell}"
        if row["kind"] == "U":
            name = "Optimizer.step#AdamW.step"
        if what == "host":
            host_s, host_end_s = start_s, start_s if is_message else end_s
        self.slice(name, "user_annotation", HOST_PID, MAIN, host_s, host_end_s - host_s)
        self.noise(host_s)
        if what == "host":
            return
        stream = NCCL if is_message else COMPUTE
        is_backward = row["kind"] in "BIW"
        tid = AUTOGRAD if is_backward else MAIN
        third = (end_s - start_s) / 3
        inside = (host_end_s - host_s) / 4
        for k in range(1 if is_message else 3):
            self.launch("ncclDevKernel_SendRecv(ncclDevKernelArgs)" if is_message else "gemm", stream,
                        host_s + (k + 1) * inside, MAIN if k == 0 else tid, start_s + k * third,
                        end_s - start_s if is_message else third * 0.999 if k < 2
                        else end_s - start_s - 2 * third)
        drawn_s = third if is_backward and what == "all" else end_s - start_s
        self.slice(name, "gpu_user_annotation", 0, stream, start_s, drawn_s)


def kind_of(cell):
    return cell.strip("0123456789").split("-")[0].split("s")[0]


def order_updates(events):
    """An optimizer for each part of the model, in the order of parts."""
    updates = sorted((e for e in events if e["kind"] == "U"), key=lambda e: int(e["cell"][:-1]))
    at_s = min((float(e["start_s"]) for e in updates), default=0)
    for event in updates:
        event["start_s"], at_s = at_s, at_s + float(event["duration_s"])
        event["end_s"] = at_s


def join_recomputation(events):
    """It is launched by a backward, as a part of it."""
    joined, before = [], None
    for event in sorted(events, key=lambda e: float(e["start_s"])):
        if event["kind"] == "R":
            before = event
            continue
        if before and event["kind"] in "BI":
            event["start_s"] = float(event["start_s"]) - float(before["duration_s"])
            before = None
        joined.append(event)
    return joined


def write(process, folder, rank):
    options = process.options
    trace = {"schemaVersion": 1}
    if options.get("rank", "info") == "info":
        trace["distributedInfo"] = {"backend": "nccl", "rank": rank, "world_size": 0}
    trace["deviceProperties"] = [{"id": 0, "name": "NVIDIA H100 80GB HBM3", "numSms": 132}]
    trace["displayTimeUnit"] = "ms"
    if process.base_ns:
        trace["baseTimeNanoseconds"] = process.base_ns
    trace["traceEvents"] = process.events
    trace["traceName"] = "made"
    path = os.path.join(folder, f"rank{rank}_trace.json.gz")
    with gzip.GzipFile(path, "wb", mtime=0) as out:
        out.write(json.dumps(trace, separators=(",", ":")).encode())


def main():
    options = dict(argument.split("=", 1) for argument in sys.argv[3:])
    with open(sys.argv[1], newline="") as file:
        rows = [r for r in csv.DictReader(line for line in file if not line.startswith("#"))]
    os.makedirs(sys.argv[2], exist_ok=True)
    lists = {}
    for row in rows:
        row["kind"] = kind_of(row["cell"])
        lists.setdefault((int(row["replica"]), int(row["rank"])), []).append(row)
    copies, number = int(options.get("tp", 1)), 0
    for (replica, rank), events in sorted(lists.items(), key=lambda item: (item[0][1], item[0][0])):
        for _ in range(copies):
            process = Process(options, number)
            steps = sorted({int(e["step"]) for e in events})
            for step in steps:
                ours = [e for e in events if int(e["step"]) == step
                        and (e["stream"] in ("compute", "channel"))]
                order_updates(ours)
                ours = join_recomputation(ours)
                first = min(float(e["posted_s"] or e["start_s"]) for e in ours)
                last = max(float(e["end_s"]) for e in ours)
                # the host is ahead of the device, and done with the step before it
                tick = (last - first) * 0.8 / (len(ours) + 1)
                begin = first if options.get("what") == "host" else first - 1e-4
                ours.sort(key=lambda e: float(e["posted_s"] or e["start_s"]))
                for k, event in enumerate(ours):
                    process.op(event, begin + (k + 0.1) * tick, begin + (k + 0.9) * tick)
                if options.get("steps", "1") == "1":
                    process.slice(f"ProfilerStep#{step + 10}", "user_annotation", HOST_PID, MAIN,
                                  begin, last - begin - 1e-4 if options.get("what") != "host"
                                  else last - begin)
            write(process, sys.argv[2], number)
            number += 1


main()
