"""Traces: the ops of a step with their times."""
import csv
import gzip
import os
from typing import Any, Dict, Iterator, List

from ._picture import Picture, draw


def _value(text: str) -> Any:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text


class Trace:
    """A trace CSV of `--trace FILE.csv`, of pipesim or pipeexec: a sequence of dicts."""

    def __init__(self, path):
        self.path = os.fspath(path)
        opened = gzip.open if self.path.endswith(".gz") else open
        with opened(self.path, "rt", encoding="utf-8", newline="") as lines:
            rows = csv.DictReader(line for line in lines if not line.startswith("#"))
            self.events: List[Dict[str, Any]] = [
                {key: _value(text or "") for key, text in row.items() if key} for row in rows]

    def __len__(self) -> int:
        return len(self.events)

    def __getitem__(self, index) -> Dict[str, Any]:
        return self.events[index]

    def __iter__(self) -> Iterator[Dict[str, Any]]:
        return iter(self.events)

    def frame(self):
        """Returns the events as a pandas.DataFrame."""
        import pandas

        return pandas.DataFrame(self.events)

    def timeline(self) -> Picture:
        """Returns the timeline as SVG; gnuplot draws it."""
        return draw(["plot", self.path], "-o")

    def _repr_svg_(self) -> str:
        return str(self.timeline())
