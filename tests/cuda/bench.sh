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
assert len(rows) == 3 * 28, len(rows)
assert all(row["time_s"] > 0 and row["bytes"] > 0 and row["measured_roofline_frac"] >= 0 for row in rows)
assert sum(row["flops"] > 0 for row in rows) == 3 * 17
assert table["plans"] == {"made": 16, "refused": 0, "own": 0, "finished": 0}, table["plans"]
END
}
one_call() {
    "$kernels" call 768 'attention backward' 128 && ! "$kernels" call 768 nonsense 128 2>"$folder/wrong" &&
        grep "the table has no kernel 'nonsense' at width 768" "$folder/wrong"
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
    mkdir -p "$work/build"
    cd "$folder"
    local names='good list bad slow late'
    echo 'cuda	12.8' >"$work/build/found"
    . "$OLDPWD/bench/gpu/phase.sh"
    say() { :; }
    script "$folder/good.sh" 'echo "{\"x\": 1, \"attention\": \"own (no cuDNN)\", \"mfu_frac\": 0.51}"; echo "{\"x\": 2}"; echo "mfu_gpt2_frac 0.51" >>$figures'
    script "$folder/list.sh" 'printf "[\n  {\"y\": 1},\n  {\"y\": 2}\n]\n"; printf "%s\n" "mfu_gpt2_xl_frac 0.59" "own_multiplications 12" >>$figures'
    script "$folder/bad.sh" 'echo "{\"z\": 1}"; echo "a \"reason\" with \\ and 	tab" >&2; exit 4'
    script "$folder/slow.sh" 'echo "{\"s\": 1}"; printf "{\"half\": "; sleep 30'
    mkdir "$work/build/missing" && echo 'probe.c: a reason' >"$work/build/missing/probe" && note_missing
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
assert all["versions"] == {"driver": "", "nvcc": "12.8"}, all["versions"]
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
        /^gpt2 on/ { is_in = 1 } is_in && $(NF - 4) ~ /^[0-9]+$/ { sum += $(NF - 2); estimate += $(NF - 3) }
        is_in && / sum / { said = $3; said_estimate = $2; exit }
        END { exit !(said > 100 && sum > said - 0.2 && sum < said + 0.2 && estimate > said_estimate - 0.2 && estimate < said_estimate + 0.2) }' "$folder/budget" &&
        grep -qE '^  up: bias, gelu( +[0-9.]+){2} +48 ' "$folder/budget" && [ "$(grep -c ' unexplained ' "$folder/budget")" -eq 3 ] &&
        [ "$(grep -c 'above its estimate: [a-z]' "$folder/budget")" -eq 9 ] && ! grep -E '.{81}' "$folder/budget"
}
# Without measurements. A model of wide blocks reaches nearly the fraction of its multiplications.
estimates() {
    bench/gpu/budget.sh >"$folder/budget" && [ "$(grep -c '^  MFU  *5[0-9].[0-9] %' "$folder/budget")" -eq 3 ] &&
        bench/gpu/budget.sh --model wide:100:50000 --device 'X 1e15 1e15' >"$folder/budget" && grep '^wide on X' "$folder/budget" &&
        awk '/^  MFU / { exit !($2 > 68 && $2 < 71) }' "$folder/budget" && ! grep -E 'measured| - |.{81}' "$folder/budget" &&
        bench/gpu/budget.sh --device H100 --model gpt2:12:768 >"$folder/budget" && grep '^gpt2 on h100' "$folder/budget"
}
# A device that no data sheet here describes, in a result or by name.
unrated() { # NAME OPTIONS...
    local status=0
    bench/gpu/budget.sh "${@:2}" >"$folder/budget" 2>"$folder/wrong" || status=$?
    cat "$folder/wrong" "$folder/budget"
    [ $status -eq 2 ] && [ ! -s "$folder/budget" ] && grep "no rates of '$1' are known: give --device NAME (a100 .* h200 " "$folder/wrong"
}
unknown_device() {
    sed '/^"device"/ { s/"NVIDIA H200"/"A device"/; s/989000000000000.0/0/ }' bench/results/nvidia_h200.json >"$folder/unknown.json"
    unrated 'A device' "$folder/unknown.json" && unrated nothing --device nothing && unrated X --device 'X 0 1e12'
}
other_shapes() {
    sed 's/"flops": 57982100000.0/"flops": 57000000000.0/' bench/results/nvidia_h200.json >"$folder/other.json"
    ! bench/gpu/budget.sh "$folder/other.json" >"$folder/budget" 2>"$folder/wrong" && grep 'qkv dx at width 768: 5.7e+10 operations were measured' "$folder/wrong"
}
# A pipeexec whose blocks take 2 and 3 s, the embedding 1 s and the head 5 s.
parts() {
    local work=$folder/parts text
    script "$work/build/pipeexec" 'while [ "$1" != --trace ]; do shift; done
cat >"$2" <<X
# a comment
step,rank,cell,duration_s
0,0,0F0,3
0,1,1F0,2
0,2,2F0,4
0,3,3F0,7
0,0,0I0,4
0,1,1I0,3
0,2,2I0,6
0,3,3I0,8
1,0,0W0,4
1,1,1W0,3
0,2,2W0,6
0,3,3W0,8
X
echo "{ \"layers_by_stage\": [ 1, 1, 2, 1 ] }"'
    echo >"$work/tokens-96.bin"
    work=$work kind=emulated about='' figures=$folder/none deadline=$(($(date +%s) + 100)) bench/gpu/parts.sh >"$folder/rows" 2>"$folder/log" || { cat "$folder/log" && return 1; }
    for text in '"F", "part": "block", "time_s": 2' '"F", "part": "embedding", "time_s": 1' '"F", "part": "head", "time_s": 5' \
        '"W", "part": "block", "time_s": 3' '"I", "part": "head", "time_s": 5'; do
        [ "$(grep -c "\"pass\": $text}" "$folder/rows")" -eq 3 ] || { echo "no $text" && return 1; }
    done
    grep '"what": "part"' "$folder/rows" | cat bench/results/nvidia_h200.json - >"$folder/with.json"
    bench/gpu/budget.sh "$folder/with.json" | grep -E '^  F block( +[0-9.]+){2} +256000000.0$'
}
# Clocks of runs, by an nvidia-smi that knows the old name of reasons alone.
clocks() {
    local work=$folder/clocks
    script "$folder/bin/nvidia-smi" 'case "$*" in *clocks_event_reasons*) echo "Field \"clocks_event_reasons.active\" is not a valid field to query."; exit 2 ;; esac
case "$*" in *loop-ms*) ;; *) exit 0 ;; esac
printf "345, 80.1, 700.00, 30, 0x0000000000000001\n1980, 400.0, 700.00, 41, 0x0000000000000000\n1400, 699.5, 700.00, 60, 0x0000000000000004\n1500, 650.0, 700.00, 61, 0x0000000000000004\n"
exec sleep 60'
    script "$work/build/pipeexec" 'sleep 1; [ "$PP_FAIL" != 1 ] || { echo too large >&2; exit 3; }; printf "\"step_s\": 1,\n\"gbs\": 16,\n\"losses\": [2]\n"'
    echo >"$work/tokens-96.bin"
    (PATH=$folder/bin:$PATH kind=emulated about='' figures=$folder/none deadline=$(($(date +%s) + 100)) run_clocks=yes
    . bench/gpu/run.sh && run fits 20 4 16 2; PP_FAIL=1 run fails 20 4 16 2; : ) >"$folder/rows" 2>"$folder/said"
    python3 - "$folder/rows" <<'END'
