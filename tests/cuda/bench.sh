#!/usr/bin/env bash
# bench.sh KERNELS: the table of kernels of bench/gpu on the emulated device, its shapes divided by 128:
# JSON with a row for each kernel of three models, all of them by cuBLASLt and own kernels as on a GPU;
# a shard of tokens; and without a GPU, bench/gpu.sh says so and writes nothing.
set -u
kernels=$(realpath "$1")
cd "$(dirname "$0")/../.." || exit
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
number=0 status=0
check() { # WHAT COMMAND...
    number=$((number + 1))
    if "${@:2}" >"$folder/log" 2>&1; then echo "ok $number - $1"; else
        echo "not ok $number - $1"
        sed 's/^/# /' "$folder/log"
        status=1
    fi
}
table() {
    "$kernels" table 128 >"$folder/table.json" && python3 - "$folder/table.json" <<'END'
import json, sys
table = json.load(open(sys.argv[1]))
rows = [row for model in table["models"] for row in model["kernels"]]
assert len(rows) == 3 * 26, len(rows)
assert all(row["time_s"] > 0 and row["bytes"] > 0 for row in rows)
assert sum(row["flops"] > 0 for row in rows) == 3 * 17
assert table["plans"] == {"made": 15, "refused": 0, "own": 0, "finished": 0}, table["plans"]
END
}
about() { "$kernels" about | python3 -c 'import json, sys; assert json.load(sys.stdin)["multiprocessors"] > 0'; }
none() { ! PP_EMULATED_DEVICES=0 "$kernels" about 2>"$folder/none" && grep 'no CUDA device' "$folder/none"; }
shard() { "$kernels" tokens "$folder/shard" 100 50304 && [ "$(wc -c <"$folder/shard")" -eq 1224 ]; }
refusal() {
    [ ! -e /dev/nvidiactl ] || return 0
    ! bench/gpu.sh "$folder/out.json" && [ ! -e "$folder/out.json" ]
}
check 'the device as JSON' about
check 'no device: said, and exit code 1' none
check 'a row for each kernel' table
check 'a shard of tokens' shard
check 'without a GPU nothing is written' refusal
echo "1..$number"
exit $status
