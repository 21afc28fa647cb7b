#!/usr/bin/env python3
"""Filters of same.sh, from stdin to stdout.

figures    of a recorded output: JSON and CSV without sentences, and the exit code
keep       reports of pipeexec, without the members that a clock has a part in
keep-unit  the same of runs with --unit, whose virtual clock is exact
installed  the destinations that "meson introspect --installed" lists
"""

import json
import sys

# Members of a report of pipeexec that a watch has measured or has a part in, or that name the machine.
MEASURED = set("wall_s cpu_s outside_s issue_s host null_step_s null_error_frac time_frac".split())

# Members that follow from measured durations, where --unit does not give them: times, shares of times, errors of
# predictions, latency and bandwidth of messages.
TIMES = set("""
    step_s step_low_s step_high_s predicted_step_s predicted_step_low_s predicted_step_mid_s
    predicted_step_high_s structural_error_s unattributed_s message_latency_s message_bytes_per_s gap_s
    start_gap_s barrier_gap_s model_error_frac bubble_frac span_bubble_frac
    predicted_bubble_frac steps_s busy_s idle_s span_s clock_error_s clock_jump
    slowdown predicted_slowdown slowdown_error_frac
""".split())


class Number(float):
    """A number that is printed as it was read."""

    def __new__(cls, text):
        number = super().__new__(cls, text)
        number.text = text
        return number

    def __repr__(self):
        return self.text


def documents(text):
    """The JSON documents that make up a text, or None where it is anything else."""
    decoder = json.JSONDecoder(parse_float=Number, parse_constant=str)
    found, at = [], 0
    while text[at:].strip():
        at += len(text[at:]) - len(text[at:].lstrip())
        try:
            value, at = decoder.raw_decode(text, at)
        except ValueError:
            return None
        if not isinstance(value, (dict, list)):
            return None
        found.append(value)
    return found or None


def printed(value, indent=""):
    """JSON, a member a line, with numbers as they were read."""
    inner = indent + "  "
    if isinstance(value, dict):
        return "{\n" + "".join(f"{inner}{json.dumps(k)}: {printed(v, inner)}\n" for k, v in value.items()) + indent + "}"
    if isinstance(value, list):
        return "[\n" + "".join(f"{inner}{printed(v, inner)}\n" for v in value) + indent + "]"
    return repr(value) if isinstance(value, Number) else json.dumps(value)


def without(value, names):
    if isinstance(value, dict):
        return {k: without(v, names) for k, v in value.items() if k not in names}
    if isinstance(value, list):
        return [without(v, names) for v in value]
    return value


def masked(value):
    if isinstance(value, dict):
        return {k: masked(v) for k, v in value.items()}
    if isinstance(value, list):
        return [masked(v) for v in value]
    return "SENTENCE" if isinstance(value, str) and " " in value else value


def figures_of(output):
    """Exit code and figures of what same.sh has recorded."""
    head, _, rest = output.partition("--- stdout\n")
    text = rest.rpartition("--- stderr\n")[0]
    code = head.rstrip().rpartition("\n")[2] + "\n"
    text = text.replace(": TIME", ": null").replace(": HOST", ": null")
    found = documents(text)
    if found is not None:
        return code + "".join(printed(masked(value)) + "\n" for value in found)
    first = text.partition("\n")[0]
    if "," in first and " " not in first:
        rows = [["SENTENCE" if " " in cell else cell for cell in line.split(",")] for line in text.splitlines()]
        return code + "".join(",".join(row) + "\n" for row in rows)
    return code


def main():
    mode, text = sys.argv[1], sys.stdin.buffer.read().decode("utf-8", "surrogateescape")
    if mode.startswith("keep"):
        dropped = MEASURED if mode == "keep-unit" else MEASURED | TIMES
        found = documents(text)
        if found is not None:
            text = "".join(printed(without(value, dropped)) + "\n" for value in found)
    elif mode == "figures":
        text = figures_of(text)
    elif mode == "installed":
        text = "".join(path + "\n" for path in sorted(json.loads(text).values()))
    sys.stdout.buffer.write(text.encode("utf-8", "surrogateescape"))


main()
