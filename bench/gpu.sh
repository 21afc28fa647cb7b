#!/usr/bin/env bash
# Measures a GPU, on a machine with CUDA's toolkit, a C compiler and bash. Three calls of less than 9 minutes
# each cover everything, the most valuable first:
#
#   bench/gpu.sh --call 1
#     build      pipeexec, its module, tests and the table of kernels, by compilers alone
#     probe      assumptions of the code, one by one
#     tests      the tests of kernels on the device
#     models     GPT-2 124M, 774M and 1558M: tokens/s, and operations over those of the device (MFU)
#     kernels    every kernel compared with the roofline of the device, stated and measured
#     parts      F, I and W of a block, the embedding and the head
#     torch      comparison with PyTorch, if python3 has it: a step, and the speed of the models
#   bench/gpu.sh --call 2
#     predict    schedules on parts of the GPU and one op at a time, predicted from others and measured
#     machinery  four ranks against one: time of the GPU; time of the host for an instruction; CUDA
#                graphs and a stream for W, with and without
#     processes  ranks as processes that share the GPU, by each transport there is
#     tiers      activations, or all state, on the host under a cap of the device's memory
#   bench/gpu.sh --call 3
#     families   small models of the hub: bits of one rank, losses and norms of the CPU
#     sanitize   kernels under compute-sanitizer, if it is installed
#     profile    the six largest kernels of a step under ncu, if it is installed
#     sweep      the models with micro-batches of 16, 32 and 64 samples
#
#   bench/gpu.sh [--call N] [--only PHASE,...] [--skip PHASE,...] [--limit S] [OUTPUT.json]
#                default bench/results/DEVICE.json, or that name in the folder OUT; written again after
#                every phase. OUT also gets all logs and intermediate results, as logs.tgz
#   bench/gpu.sh --emulated [...] OUTPUT.json   a trial without a GPU on tests/cuda's emulation: no figure
#                of it means anything
#   bench/gpu.sh --summary FILE.json            the figures reached, and those not measured
#
# jansson, libcsv and zlib come from the system, or from DEPS, a folder with unpacked Debian packages.
# Or bench/gpu/pack.sh builds the programs elsewhere. A phase that fails or takes too long is noted, and
# the next one starts. --limit gives the seconds for all phases (530). WORK is the build folder
# (build-gpu). A second command continues there and keeps the rows that it does not measure again. The
# exit code is 1 if nothing can be measured, and 3 if a phase has failed.
set -uo pipefail
kind=cuda only='' skip='' call='' limit_s=530
say() { printf '%s\n' "$*" >&2; }
fail() {
    say "bench: error: $2"
    exit "$1"
}
while [[ ${1:-} = -* ]]; do
    case $1 in
    -h | --help) exec sed -n '2,43s/^# \{0,1\}//p' "$0" ;;
    --emulated) kind=emulated limit_s=3600 ;;
    --call | --only | --skip | --limit | --summary)
        [ $# -ge 2 ] || fail 2 "$1 needs a value; try --help"
        declare "${1#--}=$2"
        shift
        ;;
    *) fail 2 "unknown option $1; try --help" ;;
    esac
    shift
