#!/usr/bin/env bash
# Predicts schedules from the durations of another one, and measures them, as a phase of bench/gpu.sh.
# All run on parts of the GPU by the wall clock, then one op at a time by the virtual clock.
set -u
. bench/gpu/run.sh
failed=0
# Calibrated on another one with as many chunks on a rank: see docs/prediction.md. Ranks of gems compute one
# at a time, those of the others together: parts share the device's memory and power.
schedules=('chimera;dualpipe' 'gems;chimera' 'dualpipe;chimera' 'gpipe;1f1b' 'eager-1f1b;1f1b' '1f1b;zb-h1' 'zb-h2;zb-h1'
    'zb-h1;zb-h2' 'zbv;v-half' 'v-half;zbv' 'v-min;zbv' 'dualpipev;zbv' 'hanayo --vp 2;zbv' 'interleaved-zb --vp 2;zbv'
    'interleaved --vp 3;bfs' 'bfs --vp 3;interleaved')
sizes=(--np 4 --mbs 4 --micro-batches 16)
if [ "$kind" = emulated ]; then schedules=('gpipe;1f1b' 'zbv;zb-h1') sizes=(--np 2 --mbs 2 --micro-batches 4); fi

# median FILE: of the numbers without their signs, then how many there are.
median() { sed 's/^-//' "$1" | sort -g | awk '{ x[NR] = $1 } END { if (NR) printf "%.5f %d\n", (x[int((NR + 1) / 2)] + x[int(NR / 2) + 1]) / 2, NR }'; }

mode() { # MODE FIGURE
    local schedule from middle count
    : >"$work/errors"
    for schedule in "${schedules[@]}"; do
        [ "$(within 10)" -gt 1 ] || break
        from=${schedule#*;} schedule=${schedule%;*}
        # shellcheck disable=SC2086
        run "$1-${schedule%% *}" 20 $small "${sizes[@]}" --schedule $schedule --calibrate-on "$from" --device-mode "$1" || failed=1
        [[ ! $run_error_frac =~ ^[-0-9] ]] || echo "$run_error_frac" >>"$work/errors"
    done
    read -r middle count < <(median "$work/errors") || return
    figure "$2_median_frac" "$middle"
    figure "$2_schedules" "$count"
    echo "$1: median error $middle of $count schedules" >&2
}
mode partition predict_wall
mode serial predict_virtual
exit $failed
