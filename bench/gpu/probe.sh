#!/usr/bin/env bash
# The probes of bench/probe, as a phase of bench/gpu.sh: rows of what is as the code relies on and what is not.
set -uo pipefail
[ -x "$work/build/probe" ] || { echo 'the probe was not built' >&2; exit 77; }
options=()
[ "$kind" = cuda ] || options=(trial 60)
"$work/build/probe" "${options[@]}" | tee "$work/probe.found"
status=$?
failed=$(grep -c '"is_ok": false' "$work/probe.found")
echo "probes_failed $failed" >>"$figures"
[ $status -eq 0 ] && [ "$failed" -eq 0 ]
