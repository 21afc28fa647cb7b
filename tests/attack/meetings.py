#!/usr/bin/env python3
"""Other programs call at the port where a run meets, or answer there in place of process 0.

  meetings.py PIPEEXEC [SEED]
"""

import os
import random
import socket
import struct
import subprocess
import sys
import time

OPTIONS = "--schedule 1f1b --layers 2 --hidden 16 --heads 2 --seq 8 --mbs 1 --steps 2 --no-check --quiet".split()
MAGIC = 0x70697066


class Meetings:
    def __init__(self, program, seed):
        self.program, self.rng, self.trials, self.failures = program, random.Random(seed), 0, 0

    def start(self, rank, port, patience=60):
        place = f"tcp://127.0.0.1:{port}?rank={rank}&world_size=2&timeout={patience}"
        return subprocess.Popen([self.program, *OPTIONS, "--rendezvous", place], stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                env={**os.environ, "PIPEEXEC_RUN_ID": "attack"})

    def end(self, process, wanted, what, seconds=60):
        self.trials += 1
        try:
            errors = process.communicate(timeout=seconds)[1]
        except subprocess.TimeoutExpired:
            process.kill()
            errors = process.communicate()[1] + b" (too slow)"
        if process.returncode != wanted or any(byte < 32 and byte not in (9, 10) for byte in errors):
            self.failures += 1
            print("failure:", what, "-- exit code", process.returncode, errors[:200])

    def hello(self):
        return struct.pack("<IIQii9Q1024s", MAGIC, 88, self.rng.getrandbits(64), 1, 2, *9 * [1], b"--np 2\n")

    def callers(self, port, count, is_idle):
        """A run of two meets while others call."""
        first, held = self.start(0, port), []
        for _ in range(200):
            try:
                held.append(socket.create_connection(("127.0.0.1", port), timeout=5))
                break
            except OSError:
                time.sleep(0.05)
        for _ in range(count):
            call = socket.socket()
            call.setblocking(False)
            try:
                call.connect(("127.0.0.1", port))
            except BlockingIOError:
                pass
            held.append(call)
        words = [b"", b"GET / HTTP/1.1\r\n\r\n", self.rng.randbytes(2000), struct.pack("<I", MAGIC), self.hello(),
                 self.hello()[:40]]
        for call in held:
            try:
                call.send(words[3] if is_idle else self.rng.choice(words))
                if not is_idle and self.rng.random() < 0.8:
                    call.close()
            except OSError:
                pass
        second = self.start(1, port)
        what = f"{count} {'idle' if is_idle else 'wrong'} callers"
        self.end(second, 0, what, 30)
        self.end(first, 0, what, 30)

    def servers(self, port):
        """Something else answers where process 0 should."""
        answers = [b"", b"HTTP/1.1 400 Bad Request\r\n\r\n" * 30, self.rng.randbytes(520),
                   struct.pack("<Ii", MAGIC, 1) + b"\x1b]0;x\x07\x1b[31mred" + b"A" * 512,
                   struct.pack("<Ii", MAGIC, 2) + b"%s%n" * 128, struct.pack("<Ii", MAGIC, 0) + bytes(512),
                   struct.pack("<Ii", MAGIC, 0) + bytes(512 + 256) + self.rng.randbytes(5000)]
        for k, answer in enumerate(answers):
            with socket.socket() as listener:
                listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                listener.bind(("127.0.0.1", port))
                listener.listen(5)
                listener.settimeout(20)
                member = self.start(1, port, 3)
                call = listener.accept()[0]
                call.recv(80, socket.MSG_WAITALL)
                call.sendall(answer)
                call.close()
                self.end(member, 1, f"answer {k}")


def main(program, seed=1):
    meetings = Meetings(program, int(seed))
    port = 21000 + os.getpid() % 8000
    meetings.callers(port, 300, is_idle=False)
    meetings.callers(port + 1, 900, is_idle=True)
    meetings.servers(port + 2)
    print(f"meetings: {meetings.trials} trials, {meetings.failures} failures")
    sys.exit(meetings.failures > 0)


main(*sys.argv[1:])
