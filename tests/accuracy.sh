#!/usr/bin/env bash
# docs/accuracy.md and the tables of sim/error say what predictions are worth with the constants of
# today.
#
#   accuracy.sh PIPESIM        UPDATE=1 writes all anew: minutes, as constants are fitted without
#                              each family in turn. UPDATE=rows writes the tables of sim/error alone
set -euo pipefail
pipesim=$(realpath "$1")
cd "$(dirname "$0")/.."
page=docs/accuracy.md
table=sim/error/rows.h
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export LC_ALL=C

"$pipesim" validate tests/published/*.csv --markdown -o "$scratch/rows.csv" >"$scratch/page"
awk -f tests/csv.awk -f tests/error_rows.awk "$scratch/rows.csv" >"$scratch/table"
awk -f tests/csv.awk -f tests/mfu_rows.awk "$scratch/rows.csv" >"$scratch/mfus"
served=sim/error/generation_rows.h
"$pipesim" validate tests/published/inference.csv -o "$scratch/served.csv" >"$scratch/printed"
"$pipesim" validate tests/published/inference.csv --json >"$scratch/served.json"
python3 tests/generation_rows.py tests/published/inference.csv "$scratch/served.csv" \
    "$scratch/served.json" >"$scratch/served"
if [[ ${UPDATE:-} ]]; then
    cp "$scratch/table" "$table"
    cp "$scratch/served" "$served"
    cp "$scratch/mfus" sim/error/mfus.h
    [[ $UPDATE == rows ]] && exit
    "$pipesim" validate tests/published/*.csv --refit --markdown >"$scratch/page"
    cp "$scratch/page" "$page"
    exit
fi

# Steps of vTrain's one node were computed (sim/published/metric.c). Layouts that differ only in layers
# and micro-batches have steps that are linear in both, to 1e-4: six digits are published.
awk "$(cat tests/csv.awk)"'
    cell("id") ~ /^vtrain-single/ && cell("pp") == 1 && cell("microbatch") < 8 {
        key = cell("hidden") "," cell("tp") "," cell("dp") "," cell("microbatch")
        at[key] = at[key] " " cell("layers") "," cell("global_batch") / cell("microbatch") / cell("dp") "," cell("metric_step_time_s")
    }
    END {
        for (key in at) { # mixed second differences of T = N (a L + b) + c L + d are alike
            n = split(at[key], point, " ")
            delete step
            for (i = 1; i <= n; i++) { split(point[i], part, ","); step[part[1], part[2]] = part[3] }
            for (l = 12; l < 24; l += 4) for (k = 1; k < 16; k *= 2) {
                if (!((l, k) in step && (l + 4, k) in step && (l, 2 * k) in step && (l + 4, 2 * k) in step)) continue
                slope = (step[l + 4, 2 * k] - step[l + 4, k] - step[l, 2 * k] + step[l, k]) / k
                if (key in first) { compared++; d = (slope - first[key]) * k / step[l, k]; bad += d > 1e-4 || d < -1e-4 }
                else first[key] = slope
            }
        }
        exit bad || compared < 20
    }' tests/published/measurements_vtrain_single_node.csv ||
    { echo "steps of vtrain-single are not linear: they may be measured"; exit 1; }

# The default of --memory-margin is the median error of predicted peaks, to a whole percent.
median=$(awk -F' [|] ' '/^## Peak memory/ { is_memory = 1 } is_memory && /^[|] all / { printf "%.0f%%", $3 }' "$scratch/page")
if [[ -z $median ]] || ! "$pipesim" --help | tr -s ' \n' ' ' | grep -Eq -e "--memory-margin FRAC .{0,300}default $median"; then
    echo "the median error of predicted peaks is $median; --memory-margin has another default"
    exit 1
fi

# Published layouts of a plan (sim/plan/recipes.c) have step, batch and precision of their rows.
awk -v source=sim/plan/recipes.c "$(cat tests/csv.awk)"'
    function kind(precision) {
        return precision ~ /fp8/ ? "FP8" : precision ~ /fp4/ ? "NVFP4" : precision ~ /bf16/ ? "BF16" : toupper(precision)
    }
    BEGIN {
        while ((getline line <source) > 0) {
            if (line !~ /^    [{]"/) continue
            n = split(line, part, /, */)
            gsub(/"/, "", part[n - 3]); sub(/PP_PRECISION_/, "", part[n - 5])
            recipes++; step[part[n - 3]] = part[n - 2]; gbs[part[n - 3]] = part[n - 4]; precision[part[n - 3]] = part[n - 5]
        }
    }
    cell("id") in step {
        id = cell("id"); rows++
        if (step[id] + 0 != cell("metric_step_time_s") + 0 || gbs[id] + 0 != cell("global_batch") + 0 ||
            precision[id] != kind(cell("precision"))) {
            print "sim/plan/recipes.c: " id " differs from its row in tests/published"; bad = 1
        }
    }
    END { exit bad || recipes < 20 || rows != recipes }' tests/published/measurements.csv ||
    { echo "sim/plan/recipes.c is not of tests/published/measurements.csv"; exit 1; }

