# budget.awk: reads the table of kernels of budget.sh, then a result of bench/gpu.sh, and prints the budgets.
# Symbols: n rows, w width, v vocabulary, k keys of a query, T and G bytes of an element.

# ---- reading -----------------------------------------------------------------------------------
function text(name) { return match($0, "\"" name "\": \"[^\"]*\"") ? substr($0, RSTART + length(name) + 5, RLENGTH - length(name) - 6) : "" }
function number(name) { return match($0, "\"" name "\": [0-9.e+-]*") ? substr($0, RSTART + length(name) + 4, RLENGTH - length(name) - 4) + 0 : 0 }
function option(name) { return match($0, name " [0-9]*") ? substr($0, RSTART + length(name) + 1, RLENGTH - length(name) - 1) + 0 : 0 }
BEGIN { T = 2; G = 4; v = 50304; seq = 1024; k = (seq + 1) / 2; FS = ";" }
is_table = FNR == NR {
    if (NF < 8) next
    split($1, names, "|"); kernel[++kernels] = names[1]
    class[kernels] = $2; pass[kernels] = $3; part[kernels] = $4; frac[kernels] = $5
    split($6, times, "+"); in_block[kernels] = times[1]; at_end[kernels] = times[2]
    flops_of[kernels] = $7; bytes_of[kernels] = $8
    next
}
/"name": .*"mfu_frac": [0-9]/ {
    step_s[text("name")] = number("step_s"); mfu[text("name")] = number("mfu_frac")
    micro_batches[text("name")] = option("--micro-batches"); rows_of[text("name")] = seq * option("--mbs")
}
/"kernel": / {
    name = text("kernel"); w = number("width"); n = number("rows")
    if (sub(/ by cuDNN$/, "", name)) by_cudnn[w, name] = 1
    else if ((w, name) in by_cudnn) next
    measured_s[w, name] = number("time_s") / n; measured_flops[w, name] = number("flops"); measured_rows[w, name] = n
}
/"what": "part"/ { part_s[text("model"), text("pass") " " text("part")] = number("time_s") / number("rows") }

