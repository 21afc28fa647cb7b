# Writes sim/error/generation_rows.h from tables of published generations and what was predicted:
#
#   generation_rows.py inference.csv CSV JSON      CSV: validate -o, JSON: validate --json
import csv
import json
import sys

FIGURES = {"latency_s": "LATENCY", "tokens_per_s": "TOKENS", "first_token_s": "FIRST_TOKEN", "token_s": "TOKEN"}
published = {row["id"]: row for row in csv.DictReader(open(sys.argv[1]))}
runs = {row["id"]: row for row in csv.DictReader(open(sys.argv[2]))}
families, groups = [], {}
for row in json.load(open(sys.argv[3]))["rows"]:
    given, run = published[row["id"]], runs[row["id"]]
    if row["family"] not in families:
        families.append(row["family"])
    params = 12 * float(given["layers"]) * float(given["hidden"]) ** 2
    key = (run["device"], run["framework"], given["precision"], int(given["tp"]) > 1, params < 2e9,
           given["offload"] != "", families.index(row["family"]))
    for figure, name in FIGURES.items():
        error = row[figure + "_error_frac"]
        if error is not None:
            groups.setdefault((name,) + key, []).append("%.0f" % (1000 * error))

print("""/* sim/error/generation_rows.h — errors of all predicted rows of tests/published/inference.csv.
 * Include it with PP_GENERATION_ERRORS defined. UPDATE=rows tests/accuracy.sh PIPESIM writes it.
 *
 *    (figure, device, framework, precision, TP > 1, below 2 B, other tiers, family, errors...)
 *    family  number of the family, in the order of the table
 *    errors  predicted / published - 1, in 1/1000 */
/* clang-format off */""")
for key, errors in groups.items():
    words = ['PP_GENERATION_ERRORS(%s, "%s", "%s", "%s", %d, %d, %d, %d' % key] + errors
    line = words[0]
    for word in words[1:]:
        if len(line) + len(word) + 3 > 100:
            print(line + ",")
            line = "    " + word
        else:
            line += ", " + word
    print(line + ")")
print("/* clang-format on */")
