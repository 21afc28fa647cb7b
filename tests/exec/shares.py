#!/usr/bin/env python3
"""Each of 2, 4 and 8 processes takes and sends what its layout needs, and at most 5 % more.

  shares.py PIPEEXEC MEASURE sockets | memory

MEASURE is loaded into every process (measure.c). Each number is found in two ways:
  sockets  bytes written, counted by the calls and by the kernel. Needed: messages, sums and samples, by the
           shapes of the model. That includes the start, where no state may travel.
  host     resident pages that are not the device's, once the states are drawn and most at once, each less
           those of a smaller model (not with address sanitizer, which has memory of its own); and the least free
           memory with which 8 processes begin. Needed: the states that the process draws.
  device   addresses that the emulated device has given out, less those of a smaller model; and the least device
           on which 8 processes begin, which one and 4 processes find too small. Needed: the layout in the
           report, in whole pages.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../attack"))
from attack import is_sanitized

PIPEEXEC, MEASURE = (os.path.abspath(path) for path in sys.argv[1:3])
FOLDER = tempfile.mkdtemp()
MOST = 1.05
PATIENCE_S = 1200 if is_sanitized(PIPEEXEC) else 240
PORT = 10000 + os.getpid() * 64 % 22400
FIELDS = ("sent", "kernel", "drawn", "host", "device")
LAYERS, VOCAB, SEQ = 16, 128, 64
HIDDEN, SMALL = 384, 32
PAGE = 2 << 20
WORKSPACE = 32 << 20  # of cuBLASLt
GPU = "--mbs 1 --micro-batches 2 --steps 1 --backend cuda --transport"
tests = failures = port = 0


def report(good, name, *facts):
    global tests, failures
    tests += 1
    failures += not good
    print("ok" if good else "not ok", tests, "-", name, flush=True)
    for fact in () if good else facts:
        print("\n".join("# " + line for line in str(fact).splitlines()))


def launch(count, options, heads=2, **variables):
    """The report of process 0, or its message, and what is measured of each process."""
    global port
    port += 1
    words = f"--layers {LAYERS} --heads {heads} --vocab {VOCAB} --seq {SEQ} --no-check --json --schedule 1f1b {options}"
    started = []
    for rank in reversed(range(count)):
        env = dict(os.environ, RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE=str(count), MASTER_ADDR="127.0.0.1",
                   MASTER_PORT=str(PORT + port), LD_PRELOAD=MEASURE, PP_MEASURED=f"{FOLDER}/{rank}",
                   PP_EMULATED_DEVICES=str(count), ASAN_OPTIONS="verify_asan_link_order=0", **variables)
        started.append(subprocess.Popen([PIPEEXEC, *words.split()], env=env, text=True, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE))
    out, err = [process.communicate(timeout=PATIENCE_S) for process in started][-1]
    measured = []
    for rank in range(count):
        with open(f"{FOLDER}/{rank}") as file:
            measured.append(dict(zip(FIELDS, map(int, file.read().split()))))
    return json.loads(out) if started[-1].returncode == 0 else None, err, measured


def elements(count, hidden):
    """Weights of each rank: blocks with two norms, attention and an MLP of 4 x hidden, and biases."""
    ranks = [LAYERS // count * (12 * hidden * hidden + 13 * hidden)] * count
    ranks[0] += (VOCAB + SEQ) * hidden
    ranks[-1] += VOCAB * hidden + 2 * hidden
    return ranks


def within(got, needed):
    return all(n / MOST <= g <= n * MOST for g, n in zip(got, needed, strict=True))


def of(measured, field):
    return [one[field] for one in measured]


# ---- sockets: over tcp, on the CPU, messages and sums are bytes of sockets ----


def needed_bytes(count, replicas, zero, hidden, mbs, micro_batches, steps):
    ranks = count // replicas
    message, samples = 4 * mbs * SEQ * hidden, 4 * mbs * SEQ * micro_batches
    for replica in range(replicas):
        for rank in range(ranks):
            sent = message * micro_batches * ((rank > 0) + (rank + 1 < ranks))
            if replicas > 1:  # the sum, or a part of it; with ZeRO also a share of the weights, or all others
                sent += 4 * elements(ranks, hidden)[rank] * (replicas - 1 if replica == 0 else 1 + (zero > 0) / replicas)
            if rank == 0 and replica == 0:  # inputs and targets of others
                sent += samples * (2 * replicas - 1)
            yield steps * sent


def check_sockets(count, replicas, zero=0):
    options = "--hidden 128 --mbs 2 --micro-batches 8 --steps 2 --backend cpu"
    got, err, measured = launch(count, f"{options} --dp {replicas} --zero {zero}")
    needed = list(needed_bytes(count, replicas, zero, 128, 2, 8, 2))
    for field in ("sent", "kernel"):
        report(got and within(of(measured, field), needed), f"{count} processes, {replicas} replicas, ZeRO {zero}: bytes, {field}",
               of(measured, field), needed, err)


def check_group(count):
    """The devices of one rank. Each sends the others its part of an exchange: of more than two, a share to each in two
    rounds. A block has four exchanges, embedding and head have one each. The loss has three numbers a token."""
    hidden, mbs, micro_batches, steps = 128, 2, 2, 2
    got, err, measured = launch(count, f"--hidden {hidden} --np 1 --tp {count} --mbs {mbs} --micro-batches {micro_batches} "
                                f"--steps {steps} --backend cpu", heads=8)
    part, tokens = 4 * mbs * SEQ * hidden, mbs * SEQ
    rounds = 2 * (count - 1) / count if count > 2 else 1
    sent = (4 * LAYERS + 2) * rounds * part + (count - 1) * 3 * 4 * tokens
    samples = 2 * 4 * tokens * micro_batches * (count - 1)
    needed = [steps * (micro_batches * sent + (samples if rank == 0 else 0)) for rank in range(count)]
    for field in ("sent", "kernel"):
        report(got and within(of(measured, field), needed), f"{count} devices of a rank: bytes, {field}",
               of(measured, field), needed, err)


# ---- memory: with emulated devices ----


def begins(count, **variables):
    transport = "ipc" if count > 1 else "local"
    got, err, _ = launch(count, f"--np {count} --hidden {HIDDEN} {GPU} {transport}", **{name: str(int(value)) for name, value in variables.items()})
    return bool(got), err


def check_host(count, measured, smaller):
    needed, few = ([16 * n for n in elements(count, hidden)] for hidden in (HIDDEN, SMALL))
    more = [n - f for n, f in zip(needed, few)]
    drawn, host = ([one - other for one, other in zip(of(measured, field), of(smaller, field))] for field in ("drawn", "host"))
    if not is_sanitized(PIPEEXEC):
        report(within(drawn, more), f"{count} processes: host memory with drawn states", drawn, more)
        report(all(one <= m * MOST for one, m in zip(host, more)), f"{count} processes: most host memory", host, more)
    report(all(one < n / 100 for one, n in zip(of(measured, "sent"), needed)), f"{count} processes send no states",
           of(measured, "sent"))


def check_least_host(count):
    needed = 16 * max(elements(count, HIDDEN))
    for share in (MOST, 1 / MOST):
        good, err = begins(count, PP_HOST_FREE_BYTES=needed * share)
        report(good == (share > 1) and (good or "the host needs" in err), f"{count} processes on a host with {share:.3f} of it",
               err)


def check_device(count, layout, measured, smaller):
    pages = [-(-one // PAGE) * PAGE for one in layout]
    device = [one - other + PAGE for one, other in zip(of(measured, "device"), of(smaller, "device"))]
    report(within(device, pages), f"{count} processes: device memory", device, pages)


def check_least_device(count, layout):
    least = (max(layout) + WORKSPACE) * 16 / 15  # a small device leaves a sixteenth to libraries
    for processes, share in (count, MOST), (count, 1 / MOST), (count // 2, MOST), (1, MOST):
        good, err = begins(processes, PP_EMULATED_MEMORY_BYTES=least * share)
        report(good == (processes == count and share > 1) and (good or "this device has" in err),
               f"{processes} processes on a device with {share:.3f} of what {count} need", err)


def check_memory(count):
    got, err, measured = launch(count, f"--hidden {HIDDEN} {GPU} ipc")
    small, _, smaller = launch(count, f"--hidden {SMALL} {GPU} ipc")
    report(got and small, f"{count} processes", err)
    if not got:
        return
    check_host(count, measured, smaller)
    layout = [rank["predicted_peak_mem_bytes"] for rank in got["ranks"]]
    check_device(count, layout, measured, smaller)
    if count == 8:
        check_least_host(count)
        check_least_device(count, layout)


for processes in (2, 4, 8):
    if sys.argv[3] == "memory":
        check_memory(processes)
    else:
        check_sockets(processes, 1)
if sys.argv[3] == "sockets":
    check_sockets(4, 2)
    check_sockets(4, 2, zero=1)
    check_group(2)
    check_group(4)
shutil.rmtree(FOLDER)
print(f"1..{tests}")
sys.exit(failures > 0)