done
[ $# -le 1 ] || fail 2 "more than one output file: $*"
[ -z "${limit:-}" ] || limit_s=$limit
[[ $limit_s =~ ^[1-9][0-9]*$ ]] || fail 2 "--limit $limit_s: whole seconds, 1 or more"
output=${1:-}
[[ $output = *.json || -z $output ]] || fail 2 "$output: the output is a file OUTPUT.json; try --help"
[ $kind = cuda ] || [ -n "$output" ] || fail 2 "--emulated needs an output file"
[ -z "$output" ] || output=$(realpath -m "$output")
[ -z "${summary:-}" ] || summary=$(realpath -m "$summary")
[ -z "${DEPS:-}" ] || export DEPS=$(realpath "$DEPS")
work=$(realpath -m "${WORK:-$(dirname "$0")/../build-gpu}")
cd "$(dirname "$0")/.." || exit
[ -z "${summary:-}" ] || exec bench/gpu/summary.sh "$summary"

# Call, name, seconds at most, command.
table() {
    cat <<END
1 probe 30 bench/gpu/probe.sh
1 tests 50 bench/gpu/tests.sh
1 models 100 bench/gpu/models.sh
1 kernels 45 bench/gpu/kernels.sh
1 parts 50 bench/gpu/parts.sh
1 torch 150 bench/gpu/torch.sh
2 predict 260 bench/gpu/predict.sh
2 machinery 80 bench/gpu/machinery.sh
2 processes 90 bench/gpu/processes.sh
2 tiers 100 bench/gpu/tiers.sh
3 families 110 bench/gpu/families.sh
3 sanitize 90 bench/gpu/sanitize.sh
3 profile 110 bench/gpu/profile.sh
3 sweep 200 bench/gpu/sweep.sh
END
}
names=$(table | cut -d ' ' -f 2 | paste -sd ' ')
[[ $call =~ ^[123]?$ ]] || fail 2 "--call $call: 1, 2 or 3"
for name in ${only//,/ } ${skip//,/ }; do
    [[ " build $names " = *" $name "* ]] || fail 2 "no phase $name; there are: build $names"
done
if [ $kind = cuda ] && [ ! -e /dev/nvidiactl ] && [ ! -e /dev/dxg ]; then
    fail 1 "no NVIDIA device here; --emulated OUTPUT.json tries everything without one"
fi

started=$(date +%s)
mkdir -p "$work" || exit
. bench/gpu/phase.sh
build_limit_s=$((limit_s * 2 / 5))
say "== build"
timeout "$build_limit_s" bench/gpu/build.sh "$work/build" $kind >"$work/build.log" 2>&1
status=$?
[ $status -ne 124 ] || echo "longer than $build_limit_s s" >>"$work/build.log"
[ $status -eq 0 ] || { tail -n 20 "$work/build.log" >&2; fail 1 "nothing was built"; }
note build 0 $(($(date +%s) - started)) "$work/build.log"
note_missing
# PyTorch must find its own libraries, not the toolkit's. So folders are named only if the programs do not
# start without them. Then PyTorch's serve, where there is no toolkit.
packages() { python3 -c 'import glob, nvidia; print(*(f for p in nvidia.__path__ for f in glob.glob(p + "/*/lib")))' 2>"$work/python.err" | tr ' ' '\n'; }
tell() { timeout 60 "$work/build/kernels" about 2>"$work/about.err"; }
if ! about=$(tell); then
    export LD_LIBRARY_PATH=${CUDA_HOME:-/usr/local/cuda}/lib64:$(packages | paste -sd:)${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
    about=$(tell) || { cat "$work/about.err" >&2; fail 1 "the device does not answer"; }
fi
device=$(sed 's/.*"name": "\([^"]*\)".*/\1/' <<<"$about")
say "   $device, after $(($(date +%s) - started)) s"
: "${output:=${OUT:-$PWD/bench/results}/$(tr 'A-Z ' 'a-z_' <<<"$device" | tr -cd 'a-z0-9_').json}"
{ mkdir -p "$(dirname "$output")" && [ -w "$(dirname "$output")" ]; } || fail 1 "cannot write $output"

export work kind about PIPEEXEC_CUDA_MODULE=$work/build/pipeexec-cuda.so
for library in NCCL:libnccl.so.2 CUDNN:libcudnn.so.9; do
    variable=PIPEEXEC_${library%%:*}_LIBRARY file=${library#*:}
    [ -n "${!variable:-}" ] || ldconfig -p | grep -qF "$file" ||
        printf -v "$variable" %s "$(packages | sed "s:\$:/$file:" | xargs ls 2>"$work/python.err" | head -n 1)"
    [ -z "${!variable:-}" ] || export "${variable?}"
done
[ ! -e "$work/build/libnccl_stub.so" ] || export PIPEEXEC_NCCL_LIBRARY=$work/build/libnccl_stub.so
while read -r in_call name seconds command; do
    [ -z "$call" ] || [ "$call" = "$in_call" ] || continue
    [ -z "$only" ] || [[ ,$only, = *,$name,* ]] || continue
    [[ ,$skip, != *,$name,* ]] || continue
    [ $kind = cuda ] || seconds=$((10 * seconds))
    phase "$name" "$seconds" "$command"
    write_json "$output"
    keep_logs
done < <(table)
write_json "$output"
bench/gpu/summary.sh "$output"
say "$output, in $(($(date +%s) - started)) s"
[ "$has_failed" = no ] || exit 3
