#!/usr/bin/env bash
# The table of kernels, as a phase of bench/gpu.sh.
set -uo pipefail
scale=1
[ "$kind" = cuda ] || scale=128
"$work/build/kernels" table $scale | tee "$work/table"
status=$?
value() { sed -n "s/.*\"$1\": \([0-9.e+]*\).*/\1/p" "$work/table" | head -n 1; }
for name in copied_bytes_per_s multiplied_flops_per_s sustained_flops_per_s; do
    [ -z "$(value $name)" ] || echo "$name $(value $name)" >>"$figures"
done
own=$(value own)
[ "${own:-0}" -eq 0 ] || echo "own_multiplications $own" >>"$figures"
exit $status
