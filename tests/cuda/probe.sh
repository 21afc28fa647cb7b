#!/usr/bin/env bash
# probe.sh PROBE: the probes of bench/probe on the emulated device. All of them succeed, with results as
# JSON. A probe that breaks or never ends is reported by its name, and the next probes run.
set -u
probe=$(realpath "$1")
# shellcheck source=tests/cuda/check.sh
. "$(dirname "$0")/check.sh"
# answers CODE: the list, of which Python has `all` by name, holds what CODE says.
answers() { python3 -c 'import json, sys
all = {x["probe"]: x for x in json.load(sys.stdin)}
print(all)
assert len(all) == 14, len(all)
'"$1"; }
good() { "$probe" trial | answers 'assert min(all[x]["is_ok"] for x in all), all'; }
small() { PP_EMULATED_PART=8 "$probe" trial | answers 'assert all["parts"]["is_ok"] and all["partition"]["is_ok"]
assert all["parts"]["multiprocessors_of_2"] == all["partition"]["multiprocessors"] == 8'; }
uncut() { PP_EMULATED_PART=4 "$probe" trial | answers 'assert not all["parts"]["is_ok"] and all["serial"]["is_ok"]
assert "cannot cut the GPU into parts: CUDA driver error 915" in all["partition"]["message"]'; }
broken() { PP_EMULATED_FAULT=1 "$probe" trial | answer_broken; }
answer_broken() { answers 'assert all["copies"]["is_ok"]
bad = [x for x in all if not all[x]["is_ok"]]
assert bad == ["launches", "shared memory", "products", "attention", "refusals", "serial", "streams of ranks",
    "partition", "parts"], bad
assert "cudaErrorLaunchFailure" in all["launches"]["message"]'; }
hanging() { PP_EMULATED_HANG=1 "$probe" trial 1 | answers 'assert all["events"]["is_ok"]
assert all["launches"]["message"] == all["shared memory"]["message"] == "not over after 1 s"
assert all["parts"]["message"].startswith("not tried")'; }
none() { ! PP_EMULATED_DEVICES=0 "$probe" trial 2>"$folder/none" && grep 'no CUDA device' "$folder/none"; }
check 'every answer is yes' good
check 'large parts are refused: smaller ones are taken' small
check 'all parts are refused: said' uncut
check 'a launch that fails: probes without launches are fine, the others say so' broken
check 'a launch that never ends' hanging
check 'no device: said, and exit code 1' none
end_checks
