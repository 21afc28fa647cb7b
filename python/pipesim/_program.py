"""The program: where it is, its command line, its errors."""
import os
import shutil
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any, Iterable, List, NoReturn, Optional, Sequence

PACKAGED = Path(__file__).parent / "bin"


class Error(Exception):
    """Input that the program refuses, or a run that failed; str() is the program's message."""

    def __init__(self, message: str, code: int, command: Sequence[str] = ()):
        super().__init__(message)
        self.code = code  #: exit code: 1 failure, 2 options, 4 program, 5 comparison
        self.command = list(command)  #: the command line


def program(name: str = "pipesim") -> str:
    """Returns the path of `pipesim` or `pipeexec`.

    That is the one of the package, else that of the environment variable PIPESIM, else one in PATH.
    """
    packaged = PACKAGED / name
    if packaged.exists():
        return str(packaged)
    given = os.environ.get("PIPESIM")
    if given:
        return given if name == "pipesim" else str(Path(given).with_name(name))
    found = shutil.which(name)
    if not found:
        raise Error(f"there is no {name}: neither in the package nor in PATH, and the environment "
                    "variable PIPESIM is not set", 1)
    return found


def _text(value: Any) -> str:
    return os.fspath(value) if isinstance(value, os.PathLike) else str(value)


def _values(name: str, value: Any) -> List[Optional[str]]:
    """Returns the arguments of an option; None is a flag without one."""
    if value is None or value is False:
        return []
    if value is True:
        return [None]
    if isinstance(value, (str, bytes, os.PathLike)) or not isinstance(value, Iterable):
        return [_text(value)]
    items = list(value)
    is_joined = name == "schedule" or all(isinstance(item, (int, float)) for item in items)
    return [",".join(_text(item) for item in items)] if is_joined else [_text(i) for i in items]


def arguments(options: dict) -> List[str]:
    """Returns options as words of a command line.

    `micro_batches=8` is --micro-batches=8, True a flag. Lists of numbers and of schedules are
    joined by commas; an option with another list is repeated. None and False leave it out.
    """
    words = []
    for name, value in options.items():
        flag = name.rstrip("_").replace("_", "-")
        for text in _values(flag, value):
            words.append(f"--{flag}" if text is None else f"--{flag}={text}")
    return words


def call(words: Sequence[str], warns: bool = True) -> str:
    """Runs the program; returns its stdout. Raises Error for an exit code that is not 0."""
    command = [program(), *words]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, text=True, encoding="utf-8",
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    messages = done.stderr.strip()
    if done.returncode:
        mark = "pipesim: error: "
        message = messages[messages.index(mark) + len(mark):] if mark in messages else messages
        raise Error(message or f"ended with {done.returncode}", done.returncode, command)
    for line in messages.splitlines():
        if warns and "warning:" in line:
            warnings.warn(line.split("warning:", 1)[1].strip(), stacklevel=4)
    return done.stdout


def version() -> str:
    """Returns the version of the program, such as "pipesim 0.1.0 (engines: simgrid, dag)"."""
    return call(["--version"]).strip()


def _become(name: str) -> NoReturn:
    path = program(name)
    os.execv(path, [path, *sys.argv[1:]])


def main() -> NoReturn:
    """The command `pipesim` of an installed package."""
    _become("pipesim")


def main_exec() -> NoReturn:
    """The command `pipeexec` of an installed package."""
    _become("pipeexec")
