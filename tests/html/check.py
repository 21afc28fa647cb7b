"""check.py PAGE [REPORT.json [TRACE.csv...]] — is a page of --html well-formed, whole and true?

Well-formed: as XML, and with the tags that HTML may leave open. Whole: nothing is fetched, links and ids
fit. True: every marked figure is that of the report of --json, to the bit in its value and to the last
digit in its text; the ops for the script are those of the trace, and the picture is as full of them as the
ranks are busy. Prints what is wrong; exit code 1 where something is."""
import csv
import json
import re
import sys
import xml.etree.ElementTree as ElementTree
from html.parser import HTMLParser

MAY_BE_EMPTY = {"meta", "path"}  # of HTML itself, and of the SVG in it
LIMIT_BYTES = 2_000_000
faults = []


def fault(text):
    faults.append(text)


class Tags(HTMLParser):
    """A browser reads <div/> as <div>: only what is empty in HTML may look like that."""

    def handle_startendtag(self, tag, attributes):
        if tag not in MAY_BE_EMPTY:
            fault(f"<{tag}/> is left open by HTML")


def check_form(text):
    if len(text.encode()) > LIMIT_BYTES:
        fault(f"{len(text.encode())} bytes")
    for word in ("http:", "https:", "src=", "@import", "url(", "<link", "<iframe", "<img"):
        if word in text.lower():
            fault(f"something is fetched: {word}")
    Tags().feed(text)
    page = ElementTree.fromstring(text)
    ids = [element.get("id") for element in page.iter() if element.get("id")]
    if len(ids) != len(set(ids)):
        fault("an id occurs twice")
    for link in page.iter("a"):
        if not link.get("href", "").startswith("#") or link.get("href")[1:] not in ids:
            fault(f"a link leads nowhere: {link.get('href')}")
    for element in page.iter():
        for name in element.keys():
            if name.startswith("on"):
                fault(f"<{element.tag} {name}>")
    return page


# ---- figures -------------------------------------------------------------------------------------


def member(report, path):
    at = report
    for key in path.split("."):
        at = at[int(key)] if isinstance(at, list) else at[key]
    return at


SCALES = {"s": 1, "ms": 1e-3, "us": 1e-6, "ns": 1e-9, "%": 0.01, "GiB": 2**30, "GB": 1e9, "units": 1, "unit": 1,
          "min": 60, "h": 3600, "days": 86400}


def is_rounded(text, value, key):
    """Does the text say the value, as exactly as its digits allow?"""
    found = re.fullmatch(r"([-+]?[0-9]+(?:\.([0-9]+))?(?:e([-+][0-9]+))?)(?: ([a-zA-Z%]+))?", text)
    if not found:
        return False
    scale = SCALES[found[4]] if found[4] else 2**30 if key.endswith("_bytes") else 1
    unit = 10.0 ** (int(found[3] or 0) - len(found[2] or ""))
    digits = len(found[1].split("e")[0].lstrip("-+").replace(".", "").lstrip("0"))
    if not found[2] and not found[3] and digits > 3:  # %.6g without a point
        unit = 10.0 ** max(digits - 6, 0)
    return abs(float(found[1]) - value / scale) <= 0.5000001 * unit + 1e-9 * abs(value / scale)


def check_figures(page, report):
    seen = set()
    for figure in page.iter("data"):
        key, value = figure.get("data-key"), float(figure.get("value"))
        seen.add(key)
        try:
            expected = member(report, key)
        except (KeyError, IndexError, ValueError):
            fault(f"{key} is no member of the report")
            continue
        if value != expected:
            fault(f"{key} is {value!r}, the report says {expected!r}")
        if not is_rounded(figure.text, value / float(figure.get("data-divisor", 1)), key):
            fault(f"{key}: '{figure.text}' does not say {value!r}")
    for key in must_have(report):
        if key not in seen:
            fault(f"{key} is missing")
    return len(seen)


def must_have(report):
    if report["schema"] == "pipesim.compare/1":
        yield from ("predicted_step_s", "measured_step_s", "step_error_frac")
        for side in ("predicted", "measured"):
            yield from (f"{side}.time_s.{part}" for part, time in report[side]["time_s"].items() if time)
        for i, row in enumerate(report["durations"]):
            yield from (f"durations.{i}.{key}" for key, value in row.items() if isinstance(value, float))
        return
    if report["schema"] == "pipesim.plan/1":
        if report.get("mode") == "infer":
            for i, point in enumerate(report["points"][:64]):
                keys = ("first_token_s", "token_s", "tokens_per_s", "tokens_per_s_per_gpu", "peak_mem_bytes")
                yield from (f"points.{i}.{key}" for key in keys if point[key] is not None)
            return
        fitting = [point for point in report["points"] if point.get("fits")]
        for i in range(min(len(fitting), 64)):
            yield from (f"points.{i}.{key}" for key in ("iteration_s", "mfu", "peak_mem_bytes"))
        return
    for i, run in enumerate(report.get("runs", [])):
        if "refused" not in run:
            yield from (f"runs.{i}.{key}" for key in ("iteration_s", "bubble_frac", "span_bubble_frac"))
    if "runs" in report:
        return
    yield from ("iteration_s", "bubble_frac", "exposed_comm_frac")
    yield from (f"time_frac.{part}" for part, share in report["time_frac"].items() if share)
    yield from (key for key in ("mfu", "peak_mem_bytes") if report[key] is not None and (key != "mfu" or report["mode"] == "train"))
    if report.get("inference"):
        yield from ("inference.first_token_s", "inference.token_s")
    if len(report["ranks"]) <= 64:
        for i, rank in enumerate(report["ranks"]):
            # a run that generates holds no chunks and has no gradients; training has no cache
            is_training = report["mode"] != "infer"
            yield from (f"ranks.{i}.{key}" for key in ("busy_s", "idle_s") + ("peak_activations",) * is_training)
            for part, size in (rank["memory"] or {}).items():
                if part != "kv_bytes" if is_training else size != 0:
                    yield f"ranks.{i}.memory.{part}"