import json, sys
fits, fails = [json.loads(line) for line in open(sys.argv[1])]
assert fails["status"] == 3 and fails["message"] == "too large", fails
assert fits["clocks"] == fails["clocks"] == {"samples": 4, "mhz_before": 345, "mhz_least": 345, "mhz_median": 1400, "mhz_most": 1980,
    "mhz_after": 1500, "power_w_most": 699.5, "power_limit_w": 700, "temperature_c_most": 61,
    "throttle_reasons": ["0x0000000000000001", "0x0000000000000000", "0x0000000000000004"]}, fits
END
}
# Micro-batches of 64 samples need too much memory, 32 are fastest, and one run fails otherwise if asked for.
sweep() {
    local work=$folder/sweep status=0
    script "$work/build/pipeexec" 'while [ "$1" != --mbs ]; do shift; done
case $2 in 64) echo "error: the run needs 9 MiB in all, this device has 8 MiB free" >&2; exit 1 ;; 16) [ -z "$PP_FAIL" ] || exit 1 ;; esac
printf "\"step_s\": %s,\n\"gbs\": 128,\n\"losses\": [2]\n" $((48 - $2))'
    echo >"$work/tokens-96.bin"
    for PP_FAIL in '' 1; do
        PP_FAIL=$PP_FAIL work=$work kind=emulated about='"bf16_flops_per_s": 1e8' figures=$work/figures deadline=$(($(date +%s) + 100)) bench/gpu/sweep.sh >"$folder/rows" || status=$((status + 1))
    done
    cat "$work/figures" && [ $status -eq 1 ] && [ "$(grep -c '"status": 1, "message": "error: the run needs 9 MiB' "$folder/rows")" -eq 3 ] &&
        [ "$(grep -c '^mfu_best_gpt2\w*_samples 32$' "$work/figures")" -eq 6 ]
}
# An ncu that knows no metric of tensor cores, and has no permission for one kernel.
profile() {
    local work=$folder/profile status=0
    mkdir -p "$work/build"
    script "$folder/bin/ncu" 'case "$*" in *sm__pipe_tensor*) echo "==ERROR== Failed to find metric"; exit 1 ;; *"call 768 head") echo "==ERROR== ERR_NVGPUCTRPERM"; exit 1 ;; esac
cat <<X
==PROF== Connected to process 7
"ID","Process ID","Kernel Name","Metric Name","Metric Unit","Metric Value"
"0","7","small(int)","gpu__time_duration.sum","ns","1,000"
"1","7","large<a, b>(float *)","gpu__time_duration.sum","ns","312,500"
"1","7","large<a, b>(float *)","sm__throughput.avg.pct_of_peak_sustained_elapsed","%","61.5"
"1","7","large<a, b>(float *)","dram__throughput.avg.pct_of_peak_sustained_elapsed","%","20.25"
X'
    PATH=$folder/bin:$PATH work=$work deadline=$(($(date +%s) + 100)) bench/gpu/profile.sh >"$folder/rows" 2>"$folder/said" || status=$?
    cat "$folder/rows" "$folder/said"
    [ $status -eq 1 ] && grep -q '^head: ==ERROR== ERR_NVGPUCTRPERM' "$folder/said" && [ "$(wc -l <"$folder/rows")" -eq 5 ] &&
        grep -x '{"kernel": "attention backward", "symbol": "large<a, b>(float \*)", "time_s": 0.0003125, "multiprocessors_frac": 0.6150, "memory_frac": 0.2025}' "$folder/rows"
}
no_ncu() { local status=0; compgen -G "/opt/nvidia/nsight-compute/*/ncu" && return; CUDA_HOME=$folder/none PATH=/usr/bin:/bin work=$folder deadline=0 bench/gpu/profile.sh 2>"$folder/said" || status=$?; [ $status -eq 77 ] || [ -x /usr/bin/ncu ]; }
# Each call takes less than 9 minutes, and no phase is in none.
calls() { sed -n '/^table() {/,/^}/p' bench/gpu.sh | awk 'NF == 4 && $1 ~ /^[123]$/ { s[$1] += $3; n++ } END { print s[1], s[2], s[3], n; exit !(n == 14 && s[1] < 440 && s[2] < 540 && s[3] < 540) }'; }
check 'the device as JSON' about
check 'no device: said, and exit code 1' none
check 'a row for each kernel' table
check 'one kernel alone' one_call
check 'a shard of tokens' shard
check 'without a GPU nothing is written' refusal
check 'an unknown phase' wrong 2 'no phase nonsense; there are: build probe' --only models,nonsense
check 'an unknown option' wrong 2 'unknown option --nonsense' --nonsense
check 'a limit that is none' wrong 2 '--limit 8m: whole seconds' --limit 8m
check 'a step by kernels' budget
check 'a device without rates' unknown_device
check 'a step by rates' estimates
check 'kernels of other shapes' other_shapes
check 'passes of a block and of the ends' parts
check 'clocks of a run' clocks
check 'sizes of micro-batches' sweep
check 'kernels under ncu' profile
check 'no ncu' no_ncu
check 'three calls' calls
check 'an unknown call' wrong 2 '--call 4: 1, 2 or 3' --call 4
check 'a summary of what is no result' wrong 1 'is no result of bench/gpu.sh' --summary meson.build
check 'phases that fail, hang or have no time' phases
check 'what was reached, missed and not measured' summary
end_checks
