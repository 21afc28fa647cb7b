# Writes sim/error/mfus.h from the rows that `pipesim validate -o` wrote:
# awk -f tests/csv.awk -f tests/mfu_rows.awk.
NR > 1 && cell("device") != "" && cell("published_mfu") != "" && cell("refused") == "" {
    key = sprintf("\"%s\", \"%s\"", cell("device"), bits(cell("precision")))
    if (!(key in rows)) keys[++groups] = key
    rows[key]++
    if (cell("published_mfu") > best[key]) {
        best[key] = cell("published_mfu")
        id[key] = cell("id")
    }
}
function bits(precision) { return precision == "fp16" ? "bf16" : precision }
END {
    print "/* sim/error/mfus.h — the highest MFU that tests/published has for a device and precision; fp16"
    print " * is bf16. Include it with PP_BEST_MFU defined. UPDATE=rows tests/accuracy.sh PIPESIM writes it."
    print " *"
    print " *    (device, precision, runs, highest MFU in 1/1000, its id) */"
    print "/* clang-format off */"
    for (k = 1; k <= groups; k++) # one run is no measure
        if (rows[keys[k]] > 1) printf "PP_BEST_MFU(%s, %d, %.0f, \"%s\")\n", keys[k], rows[keys[k]], 1000 * best[keys[k]],
            id[keys[k]]
    print "/* clang-format on */"
}
