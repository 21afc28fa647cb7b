#!/usr/bin/env bash
# budget.sh FILE.json: where the time of a training step goes, by the table of kernels, for each model of
# bench/gpu.sh. The columns of a kernel: microseconds of a call, calls in a step, their milliseconds, and
# their share of the measured step. The last column is the part of the step that the kernel loses
# compared with the device's stated limits.
#
# In the table a kernel is alone, and its caches are cold. In a step, tensors may still be in the cache.
# Power may lower the clock. The line `unexplained` is the difference. It includes work without a row.
set -euo pipefail
file=$1
grep -q '"schema": "pipesim.gpu/2"' "$file" || { echo "bench: error: $file is no result of bench/gpu.sh (schema pipesim.gpu/2)" >&2; exit 1; }
awk '
function text(name) { return match($0, "\"" name "\": \"[^\"]*\"") ? substr($0, RSTART + length(name) + 5, RLENGTH - length(name) - 6) : "" }
function number(name) { return match($0, "\"" name "\": [0-9.e+-]*") ? substr($0, RSTART + length(name) + 4, RLENGTH - length(name) - 4) + 0 : 0 }
function option(name) { return match($0, name " [0-9]*") ? substr($0, RSTART + length(name) + 1, RLENGTH - length(name) - 1) + 0 : 0 }
BEGIN {
    split("gpt2 gpt2_large gpt2_xl", names, " "); split("768 1280 1600", widths, " "); split("12 36 48", layers, " ")
}
/"name": .*"mfu_frac": [0-9]/ { step_s[text("name")] = number("step_s"); micro_batches[text("name")] = option("--micro-batches"); tokens[text("name")] = 1024 * option("--mbs") }
/"kernel": / {
    w = number("width"); n = ++count[w]
    what[w, n] = text("kernel"); s[w, n] = number("time_s"); rows[w, n] = number("rows"); reached[w, n] = number("roofline_frac")
    has[w, what[w, n]] = 1
}
# Calls of a micro-batch: ends of the model, norms, else one in a block.
function calls(kernel, l) {
    if (kernel ~ /^(head|embedding|cross entropy)/) return 1
    return kernel ~ /^norm/ ? 2 * l + 1 : l
}
END {
    for (m = 1; m in names; m++) {
        name = names[m]; w = widths[m]
        if (!(name in step_s) || !count[w]) continue
        printf "%s: a step of %.1f ms, %d micro-batches of %d tokens\n", name, 1e3 * step_s[name], micro_batches[name], tokens[name]
        sum = lost = 0
        for (k = 1; k <= count[w]; k++) {
            kernel = what[w, k]
            if (kernel ~ /^attention/ && has[w, kernel " by cuDNN"]) continue
            is_update = kernel ~ / of a block$/
            scale = is_update ? 1 : tokens[name] / rows[w, k]
            times = calls(kernel, layers[m]) * (is_update ? 1 : micro_batches[name])
            all = s[w, k] * scale * times
            loss = reached[w, k] < 1 ? all * (1 - reached[w, k]) : 0
            sum += all; lost += loss
            printf "  %-30s %9.1f us %5d %9.2f ms %5.1f %%  %5.1f %%\n", kernel, 1e6 * s[w, k] * scale, times, 1e3 * all, 100 * all / step_s[name], 100 * loss / step_s[name]
        }
        printf "  %-30s %18s %9.2f ms %5.1f %%  %5.1f %%\n", "sum", "", 1e3 * sum, 100 * sum / step_s[name], 100 * lost / step_s[name]
        printf "  %-30s %18s %9.2f ms %5.1f %%\n\n", "unexplained", "", 1e3 * (step_s[name] - sum), 100 * (1 - sum / step_s[name])
    }
}' "$file"
