#!/usr/bin/env bash
# recompute.sh PROGRAM: recomputation costs time, counts for HFU alone, and saves what the device has
# stored (a fused attention stores no scores). Prints TAP.
set -u
program=$1
number=0 failures=0

# figure CLUSTER HOW KEY
figure() {
    "$program" --schedule 1f1b --model gpt-18b --gpus 64 --pp 8 --tp 2 --cluster "$1" \
        --recompute "$2" --json | sed -n "s/^  \"$3\": \([^,]*\),*$/\1/p"
}

# check WHAT CONDITION NUMBER...: a condition of awk over $1, $2, ...
check() {
    local what=$1 condition=$2
    shift 2
    number=$((number + 1))
    if awk "{ exit !(NF == $# && ($condition)) }" <<<"$*"; then
        echo "ok $number - $what"
    else
        failures=$((failures + 1))
        echo "not ok $number - $what: $condition with $*"
    fi
}

for cluster in 'a100' 'a100 attention:unfused'; do
    for key in iteration_s mfu hfu peak_mem_bytes; do
        for how in none selective full; do
            declare "${key}_$how=$(figure "$cluster" $how $key)"
        done
    done
    check "$cluster: time rises" '$1 < $2 && $2 < $3' \
        "$iteration_s_none" "$iteration_s_selective" "$iteration_s_full"
    check "$cluster: the model flops stay" '($1 / $2 - $4 / $3) ^ 2 < 1e-18' \
        "$iteration_s_none" "$iteration_s_selective" "$mfu_none" "$mfu_selective"
    check "$cluster: HFU counts what is recomputed" '$1 == $2 && $4 > $3 && $6 / $5 > $4 / $3' \
        "$mfu_none" "$hfu_none" "$mfu_selective" "$hfu_selective" "$mfu_full" "$hfu_full"
    check "$cluster: full takes the least memory" '$2 < $1' \
        "$peak_mem_bytes_selective" "$peak_mem_bytes_full"
    if [ "$cluster" = a100 ]; then
        check "$cluster: a fused kernel leaves nothing to save" '$1 == $2' \
            "$peak_mem_bytes_none" "$peak_mem_bytes_selective"
    else
        check "$cluster: the scores are saved" '$2 < $1' \
            "$peak_mem_bytes_none" "$peak_mem_bytes_selective"
    fi
done
echo "1..$number"
[ $failures -eq 0 ]
