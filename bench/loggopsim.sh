#!/usr/bin/env bash
# Measures LogGOPSim (spcl/LogGOPSim 76451de) on J(8,256,64), with rings of gradients and without. It also runs
# bench_dag, which replaces rings by a closed form ("ring") or plays them ("uneven"). Then both programs run
# GPT-3 on 256 GPUs as whole processes: LogGOPSim plays the file that pipesim exports, pipesim starts from its
# command line. Least CPU seconds count.
#
#   TXT2BIN=txt2bin LOGGOPSIM=LogGOPSim bench/loggopsim.sh [BENCH_DAG [PIPESIM]]
set -eu
: "${TXT2BIN:?}" "${LOGGOPSIM:?}"
bench=${1:-build/bench/bench_dag} pipesim=${2:-build/sim/pipesim} folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# job RING: 1F1B of 8 ranks, 256 replicas, 64 micro-batches. On one cpu a rank, as LogGOPSim needs it.
job() {
    awk -v ring="$1" 'BEGIN {
        p = 8; d = 256; m = 64; print "num_ranks " p * d
        for (r = 0; r < p * d; r++) {
            s = r % p; line = 0; warm = p - 1 - s; print "rank " r " {"
            for (k = 0; k < 2 * m; k++) {
                is_f = k < warm || k < 2 * m - warm && (k - warm) % 2 == 0
                i = is_f ? f++ : b++
                if (is_f ? s > 0 : s < p - 1) add("recv 6291456b from " (is_f ? r - 1 : r + 1) " tag " 2 * i + !is_f)
                add("calc " (is_f ? 9000000 : 18000000))
                if (is_f ? s < p - 1 : s > 0) add("send 6291456b to " (is_f ? r + 1 : r - 1) " tag " 2 * i + !is_f)
            }
            f = b = 0
            for (k = 0; ring && k < 2 * (d - 1); k++) {
                add("send 1048576b to " (r + p) % (p * d) " tag " 1000 + k)
                add("recv 1048576b from " (r + p * (d - 1)) % (p * d) " tag " 1000 + k)
            }
            print "}"
        }
    }
    function add(text) { print "l" ++line ": " text; if (line > 1) print "l" line " requires l" line - 1 }'
}

for ring in 1 0; do
    job $ring >"$folder/j.goal"
    "$TXT2BIN" -i "$folder/j.goal" -o "$folder/$ring.bin" >/dev/null
    rm "$folder/j.goal"
done
TIMEFORMAT='%U %S'
for _ in 1 2 3; do
    for ring in 1 0; do
        { time "$LOGGOPSIM" -f "$folder/$ring.bin" --batchmode -L 1000 -o 0 -g 0 -O 0 -G 0 -S 4294967295 >"$folder/out"; } 2>"$folder/time"
        awk -v ring=$ring '/^PERFORMANCE/ {for (i = 1; i < NF; i++) if ($i == "Events:") events = $(i + 1)} /finishing/ {end = $7}
            FILENAME ~ /time$/ {printf "LogGOPSim, %-12s %9d events %6.2f s CPU, ends at %s ns\n", ring ? "ring" : "without ring", events, $1 + $2, end}' "$folder/out" "$folder/time"
    done
    "$bench" | grep '^J('
done

# seconds COMMAND...: the least CPU time of ten runs.
seconds() {
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        { time "$@" >"$folder/out"; } 2>"$folder/time"
        awk '{print $1 + $2}' "$folder/time"
    done | sort -g | head -1
}

gpt3=(--model gpt3-175b --cluster a100 --schedule interleaved --vp 3 --pp 32 --tp 1 --dp 8 --micro-batches 64 --mbs 1
    --engine dag)
"$pipesim" export --to goal "${gpt3[@]}" -o "$folder/gpt3.goal" >/dev/null 2>&1
# LogGOPSim ends nothing right with two cpus a rank; its G is a whole number.
sed -i 's/ cpu [0-9]*//; s/ nic [0-9]*//; /^\/\//d' "$folder/gpt3.goal"
tasks=$(grep -cE 'send|recv|calc' "$folder/gpt3.goal")
"$TXT2BIN" -i "$folder/gpt3.goal" -o "$folder/gpt3.bin" >/dev/null
peer=$(seconds "$LOGGOPSIM" -f "$folder/gpt3.bin" --batchmode -L 8000 -o 0 -g 0 -O 0 -G 0 -S 4294967295)
for fold in --no-fold ''; do
    # shellcheck disable=SC2086
    own=$(seconds "$pipesim" "${gpt3[@]}" $fold --json)
    echo "$tasks $peer $own ${fold:-folded}" | awk '{printf "process of %d tasks: LogGOPSim %.3f s CPU, pipesim %.3f s %-9s %.1f\n", $1, $2, $3, $4, $2 / $3}'
done
