#!/usr/bin/env python3
"""Who calls whom, by the symbols of the objects of a build: circles of files, and calls of a floor above.

A file uses another if its object has an undefined symbol that the other's defines: calls without an
include, and addresses in tables, count. Three numbers are held against tests/ratchets.txt:
  upward          files that use a file of a folder further down in tests/floors.txt
  circles_across  circles of files of several folders
  circles_inside  circles of files of one folder

  circles.py SOURCE BUILD
"""

import collections
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import ratchet


def floors(source):
    with open(os.path.join(source, "tests/floors.txt")) as lines:
        names = [line.split()[0] for line in lines if line.strip() and not line.startswith("#")]
    return {name: i for i, name in enumerate(names)}


def objects(source, build, floor):
    """Pairs of a production file and an object of it that is there."""
    with open(os.path.join(build, "compile_commands.json")) as commands:
        for command in json.load(commands):
            path = os.path.relpath(os.path.join(command["directory"], command["file"]), source)
            output = os.path.join(command["directory"], command["output"])
            if os.path.dirname(path) in floor and os.path.exists(output):
                yield path, output


def symbols(pairs):
    """{symbol: files that define it}, {file: symbols that it uses}."""
    defined, used = collections.defaultdict(set), collections.defaultdict(set)
    file_of = {output: path for path, output in pairs}
    said = subprocess.run(["nm", "-A", "-P", "-g", *file_of], stdout=subprocess.PIPE, check=True, text=True)
    for line in said.stdout.splitlines():
        output, rest = line.split(": ", 1)
        name, kind = rest.split()[:2]
        if kind in "Uwv":
            used[file_of[output]].add(name)
        else:
            defined[name].add(file_of[output])
    return defined, used


def uses(defined, used):
    """{file: {file that it uses: a symbol}}; a symbol that several files define is a choice of the build."""
    edges = collections.defaultdict(dict)
    for path, names in used.items():
        for name in sorted(names):
            for target in defined.get(name, ()):
                if target != path and path not in defined[name]:
                    edges[path].setdefault(target, name)
    return edges


def circles(edges):
    """Strongly connected components of more than one file (Tarjan, without recursion)."""
    index, low, on_stack, stack, found = {}, {}, set(), [], []
    for root in sorted(edges):
        work = [(root, None)] if root not in index else []
        while work:
            node, rest = work.pop()
            if rest is None:
                index[node] = low[node] = len(index)
                stack.append(node)
                on_stack.add(node)
                rest = iter(sorted(edges.get(node, ())))
            for target in rest:
                if target not in index:
                    work += [(node, rest), (target, None)]
                    break
                if target in on_stack:
                    low[node] = min(low[node], low[target])
            else:
                if low[node] == index[node]:
                    circle = []
                    while not circle or circle[-1] != node:
                        circle.append(stack.pop())
                        on_stack.remove(circle[-1])
                    if len(circle) > 1:
                        found.append(sorted(circle))
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
    return sorted(found)


def show(edges, circle):
    for path in circle:
        for target in sorted(edges[path]):
            if target in circle:
                print(f"  {path} -> {target} by {edges[path][target]}")


def main(source, build):
    source = os.path.realpath(source)
    floor = floors(source)
    pairs = list(objects(source, os.path.realpath(build), floor))
    edges = uses(*symbols(pairs))
    upward = [(path, target) for path in sorted(edges) for target in sorted(edges[path])
              if floor[os.path.dirname(target)] > floor[os.path.dirname(path)]]
    for path, target in upward:
        print(f"upward: {path} -> {target} by {edges[path][target]}")
    found = circles(edges)
    inside = [circle for circle in found if len({os.path.dirname(path) for path in circle}) == 1]
    across = [circle for circle in found if circle not in inside]
    for circle in across:
        print(f"a circle of {len(circle)} files across folders:")
        show(edges, circle)
    for circle in inside:
        print(f"a circle of {len(circle)} files in {os.path.dirname(circle[0])}:")
        show(edges, circle)
    print(f"{len({path for path, _ in pairs})} files")
    return ratchet.check(source, upward=len(upward), circles_across=len(across), circles_inside=len(inside))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
