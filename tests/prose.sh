#!/usr/bin/env bash
# Plain English: counts what the rule of docs/architecture.md ("Words") forbids, and shows where it stands.
#
#   prose.sh [-q] [PATH...]    these files and folders, or the whole project; -q shows counts of files alone
#
# The exit status is 1 unless it finds nothing.
#
# Read are paragraphs of Markdown outside of blocks of code, and comments of C, CUDA, shell, Meson and
# tests/cli/*.t. Texts in quotes of C, and names in its code, are read for words alone. Counted are words for
# persons that stand for processes, and words of place that stand for time. Sentences of more than 25 words or
# more than one colon are counted too. A comment of production code does not begin with a clause in place of a
# noun, such as "What it needs". Nor does it begin inside a sentence, such as "Of the rank". In prose, code in
# `backquotes`, paths and identifiers are one word each, and never a forbidden one.
set -eu
cd "$(dirname "$0")/.."
exec python3 - "$@" <<'PYTHON'
import re, subprocess, sys

LONGEST = 25
WORDS = re.compile(r"\b(nobody|somebody|anybody|whoever|unkind(?:ly)?|strangers?|g[eo]ts? on|behind|besides?)\b", re.I)
IN_NAMES = re.compile(r"(?<![a-z])(nobody|somebody|anybody|whoever|unkind|strangers?|behind|besides?)(?![a-z])")
TOKEN = re.compile(r'/\*(.*?)\*/|//([^\n]*)|"((?:\\.|[^"\\\n])*)"|\'(?:\\.|[^\'\\])\'', re.S)
OPENING = re.compile(r"\s*(Of|What|Those|Whose|Who)\s")
CODE = re.compile(r"`[^`]*`|<[^<>\s][^<>]*>|\S*[\w)][_/=(|\[]\S*?(?=[.,;:!?)]*(?:\s|$))|\b[\w-]+\.[\w.]*\w\b|--?\w[\w-]*")
END = re.compile(r"(?<=[.!?])[\"')\]]*\s+(?=[\"'(`\[]?[A-Z0-9X])|\n\s*\n|\f") # \f: put where a piece ends
LEFT_OUT = re.compile(r"^(LICENSE|docs/schedules\.md)|pride_and_prejudice|/(corpus|data)/")


def markdown(text):
    text = re.sub(r"^```.*?^```", lambda m: "\f" + "\n" * m[0].count("\n"), text, flags=re.S | re.M)
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"^[ \t]*$", "\f", text, flags=re.M)
    text = re.sub(r"(?<=\f\n)(?: {4}.*\n)+", lambda m: "\f" + "\n" * m[0].count("\n"), text)
    text = re.sub(r"^[ \t]*([-*+] |\d+\. |#+|>)", "\f", text, flags=re.M)
    return [(1, text.replace("|", "\f"), True)]


def c(text):
    pieces, at = [], 1
    for token in TOKEN.finditer(text):
        line = text.count("\n", 0, token.start()) + 1
        comment = token[1] if token[1] is not None else token[2]
        if comment is not None:
            comment = re.sub(r"^[ \t]*\* ?", "", comment, flags=re.M)
            pieces.append((line, re.sub(r"^([ \t]*|  +\S.*)$", "\f", comment, flags=re.M), True))
        elif token[3]:
            pieces.append((line, token[3].replace("\\n", "\n"), False))
    code = TOKEN.sub(lambda m: "\n" * m[0].count("\n"), text)
    for name in IN_NAMES.finditer(code):
        pieces.append((code.count("\n", 0, name.start()) + 1, name[1], False))
    return pieces


def hashes(text):
    pieces, block, start = [], [], 0
    for number, line in enumerate(text.split("\n") + [""], 1):
        comment = re.match(r"\s*#(?!!)\s?(.*)", line)
        if comment:
            start, block = start if block else number, block + [comment[1]]
        elif block:
            text = re.sub(r"^([ \t]*|  +\S.*|shellcheck .*)$", "\f", "\n".join(block), flags=re.M)
            pieces.append((start, text, True))
            block = []
    return pieces


READERS = {"md": markdown, "c": c, "h": c, "cu": c, "cuh": c, "cc": c, "sh": hashes, "build": hashes, "t": hashes}


def openings(text):
    for token in TOKEN.finditer(text):
        found = OPENING.match(token[1] or token[2] or "")
        if found:
            yield text.count("\n", 0, token.start()) + 1, found[1], token[0]


def faults(text, is_prose):
    bare = CODE.sub(lambda m: "X" + "\n" * m[0].count("\n"), text)
    for found in WORDS.finditer(bare):
        yield found.start(), bare, "the word \"%s\"" % found[0]
    if not is_prose:
        return
    begin = 0
    for end in [m for m in END.finditer(bare)] + [None]:
        sentence = bare[begin : end.start() if end else len(bare)]
        count = len(re.findall(r"[A-Za-z0-9]\S*", sentence))
        first = begin + len(sentence) - len(sentence.lstrip())
        if count > LONGEST:
            yield first, bare, "%d words" % count
        elif len(re.findall(r"[a-z0-9)]:(?=\s)", sentence)) > 1:
            yield first, bare, "two colons"
        begin = end.end() if end else begin


quiet = "-q" in sys.argv[1:]
paths = [a for a in sys.argv[1:] if a != "-q"]
counts = {}
for path in subprocess.check_output(["git", "ls-files", "--", *paths], text=True).split("\n"):
    reader = READERS.get(path.rsplit(".", 1)[-1])
    if not reader or LEFT_OUT.search(path):
        continue
    whole = open(path, encoding="utf-8").read()
    found = [(line + bare.count("\n", 0, at), fault, bare[at:])
             for line, text, is_prose in reader(whole) for at, bare, fault in faults(text, is_prose)]
    if reader is c and not path.startswith(("tests/", "bench/", "docs/")):
        found += [(line, "a comment that begins with \"%s\"" % word, comment) for line, word, comment in openings(whole)]
    for line, fault, here in found:
        counts[path] = counts.get(path, 0) + 1
        if not quiet:
            print("%s:%d: %s: %s" % (path, line, fault, " ".join(here[:70].split())))
if quiet:
    for path, count in sorted(counts.items(), key=lambda item: -item[1])[:40]:
        print("%5d %s" % (count, path))
total = sum(counts.values())
print("%d to say plainly" % total)
sys.exit(bool(total))
PYTHON
