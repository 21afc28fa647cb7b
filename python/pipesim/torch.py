"""Schedules of pipesim in PyTorch's pipeline runtime, and its profiles against predictions.

PyTorch is needed by schedule() alone.
"""
import csv
import json
import os
import re
import tempfile
from pathlib import Path
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple, Union

from ._program import Error, arguments, call

_CELL = re.compile(r"(\d+)([FBIW])(\d+)$")
_PAIR = re.compile(r"\((\d+)F(\d+);(\d+)B(\d+)\)OVERLAP_F_B$")


def program(name: str, pp: int, micro_batches: int, **options: Any) -> List[List[str]]:
    """Returns the cells of each rank, proved legal, in the form that PyTorch reads.

    `name` is a schedule, a file or "!command"; options are those of `pipesim program`. Raises
    pipesim.Error where PyTorch cannot express the order: stages on two ranks (bidirectional
    schedules), splits of sequences, parts of micro-batches.
    """
    words = arguments({"schedule": name, "pp": pp, "micro_batches": micro_batches, **options})
    text = call(["program", *words, "--compute"], warns=False)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "schedule.csv"
        path.write_text(text)
        call(["verify", str(path)])
    rows = [[cell.strip() for cell in row] for row in csv.reader(text.splitlines())
            if row and not row[0].startswith("#")]
    for rank, row in enumerate(rows):
        for cell in row:
            if not _CELL.match(cell) and not _PAIR.match(cell):
                raise Error(f"{name}: PyTorch's runtime has no op {cell} (rank {rank}), only F, B, "
                            "I and W of whole micro-batches, and pairs F+B", 2)
    _ranks_of_stages(name, rows)
    return rows


def _stages_of(cell: str) -> Tuple[int, ...]:
    single, pair = _CELL.match(cell), _PAIR.match(cell)
    return (int(single[1]),) if single else (int(pair[1]), int(pair[3]))  # type: ignore[index]


def _ranks_of_stages(name: str, rows: List[List[str]]) -> Dict[int, int]:
    ranks: Dict[int, int] = {}
    for rank, row in enumerate(rows):
        for stage in {stage for cell in row for stage in _stages_of(cell)}:
            if ranks.setdefault(stage, rank) != rank:
                raise Error(f"{name}: stage {stage} is on ranks {ranks[stage]} and {rank}, and "
                            "PyTorch's runtime has each stage on one rank: it cannot run "
                            "bidirectional schedules", 2)
    return ranks


def stages(name: str, pp: int, micro_batches: int, **options: Any) -> List[List[int]]:
    """Returns the stages of each rank, ascending: those that its process has to build."""
    rows = program(name, pp, micro_batches, **options)
    return [sorted({stage for cell in row for stage in _stages_of(cell)}) for row in rows]


def schedule(stages: Sequence[Any], name: str, micro_batches: int,
             loss_fn: Optional[Callable] = None, runtime: Optional[Dict[str, Any]] = None,
             **options: Any) -> Any:
    """Returns a schedule of PyTorch that runs an order of pipesim: call its step() on each rank.

    `stages` are the PipelineStage objects of this rank (pipesim.torch.stages() tells their
    numbers), `name` is a schedule, a file or "!command", and options are those of
    `pipesim program`, such as `group=4`. `runtime` has further arguments of PyTorch's runtime,
    such as {"scale_grads": False}. The order is proved by `pipesim verify` first.
    """
    from torch.distributed.pipelining.schedules import _PipelineScheduleRuntime

    own = list(stages) if isinstance(stages, (list, tuple)) else [stages]
    ranks, rank, count = own[0].group_size, own[0].group_rank, own[0].num_stages
    chunks = {} if count == ranks or "vp" in options else {"vp": count // ranks}
    rows = program(name, ranks, micro_batches, **chunks, **options)
    owners = _ranks_of_stages(name, rows)
    wanted = sorted(stage for stage, owner in owners.items() if owner == rank)
    if len(owners) != count or wanted != sorted(stage.stage_index for stage in own):
        raise Error(f"{name} has {len(owners)} stages, and rank {rank} of {ranks} runs {wanted}; "
                    f"given are {sorted(stage.stage_index for stage in own)} of {count}", 2)
    made = _PipelineScheduleRuntime(own, micro_batches, loss_fn=loss_fn, **(runtime or {}))
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "schedule.csv")
        with open(path, "w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows(rows)
        made._load_csv(path, format="compute_only")
    return made


def compare(profile: Union[str, os.PathLike, Sequence], predicted: Union[str, os.PathLike, None] = None,
            compare_options: Optional[Dict[str, Any]] = None, **options: Any) -> Dict[str, Any]:
    """Compares profiles of PyTorch (kineto) with a prediction: what `pipesim compare --json` says.

    `profile` is a file or folder of torch.profiler, or a list of one for each rank. `predicted` is
    a trace of `--trace`; without it, options are those of the run that predicts:
    `compare("prof", schedule="1f1b", pp=4, micro_batches=8, unit="F=1,B=2")`.
    """
    files = [profile] if isinstance(profile, (str, os.PathLike)) else list(profile)
    with tempfile.TemporaryDirectory() as folder:
        if predicted is None:
            predicted = Path(folder) / "predicted.csv"
            call(["run", *arguments({**options, "trace": predicted}), "--json"])
        elif options:
            raise TypeError("give a predicted trace, or the options of a run, not both")
        words = [os.fspath(predicted), *map(os.fspath, files)]
        return json.loads(call(["compare", *words, *arguments(compare_options or {}), "--json"]))
