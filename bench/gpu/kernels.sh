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
# The least of all widths, over a copy of the same bytes.
for name in quantise restore; do
    sed -n "s/.*\"$name 8 bits\".*\"measured_roofline_frac\": \([0-9.e+-]*\).*/\1/p" "$work/table" | sort -g | head -n 1 |
        sed "s/^/${name}_over_copy /" >>"$figures"
done
own=$(value own)
[ "${own:-0}" -eq 0 ] || echo "own_multiplications $own" >>"$figures"
exit $status
