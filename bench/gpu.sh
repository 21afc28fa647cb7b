#!/usr/bin/env bash
# All that is to be measured on a GPU, in 8 minutes, on a machine that has CUDA's toolkit, a C compiler
# and bash: build, probes of what the code relies on, tests of the kernels on the device, a table of the
# kernels beside the device's roofline, training runs predicted and measured, PyTorch beside it where
# python3 has it, and compute-sanitizer over some of the tests.
#
#   bench/gpu.sh [OUTPUT.json]          default bench/results/DEVICE.json
#   bench/gpu.sh --emulated OUTPUT.json a trial of all parts without a GPU, on tests/cuda's emulation: no
#                                       figure of it means anything
#
# jansson, libcsv and zlib are taken from the system, or from DEPS, a folder with unpacked Debian
# packages; the toolkit from CUDA_HOME. A part that fails or takes too long is noted, and the others
# go on. Exit code 1, and nothing written, where nothing can be measured. WORK: where everything is
# built and kept, else a new folder that is removed.
set -uo pipefail
kind=cuda
case ${1:-} in
-h | --help) exec sed -n '2,14s/^# \{0,1\}//p' "$0" ;;
--emulated)
    kind=emulated
    shift
    [ $# -eq 1 ] || { echo "bench: error: --emulated needs an output file" >&2; exit 2; }
    ;;
-*)
    echo "bench: error: unknown option $1; try --help" >&2
    exit 2
    ;;
esac
output=${1:-}
[ -z "$output" ] || output=$(realpath -m "$output")
started=$SECONDS total_s=480
[ $kind = cuda ] || total_s=3600
work=${WORK:-}
[ -z "$work" ] || work=$(realpath -m "$work")
[ -z "${DEPS:-}" ] || export DEPS=$(realpath "$DEPS")
cd "$(dirname "$0")/.." || exit
if [ -z "$work" ]; then
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
fi
mkdir -p "$work"

say() { printf '%s\n' "$*" >&2; }
fail() {
    say "bench: error: $*"
    exit 1
}

# json_text FILE: its last lines as a JSON string.
json_text() { tail -n 12 "$1" | tr -d '\000-\010\013-\037' | sed 's/[\\"]/\\&/g; s/\t/ /g' | awk '{printf "%s\\n", $0}'; }

# part NAME LIMIT_S COMMAND...: stdout is its JSON, stderr its log; what fails is noted in its place. A
# part that is a list of things is told when it has to be done ($deadline, seconds of date +%s).
parts=()
part() {
    local name=$1 limit_s=$2 begun=$SECONDS status=0 left_s=$((total_s - SECONDS + started))
    shift 2
    [ "$limit_s" -le "$left_s" ] || limit_s=$((left_s > 5 ? left_s : 5))
    parts+=("$name")
    export deadline=$(($(date +%s) + limit_s - 3))
    say "== $name"
    timeout -k 5 "$limit_s" "$@" >"$work/$name.json" 2>"$work/$name.log" || status=$?
    [ $status -ne 124 ] || echo "longer than $limit_s s" >>"$work/$name.log"
    if [ $status -ne 0 ] || [ ! -s "$work/$name.json" ]; then
        printf '{"failed": %d, "message": "%s"}' "$status" "$(json_text "$work/$name.log")" >"$work/$name.json"
        say "   failed: $(tail -n 1 "$work/$name.log")"
    fi
    echo $((SECONDS - begun)) >"$work/$name.s"
    return $status
}

if [ $kind = cuda ] && [ ! -e /dev/nvidiactl ] && [ ! -e /dev/dxg ]; then
    fail "no NVIDIA device here; --emulated OUTPUT.json tries everything without one"
fi
build_limit_s=240
[ $kind = cuda ] || build_limit_s=900
say "== build"
timeout "$build_limit_s" bench/gpu/build.sh "$work/build" $kind >"$work/build.log" 2>&1 ||
    { tail -n 20 "$work/build.log" >&2; fail "nothing was built"; }
build_s=$((SECONDS - started))
about=$("$work/build/kernels" about) || exit 1
device=$(sed 's/.*"name": "\([^"]*\)".*/\1/' <<<"$about")
say "   $device, built in $build_s s"

export work kind output about PIPEEXEC_CUDA_MODULE=$work/build/pipeexec-cuda.so
scale=1 longer=1 trial=()
[ $kind = cuda ] || scale=64 longer=4 trial=(trial 60)
part probe $((40 * longer)) "$work/build/probe" "${trial[@]}"
part tests $((60 * longer)) bench/gpu/tests.sh
part kernels $((60 * longer)) "$work/build/kernels" table "$scale"
part runs $((150 * longer)) bench/gpu/runs.sh
part torch $((90 * longer)) bench/gpu/torch.sh
part sanitizer 60 bench/gpu/sanitize.sh
cat "$work"/probe.log "$work"/tests.log "$work"/kernels.log "$work"/runs.log "$work"/torch.log "$work"/sanitizer.log >&2

: "${output:=bench/results/$(tr 'A-Z ' 'a-z_' <<<"$device" | tr -cd 'a-z0-9_').json}"
{
    printf '{\n"schema": "pipesim.gpu/1",\n"date": "%s",\n"commit": "%s",\n' "$(date -u +%FT%TZ)" \
        "$(git rev-parse --short HEAD 2>/dev/null || echo unknown)"
    printf '"is_emulated": %s,\n"device": %s,\n"build_s": %d' "$([ $kind = cuda ] && echo false || echo true)" \
        "$about" "$build_s"
    for name in "${parts[@]}"; do
        printf ',\n"%s_s": %d,\n"%s": ' "$name" "$(cat "$work/$name.s")" "$name"
        cat "$work/$name.json"
    done
    printf '\n}\n'
} >"$work/all.json"
{ mkdir -p "$(dirname "$output")" && cp "$work/all.json" "$output"; } || fail "cannot write $output"
say "$output, in $((SECONDS - started)) s"
