#!/usr/bin/env python3
"""Numbers of tests/ratchets.txt, which only go down: NAME NUMBER a line.

  ratchet.py SOURCE NAME=COUNT...    1 if a count is above its number; says so if it is below
"""

import os
import sys


def check(source, **counts):
    with open(os.path.join(source, "tests/ratchets.txt")) as lines:
        most = {line.split()[0]: int(line.split()[1]) for line in lines if line.strip() and not line.startswith("#")}
    for name, count in counts.items():
        if count > most[name]:
            print(f"{name}: {count}, at most {most[name]} (tests/ratchets.txt)")
        elif count < most[name]:
            print(f"{name}: {count}, fewer than {most[name]}: lower the number in tests/ratchets.txt")
        else:
            print(f"{name}: {count}")
    return int(any(count > most[name] for name, count in counts.items()))


if __name__ == "__main__":
    sys.exit(check(sys.argv[1], **{name: int(count) for name, count in (word.split("=") for word in sys.argv[2:])}))
