#!/usr/bin/env bash
# What a file's text owes its reader. Struct, union and enum tags of headers have one meaning each. A file
# begins with a comment that says what it is. Files that it names are there. Outside of tables no line is over
# 100 columns. Where clang-format is installed, it changes nothing. The counts are compared with
# tests/ratchets.txt.
set -u
cd "$(dirname "$0")/.."
mapfile -t code < <(git ls-files '*.c' '*.h' '*.cc' '*.cu' '*.cuh')
mapfile -t production < <(printf '%s\n' "${code[@]}" | grep -vE '^(tests|bench|docs)/')
mapfile -t pages < <(git ls-files '*.md')
mapfile -t headers < <(printf '%s\n' "${production[@]}" | grep -E '\.(h|cuh)$')

# Tags that two headers define, each with its files.
tags() {
    awk '/^(struct|union|enum) [a-z0-9_]+( \{|$)/ {
             tag = $1 " " $2
             if (!seen[tag, FILENAME]++) { where[tag] = where[tag] " " FILENAME; count[tag]++ }
         }
         END { for (tag in count) if (count[tag] > 1) print tag ":" where[tag] }' "${headers[@]}" | sort
}

# Files without a comment in their first three lines.
silent() {
    awk 'FNR == 1 { if (file) print file; file = FILENAME }
         FNR <= 3 && /^(\/\*|\/\/)/ { file = "" }
         END { if (file) print file }' "${production[@]}"
}

# Lines over 100 characters (not bytes), but in tables that clang-format leaves alone.
long_lines() {
    LC_ALL=C awk 'FNR == 1 { off = 0 }
        /clang-format off/ { off = 1 }
        /clang-format on/ { off = 0 }
        { text = $0; gsub(/[\200-\277]/, "", text) }
        !off && length(text) > 100 { print FILENAME ":" FNR ": " length(text) " columns" }' "${code[@]}"
}

# Files of this repository that code and pages name, and that are not there: a path from the root, or a name with
# an underscore.
absent() {
    awk 'FILENAME == "-" { tracked[$0]; sub(/.*\//, ""); tracked[$0]; next }
         /^#include/ { next }
         {
             text = " " $0 " "
             while (match(text, /[^A-Za-z0-9_.\/>$*{}-][a-z0-9_\/-]+\.(cu|c|h|cuh)[^A-Za-z0-9_(.]/)) {
                 name = substr(text, RSTART + 1, RLENGTH - 2)
                 text = substr(text, RSTART + RLENGTH - 1)
                 if (name !~ /^(core|schedules|traces|kernels|plots|sim|exec|tests|bench|docs)\// && (name ~ /\// || name !~ /_/))
                     continue
                 if (!(name in tracked) && name !~ /^(text_builtin.c|train_gpt2.cu?|schedules\/(lifo|clocked|greedy).c)$/)
                     print FILENAME ":" FNR ": " name " is not there"
             }
         }' - "${production[@]}" "${pages[@]}" < <(git ls-files)
}

unformatted() {
    printf '%s\0' "${production[@]}" | xargs -0 -n 40 -P 2 clang-format --dry-run 2>&1 |
        sed -n 's/^\([^:]*\):[0-9]*:[0-9]*: .*/\1: clang-format changes it/p' | sort -u
}

counts=()
# ratcheted NAME FUNCTION: its lines and their number
ratcheted() {
    local lines
    lines=$("$2")
    [ -z "$lines" ] || printf '%s\n' "$lines"
    counts+=("$1=$(printf '%s' "$lines" | grep -c '')")
}
ratcheted tags_twice tags
ratcheted files_without_comment silent
ratcheted lines_over_100 long_lines
ratcheted names_of_no_file absent
if command -v clang-format >/dev/null; then
    ratcheted unformatted unformatted
else
    echo "clang-format is not installed: the format is not checked"
fi
exec python3 -B tests/ratchet.py . "${counts[@]}"
