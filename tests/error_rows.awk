# Writes sim/error/rows.h from the rows that `pipesim validate -o` wrote:
# awk -f tests/csv.awk -f tests/error_rows.awk.
# Puts one error into its group.
function put(kind, error,    key) {
    if (error == "") return
    key = kind SUBSEP sprintf("\"%s\", \"%s\", \"%s\", %d, %d, %d", cell("device"), cell("framework"),
                              cell("precision"), cell("pp") > 1, cell("multi_node") == "true",
                              cell("experts") == "true")
    if (!(key in values)) keys[++groups] = key
    values[key] = values[key] " " sprintf("%.0f", 1000 * error)
    if (!((key, cell("source")) in seen)) {
        seen[key, cell("source")] = 1
        members[key] = members[key] " " number[cell("source")]
    }
}
{
    if (!(cell("source") in number)) number[cell("source")] = sources++
    if (cell("inferred") != "") next
    put("PP_STEP_ERRORS", cell("error_frac"))
    put("PP_MEMORY_ERRORS", cell("mem_error_frac"))
}
# Adds words to the line, with commas, and prints full lines.
function flow(text, last,    i, n, word) {
    n = split(text, word, " ")
    for (i = 1; i <= n; i++) {
        word[i] = word[i] (i < n ? "," : last)
        if (length(line) + 1 + length(word[i]) > 100) { print line; line = "   " }
        line = line " " word[i]
    }
}
END {
    if (sources > 256) { print "more than 256 sources" >"/dev/stderr"; exit 1 }
    print "/* sim/error/rows.h — errors of all predicted rows of tests/published. Include it with"
    print " * PP_STEP_ERRORS and PP_MEMORY_ERRORS defined. UPDATE=1 tests/accuracy.sh PIPESIM writes it."
    print " *"
    print " *    (device, framework, precision, PP > 1, several nodes, experts, sources, errors...)"
    print " *    sources  numbers of the documents, in the order of the tables"
    print " *    errors   predicted / published - 1, in 1/1000 */"
    print "/* clang-format off */"
    for (k = 1; k <= groups; k++) {
        split(keys[k], part, SUBSEP)
        line = part[1] "(" part[2] ","
        flow("PP_ERROR_SOURCES(" substr(members[keys[k]], 2), "),")
        flow(values[keys[k]], ")")
        print line
    }
    print "/* clang-format on */"
}
