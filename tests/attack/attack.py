"""What all attacks share: commands with limits, and counts of trials and failures."""

import re
import resource
import subprocess
import sys

MEMORY = 8 << 30
# run, program, verify, compare have no other ends; 139 and the like are crashes.
ENDS = {0, 1, 2, 3, 4, 5}


def is_sanitized(program):
    """Address sanitizer reserves terabytes of addresses, keeps freed memory, and takes its time."""
    with open(program, "rb") as file:
        return b"__asan_init" in file.read()


def limit():
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


class Attack:
    """Runs a program; counts trials and prints failures."""

    def __init__(self, program, has_limit=True):
        self.program, self.trials, self.failures = program, 0, 0
        sanitized = is_sanitized(program)
        self.limit, self.patience = limit if has_limit and not sanitized else None, 20 if sanitized else 1

    def run(self, *words, seconds=60):
        self.trials += 1
        try:
            done = subprocess.run([self.program, *map(str, words)], capture_output=True, text=True, errors="replace",
                                  timeout=seconds * self.patience, preexec_fn=self.limit, stdin=subprocess.DEVNULL)
        except subprocess.TimeoutExpired:
            self.fail(words, f"longer than {seconds * self.patience} s")
            return None
        if done.returncode not in ENDS:
            self.fail(words, f"exit code {done.returncode}: {done.stderr[:200]}")
        elif done.returncode and not done.stderr.strip():
            self.fail(words, f"exit code {done.returncode} without a reason")
        elif re.search("internal check|Sanitizer: |runtime error: ", done.stderr):
            self.fail(words, done.stderr[:200])
        return done

    def fail(self, what, why):
        self.failures += 1
        print("failure:", " ".join(str(word)[:200] for word in what), "--", why)

    def end(self, name):
        print(f"{name}: {self.trials} trials, {self.failures} failures")
        sys.exit(self.failures > 0)
