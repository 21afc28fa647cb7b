#!/usr/bin/env python3
"""How much memory and time it takes to read a profile of PyTorch, by the size of the file.

bench/kineto.py [PIPESIM [MIB...]]: files of 64, 256 and 1024 MiB by default, a third of whose events are
launches and a third their kernels. Prints peak memory, the processor's time, and that of `cat` beside it.
"""
import os
import subprocess
import sys
import tempfile

EVENT = ('  {{\n    "ph": "X", "cat": "{}", "name": "{}", "pid": {}, "tid": {},\n    "ts": {:.3f}, "dur": {:.3f},\n'
         '    "args": {{\n      {}\n    }}\n  }},\n')
OPERATOR = ('"External id": 1340,"Sequence number": 0, "Fwd thread id": 0, "Concrete Inputs": ["", "[2, 2]", "[1, 1]", '
            '"False"], "Input type": ["float", "float", "ScalarList"], "Input Dims": [[150528, 1, 672, 3], [147, 1, 21], []]')
KERNEL = ('"External id": 1, "queued": 0, "device": 0, "context": 1, "stream": 7, "correlation": {}, "registers per thread": '
          '168, "shared memory": 213, "blocks per SM": 1.0, "grid": [132, 1, 1], "block": [384, 1, 1]')
LAUNCHES = 200  # of an op


def op(cell, host_us, device_us, correlation):
    """A range of the host, the operators and launches in it, and their kernels."""
    parts = []
    for k in range(LAUNCHES):
        at_us, number = host_us + 1 + 5 * k, correlation + k
        parts.append(EVENT.format("cpu_op", "aten::mm", 4711, 4711, at_us, 3.1, OPERATOR))
        parts.append(EVENT.format("cuda_runtime", "cudaLaunchKernel", 4711, 4711, at_us + 1, 2,
                                  f'"External id": 1, "cbid": 211, "correlation": {number}'))
        parts.append(EVENT.format("kernel", "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64", 0, 7,
                                  device_us + 21 * k, 20.5, KERNEL.format(number)))
    parts.append(EVENT.format("user_annotation", f"PP:{cell}", 4711, 4711, host_us, 2 + 5 * LAUNCHES, '"External id": 9'))
    return "".join(parts)


def write(path, size):
    """Steps of 64 micro-batches on one stage, until the file has that many bytes; returns the launches."""
    ops = 0
    with open(path, "w") as out:
        out.write('{\n "schemaVersion": 1,\n "distributedInfo": {"backend": "nccl", "rank": 0, "world_size": 1},\n'
                  ' "baseTimeNanoseconds": 1700000000000000000,\n "traceEvents": [\n')
        while out.tell() < size:
            for cell in [f"0{kind}{mb}" for mb in range(64) for kind in "FB"]:
                out.write(op(cell, 10 * LAUNCHES * ops, 22 * LAUNCHES * ops, LAUNCHES * ops))
                ops += 1
        out.write('  {"ph": "M", "name": "x"}\n ]\n}\n')
    return ops * LAUNCHES


def measure(command):
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        sys.exit(f"{command}: status {status}")
    return usage.ru_maxrss / 1024, usage.ru_utime + usage.ru_stime


def main():
    pipesim = sys.argv[1] if len(sys.argv) > 1 else "build/sim/pipesim"
    sizes = [int(text) for text in sys.argv[2:]] or [64, 256, 1024]
    print(f"{'MiB':>6}{'launches':>12}{'peak MiB':>10}{'s':>8}{'x cat':>8}")
    for size in sizes:
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "rank0.json")
            launches = write(path, size << 20)
            peak, used_s = measure([pipesim, "plot", path, "-o", os.path.join(folder, "x.gp")])
            _, cat_s = measure(["cat", path])
            print(f"{size:>6}{launches:>12,}{peak:>10.1f}{used_s:>8.1f}{used_s / max(cat_s, 0.01):>8.0f}")


main()
