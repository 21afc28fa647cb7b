#!/usr/bin/env bash
# The six largest kernels of a step of GPT-2 124M under NVIDIA's ncu, as a phase of bench/gpu.sh. A row has
# the longest kernel of a call and its time. It also has the shares of the peaks that it reached, for
# multiprocessors, tensor cores, shared memory, cache and memory. Clocks are left alone.
set -u
. bench/gpu/within.sh
ncu=
for file in "$(command -v ncu)" "${CUDA_HOME:-/usr/local/cuda}"/bin/ncu /opt/nvidia/nsight-compute/*/ncu; do
    [ -x "$file" ] && ncu=$file && break
done
[ -n "$ncu" ] || { echo 'no ncu in PATH, CUDA_HOME or /opt/nvidia/nsight-compute' >&2; exit 77; }
results=()
[ ! -s "$work/all.json" ] || results=("$work/all.json")
# The step of an H200 stands for one of a device without known rates.
budget() { bench/gpu/budget.sh --model gpt2:12:768 "${results[@]}" || bench/gpu/budget.sh --model gpt2:12:768; }
mapfile -t largest < <(budget | awk '
    NR == 1 || / calls | lost$/ { next } /^  all / { exit }
    { name = substr($0, 3, 22); sub(/ +$/, "", name); n = split(substr($0, 25), column, " ") }
    { print (column[5] > 0 ? column[5] : column[n == 3 ? 3 : 4]) ";" name }' |
    sort -t ';' -k 1,1 -gr | head -n 6 | cut -d ';' -f 2)
shares='sm__throughput.avg.pct_of_peak_sustained_elapsed l1tex__throughput.avg.pct_of_peak_sustained_active
lts__throughput.avg.pct_of_peak_sustained_elapsed dram__throughput.avg.pct_of_peak_sustained_elapsed'
tensor=sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active

profiled() { # NAME METRICS: the output of ncu in $work/ncu.csv
    timeout -k 2 "$(within 40)" "$ncu" --clock-control none --csv --print-units base --metrics "${2//[[:space:]]/,}" \
        "$work/build/kernels" call 768 "$1" >"$work/ncu.csv" 2>"$work/ncu.err"
}
row() { # NAME
    awk -v name="$1" '
    { gsub(/^"|"$/, ""); n = split($0, field, "\",\"") }
    field[1] == "ID" { for (i = 1; i <= n; i++) column[field[i]] = i; next }
    n == 0 || !("Metric Value" in column) { next }
    {
        id = field[1]; what = field[column["Metric Name"]]; x = field[column["Metric Value"]]; gsub(/,/, "", x)
        kernel[id] = field[column["Kernel Name"]]; value[id, what] = x
        if (what == "gpu__time_duration.sum" && x + 0 > longest) { longest = x + 0; best = id }
    }
    function share(label, what) { if ((best, what) in value) printf ", \"%s_frac\": %.4f", label, value[best, what] / 100 }
    END {
        if (!longest) exit 1
        gsub(/[\\"]/, " ", kernel[best])
        printf "{\"kernel\": \"%s\", \"symbol\": \"%s\", \"time_s\": %.4g", name, substr(kernel[best], 1, 120), longest * 1e-9
        share("multiprocessors", "sm__throughput.avg.pct_of_peak_sustained_elapsed")
        share("tensor", "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active")
        share("shared", "l1tex__throughput.avg.pct_of_peak_sustained_active")
        share("cache", "lts__throughput.avg.pct_of_peak_sustained_elapsed")
        share("memory", "dram__throughput.avg.pct_of_peak_sustained_elapsed")
        print "}"
    }' "$work/ncu.csv"
}
failed=0
for name in "${largest[@]}"; do
    [ ${#results[@]} -eq 0 ] || ! grep -q "\"kernel\": \"$name by cuDNN\"" "${results[0]}" || name="$name by cuDNN"
    # Not every device has the metric of tensor cores.
    if { profiled "$name" "gpu__time_duration.sum $shares $tensor" || profiled "$name" "gpu__time_duration.sum $shares"; } && row "$name"; then
        echo "$name: profiled" >&2
    else
        failed=1
        echo "$name: $(cat "$work/ncu.err" "$work/ncu.csv" | grep -m 1 'ERR\|rror' | cut -c 1-200)" >&2
    fi
done
exit $failed
