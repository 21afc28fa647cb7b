# shellcheck shell=bash disable=SC2154 # work: of bench/gpu.sh
# Clocks, power, temperature and reasons of throttling while a run is measured, by nvidia-smi. A device that
# is limited by its power computes slower than its data sheet, which no kernel is to blame for.
clocks_watch() {
    local device=${CUDA_VISIBLE_DEVICES:-0} reasons
    : >"$work/clocks.csv"
    clocks_pid=''
    command -v nvidia-smi >"$work/none" || return 0
    for reasons in clocks_event_reasons clocks_throttle_reasons; do # the name of newer and of older drivers
        nvidia-smi -i "${device%%,*}" --query-gpu=$reasons.active --format=csv,noheader >"$work/none" 2>&1 && break
    done
    nvidia-smi -i "${device%%,*}" --query-gpu=clocks.sm,power.draw,enforced.power.limit,temperature.gpu,$reasons.active \
        --format=csv,noheader,nounits --loop-ms=500 >"$work/clocks.csv" 2>"$work/none" &
    clocks_pid=$!
}

# clocks_tell: ends the watch, and prints what it saw as a member of a row. The first sample is of the time
# before the run, the last one of its end.
clocks_tell() {
    [ -z "$clocks_pid" ] || { kill "$clocks_pid" && wait "$clocks_pid"; } 2>"$work/none"
    awk -F', *' 'NF == 5 && $1 ~ /^[0-9.]+$/ {
        n++; mhz[n] = $1; if ($2 > power) power = $2; limit = $3; if ($4 > hot) hot = $4
        if (!seen[$5]++) reasons = reasons (reasons ? ", " : "") "\"" $5 "\""
    }
    END {
        if (!n) exit
        before = mhz[1]; after = mhz[n]
        for (i = 2; i <= n; i++) {
            x = mhz[i]
            for (j = i - 1; j > 0 && mhz[j] > x; j--) mhz[j + 1] = mhz[j]
            mhz[j + 1] = x
        }
        printf ", \"clocks\": {\"samples\": %d, \"mhz_before\": %d, \"mhz_least\": %d, \"mhz_median\": %d, \"mhz_most\": %d, \"mhz_after\": %d, ", n, before, mhz[1], mhz[int((n + 1) / 2)], mhz[n], after
        printf "\"power_w_most\": %.1f, \"power_limit_w\": %.1f, \"temperature_c_most\": %d, \"throttle_reasons\": [%s]}", power, limit, hot, reasons
    }' "$work/clocks.csv"
}
