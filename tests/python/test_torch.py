"""Schedules of pipesim in PyTorch's runtime; the gradients are those of one process."""
import os
import sys
import tempfile
import unittest

import pipesim
import pipesim.torch

try:
    import torch
    import torch.distributed.pipelining.schedules  # noqa: F401
    import torch.multiprocessing
except ImportError:
    torch = None

RANKS, MICRO_BATCHES, SAMPLES, WIDTH = 2, 4, 3, 8
CASES = [("1f1b", {}, 2), ("zbv", {}, 4), ("interleaved", {"vp": 2}, 4), ("FFBB", {}, 2)]
FFBB = (f"!{sys.executable} "
        f"{os.path.join(os.path.dirname(__file__), '../../python/examples/ffbb.py')} "
        "{pp} {micro_batches}")


def stage_of(number):
    torch.manual_seed(number)
    return torch.nn.Sequential(torch.nn.Linear(WIDTH, WIDTH), torch.nn.Tanh()).double()


def batch():
    shape = (MICRO_BATCHES * SAMPLES, WIDTH)
    inputs = torch.randn(shape, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    return inputs, torch.zeros_like(inputs)


def check(stages, numbers, count):
    inputs, targets = batch()
    whole = [stage_of(number) for number in range(count)]
    torch.nn.functional.mse_loss(torch.nn.Sequential(*whole)(inputs), targets).backward()
    for module, number in zip(stages, numbers):
        for mine, other in zip(module.parameters(), whole[number].parameters()):
            torch.testing.assert_close(mine.grad, other.grad, rtol=1e-12, atol=1e-14)


def work(rank, store):
    import torch.distributed as dist
    from torch.distributed.pipelining import PipelineStage

    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=RANKS)
    inputs, targets = batch()
    for name, options, count in CASES:
        name = FFBB if name == "FFBB" else name
        numbers = pipesim.torch.stages(name, RANKS, MICRO_BATCHES, **options)[rank]
        modules = [stage_of(number) for number in numbers]
        stages = [PipelineStage(module, number, count, torch.device("cpu"))
                  for module, number in zip(modules, numbers)]
        order = pipesim.torch.schedule(stages, name, MICRO_BATCHES,
                                       loss_fn=torch.nn.functional.mse_loss, **options)
        last = {"target": targets} if count - 1 in numbers else {}
        order.step(*([inputs] if 0 in numbers else []), **last)
        check(modules, numbers, count)
        if name == "1f1b":
            try:
                pipesim.torch.schedule(stages, "zbv", MICRO_BATCHES)
            except pipesim.Error as error:
                assert "4 stages" in str(error), error
            else:
                raise AssertionError("zbv ran with one stage a rank")
    dist.barrier()
    dist.destroy_process_group()


class Orders(unittest.TestCase):
    def test_stages_of_ranks(self):
        self.assertEqual(pipesim.torch.stages("zbv", 2, 4), [[0, 3], [1, 2]])
        self.assertEqual(pipesim.torch.stages("interleaved", 2, 4, vp=2), [[0, 2], [1, 3]])
        self.assertEqual(pipesim.torch.program("gpipe", 1, 2), [["0F0", "0F1", "0B0", "0B1"]])

    def test_what_pytorch_cannot_express_is_refused(self):
        with self.assertRaisesRegex(pipesim.Error, "stage 0 is on ranks 0 and 1"):
            pipesim.torch.program("chimera", 2, 4)
        with self.assertRaisesRegex(pipesim.Error, "has no op 0F0s0"):
            pipesim.torch.program("seq1f1b", 2, 4)
        with self.assertRaisesRegex(pipesim.Error, "zbw: unknown schedule"):
            pipesim.torch.program("zbw", 2, 4)
        with self.assertRaisesRegex(pipesim.Error, "DEADLOCK|waits for|listed"):
            pipesim.torch.program("!printf '0B0,0F0\\n' # {pp} {micro_batches}", 1, 1)

    def test_profiles_are_compared(self):
        kineto = os.path.join(os.path.dirname(__file__), "../data/kineto")
        figures = pipesim.torch.compare(kineto, schedule="1f1b", model="gpt2", gpus=2, tp=1, pp=2,
                                        micro_batches=4, engine="dag")
        self.assertEqual(figures["matched_events"], 102)
        self.assertAlmostEqual(figures["measured_step_s"], 0.0197, 4)  # docs/compare.md

    @unittest.skipUnless(torch, "PyTorch is not installed")
    def test_gradients_are_those_of_one_process(self):
        with tempfile.TemporaryDirectory() as folder:
            torch.multiprocessing.spawn(work, (os.path.join(folder, "store"),), nprocs=RANKS)


if __name__ == "__main__":
    unittest.main()