# ---- the budget of a kernel --------------------------------------------------------------------
# A sum of products such as "6nww 2nwv".
function value(sum, terms, count, i, j, product) {
    result = 0; count = split(sum, terms, " ")
    for (i = 1; i <= count; i++) {
        product = terms[i] + 0
        for (j = length(product "") + 1; j <= length(terms[i]); j++) product *= symbol[substr(terms[i], j, 1)]
        result += product
    }
    return result
}
function set_shape(rows, width) { symbol["n"] = rows; symbol["w"] = width; symbol["v"] = v; symbol["k"] = k; symbol["T"] = T; symbol["G"] = G }
function limit_s(i, by_flops, by_bytes) {
    by_flops = value(flops_of[i]) / peak; by_bytes = value(bytes_of[i]) / bandwidth
    return by_flops > by_bytes ? by_flops : by_bytes
}
function check_shape(i, w, rows) { # the table of this script, compared with the one that was measured
    rows = measured_rows[w, kernel[i]]; set_shape(rows, w)
    if (value(flops_of[i]) > 1.001 * measured_flops[w, kernel[i]] || value(flops_of[i]) < 0.999 * measured_flops[w, kernel[i]]) {
        printf "bench: error: %s at width %d: %g operations were measured, budget.sh has %g\n", kernel[i], w, measured_flops[w, kernel[i]], value(flops_of[i]) > "/dev/stderr"
        failed = 1
    }
}
# ---- columns, `-` if not known -----------------------------------------------------------------
function ms(x) { return sprintf("%.2f", 1e3 * x) }
function us(x) { return sprintf("%.1f", 1e6 * x) }
function share(x, all) { return all > 0 ? sprintf("%.1f", 100 * x / all) : "-" }
function say(name, call, measured_call, calls, step, measured_step, spent, lost, row) {
    if (has_file) row = sprintf("  %-22s%9s%9s%6s%10s%10s%6s%6s", name, call, measured_call, calls, step, measured_step, spent, lost)
    else row = sprintf("  %-22s%10s%7s%11s", name, call, calls, step)
    sub(/ +$/, "", row)
    print row
}
# ---- the budget of a step ----------------------------------------------------------------------
function add(name, estimate, measured) { if (!(name in sum_of)) order[++orders] = name; sum_of[name] += estimate; measured_of[name] += measured }
function budget(name, l, w, i, n, m, once, calls, has_all, estimate, measured, known, all) {
    has_step = name in step_s
    n = has_step ? rows_of[name] : usual_rows; m = has_step ? micro_batches[name] : 4; all = has_step ? step_s[name] : 0
    split("", sum_of); split("", measured_of); split("", order); split("", excess); orders = lost = launches = 0; has_all = 1
    printf "%s on %s: %d micro-batches of %d tokens\n", name, device, m, n
    say("", "us a call", "", "calls", "ms a step", "", "% of", "step")
    if (has_file) say("", "estimate", "measured", "", "estimate", "measured", "spent", "lost")
    for (i = 1; i <= kernels; i++) {
        once = class[i] == "optimizer"; known = (w, kernel[i]) in measured_s
        if (known) check_shape(i, w)
        set_shape(n, w)
        calls = (in_block[i] * l + at_end[i]) * (once ? 1 : m)
        estimate = limit_s(i) / frac[i]; measured = known ? measured_s[w, kernel[i]] * (once ? measured_rows[w, kernel[i]] : n) : 0
        if (!known) has_all = 0
        else if (measured > limit_s(i)) lost += calls * (measured - limit_s(i))
        launches += calls; excess[i] = known ? calls * (measured - estimate) : 0
        add(class[i], calls * estimate, calls * measured); add("sum", calls * estimate, calls * measured)
        if (in_block[i]) add(pass[i] " block", in_block[i] * estimate, in_block[i] * measured)
        if (at_end[i]) add(pass[i] " " (part[i] == "block" ? "head" : part[i]), at_end[i] * estimate, at_end[i] * measured)
        if (known) say(kernel[i], us(estimate), us(measured), calls, ms(calls * estimate), ms(calls * measured),
            share(calls * measured, all), share(calls * (measured > limit_s(i) ? measured - limit_s(i) : 0), all))
        else say(kernel[i], us(estimate), "-", calls, ms(calls * estimate), "-", "-", "-")
    }
    say_sums(has_all, all, launches)
    say_mfu(name, l, w, n * m, has_all)
    say_parts(name, n)
}
function sum_line(label, name, has_all, all, lost) {
    if (has_all) line(label, ms(sum_of[name]), ms(measured_of[name]), share(measured_of[name], all), lost)
    else line(label, ms(sum_of[name]))
}
function line(name, estimate, measured, spent, lost) { say(name, "", "", "", estimate, measured, spent, lost) }
function say_sums(has_all, all, launches, i) {
    for (i = 1; i <= orders; i++)
        if (order[i] !~ /^(sum|F|I|W|U) ?/) sum_line("all " order[i], order[i], has_all, all)
    sum_line("sum", "sum", has_all, all, share(lost, all))
    if (has_all && all) line("unexplained", ms(launches * gap_s), ms(all - measured_of["sum"]), share(all - measured_of["sum"], all))
    estimated_step_s = sum_of["sum"] + launches * gap_s
}
function say_mfu(name, l, w, tokens, has_all, flops, i, most, times) {
    flops = tokens * (6 * ((v + seq) * w + l * (12 * w * w + 13 * w) + 2 * w) + 6 * l * seq * w)
    line("step", ms(estimated_step_s), has_step ? ms(step_s[name]) : "")
    line("MFU", sprintf("%8.1f %%", 100 * flops / estimated_step_s / peak), has_step ? sprintf("%8.1f %%", 100 * mfu[name]) : "")
    for (times = 1; has_all && times <= 3; times++) {
        most = 1
        for (i = 1; i <= kernels; i++) if (excess[i] > excess[most]) most = i
        if (excess[most] > 0) printf "  above its estimate: %s, by %.2f ms\n", kernel[most], 1e3 * excess[most]
        excess[most] = 0
    }
}
function say_parts(name, n, i, has) {
    for (i = 1; i <= orders; i++) if ((name, order[i]) in part_s) {
        if (!has++) printf "  %-22s %12s %12s %12s\n", "us a pass", "estimate", "its kernels", "measured"
        printf "  %-22s %12.1f %12.1f %12.1f\n", order[i], 1e6 * sum_of[order[i]], 1e6 * measured_of[order[i]], 1e6 * part_s[name, order[i]] * n
    }
    print ""
}
END {
    count = split(models, model, " ")
    for (i_model = 1; i_model <= count; i_model++) { split(model[i_model], shape, ":"); budget(shape[1], shape[2], shape[3]) }
    exit failed
}
