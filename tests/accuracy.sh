#!/usr/bin/env bash
# docs/accuracy.md says what predictions with the built-in constants are worth today.
#
#   accuracy.sh PIPESIM        UPDATE=1 writes the page anew: minutes, as constants are fitted without
#                              each family in turn
set -euo pipefail
pipesim=$(realpath "$1")
cd "$(dirname "$0")/.."
page=docs/accuracy.md
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export LC_ALL=C

if [[ ${UPDATE:-} ]]; then
    "$pipesim" validate tests/published/*.csv --refit --markdown >"$scratch/page"
    cp "$scratch/page" "$page"
    exit
fi
"$pipesim" validate tests/published/*.csv --markdown >"$scratch/page"

# The default of --memory-margin is the median error of predicted peaks, to a whole percent.
median=$(awk -F' [|] ' '/^## Peak memory/ { is_memory = 1 } is_memory && /^[|] all / { printf "%.0f%%", $3 }' "$scratch/page")
if [[ -z $median ]] || ! "$pipesim" --help | tr -s ' \n' ' ' | grep -Eq -e "--memory-margin FRAC .{0,300}default $median"; then
    echo "the median error of predicted peaks is $median; --memory-margin has another default"
    exit 1
fi

# The page without what only a refit can tell: its rows, its columns, the words about it.
built_in() {
    awk -F' [|] ' '
        /^\| fitted without/ { next }
        /^Some knowledge of the family/ { is_left_out = 1 }
        /^\|/ { is_left_out = 0 }
        is_left_out { next }
        /^Columns \*without it\*/ { is_about_refit = 1 }
        is_about_refit && NF == 0 { is_about_refit = 0 }
        is_about_refit { next }
        { sub(/ --refit --markdown/, " --markdown") }
        /without it: median/ { is_wide = 1; sub(/ without it: median \| p90 \| mean \| bias \|/, "") }
        !/^\|/ { is_wide = 0 }
        is_wide && /^\|-/ { sub(/---\|---\|---\|---\|/, "") }
        is_wide && /^\| / && NF == 12 {
            print $1 " | " $2 " | " $3 " | " $4 " | " $5 " | " $6 " | " $11 " | " $12
            next
        }
        { print }' "$1"
}
built_in "$page" >"$scratch/kept"
built_in "$scratch/page" >"$scratch/now"

# Every line is there, word by word; percentages may differ in their last digit.
if ! awk '
        NR == FNR { kept[NR] = $0; lines = NR; next }
        {
            n = split($0, now, " ")
            if (n != split(kept[FNR], was, " ")) bad++
            for (i = 1; i <= n; i++) {
                d = now[i] - was[i]
                if (now[i] != was[i] && (d == 0 || now[i + 1] != "%" || d * d > 0.15 * 0.15)) bad++
            }
        }
        END { exit bad > 0 || FNR != lines || lines < 40 }' "$scratch/kept" "$scratch/now"; then
    echo "$page is not of today; UPDATE=1 tests/accuracy.sh PIPESIM writes it anew"
    diff "$scratch/kept" "$scratch/now" || true
    exit 1
fi
