#!/bin/sh
# Fits costs to runs of pipeexec on 2 ranks, predicts 4 and 8 ranks under other schedules, and runs
# these as well. The clock is virtual, so every rank has a core of its own. The order of hanayo is
# searched with the costs at hand, so the predicted order is not the one that ran.
# Usage: bench/calibrate.sh [PIPESIM [PIPEEXEC [STEPS]]]
set -eu
pipesim=${1:-build/sim/pipesim} pipeexec=${2:-build/exec/pipeexec} steps=${3:-9}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
net='--layers 16 --micro-batches 16'

for run in '1f1b' 'zb-h1' 'interleaved --vp 2' 'interleaved-zb --vp 2'; do
    # shellcheck disable=SC2086
    "$pipeexec" --schedule $run -np 2 $net --steps "$steps" --no-check --quiet \
        --trace "$folder/$(echo "$run" | tr -d ' ').json"
done
"$pipesim" calibrate "$folder"/*.json --hold-out none -o "$folder/cost.json" | sed '/^  next/,$d'
echo
printf '%-16s %3s %12s %12s %8s\n' schedule P measured predicted error
for ranks in 4 8; do
    for run in 1f1b gpipe zb-h1 interleaved interleaved-zb bfs zbv chimera hanayo dualpipev; do
        # shellcheck disable=SC2086
        measured=$("$pipeexec" --schedule $run -np $ranks $net --steps "$steps" --no-check --json |
            sed -n 's/^  "step_s": \([^,]*\),*$/\1/p')
        predicted=$("$pipesim" --cost "$folder/cost.json" --schedule $run --pp $ranks --dp 1 \
            --micro-batches 16 --json | sed -n 's/^  "iteration_s": \([^,]*\),*$/\1/p')
        echo "$run $ranks $measured $predicted"
    done
done | awk '
    function size(x) { return x < 0 ? -x : x }
    { error = 100 * ($4 / $3 - 1); all[NR] = size(error)
      printf "%-16s %3d %9.1f ms %9.1f ms %+6.1f %%\n", $1, $2, 1e3 * $3, 1e3 * $4, error; fflush() }
    END { for (i = 2; i <= NR; i++) for (j = i; j > 1 && all[j] < all[j - 1]; j--) {
              t = all[j]; all[j] = all[j - 1]; all[j - 1] = t }
          printf "\nmedian of %d errors without sign: %.1f %%\n", NR,
                 NR % 2 ? all[(NR + 1) / 2] : (all[NR / 2] + all[NR / 2 + 1]) / 2 }'
