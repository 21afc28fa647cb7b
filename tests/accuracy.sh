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
numbers() {
    grep -E '^[0-9]+ published rows|^\| built in' "$1" | tr -d '%|,'
}
# Percentages may differ in their last digit.
if ! paste <(numbers "$page") <(numbers "$scratch/page") | awk -F'\t' '
        {
            n = split($1, kept, " ")
            if (n != split($2, now, " ")) exit bad = 1
            for (i = 1; i <= n; i++) {
                d = now[i] - kept[i]
                if (now[i] != kept[i] && (d == 0 || d * d > 0.15 * 0.15)) exit bad = 1
            }
        }
        END { exit bad || NR < 4 }'; then
    echo "$page is not of today; UPDATE=1 tests/accuracy.sh PIPESIM writes it anew"
    diff <(numbers "$page") <(numbers "$scratch/page") || true
    exit 1
fi
