"""pipesim from Python: runs, sweeps and plans as mappings and lists, pictures in notebooks.

>>> import pipesim
>>> report = pipesim.run(schedule="zbv", pp=4, micro_batches=8, unit="F=1,I=1,W=1")
>>> report["bubble_frac"]

Options are those of the command line with underscores; see docs/python.md.
"""
from ._program import Error, program, version
from ._report import Comparison, Report, run
from ._rows import Plan, Rows, plan, sweep
from ._trace import Trace

__all__ = ["Comparison", "Error", "Plan", "Report", "Rows", "Trace", "plan", "program", "run",
           "sweep", "version"]
