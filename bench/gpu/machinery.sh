#!/usr/bin/env bash
# Measures the cost of a pipeline's machinery, as a phase of bench/gpu.sh:
#   - The same samples by one rank and by four: their time on the device one op at a time, and the
#     elapsed step when they share it.
#   - The time of the host for an instruction, with and without CUDA graphs. Ops and the vocabulary are
#     small, because a host whose device is late waits for its queue, and that is CPU time too.
#   - The step of four ranks on parts of the device: without graphs, and with W on a stream of its own,
#     over the usual step.
set -u
. bench/gpu/run.sh
failed=0
sizes=(--mbs 16 --micro-batches 8 --schedule 1f1b)
# ratio A B: B over A, less 1.
ratio() { [ -z "$1" ] || [ -z "$2" ] || awk -v a="$1" -v b="$2" 'BEGIN { printf "%.5f", b / a - 1 }'; }
busy() { sed -n 's/^ *"busy_s": \([^,]*\),*$/\1/p' "$work/run.json" | awk '{ s += $1 } END { if (NR) print s }'; }
both() { # FIGURE MODE
    local one_s='' one_busy_s='' four_busy_s=''
    # shellcheck disable=SC2086
    run "one-rank-$2" 30 $small --np 1 "${sizes[@]}" --device-mode "$2" && one_s=$run_step_s one_busy_s=$(busy) || failed=1
    # shellcheck disable=SC2086
    run "four-ranks-$2" 30 $small --np 4 "${sizes[@]}" --device-mode "$2" && four_busy_s=$(busy) || failed=1
    if [ "$2" = serial ]; then figure "$1" "$(ratio "$one_busy_s" "$four_busy_s")"; else figure "$1" "$(ratio "$one_s" "$run_step_s")"; fi
}
both machinery_frac serial
both machinery_wall_frac streams
host() { # FIGURE OPTIONS...
    local figure=$1 name=$1 seq=$seq vocab=$vocab tokens=$tokens
    shift
    [ "$kind" = emulated ] || seq=64 vocab=128 tokens=$work/tokens-128.bin
    [ -s "$tokens" ] || "$work/build/kernels" tokens "$tokens" 100000 $vocab
    run "${name//_/-}" 20 4 64 1 --np 4 --schedule zb-h1 --mbs 1 --micro-batches 32 --device-mode streams "$@" || failed=1
    [ "$run_status" -ne 0 ] || figure "$figure" "$(awk -v s="$(number cpu_s)" -v n="$(number instructions)" 'BEGIN { printf("%.3f", n > 0 ? 1e6 * s / n : 0) }')"
}
host host_us_per_instruction --cuda-graphs on
host host_us_without_graphs --cuda-graphs off
cut=(--np 4 --schedule zb-h1 --mbs 4 --micro-batches 16 --device-mode partition)
[ "$kind" = cuda ] || cut=(--np 4 --schedule zb-h1 --mbs 1 --micro-batches 4 --device-mode partition)
parts() { # NAME OPTIONS...: its step in run_step_s
    # shellcheck disable=SC2086
    run "$1" 20 $small "${cut[@]}" "${@:2}"
}
beside() {
    local usual_s
    parts parts || return
    usual_s=$run_step_s
    parts parts-without-graphs --cuda-graphs off || failed=1
    figure step_without_graphs_frac "$(ratio "$usual_s" "$run_step_s")"
    parts parts-weight-grad-stream --weight-grad-stream on || failed=1
    figure step_with_weight_stream_frac "$(ratio "$usual_s" "$run_step_s")"
}
beside || failed=1
exit $failed
