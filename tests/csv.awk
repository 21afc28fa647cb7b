# Reads CSV: cell("name") is the field of a row in the column of that name.
# Splits a line of CSV into cell[1..].
function split_csv(text,    n, field) {
    for (n = 0; text != "" || n == 0; ) {
        if (match(text, /^"([^"]|"")*"/)) {
            field = substr(text, 2, RLENGTH - 2)
            gsub(/""/, "\"", field)
        } else {
            match(text, /^[^,]*/)
            field = substr(text, 1, RLENGTH)
        }
        cells[++n] = field
        text = substr(text, RLENGTH + 2)
    }
}
{ split("", cells); split_csv($0) }
NR == 1 {
    for (i in cells) column[cells[i]] = i
    next
}
function cell(name) { return cells[column[name]] }
