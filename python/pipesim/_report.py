"""Reports of runs."""
import html
import json
from collections.abc import Mapping
from typing import Any, Dict, Iterator, List, Optional, Union

from ._picture import Picture, draw
from ._program import Error, arguments, call

#: Figures of a table in a notebook: heading, key, factor, digits and unit.
FIGURES = [("step", "iteration_s", 1, "{:.4g} s"), ("bubble", "bubble_frac", 100, "{:.1f} %"),
           ("MFU", "mfu", 100, "{:.1f} %"), ("tokens/s/GPU", "tokens_per_s_per_gpu", 1, "{:,.0f}"),
           ("peak memory", "peak_mem_bytes", 2**-30, "{:.1f} GiB")]
LAYOUT = ["gpus", "tp", "pp", "dp", "cp", "ep", "vp", "micro_batches", "mbs", "gbs"]


def _table(rows: List[List[str]], headings: List[str]) -> str:
    line = lambda cells, tag: "<tr>" + "".join(f"<{tag}>{html.escape(c)}</{tag}>" for c in cells)
    body = "\n".join(line(row, "td") + "</tr>" for row in rows)
    return f"<table>\n{line(headings, 'th')}</tr>\n{body}\n</table>"


class Report(Mapping):
    """What `pipesim --json` prints of one run; a notebook shows a table and the timeline."""

    def __init__(self, figures: Dict[str, Any], words: List[str]):
        self.json = figures  #: the report as a dict
        self._words = words
        self._picture: Optional[Picture] = None

    def __getitem__(self, key: str) -> Any:
        return self.json[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self.json)

    def __len__(self) -> int:
        return len(self.json)

    def __repr__(self) -> str:
        cells = [f"{heading} {text}" for heading, text in self._figures()]
        return f"<pipesim.Report {self.json.get('schedule')}: {', '.join(cells)}>"

    @property
    def is_unit(self) -> bool:
        """True if times are units of --unit, not seconds: those of a chunk and micro-batch."""
        return self.json["layout"]["seq"] is None

    def _figures(self):
        for heading, key, factor, form in FIGURES:
            value = self.json.get(key)
            if value is None:
                continue
            if key == "iteration_s" and self.is_unit:
                form, factor = "{:g} units", 1 / self.json["layout"]["vp"]
            yield heading, form.format(value * factor)

    @property
    def step(self) -> float:
        """The step in seconds; with --unit in units of a micro-batch on a whole rank."""
        return self.json["iteration_s"] / (self.json["layout"]["vp"] if self.is_unit else 1)

    def timeline(self) -> Picture:
        """Returns the timeline as SVG; gnuplot draws it."""
        if self._picture is None:
            self._picture = draw(self._words, "--plot")
        return self._picture

    def gantt(self) -> str:
        """Returns the timeline in characters."""
        return call([*self._words, "--gantt"])

    def _repr_svg_(self) -> Optional[str]:
        try:
            return str(self.timeline())
        except Error:
            return None

    def _repr_html_(self) -> str:
        cells = list(self._figures())
        layout = [(k, str(self.json["layout"][k])) for k in LAYOUT if self.json["layout"][k] != 1]
        table = _table([[str(self.json["schedule"]), *(t for _, t in layout + cells)]],
                       ["schedule", *(h for h, _ in layout + cells)])
        picture = self._repr_svg_()
        return table + (picture or f"<pre>{html.escape(self.gantt())}</pre>")

    def frame(self):
        """Returns the figures of the ranks as a pandas.DataFrame."""
        import pandas

        return pandas.DataFrame(self.json["ranks"])


class Comparison(Mapping):
    """Reports of several schedules: a mapping with the JSON. Iteration gives the reports."""

    def __init__(self, figures: Dict[str, Any], words: List[str], options: Dict[str, Any]):
        self.json = figures  #: the comparison as a dict: "schema" and "runs"
        self.reports = []  #: of the schedules that were not refused
        self.refused: Dict[str, str] = {}  #: reason by schedule
        self._words = words
        for one in figures["runs"]:
            if "iteration_s" not in one:
                self.refused[one["schedule"]] = str(one.get("refused") or one.get("reason"))
                continue
            own = arguments({**options, "schedule": one["schedule"]})
            self.reports.append(Report(one, own))

    def __getitem__(self, key: str) -> Any:
        return self.json[key]

    def __iter__(self) -> Iterator[Report]:  # type: ignore[override]
        return iter(self.reports)

    def __len__(self) -> int:
        return len(self.reports)

    def __contains__(self, key: object) -> bool:
        return key in self.json

    def keys(self):
        return self.json.keys()

    def items(self):
        return self.json.items()

    def values(self):
        return self.json.values()

    def timeline(self) -> Picture:
        """Returns the timelines of all schedules as one SVG; gnuplot draws it."""
        return draw(self._words, "--plot")

    def frame(self):
        """Returns a row for each schedule as a pandas.DataFrame."""
        import pandas

        rows = [{**r["layout"], **{k: v for k, v in r.items() if not isinstance(v, (dict, list))}}
                for r in self.reports]
        return pandas.DataFrame(rows)

    def _repr_html_(self) -> str:
        reports = sorted(self.reports, key=lambda report: report.step)
        rows = [dict(report._figures(), schedule=report["schedule"]) for report in reports]
        headings = ["schedule", *(h for h, *_ in FIGURES if any(h in row for row in rows))]
        return _table([[row.get(h, "") for h in headings] for row in rows], headings)


def run(**options: Any) -> Union[Report, Comparison]:
    """Simulates one schedule, or compares several: `run(schedule="zbv", gpus=64)`.

    Options are those of `pipesim run`, with underscores: `micro_batches=8`, `unit="F=1,B=2"`,
    `no_alternatives=True`, `schedule=["1f1b", "zbv"]`. Raises pipesim.Error for refused input.
    """
    words = ["run", *arguments(options)]
    figures = json.loads(call([*words, "--json"]))
    if "runs" in figures:
        return Comparison(figures, words, options)
    return Report(figures, words)
