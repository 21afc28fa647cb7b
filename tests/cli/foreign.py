#!/usr/bin/env python3
"""What messages say about options of trainers and of the other program is true.

  foreign.py PIPESIM PIPEEXEC SOURCE

Each name of the table in core/cli/foreign.c is typed to both programs. Each option that only one of them has is
typed to the other, and so is each command. The option that an answer names must exist in the program that it
names. A value in small letters must be legal there. Prints TAP."""

import os
import re
import subprocess
import sys
import tempfile

PROGRAMS = {"pipesim": os.path.abspath(sys.argv[1]), "pipeexec": os.path.abspath(sys.argv[2])}
SOURCE = os.path.abspath(sys.argv[3])
OTHER = {"pipesim": "pipeexec", "pipeexec": "pipesim"}
failures, checked = [], 0


def ask(program, *words):
    return subprocess.run([PROGRAMS[program], *words], capture_output=True, text=True, stdin=subprocess.DEVNULL)


def options_of(program):
    """Names in the man page, of all commands."""
    text = ask(program, "help", "man").stdout.replace("\\-", "-")
    section = text[text.index(".SH OPTIONS"):text.index(".SH EXIT STATUS")]
    return set(re.findall(r"^\.TP\n.*--([a-z][\w.-]*)", section, re.M))


def answer_to(program, name):
    """To an option that is none; an option of the program is followed by a fault, so that nothing runs."""
    return ask(program, "--" + name, "1", "--no-such").stderr.split("\n")[0]


KNOWN = {program: options_of(program) for program in PROGRAMS}


def check(is_true, text):
    global checked
    checked += 1
    if not is_true:
        failures.append(text)


def is_option(program, name):
    return ask(program, "help", "--" + name).returncode == 0


def takes(program, option, value):
    """The value is legal: the first fault of the line is the option after it."""
    return "unknown option --no-such" in ask(program, "--" + option, value, "--no-such").stderr


def check_answer(program, theirs, answer):
    named = re.search(r"(its name here is|only (pipe\w+) has it, by the name) --([\w-]+)(?: (\S+))?", answer)
    if not named:
        check("; leave it out: " in answer, f"{program} --{theirs}: no answer in {answer!r}")
        return
    owner = named[2] or program
    option, value = named[3], named[4]
    check(owner != program or named[1] == "its name here is", f"{program} --{theirs} names itself: {answer}")
    check(is_option(owner, option), f"{program} --{theirs}: {owner} has no --{option}")
    if value and re.fullmatch(r"[a-z0-9=%]+", value):
        check(takes(owner, option, value), f"{program} --{theirs}: {owner} --{option} {value} is refused")
    if named[2]:
        has_here = is_option(program, option) and (not value or takes(program, option, value))
        check(not has_here, f"{program} --{theirs}: {program} has --{option} {value or ''}, too")


def trainers():
    table = open(SOURCE, encoding="utf-8").read().split("ROWS[] = {\n")[1].split("\n};\n")[0]
    names = re.findall(r'^    \{"([^"]+)"', table, re.M)
    check(len(names) > 100, f"{len(names)} rows in {SOURCE}")
    check(names == sorted(set(names)), "rows are in the order of their names, each once")
    for theirs in names:
        unknown = 0
        for program in PROGRAMS:
            for typed in {theirs, theirs.replace("-", "_")}:
                answer = answer_to(program, typed)
                if f"unknown option --{typed}" in answer:
                    unknown += 1
                    check_answer(program, theirs, answer)
        check(unknown > 0, f"--{theirs} is an option of both programs")


def others():
    """Options and commands of one program, typed to the other."""
    for program, other in OTHER.items():
        check(len(KNOWN[other]) > 60, f"{len(KNOWN[other])} options of {other}")
        for name in sorted(KNOWN[other]):
            answer = answer_to(program, name)
            if re.search(rf"unknown option --{re.escape(name)}(;|$)", answer):
                check("its name here is" in answer or f"only {other} has it" in answer or "leave it out" in answer,
                      f"{program} --{name} does not say that {other} has it (core/cli/other.c): {answer}")
    listed = ask("pipesim", "help").stdout.split("\nCommands:\n")[1].split("\n\n")[0]
    commands = set(re.findall(r"^  ([a-z]+) ", listed, re.M)) - {"run", "help"}
    check(len(commands) > 10, f"commands of pipesim: {commands}")
    for name in sorted(commands):
        for words in [name], ["help", name]:
            answer = ask("pipeexec", *words).stderr
            is_topic = words[0] == "help" and ask("pipeexec", *words).returncode == 0  # or an option
            check(is_topic or f"only pipesim has it: pipesim help {name}" in answer,
                  f"pipeexec {' '.join(words)}: {answer}")


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    trainers()
    others()
    check(not os.listdir("."), f"an answer has written {os.listdir('.')}")
    os.chdir("/")
for text in failures:
    print(f"# {text}")
print(f"{'not ' if failures else ''}ok 1 - {checked} checks of answers to names of other programs\n1..1")
sys.exit(bool(failures))
