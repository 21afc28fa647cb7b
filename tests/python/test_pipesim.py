"""The Python package against the program that PIPESIM names: values, options, errors, pictures."""
import json
import os
import subprocess
import sys
import tempfile
import unittest
import warnings
from collections.abc import Mapping
from pathlib import Path

import pipesim
from pipesim import _program

UNIT = dict(pp=4, micro_batches=8, unit="F=1,I=1,W=1")


def pandas_or_none():
    try:
        import pandas
    except ImportError:
        return None
    return pandas


def program_json(*words):
    text = subprocess.run([os.environ["PIPESIM"], *words], check=True, capture_output=True).stdout
    figures = json.loads(text)
    figures.pop("meta", None)
    return figures


class Options(unittest.TestCase):
    def test_words_of_a_command_line(self):
        words = _program.arguments(dict(micro_batches=8, unit="F=1,B=2", no_fold=True, gantt=False,
                                        pp=[2, 4], schedule=["1f1b", "zbv"], from_="r.json",
                                        slow=["3=0.8", "5=0.5"], html=Path("a") / "b.html", tp=None))
        self.assertEqual(words, ["--micro-batches=8", "--unit=F=1,B=2", "--no-fold", "--pp=2,4",
                                 "--schedule=1f1b,zbv", "--from=r.json", "--slow=3=0.8",
                                 "--slow=5=0.5", "--html=a/b.html"])

    def test_the_program_is_packaged_or_given_or_in_path(self):
        self.assertEqual(pipesim.program(), os.environ["PIPESIM"])
        self.assertTrue(pipesim.version().startswith("pipesim "))
        before = os.environ.pop("PIPESIM")
        path = os.environ["PATH"]
        try:
            os.environ["PATH"] = str(Path(before).parent)
            self.assertEqual(pipesim.program(), before)
            os.environ["PATH"] = "/nowhere"
            with self.assertRaisesRegex(pipesim.Error, "there is no pipesim"):
                pipesim.run()
        finally:
            os.environ.update(PIPESIM=before, PATH=path)


class Runs(unittest.TestCase):
    def test_a_report_is_the_json(self):
        report = pipesim.run(schedule="zbv", **UNIT)
        self.assertIsInstance(report, Mapping)
        own = {key: value for key, value in report.items() if key != "meta"}
        self.assertEqual(own, program_json("--schedule", "zbv", "--pp", "4", "--micro-batches", "8",
                                           "--unit", "F=1,I=1,W=1", "--json"))
        # Qi et al.: V-shaped, N = 8, D = 4: 3 N + D - 1 units of a whole rank with F = I = W
        self.assertAlmostEqual(report.step, 25.5)
        self.assertIn("zbv", repr(report))

    def test_a_notebook_shows_table_and_timeline(self):
        report = pipesim.run(schedule="1f1b", **UNIT)
        page = report._repr_html_()
        self.assertIn("<td>1f1b</td>", page)
        self.assertIn("33 units", page)
        try:
            picture = report.timeline()
        except pipesim.Error as error:  # without gnuplot the characters stand there
            self.assertIn("gnuplot", str(error))
            self.assertIn("<pre>", page)
            return
        self.assertTrue(picture._repr_svg_().startswith("<svg"))
        self.assertIn(picture, page)

    def test_several_schedules_are_a_comparison(self):
        some = pipesim.run(schedule=["1f1b", "zbv", "chimera"], pp=3, micro_batches=6, unit="F=1,B=2")
        self.assertEqual({report["schedule"] for report in some}, {"1f1b", "zbv"})
        self.assertEqual(len(some), 2)
        self.assertEqual(set(some.keys()), {"schema", "runs"})
        self.assertEqual(len(some["runs"]), 3)
        self.assertIn("even", some.refused["chimera"])
        self.assertIn("<td>zbv</td>", some._repr_html_())
        one = some.reports[0]
        self.assertRegex(one.gantt(), r"P0 *\|")

    def test_real_costs(self):
        report = pipesim.run(schedule="1f1b", model="llama3-8b", gpus=16, pp=4, tp=1)
        self.assertFalse(report.is_unit)
        self.assertEqual(report["layout"]["gpus"], 16)
        self.assertEqual(len(report["ranks"]), 4)

    def test_refused_input_has_the_programs_message(self):
        with self.assertRaises(pipesim.Error) as caught:
            pipesim.run(schedule="zbw", **UNIT)
        self.assertEqual(caught.exception.code, 2)
        self.assertEqual(caught.exception.args, (str(caught.exception),))
        self.assertTrue(str(caught.exception).startswith("--schedule zbw: unknown schedule"))
        self.assertIn("--schedule=zbw", caught.exception.command)
        with self.assertRaises(pipesim.Error) as caught:
            pipesim.run(schedule="/nowhere.csv", **UNIT)
        self.assertEqual(caught.exception.code, 1)

    def test_a_generator_of_orders(self):
        command = "!printf '0F0,0F1,0B0,0B1\\n1F0,1B0,1F1,1B1\\n' # {pp} {micro_batches}"
        report = pipesim.run(schedule=command, pp=2, micro_batches=2, unit="F=1,B=2")
        self.assertEqual(report["iteration_s"], 9)


