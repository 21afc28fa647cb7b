#!/usr/bin/env bash
# bench.sh KERNELS: the table of kernels of bench/gpu on the emulated device, with shapes divided by 128.
# The table is JSON with a row for each kernel of three models, by cuBLASLt and own kernels as on a GPU.
# Also tested: a shard of tokens, and the parts of bench/gpu.sh that need no device. Without a device,
# bench/gpu.sh says so and writes nothing. Phases that fail, hang or die keep their results so far, and
# other phases run. The summary is tested too.
set -u
kernels=$(realpath "$1")
cd "$(dirname "$0")/../.." || exit
# shellcheck source=tests/cuda/check.sh
. tests/cuda/check.sh
table() {
    "$kernels" table 128 >"$folder/table.json" && python3 - "$folder/table.json" <<'END'
import json, sys
lines = [json.loads(line) for line in open(sys.argv[1])]
peaks, rows, table = lines[0], lines[1:-1], lines[-1]
assert peaks["copied_bytes_per_s"] > 0 and peaks["multiplied_flops_per_s"] > 0, peaks
assert len(rows) == 3 * 26, len(rows)
assert all(row["time_s"] > 0 and row["bytes"] > 0 and row["measured_roofline_frac"] >= 0 for row in rows)
assert sum(row["flops"] > 0 for row in rows) == 3 * 17
assert table["plans"] == {"made": 16, "refused": 0, "own": 0, "finished": 0}, table["plans"]
END
}
about() { "$kernels" about | python3 -c 'import json, sys; assert json.load(sys.stdin)["multiprocessors"] > 0'; }
none() { ! PP_EMULATED_DEVICES=0 "$kernels" about 2>"$folder/none" && grep 'no CUDA device' "$folder/none"; }
shard() { "$kernels" tokens "$folder/shard" 100 50304 && [ "$(wc -c <"$folder/shard")" -eq 1224 ]; }
refusal() {
    [ ! -e /dev/nvidiactl ] || return 0
    ! bench/gpu.sh "$folder/out.json" && [ ! -e "$folder/out.json" ]
}
wrong() { # EXIT_CODE TEXT OPTIONS...
    local status=0
    bench/gpu.sh "${@:3}" 2>"$folder/wrong" || status=$?
    cat "$folder/wrong"
    [ $status -eq "$1" ] && grep -q -e "$2" "$folder/wrong"
}
run_phases() (
    work=$folder/work kind=emulated limit_s=60 started=$(date +%s) about='{"name": "a device"}'
    export figures
    mkdir -p "$work"
    cd "$folder"
    table() { printf '%s 1 x\n' good list bad slow late; }
    . "$OLDPWD/bench/gpu/phase.sh"
    say() { :; }
    script() { printf '#!/bin/sh\n%s\n' "$2" >"$folder/$1.sh" && chmod +x "$folder/$1.sh"; }
    script good 'echo "{\"x\": 1, \"attention\": \"own (no cuDNN)\", \"mfu_frac\": 0.51}"; echo "{\"x\": 2}"; echo "mfu_gpt2_frac 0.51" >>$figures'
    script list 'printf "[\n  {\"y\": 1},\n  {\"y\": 2}\n]\n"; printf "%s\n" "mfu_gpt2_xl_frac 0.59" "own_multiplications 12" >>$figures'
    script bad 'echo "{\"z\": 1}"; echo "a \"reason\" with \\ and 	tab" >&2; exit 4'
    script slow 'echo "{\"s\": 1}"; printf "{\"half\": "; sleep 30'
    mkdir -p "$work/build/missing" && echo 'probe.c: a reason' >"$work/build/missing/probe" && note_missing
    for name in good list bad; do phase $name 20 "$folder/$name.sh"; done
    phase slow 5 "$folder/slow.sh"
    limit_s=1
    phase late 20 "$folder/good.sh"
    write_json "$folder/all.json" && [ $has_failed = yes ]
)
phases() {
    run_phases && python3 - "$folder/all.json" <<'END'
import json, sys
all = json.load(open(sys.argv[1]))
notes = {n["phase"]: (n["status"], n["exit_code"]) for n in all["phases"]}
assert notes.pop("build-probe") == ("failed", 1) and all["phases"][0]["log"] == "probe.c: a reason\n", all["phases"]
assert notes == {"good": ("ok", 0), "list": ("ok", 0), "bad": ("failed", 4), "slow": ("too long", 124),
                 "late": ("too long", 124)}, notes
assert [all[n] for n in ("good", "list", "bad", "slow", "late")] == [
    [{"x": 1, "attention": "own (no cuDNN)", "mfu_frac": 0.51}, {"x": 2}], [{"y": 1}, {"y": 2}], [{"z": 1}], [{"s": 1}], []], all
assert all["figures"] == {"mfu_gpt2_frac": 0.51, "mfu_gpt2_xl_frac": 0.59, "own_multiplications": 12}
assert 'a "reason" with \\ and  tab' in all["phases"][3]["log"], all["phases"][3]
END
}
summary() {
    bench/gpu.sh --summary "$folder/all.json" >"$folder/summary" && grep '^MFU of GPT-2 124M.* 51 %  met$' "$folder/summary" &&
        grep '^MFU of GPT-2 1558M.* 59 %  MISSED$' "$folder/summary" && grep '^MFU of GPT-2 774M.* -  not measured$' "$folder/summary" &&
        grep '^ATTENTION BY OWN KERNELS: own (no cuDNN)$' "$folder/summary" &&
        grep '^multiplications by own.* 12  MISSED$' "$folder/summary" &&
        grep '^slow  *too long' "$folder/summary" && grep '^1 met, 2 missed, ' "$folder/summary" &&
        ! grep -E '.{81}' "$folder/summary"
}
# The step of GPT-2 124M that was measured, by kernels: every line adds up, estimated and measured.
budget() {
    bench/gpu/budget.sh bench/results/nvidia_h200.json >"$folder/budget" && awk '
        /^gpt2 on/ { is_in = 1 } is_in && / us / { sum += $(NF - 5); estimate += $(NF - 7) }
        is_in && / sum / { said = $4; said_estimate = $2; exit }
        END { exit !(said > 100 && sum > said - 0.2 && sum < said + 0.2 && estimate > said_estimate - 0.2 && estimate < said_estimate + 0.2) }' "$folder/budget" &&
        grep -q '^  up: bias, gelu .* us  *48 ' "$folder/budget" && [ "$(grep -c ' unexplained ' "$folder/budget")" -eq 3 ] &&
        [ "$(grep -c 'above its estimate: [a-z]' "$folder/budget")" -eq 9 ]
}
# Without measurements. A model of wide blocks reaches nearly the fraction of its multiplications.
estimates() {
    bench/gpu/budget.sh >"$folder/budget" && [ "$(grep -c '^  MFU  *5[0-9].[0-9] %' "$folder/budget")" -eq 3 ] &&
        bench/gpu/budget.sh --model wide:100:50000 --device 'X 1e15 1e15' >"$folder/budget" && grep '^wide on X' "$folder/budget" &&
        awk '/^  MFU / { exit !($2 > 68 && $2 < 71) }' "$folder/budget"
}
other_shapes() {
    sed 's/"flops": 57982100000.0/"flops": 57000000000.0/' bench/results/nvidia_h200.json >"$folder/other.json"
    ! bench/gpu/budget.sh "$folder/other.json" >"$folder/budget" 2>"$folder/wrong" && grep 'qkv dx at width 768: 5.7e+10 operations were measured' "$folder/wrong"
}
check 'the device as JSON' about
check 'no device: said, and exit code 1' none
check 'a row for each kernel' table
check 'a shard of tokens' shard
check 'without a GPU nothing is written' refusal
check 'an unknown phase' wrong 2 'no phase nonsense; there are: build probe' --only models,nonsense
check 'an unknown option' wrong 2 'unknown option --nonsense' --nonsense
check 'a limit that is none' wrong 2 '--limit 8m: whole seconds' --limit 8m
check 'a step by kernels' budget
check 'a step by rates' estimates
check 'kernels of other shapes' other_shapes
check 'a summary of what is no result' wrong 1 'is no result of bench/gpu.sh' --summary meson.build
check 'phases that fail, hang or have no time' phases
check 'what was reached, missed and not measured' summary
end_checks
