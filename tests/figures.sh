#!/usr/bin/env bash
# The commands of docs/figures/figures.sh, run again: tables and scripts say what the committed ones do.
# Pictures are not made, training is not repeated.
#
#   figures.sh PIPESIM         UPDATE=1 replaces the committed files
set -euo pipefail
pipesim=$(realpath "$1")
kept=$(realpath "$(dirname "$0")/../docs/figures")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/bin" "$scratch/made"
printf '#!/bin/sh\nexec "%s" "$@"\n' "$pipesim" >"$scratch/bin/pipesim"
chmod +x "$scratch/bin/pipesim"
export PATH=$scratch/bin:$PATH LC_ALL=C

# Numbers may differ in their last digits; the last column of a sweep is that of the version.
same_table() {
    awk -F, 'FNR == 1 { file++ }
        FNR == 1 && /,key$/ { has_key = 1 }
        file == 1 { want[FNR] = $0; lines = FNR; next }
        {
            n = split(want[FNR], cell, ",")
            if (n != NF) exit bad = 1
            for (i = 1; i <= NF - (has_key && FNR > 1); i++) {
                d = $i - cell[i]
                if ($i != cell[i] && !(d && d * d <= 1e-18 * $i * $i)) exit bad = 1
            }
            seen = FNR
        }
        END { exit bad || seen != lines }' "$1" "$2"
}

# What a script shows: data, axes, names; not how it looks.
shown() { awk '/<< EOD/ { is_data = 1 } is_data || /^set ([xy](label|range)|label|title)/ { print } /^EOD/ { is_data = 0 }' "$1"; }

same_script() {
    grep -q '<< EOD' "$2" || return 1
    cmp -s <(shown "$1") <(shown "$2") || return 1
    cmp -s "$1" "$2" || echo "# $1 looks different now: ./run figures"
}

number=0 failures=0
check() { # file
    number=$((number + 1))
    if case $1 in *.csv) same_table "$kept/$1" "$scratch/made/$1" ;; *) same_script "$kept/$1" "$scratch/made/$1" ;; esac then
        echo "ok $number - $1"
        return
    fi
    echo "not ok $number - $1 (./run figures draws it again)"
    diff "$kept/$1" "$scratch/made/$1" | head -n 20 | sed 's/^/# /' || true
    failures=$((failures + 1))
}

cp "$kept"/published.*.csv "$kept"/executed-*.csv "$scratch/made/"
cd "$scratch/made"
while IFS= read line; do # joins lines that end in a backslash
    case $line in
    pipeexec* | *.png*) ;;
    *) eval "$line" >/dev/null 2>"$scratch/messages" || { cat "$scratch/messages" && echo "not ok 1 - $line" && exit 1; } ;;
    esac
done < <(bash "$kept/figures.sh" --show)
[ -z "${UPDATE:-}" ] || cp ./*.csv ./*.gp "$kept/"
for file in *; do
    case $file in
    published.* | executed-*) ;;
    *) check "$file" ;;
    esac
done
echo "1..$number"
[ $failures -eq 0 ]
