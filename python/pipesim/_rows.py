"""Sweeps and plans: lists of rows."""
import json
from typing import Any, Dict, List

from ._program import arguments, call


class Rows(List[Dict[str, Any]]):
    """A list of dicts, one for each run."""

    def frame(self):
        """Returns the rows as a pandas.DataFrame."""
        import pandas

        return pandas.DataFrame(list(self))

    def _repr_html_(self) -> str:
        return self.frame()._repr_html_()


class Plan(Rows):
    """The best layouts of a plan, best first; `json` has all that `pipesim plan --json` prints."""

    json: Dict[str, Any]

    @property
    def command(self) -> str:
        """The command line of the run that the plan chooses; "" if nothing fits."""
        return self.json.get("choose", "")


def sweep(**options: Any) -> Rows:
    """Simulates all combinations: `sweep(schedule=["1f1b", "zbv"], pp=[4, 8], gpus=64)`.

    Options are those of `pipesim sweep`; ranges such as `pp="4:32:x2"` work, too. A refused point
    is a row whose `status` is not "ok", with the `reason`.
    """
    lines = call(["sweep", *arguments(options), "--json", "-o", "-"]).splitlines()
    return Rows(json.loads(line) for line in lines)


def plan(**options: Any) -> Plan:
    """Searches a layout: `plan(model="llama3-70b", gpus=256)`; rows have the layout's degrees."""
    figures = json.loads(call(["plan", *arguments(options), "--json"]))
    rows = Plan({**point["layout"], **{k: v for k, v in point.items() if k != "layout"}}
                for point in figures.get("points", []))
    rows.json = figures
    return rows
