"""Runs of pipeexec with memory tiers, for tests: layouts and homes, folders, checkpoints, and what a run leaves."""

import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

PIPEEXEC = os.path.abspath(sys.argv[1])
PATIENCE_S = 120
SMALL = "--layers 4 --hidden 32 --heads 2 --seq 16 --mbs 2 --no-check".split()
LAYOUTS = ["--schedule gpipe --np 2 --micro-batches 4", "--schedule 1f1b --np 3 --micro-batches 6",
           "--schedule interleaved --np 2 --vp 2 --micro-batches 4", "--schedule zb-h1 --np 2 --micro-batches 4",
           "--schedule gpipe --np 2 --dp 2 --micro-batches 2", "--schedule bfs --np 1 --vp 4 --micro-batches 4"]
HOMES = ["a=nvme", "os=nvme", "os=nvme --cpu-optimizer", "g,os=nvme --cpu-optimizer", "p=nvme", "p,g,os=nvme",
         "p,g,os,a=nvme --cpu-optimizer", "p,os=nvme,a=host"]
number = failures = 0


def report(why, name):
    """`why`: what is wrong; empty if nothing is."""
    global number, failures
    number += 1
    failures += bool(why)
    lines = [line for line in str(why or "").split("\n") if line]
    print("\n# ".join([f"{'not ok' if why else 'ok'} {number} - {name}", *lines]), flush=True)


def end(*notes):
    for note in notes:
        print(f"# {note}")
    print(f"1..{number}")
    sys.exit(failures > 0)


class Folder:
    """Folders of a trial: of the tier, of temporary files, of checkpoints."""

    def __init__(self):
        self.path = tempfile.mkdtemp(prefix="tier_runs_")
        self.nvme, self.tmp, self.kept = (os.path.join(self.path, name) for name in ("nvme", "tmp", "kept"))
        os.mkdir(self.nvme)
        os.mkdir(self.tmp)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.path)


def command(layout, home, nvme, *more):
    """`home` None: without tiers."""
    tiers = ["--offload", *home.split()] if home else []
    return [PIPEEXEC, *SMALL, *layout.split(), *tiers, *(["--nvme", nvme] if home and "nvme" in home else []), *more]


def lives(group):
    """Processes of a group that have not ended."""
    found = []
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return found
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/stat", encoding="utf-8") as stat:
                fields = stat.read().rsplit(")", 1)[1].split()
        except OSError:
            continue
        if int(fields[2]) == group and fields[0] != "Z":
            found.append(pid)
    return found


def shared():
    return {name for name in os.listdir("/dev/shm") if "pipeexec" in name}


def run(words, folder):
    """Returns exit code, standard output and error, seconds, and what is left."""
    before, begin_s = shared(), time.monotonic()
    child = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
                             env={**os.environ, "TMPDIR": folder.tmp}, stdin=subprocess.DEVNULL)
    try:
        out, err = child.communicate(timeout=PATIENCE_S)
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        out, err = child.communicate()
        err += f"\nstill there after {PATIENCE_S} s"
    took_s = time.monotonic() - begin_s
    for _ in range(100):
        left = [f"process {pid}" for pid in lives(child.pid)]
        if not left:
            break
        time.sleep(0.02)
    left += [f"file {name}" for name in os.listdir(folder.nvme) + os.listdir(folder.tmp)]
    left += [f"shared memory {name}" for name in shared() - before]
    return child.returncode, out, err, took_s, left


def sums(path):
    """Checksums of complete checkpoints by step, without the manifest, which has the command line."""
    found = {}
    for step in sorted(os.listdir(path)) if os.path.isdir(path) else []:
        if re.fullmatch(r"step-\d+", step):
            found[int(step[5:])] = files(os.path.join(path, step), ".bin")
    return found


def files(path, end_of_name):
    found = {}
    for name in sorted(os.listdir(path)):
        if name.endswith(end_of_name):
            with open(os.path.join(path, name), "rb") as file:
                found[name] = hashlib.md5(file.read()).hexdigest()
    return found


def one_step(layout, home):
    """The report of a step; None where the home is only simulated, or the run fails, which is reported."""
    with Folder() as folder:
        code, out, err, _, left = run(command(layout, home, folder.nvme, "--steps", "1", "--json"), folder)
    if code == 2 and "simulated" in err:
        return None
    if code or left:
        report(f"exit code {code}\n{err}{left}", f"{layout} --offload {home}")
        return None
    return json.loads(out)


def executable():
    """Layouts and homes that run, and their ranks. Those that are only simulated are left out."""
    found = [(layout, home, one_step(layout, home)) for layout in LAYOUTS for home in HOMES]
    return [(layout, home, len(said["ranks"])) for layout, home, said in found if said]
