#!/usr/bin/env bash
# messages.sh TRACE.csv: the median duration of what was sent, in ms.
set -u
awk -F, '
/^#/ { next }
!cell { for (i = 1; i <= NF; i++) column[$i] = i; cell = column["cell"]; duration = column["duration_s"]; next }
$cell ~ /SEND_/ && $cell !~ /WAIT/ && $duration > 0 { print 1e3 * $duration }' "$1" | sort -g |
    awk '{ x[NR] = $1 } END { if (NR) printf "%.4f\n", (x[int((NR + 1) / 2)] + x[int(NR / 2) + 1]) / 2 }'