# ---- timelines -----------------------------------------------------------------------------------


def decode(data):
    """The ops of each row: start and end in quanta of the trace, then (kind, stage, first micro-batch)."""
    for row in data["rows"]:
        ops, time, i = [], 0, 0
        while i < len(row):
            start = time = time + data["times"][row[i]]
            time += data["times"][row[i + 1]]
            names, i = [(row[i + 2], row[i + 4], row[i + 3])], i + 5
            share, i = row[i], i + 1
            if share >= 0:
                names.append((row[i], row[i + 2], row[i + 1]))
                i += 3
            names = [(data["kinds"][data["looks"][look][0]].split()[0], stage, -1 if mb < 0 else mb // data["splits"])
                     for look, stage, mb in names]
            ops.append((start, time, names))
        yield ops


def names_of(cell):
    for stage, kind, mb in re.findall(r"(\d+)(F|B|I|W|R|U|DQ|Q)(\d*)", cell.split(")")[0]):
        yield kind, int(stage), int(mb) if mb else -1


UNITS_S = {"s": 1, "ms": 1e-3, "µs": 1e-6, "ns": 1e-9, "ps": 1e-12, "units": 1}


def check_ops(script, trace):
    events = {}
    with open(trace, newline="", encoding="utf-8") as rows:
        for row in csv.DictReader(rows):
            if row["stream"] in ("compute", "weights") and row["replica"] == "0":
                events.setdefault(int(row["rank"]), []).append(row)
    data = json.loads(script.text)
    quantum_s = data["quantum"] * UNITS_S[data["unit"]]
    for at, ops in enumerate(decode(data)):
        expected = events[data["first"] + at * data["every"]]
        if len(ops) != len(expected):
            fault(f"row {at} has {len(ops)} ops, the trace {len(expected)}")
            continue
        for (start, end, names), event in zip(ops, expected):
            for time, column in ((start, "start_s"), (end, "end_s")):
                if abs(time * quantum_s - float(event[column])) > 0.51 * quantum_s + 1e-12 * abs(float(event[column])):
                    fault(f"row {at}: {event['cell']}: {time * quantum_s} for {column} {event[column]}")
                    return
            if sorted(names) != sorted(names_of(event["cell"])):
                fault(f"row {at}: {names} for {event['cell']}")
                return


def check_lanes(script, trace):
    """The copies of each row, against those of its rank."""
    expected = {}
    with open(trace, newline="", encoding="utf-8") as rows:
        for row in csv.DictReader(rows):
            if row["stream"] == "copy" and row["replica"] == "0" and float(row["end_s"]) > float(row["start_s"]):
                expected.setdefault(int(row["rank"]), []).append((float(row["start_s"]), float(row["duration_s"])))
    data = json.loads(script.text)
    quantum_s = data["quantum"] * UNITS_S[data["unit"]]
    for at in range(len(data["rows"])):
        shown = [(row[i] * quantum_s, row[i + 1] * quantum_s) for lane in data.get("lanes", ())
                 for row in [lane["rows"][at]] for i in range(0, len(row), 2)]
        wanted = expected.get(data["first"] + at * data["every"], [])
        if len(shown) != len(wanted) or any(abs(a - b) > 2 * quantum_s for pair in zip(sorted(shown), sorted(wanted))
                                            for a, b in zip(*pair)):
            fault(f"row {at} has {len(shown)} copies, the trace {len(wanted)}, or at other times")


def check_picture(page, report, span_s, share):
    """How full of boxes each row is, against how busy its rank is."""
    figure = next(page.iter("figure"))
    svg = next(figure.iter("svg"))
    width, height = (int(number) for number in svg.get("viewBox").split()[2:])
    pitch, full = 24, 20 * share
    area = [0] * (height // pitch)
    for path in svg.iter("path"):
        if path.get("class") != "op":
            continue
        for x, y, w, h in re.findall(r"M(\d+) (\d+)h(\d+)v(\d+)h-\d+z", path.get("d")):
            area[int(y) // pitch] += int(w) * int(h)
            if int(x) + int(w) > width or int(y) + int(h) > height:
                fault("a box is outside of the picture")
    every = -(-len(report["ranks"]) // len(area))
    for row, filled in enumerate(area):
        busy = report["ranks"][row * every]["busy_s"] / span_s
        if abs(filled / full / width - busy) > 0.03:
            fault(f"row {row} is {filled / full / width:.3f} full, its rank {busy:.3f} busy")


def main(page_path, report_path=None, *trace_paths):
    with open(page_path, encoding="utf-8") as file:
        page = check_form(file.read())
    figures = 0
    if report_path:
        with open(report_path, encoding="utf-8") as file:
            report = json.load(file)
        figures = check_figures(page, report)
    if trace_paths:
        scripts = [script for script in page.iter("script") if script.get("class") == "ops"]
        if len(scripts) != len(trace_paths):
            fault(f"{len(scripts)} lists of ops")
        for script, trace in zip(scripts, trace_paths):
            check_ops(script, trace)
            check_lanes(script, trace)
    if trace_paths and "iteration_s" in report:
        check_picture(page, report, report["iteration_s"], json.loads(scripts[0].text).get("share", 1))
    for text in faults[:10]:
        print("#", text)
    print(f"# {len(list(page.iter()))} elements, {figures} figures")
    return 1 if faults else 0


sys.exit(main(*sys.argv[1:]))