class Lists(unittest.TestCase):
    def test_sweep(self):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            rows = pipesim.sweep(schedule=["1f1b", "chimera"], pp=[2, 3], micro_batches="4:8:x2",
                                 unit="F=1,B=2")
        self.assertEqual(len(rows), 8)
        fine = [row for row in rows if row["status"] == "ok"]
        self.assertEqual(len(fine), 6)
        first = rows[0]
        self.assertEqual((first["schedule"], first["pp"], first["micro_batches"]), ("1f1b", 2, 4))
        self.assertEqual(first["iteration_s"], 15)  # (N + D - 1)(F + B)

    def test_plan(self):
        rows = pipesim.plan(model="llama3-8b", gpus=8, schedule="1f1b", tp=1, cp=1, mbs=1)
        self.assertGreater(len(rows), 0)
        self.assertEqual(rows[0]["gpus"], 8)
        self.assertEqual([row["iteration_s"] for row in rows],
                         [point["iteration_s"] for point in rows.json["points"]])
        self.assertTrue(rows.command.startswith("pipesim "))
        self.assertIn("--model llama3-8b", rows.command)

    @unittest.skipUnless(pandas_or_none(), "pandas is not installed")
    def test_frames(self):
        rows = pipesim.sweep(schedule="1f1b", pp=[2, 4], micro_batches=8, unit="F=1,B=2")
        self.assertEqual(list(rows.frame()["pp"]), [2, 4])
        self.assertEqual(len(pipesim.run(schedule="1f1b", **UNIT).frame()), 4)
        some = pipesim.run(schedule="1f1b,gpipe", **UNIT)
        self.assertEqual(sorted(some.frame()["schedule"]), ["1f1b", "gpipe"])
        self.assertEqual(len(pipesim.plan(model="llama3-8b", gpus=8, schedule="1f1b").frame()),
                         len(pipesim.plan(model="llama3-8b", gpus=8, schedule="1f1b")))


class Examples(unittest.TestCase):
    def test_first_steps(self):
        example = Path(__file__).parents[2] / "python" / "examples" / "first_steps.py"
        done = subprocess.run([sys.executable, "-B", str(example)], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("zbv        25.5 units, bubble 5.9%", done.stdout)
        self.assertIn("ffbb     N  8:   33 units,  8 activations", done.stdout)
        self.assertIn("refused: --pp 3: chimera needs an even number", done.stdout)


class Traces(unittest.TestCase):
    def test_a_trace_has_the_ops(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("trace.csv", "trace.csv.gz"):
                path = Path(folder) / name
                report = pipesim.run(schedule="1f1b", trace=path, **UNIT)
                trace = pipesim.Trace(path)
                ops = [event for event in trace if event["stream"] == "compute"]
                self.assertEqual(len(ops), 2 * 4 * 8)
                self.assertEqual(max(event["end_s"] for event in ops), report["iteration_s"])
                self.assertEqual(trace[0], trace.events[0])
            try:
                self.assertTrue(trace._repr_svg_().startswith("<svg"))
            except pipesim.Error as error:
                self.assertIn("gnuplot", str(error))


if __name__ == "__main__":
    unittest.main()
