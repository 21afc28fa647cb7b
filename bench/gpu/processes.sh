#!/usr/bin/env bash
# Ranks as processes that share the device, as a phase of bench/gpu.sh. Over each transport between GPUs
# in this build, two and four processes train to the bits of one (--check). Also times messages.
set -u
. bench/gpu/run.sh
failed=0
samples=4
exact() { # FIGURE OPTIONS...
    local figure=$1
    shift
    # shellcheck disable=SC2086
    run_length='--steps 3' run "${figure//_/-}" 30 4 768 12 --schedule 1f1b --mbs 2 --micro-batches 4 --exact-grad --check "$@"
    local equal=0
    [ $run_status -eq 0 ] && [ "$(number bit_equal)" = true ] && equal=1
    [ $equal -eq 1 ] || failed=1
    figure "$figure" $equal
}
exact bit_equal_threads --np 2 --transport local
export NCCL_DEBUG=WARN
# Without MPS the GPU runs one process at a time, each for milliseconds, and every message waits for them.
if command -v nvidia-cuda-mps-control >"$work/mps.which"; then
    export CUDA_MPS_PIPE_DIRECTORY=$work/mps CUDA_MPS_LOG_DIRECTORY=$work/mps.log
    mkdir -p "$CUDA_MPS_PIPE_DIRECTORY" "$CUDA_MPS_LOG_DIRECTORY"
    nvidia-cuda-mps-control -d && trap 'echo quit | nvidia-cuda-mps-control' EXIT
fi
choices=$("$pipeexec" --transport none 2>&1 | tr -c 'a-z\n' ' ')
for transport in ipc nccl; do
    [[ " $choices " = *" $transport "* ]] || continue
    exact "bit_equal_${transport}_2" --transport $transport --np 2
    [ $run_status -eq 0 ] || continue
    exact "bit_equal_${transport}_4" --transport $transport --np 4
    rm -f "$work/trace.csv"
    # shellcheck disable=SC2086
    run "speed-$transport" 30 4 768 12 --schedule 1f1b --np 2 --mbs $samples --micro-batches 8 --transport $transport \
        --trace "$work/trace.csv" --predicted-trace "$work/predicted.csv" || failed=1
    [ ! -s "$work/trace.csv" ] || figure "message_ms_$transport" "$(bench/gpu/messages.sh "$work/trace.csv")"
done
exit $failed
