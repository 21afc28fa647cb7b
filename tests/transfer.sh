#!/usr/bin/env bash
# docs/validate.md says what constants fitted on a few steps are worth for other layouts.
#
#   transfer.sh PIPESIM        UPDATE=1 writes the tables anew, minutes; PIPESIM_LONG=1 checks them all,
#                              else one family
set -euo pipefail
pipesim=$(realpath "$1")
cd "$(dirname "$0")/.."
page=docs/validate.md
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export LC_ALL=C

tables() { "$pipesim" validate tests/published/*.csv --leave-layouts-out --markdown "$@"; }
kept() { sed -n '/^<!-- transfer -->/,/^<!-- .transfer -->/p' "$page" | sed '1d;$d'; }

if [[ ${UPDATE:-} ]]; then
    tables >"$scratch/tables"
    sed -i -e "/^<!-- transfer -->/r $scratch/tables" -e '/^<!-- transfer -->/,/^<!-- .transfer -->/{/^|/d;/^$/d}' \
        "$page"
    exit
fi
if [[ ${PIPESIM_LONG:-} ]]; then
    tables >"$scratch/now"
    kept >"$scratch/kept"
else
    "$pipesim" validate tests/published/measurements.csv --leave-layouts-out --markdown --family seqpar-t5 |
        grep '^| seqpar-t5 ' >"$scratch/now"
    kept | grep '^| seqpar-t5 ' >"$scratch/kept"
fi
# Percentages may differ in their last digit.
awk '
    NR == FNR { kept[NR] = $0; lines = NR; next }
    {
        n = split($0, now, " ")
        if (n != split(kept[FNR], was, " ")) bad++
        for (i = 1; i <= n; i++) {
            d = now[i] - was[i]
            if (now[i] != was[i] && (d == 0 || now[i + 1] != "%" || d * d > 0.25 * 0.25)) bad++
        }
    }
    END { exit bad > 0 || FNR != lines || lines == 0 }' "$scratch/kept" "$scratch/now" && exit
echo "the tables in $page are not of today; UPDATE=1 tests/transfer.sh PIPESIM writes them anew"
diff "$scratch/kept" "$scratch/now" || true
exit 1
