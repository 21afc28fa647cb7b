#!/usr/bin/env bash
# Every executable schedule, typed as a user would: all gradients, losses and weights are those of a
# loop. PIPESIM_LONG=1: with four ranks, too. Under ThreadSanitizer (./run test --all) also: no two
# threads touch anything unordered.
#
#   threads.sh PIPESIM PIPEEXEC
set -u
pipesim=$1 pipeexec=$2
small="--layers 4 --hidden 16 --heads 2 --seq 8 --mbs 2 --steps 3 --exact-grad --check --json"
number=0 failures=0 got=$(mktemp)
trap 'rm -f "$got"' EXIT

check() {
    number=$((number + 1))
    local bad
    # shellcheck disable=SC2086
    "$pipeexec" "$@" $small >"$got" 2>&1
    local rc=$?
    bad=$(grep -E 'ThreadSanitizer|"bit_equal": false|"is_loss_equal": false' "$got")
    if [ $rc -ne 0 ] || [ -n "$bad" ] || [ "$(grep -c '"bit_equal": true' "$got")" -ne 2 ] ||
        ! grep -qE '"structural_error_s": (0\.0|null)' "$got"; then
        failures=$((failures + 1))
        printf 'not ok %d - pipeexec %s\n' $number "$*"
        head -n 40 "$got" | sed 's/^/# /'
    else
        printf 'ok %d - pipeexec %s\n' $number "$*"
    fi
}

for schedule in $("$pipesim" schedules | sed -n 's/^\([a-z0-9-]*\): .*/\1/p'); do
    # shellcheck disable=SC2086
    case $("$pipeexec" --schedule "$schedule" $small 2>&1) in
    *"only simulated"*) continue ;;
    esac
    check --schedule "$schedule" --np 2 --dp 2
    [ -z "${PIPESIM_LONG:-}" ] || check --schedule "$schedule" --np 4
done
for transport in local shm tcp; do
    check --schedule 1f1b --np 4 --dp 2 --zero 1 --clip 1 --transport $transport
    check --schedule chimera --np 4 --dp 2 --zero 1 --grad-sync eager --transport $transport
    check --schedule zbv --np 2 --dp 2 --zero 3 --model mini --vocab 128 --transport $transport
    check --schedule chimera --np 4 --dp 2 --zero 3 --clock wall --transport $transport
    check --schedule interleaved --np 2 --dp 4 --shard p=2 --clock wall --transport $transport
done
check --schedule interleaved --np 2 --dp 2 --grad-sync eager --clock wall
check --schedule chimera --np 4 --zero 1 --grad-sync eager --clock wall --transport shm
check --schedule zbv --np 4 --dp 4 --zero 1 --model mini
check --schedule gems --np 3 --zero 1
check --schedule interleaved --warmup-style lazy --np 4 --dp 2 --group 2
check --schedule v-half --np 4 --max-activations 7
check --schedule interleaved-zb --np 4 --group 2 --micro-batches 4
check --schedule 1f1b --np 4 --dp 4 --zero 1 --backend fake
check --schedule chimera --np 4 --pipelines 4 --micro-batches 8
check --schedule chimera --np 4 --concat halving --grad-sync eager-opt
check --schedule chimera --np 8 --dp 2 --model tiny-llama
check --schedule zbv --np 4 --model mini
check --schedule seq1f1b --np 4 --splits 4 --dp 2
check --schedule seq1f1b-i --np 4 --dp 2
check --schedule bitpipe --np 4 --micro-batches 8
check --schedule 1f1b --np 4 --recompute full --dp 2
check --schedule zb-h1 --np 4 --backend fake --dp 2
echo "1..$number"
[ $failures -eq 0 ]