# The page without what only a refit can tell: its rows, its columns, the words about it.
built_in() {
    awk -F' [|] ' '
        /^\| fitted without/ { next }
        /^Some knowledge of the family/ { is_left_out = 1 }
        /^\|/ { is_left_out = 0 }
        is_left_out { next }
        /^Columns \*without it\*/ { is_about_refit = 1 }
        is_about_refit && NF == 0 { is_about_refit = 0 }
        is_about_refit { next }
        { sub(/ --refit --markdown/, " --markdown") }
        /without it: median/ { is_wide = 1; sub(/ without it: median \| p90 \| mean \| bias \|/, "") }
        !/^\|/ { is_wide = 0 }
        is_wide && /^\|-/ { sub(/---\|---\|---\|---\|/, "") }
        is_wide && /^\| / && NF == 12 {
            print $1 " | " $2 " | " $3 " | " $4 " | " $5 " | " $6 " | " $11 " | " $12
            next
        }
        { print }' "$1"
}
built_in "$page" >"$scratch/kept"
built_in "$scratch/page" >"$scratch/now"

# Every line is there, word by word; percentages may differ in their last digit.
if ! awk '
        NR == FNR { kept[NR] = $0; lines = NR; next }
        {
            n = split($0, now, " ")
            if (n != split(kept[FNR], was, " ")) bad++
            for (i = 1; i <= n; i++) {
                d = now[i] - was[i]
                if (now[i] != was[i] && (d == 0 || now[i + 1] != "%" || d * d > 0.15 * 0.15)) bad++
            }
        }
        END { exit bad > 0 || FNR != lines || lines < 40 }' "$scratch/kept" "$scratch/now"; then
    echo "$page is not of today; UPDATE=1 tests/accuracy.sh PIPESIM writes it anew"
    diff "$scratch/kept" "$scratch/now" || true
    exit 1
fi

if ! diff sim/error/mfus.h "$scratch/mfus"; then
    echo "sim/error/mfus.h is not of today; UPDATE=rows tests/accuracy.sh PIPESIM writes it anew"
    exit 1
fi

# The same groups of rows; an error may differ by 1/1000.
words() { tr -s ' ,()\n' '\n' <"$1"; }
same() { # TABLE NOW WORDS
    paste <(words "$1") <(words "$2") | awk -F'\t' -v least="$3" '
        { d = $1 - $2 }
        $1 != $2 && !($1 $2 ~ /^[-0-9]+$/ && d * d <= 1) { bad++ }
        END { exit bad > 0 || NR < least }' && return
    echo "$1 is not of today; UPDATE=rows tests/accuracy.sh PIPESIM writes it anew"
    diff "$1" "$2" || true
    exit 1
}
same "$table" "$scratch/table" 1000
same "$served" "$scratch/served" 200

# The band of a small model that generates is that of the one such family, as the command prints it.
"$pipesim" --mode infer --model gpt2 --gpus 1 --cluster a100 --json >"$scratch/report"
awk '$1 == "ft-350m" && $2 == "latency" { print $3, $4, $6 }' "$scratch/printed" >"$scratch/band"
python3 -c 'import json, sys
error = json.load(open(sys.argv[1]))["error"]
print("%d %.1f %.1f" % (error["latency_rows"], 100 * error["latency_median_frac"], 100 * error["latency_p90_frac"]))' \
    "$scratch/report" | paste -d' ' - "$scratch/band" |
    awk '{ for (i = 1; i <= 3; i++) bad += ($i - $(i + 3)) ^ 2 > 0.15 ^ 2 } END { exit bad > 0 || NF != 6 }' ||
    { echo "a report that generates has another band"; exit 1; }

# The band of a report is that of the rows, found by another program.
"$pipesim" --schedule 1f1b --gpus 2048 --framework megatron --json >"$scratch/report"
alike='^PP_STEP_ERRORS\("h100", "(megatron.*|nemo|bridge)", "(fp16|bf16)", 1, 1, 0, '
awk -v alike="$alike" '
    /^PP_/ { is_in = $0 ~ alike; sub(/.*SOURCES\([0-9, ]*\),/, "") }
    is_in { gsub(/[-,)]/, " "); for (i = 1; i <= NF; i++) print $i }' "$table" | sort -n |
    awk '
        { value[NR] = $1 / 1000 }
        function quantile(frac,    at, low) {
            at = 1 + frac * (NR - 1); low = int(at)
            return value[low] + (at - low) * (value[low + 1] - value[low])
        }
        END { printf "%d %.4f %.4f\n", NR, quantile(0.5), quantile(0.9) }' >"$scratch/band"
python3 -c 'import json, sys
error = json.load(open(sys.argv[1]))["error"]
print("%d %.4f %.4f" % (error["rows"], error["step_median_frac"], error["step_p90_frac"]))' \
    "$scratch/report" | diff "$scratch/band" - || { echo "the report has another band"; exit 1; }
