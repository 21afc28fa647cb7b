#!/usr/bin/env bash
# Prints what memory tiers cost pipesim in CPU time, each figure with the bound that it should keep.
# No figure is asserted. Each is the least of RUNS runs; those of a ratio run in turns.
# Usage: bench/tiers.sh [PIPESIM [RUNS]]
set -euo pipefail
pipesim=${1:-build/sim/pipesim} runs=${2:-3}

# cpu COMMAND...: seconds of CPU of one run, its workers included.
cpu() {
    local TIMEFORMAT='%U %S'
    { time "$@" >/dev/null 2>&1; } 2>&1 | awk '{ printf "%.3f\n", $1 + $2 }'
}

least() { sort -g | head -1; }

# seconds BOUND TITLE COMMAND...
seconds() {
    local bound=$1 title=$2
    shift 2
    "$@" >/dev/null || [ $? -eq 3 ] || { echo "bench/tiers.sh: $* fails" >&2; exit 1; }
    printf '%-62s %8.2f s   bound %4s s\n' "$title" \
        "$(for _ in $(seq "$runs"); do cpu "$@"; done | least)" "$bound"
}

# ratio BOUND TITLE RUNS 'COMMAND WITHOUT' 'COMMAND WITH': both in turns.
ratio() {
    local bound=$1 title=$2 count=$3 without with
    eval "$4" >/dev/null
    eval "$5" >/dev/null
    without=$(mktemp) with=$(mktemp)
    for _ in $(seq "$count"); do
        cpu bash -c "$4" >>"$without"
        cpu bash -c "$5" >>"$with"
    done
    printf '%-62s %8.2f     bound %4s   (%s s, %s s without)\n' "$title" \
        "$(awk "BEGIN { print $(least <"$with") / $(least <"$without") }")" "$bound" \
        "$(least <"$with")" "$(least <"$without")"
    rm -f "$without" "$with"
}

run="$pipesim --engine dag --schedule interleaved --pp 8 --vp 4 --tp 8 --dp 2 --gbs 2048 --mbs 1 \
--model gpt3-175b --cluster a100 --recompute full --zero 1"
away="--offload p=host,g=host,os=host --cpu-optimizer --cache 4 --update jit"
search="$pipesim plan --model llama3-405b --gpus 1024"
free="--free cp,ep,mbs,pp,recompute,schedule,tp,vp,zero"

program="$pipesim program --schedule interleaved --pp 16 --vp 4 --dp 2 --zero 1 --micro-batches 2048"
ratio 1.5 'lowered, proved and written with all of it' "$runs" "$program" "$program $away"
program="$pipesim program --schedule interleaved --pp 32 --vp 16 --micro-batches 512"
ratio 1.5 'lowered, proved and written, P 32, V 16, N 512' "$runs" "$program" "$program $away"
ratio 1.5 'lowered and evaluated with p, g, os on the host, cache and jit' "$runs" "$run" "$run $away"
seconds 1 'belady, P 32, V 16, N 512: lowered, proved and written' "$pipesim" program \
    --schedule interleaved --pp 32 --vp 16 --micro-batches 512 \
    --offload p=host,g=host,os=host --cpu-optimizer --cache 4
seconds 2 'plan of one layout, offload, act-bits, cache and gather free' "$pipesim" plan \
    --preset patrickstar-yard --free offload,act-bits,cache,gather
seconds 10 'plan --largest' "$pipesim" plan --preset patrickstar-yard --largest 10:200
seconds 1 '--seeds 100 of P 8, N 32' "$pipesim" --schedule 1f1b --unit F=1,B=2 --pp 8 \
    --micro-batches 32 --jitter 20% --seeds 100
ratio 3 'search of layouts of llama3-405b, 1,024 GPUs, offload free' 1 "$search $free" \
    "$search $free,offload"
