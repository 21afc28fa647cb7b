#!/usr/bin/env bash
# Processes write one checkpoint together, each its own part. The files have the bytes of one process
# that writes all, whatever the layout. So has a model for the hub. A process that does not see the
# folder, cannot write there or is killed is named, and earlier checkpoints stay.
#
#   checkpoints.sh PIPEEXEC
set -u
pipeexec=$(realpath "$1")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
unset RANK WORLD_SIZE LOCAL_RANK MASTER_ADDR MASTER_PORT
small="--layers 4 --heads 2 --seq 16 --mbs 2 --gbs 16 --exact-grad --no-check"

# shellcheck source=tests/exec/tap.sh
. "$(dirname "$0")/tap.sh"

# launch OPTIONS...: 4 processes, with `before` in front of process `special`; exit code of the first
before=() special='' hidden=32 in_background=''
launch() {
    local k rc
    port=$((port + 1))
    rm -f "$folder"/err.* "$folder"/out.*
    pids=()
    for k in 3 2 1 0; do
        local words=()
        [[ $special == "$k" || $special == all ]] && words=("${before[@]}")
        # shellcheck disable=SC2086
        RANK=$k LOCAL_RANK=$k WORLD_SIZE=4 MASTER_ADDR=127.0.0.1 MASTER_PORT=$port timeout 60 "${words[@]}" "$pipeexec" $small --hidden $hidden "$@" \
            >"$folder/out.$k" 2>"$folder/err.$k" &
        pids[k]=$!
    done
    [ -n "$in_background" ] && return
    wait "${pids[0]}"
    rc=$?
    wait
    return $rc
}
entries() { (cd "$1" && ls -A | tr '\n' ' '); }
may() { "$@" true 2>/dev/null; }
skip() {
    number=$((number + 1))
    echo "ok $number - $1 # SKIP not permitted here"
}

# ---- the same bytes ----
for precision in "" "--precision bf16"; do
    # shellcheck disable=SC2086
    "$pipeexec" $small --hidden $hidden $precision --quiet --steps 4 --checkpoint "$folder/one" --checkpoint-every 2 2>"$folder/err.0"
    for how in "--schedule 1f1b --np 4" "--schedule zbv --np 2 --dp 2 --zero 1" "--schedule chimera --np 4 --dp 2 --zero 1" "--schedule gpipe --np 1 --dp 4"; do
        # shellcheck disable=SC2086
        "$pipeexec" $small --hidden $hidden $precision --quiet --steps 4 --transport tcp $how --checkpoint "$folder/many" --checkpoint-every 2 2>"$folder/err.0" &&
            diff -r "$folder/one" "$folder/many" >>"$folder/err.0"
        report "forked: $how $precision"
        rm -rf "$folder/many"
    done
    # shellcheck disable=SC2086
    launch $precision --quiet --steps 4 --schedule 1f1b --np 2 --dp 2 --zero 1 --checkpoint "$folder/many" --checkpoint-every 2 &&
        diff -r "$folder/one" "$folder/many" >>"$folder/err.0"
    report "launched $precision"
    rm -rf "$folder/many"
    if [ -z "$precision" ]; then mv "$folder/one" "$folder/whole"; fi
done

# ---- bytes between processes ----
travel() { # STEPS OPTIONS...: bytes over a loopback interface of its own
    # shellcheck disable=SC2016
    unshare -n sh -c 'ip link set lo up && "$@" && awk "/lo:/ { print \$10 }" /proc/self/net/dev' sh "$pipeexec" --layers 4 --hidden 256 --heads 4 --seq 16 --mbs 2 \
        --np 4 --schedule 1f1b --transport tcp --no-check --quiet --steps "$@" 2>"$folder/err.0"
}
if may unshare -n; then
    plain=$(travel 3) && with=$(travel 3 --checkpoint "$folder/far" --checkpoint-every 1 --checkpoint-keep 9)
    state=$(cat "$folder"/far/step-000000003/layer-*.bin | wc -c)
    echo "# $((with - plain)) bytes for 3 checkpoints of $state bytes"
    [ "$state" -gt 30000000 ] && [ $(((with - plain) * 50)) -lt "$state" ]
    report "state does not travel"
    again=$(travel 6 --resume "$folder/far")
    echo "# $((again - plain)) bytes to resume it, with as many steps"
    [ $(((again - plain) * 50)) -lt "$state" ]
    report "state does not travel when it is resumed"
else
    skip "state does not travel"
fi

# ---- memory of a process ----
peaks_kib() { # OPTIONS...: the largest peak of a process
    before=(python3 -c 'import os, resource, subprocess, sys
code = subprocess.call(sys.argv[2:])
with open(sys.argv[1] + "/peak." + os.environ["RANK"], "w") as file:
    print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=file)
sys.exit(code)' "$folder")
    local small=${small/--gbs 16/--gbs 2}
    special=all hidden=512
    launch --quiet --schedule 1f1b --np 4 --seq 16 "$@" && sort -n "$folder"/peak.* | tail -n 1
    before=() special='' hidden=32
}
unsaved=$(peaks_kib --steps 1)
with=$(peaks_kib --steps 1 --checkpoint "$folder/large")
again=$(peaks_kib --steps 2 --resume "$folder/large")
state=$(($(cat "$folder"/large/step-000000001/layer-*.bin | wc -c) / 1024))
echo "# peak of a process: $unsaved KiB, $with with a checkpoint, $again resumed; a checkpoint of $state KiB"
[ "$state" -gt 140000 ] && [ $(((with - unsaved) * 10)) -lt "$state" ] && [ $(((again - unsaved) * 10)) -lt "$state" ]
report "no process has memory for the state of others"
rm -rf "$folder/large"

# ---- a folder that one does not see ----
if may unshare -m; then
    mkdir "$folder/apart"
    # shellcheck disable=SC2016
    before=(unshare -m sh -c 'mount -t tmpfs none "$0" && exec "$@"' "$folder/apart") special=2
    launch --steps 4 --schedule 1f1b --np 4 --checkpoint "$folder/apart" --checkpoint-every 2 &&
        grep -q 'process 2 does not see the folder of checkpoints: process 0' <(tr -s ' \n' ' ' <"$folder/out.0") &&
        diff -r "$folder/whole" "$folder/apart" >>"$folder/err.0"
    report "a folder that one process does not see"
    before=() special=
    launch --steps 4 --schedule 1f1b --np 4 --checkpoint "$folder/all" && ! grep -q 'does not see' "$folder/out.0"
    report "a folder that all see"
else
    skip "a folder that one process does not see"
fi

# ---- the model for the hub: each process writes its weights, too ----
for precision in "" "--precision bf16"; do
    # shellcheck disable=SC2086
    "$pipeexec" $small --hidden $hidden $precision --quiet --steps 2 --save "$folder/alone" --max-shard-size 30kB 2>"$folder/err.0"
    for how in "--schedule 1f1b --np 4" "--schedule zbv --np 2 --dp 2 --zero 1" "--schedule chimera --np 4 --dp 2 --zero 1" "--schedule gpipe --np 1 --dp 4 --zero 1"; do
        # shellcheck disable=SC2086
        "$pipeexec" $small --hidden $hidden $precision --quiet --steps 2 --transport tcp $how --save "$folder/many" --max-shard-size 30kB 2>"$folder/err.0" &&
            diff -r "$folder/alone" "$folder/many" >>"$folder/err.0"
        report "saved, forked: $how $precision"
        rm -rf "$folder/many"
    done
    # shellcheck disable=SC2086
    launch $precision --quiet --steps 2 --schedule 1f1b --np 2 --dp 2 --zero 1 --save "$folder/many" --max-shard-size 30kB &&
        diff -r "$folder/alone" "$folder/many" >>"$folder/err.0"
    report "saved, launched $precision"
    if [ -z "$precision" ]; then mv "$folder/alone" "$folder/model"; fi
    rm -rf "$folder/many" "$folder/alone"
done
if may unshare -n; then
    plain=$(travel 3) && with=$(travel 3 --save "$folder/many")
    state=$(wc -c <"$folder/many/model.safetensors")
    echo "# $((with - plain)) bytes to save a model of $state bytes"
    [ "$state" -gt 10000000 ] && [ $(((with - plain) * 50)) -lt "$state" ]
    report "weights do not travel"
    rm -rf "$folder/many"
else
    skip "weights do not travel"
fi
with=$(peaks_kib --steps 1 --save "$folder/many")
state=$(($(wc -c <"$folder/many/model.safetensors") / 1024))
echo "# peak of a process: $unsaved KiB, $with with a model of $state KiB"
[ "$state" -gt 48000 ] && [ $(((with - unsaved) * 2)) -lt "$state" ]
report "no process has memory for the weights of others"
rm -rf "$folder/many"
if may unshare -m; then
    mkdir "$folder/here"
    # shellcheck disable=SC2016
    before=(unshare -m sh -c 'mount -t tmpfs none "$0" && exec "$@"' "$folder/here") special=2
    launch --steps 2 --schedule 1f1b --np 4 --save "$folder/here/model" --max-shard-size 30kB &&
        grep -q 'process 2 does not see the folder of --save: process 0' <(tr -s ' \n' ' ' <"$folder/out.0") &&
        diff -r "$folder/model" "$folder/here/model" >>"$folder/err.0"
    report "a folder of --save that one process does not see"
else
    skip "a folder of --save that one process does not see"
fi
# shellcheck disable=SC2016
before=(sh -c 'ulimit -f 64 && exec "$@"' sh) special=2
launch --quiet --steps 2 --schedule 1f1b --np 4 --save "$folder/many"
[ $? -eq 1 ] && grep -q 'rank 2 (process 2 at 127.0.0.1): cannot write .*/many.partial/model.safetensors: File too large' "$folder/err.0" &&
    [ ! -e "$folder/many" ] && [ ! -e "$folder/many.partial" ]
report "a process that cannot write the model is named"
before=() special=
rm -rf "$folder/many" "$folder/model"

# ---- devices of --tp, which write parts of a tensor, and replicas with their experts ----
mixtral="--model mixtral-8x7b --kv-heads 2 --vocab 256 --experts 4 --top-k 2 --moe-ffn 24"
same_as() { diff -r "$folder/single" "$folder/many" >>"$folder/err.0" && diff -r "$folder/alone" "$folder/model" >>"$folder/err.0"; }
for how in "--np 2 --tp 2" "--np 1 --tp 2 --dp 2 --zero 1" "--np 1 --tp 2 --dp 2 --zero 2 --precision bf16" "--np 1 --tp 2 --dp 2 --zero 3 --sequence-parallel on" \
    "--np 1 --tp 2 --dp 2 --ep 2 $mixtral" "--np 1 --tp 2 --dp 4 --ep 2 --zero 3 $mixtral"; do
    # shellcheck disable=SC2086
    "$pipeexec" $small --hidden $hidden --quiet --steps 2 $how --checkpoint "$folder/single" --save "$folder/alone" --max-shard-size 30kB 2>"$folder/err.0"
    # shellcheck disable=SC2086
    "$pipeexec" $small --hidden $hidden --quiet --steps 2 $how --checkpoint "$folder/many" --save "$folder/model" --max-shard-size 30kB --transport tcp 2>"$folder/err.0" &&
        same_as
    report "forked: $how"
    rm -rf "$folder/many" "$folder/model"
    if [[ $how != *"--dp 4"* ]]; then
        # shellcheck disable=SC2086
        launch --quiet --steps 2 $how --checkpoint "$folder/many" --save "$folder/model" --max-shard-size 30kB && same_as
        report "launched: $how"
        # shellcheck disable=SC2086
        "$pipeexec" $small --hidden $hidden --quiet --steps 4 $how --resume "$folder/single" --checkpoint "$folder/single" 2>"$folder/err.0"
        # shellcheck disable=SC2086
        launch --quiet --steps 4 $how --resume "$folder/many" --checkpoint "$folder/many" && diff -r "$folder/single" "$folder/many" >>"$folder/err.0"
        report "resumed: $how"
    fi
    rm -rf "$folder/single" "$folder/alone" "$folder/many" "$folder/model"
done

# ---- the training goes on, each process from its own part ----
losses() { sed -n '/"losses"/,/\]/p' "$folder/out.0"; }
at="$folder/whole/step-000000002"
"$pipeexec" --resume "$at" --np 1 --schedule gpipe --no-check --json >"$folder/out.0" 2>"$folder/err.0"
expected=$(losses)
for how in "--schedule 1f1b --np 4" "--schedule zbv --np 2 --dp 2 --zero 1" "--schedule chimera --np 4 --dp 2 --zero 1"; do
    # shellcheck disable=SC2086
    "$pipeexec" --resume "$at" --transport tcp $how --no-check --json --checkpoint "$folder/again" >"$folder/out.0" 2>"$folder/err.0" &&
        [ "$(losses)" = "$expected" ] && diff -r "$folder/whole/step-000000004" "$folder/again/step-000000004" >>"$folder/err.0"
    report "forked, resumed: $how"
    rm -rf "$folder/again"
done
resumes() { # NOTE OPTIONS...: launched processes; the note of the report, "" = none
    launch --resume "$at" --schedule 1f1b --np 4 --checkpoint "$folder/again" "${@:2}" &&
        [ "$(tr -s ' \n' ' ' <"$folder/out.0" | grep -o 'process [0-9] does not [a-z ]*')" = "$1" ] &&
        diff -r "$folder/whole/step-000000004" "$folder/again/step-000000004" >>"$folder/err.0"
    local rc=$?
    rm -rf "$folder/again"
    return $rc
}
resumes ""
report "launched, resumed"
if may unshare -m; then
    mkdir "$at.part"
    # shellcheck disable=SC2016
    before=(unshare -m sh -c 'mount --bind "$0.part" "$0" && exec "$@"' "$at") special=2
    cp "$at/manifest" "$at.part"
    resumes "process 2 does not have the checkpoint"
    report "resumed where one process has the manifest alone"
    cp "$at"/* "$at.part"
    resumes ""
    report "resumed where one process has a copy"
    rm -r "$at.part"
else
    skip "resumed where one process has the manifest alone"
fi
before=() special=
cp -r "$at" "$folder/damaged"
printf x | dd of="$folder/damaged/layer-00003.bin" bs=1 seek=1000 conv=notrunc status=none
launch --resume "$folder/damaged" --schedule 1f1b --np 4 --quiet
[ $? -eq 2 ] && grep -q "error: rank 2 (process 2 at 127.0.0.1): $folder/damaged/layer-00003.bin is damaged" "$folder/err.0"
report "a damaged part is named"

# ---- a process that cannot write ----
rm -rf "$folder/all"
launch --quiet --steps 2 --schedule 1f1b --np 4 --checkpoint "$folder/all"
# shellcheck disable=SC2016
before=(sh -c 'ulimit -f 64 && exec "$@"' sh) special=2
launch --quiet --steps 4 --schedule 1f1b --np 4 --resume "$folder/all" --checkpoint "$folder/all"
[ $? -eq 1 ] && grep -q 'warning: no checkpoint: rank 2 (process 2 at 127.0.0.1): cannot write .*/.pipeexec-tmp-step-000000004/layer-00003.bin: File too large' "$folder/err.0" &&
    [ "$(entries "$folder/all")" = "step-000000002 " ]
report "a process that cannot write is named"
before=() special=

# ---- a process that is killed or stopped while checkpoints are written ----
go_on() { # OPTIONS...: from the newest checkpoint
    local newest
    newest=$(ls "$folder/killed" | tail -n 1 | sed 's/^step-0*//') # not of the temporary one
    "$pipeexec" --resume "$folder/killed" --np 1 --schedule gpipe --steps $((newest + 1)) --no-check --quiet "$@" 2>>"$folder/err.0"
}
strike() { # SIGNAL VICTIM: while a checkpoint is written, not the first one; exit code of the first process
    rm -rf "$folder/killed"
    in_background=yes hidden=256
    launch --quiet --timeout 2 --steps 100000 --schedule 1f1b --np 4 --checkpoint "$folder/killed" --checkpoint-every 1 --checkpoint-keep 3
    in_background=
    until [ -d "$folder/killed/step-000000002" ] || ! kill -0 "${pids[0]}"; do sleep 0.01; done
    until compgen -G "$folder/killed/.pipeexec-tmp-step-*" >/dev/null || ! kill -0 "${pids[0]}"; do sleep 0.001; done
    pkill "-$1" -P "${pids[$2]}"
    wait "${pids[0]}"
    local rc=$?
    [ "$1" = STOP ] && pkill -KILL -P "${pids[$2]}"
    wait
    return $rc
}
none_is_left() { ! compgen -G "$folder/killed/.pipe*" >/dev/null; }
for victim in 1 3 2 0; do
    strike KILL $victim
    [ $? -ne 0 ] && { [ $victim -eq 0 ] || { none_is_left && grep -q "rank $victim .*process" "$folder/err.0"; }; } && go_on
    report "process $victim is killed"
done 2>/dev/null
go_on --checkpoint "$folder/killed" && none_is_left
report "a later run removes what a killed one has left"
strike STOP 2 2>/dev/null
[ $? -eq 1 ] && none_is_left && grep -q "no answer for .* from   rank 2 .*process\|stuck: rank 2" <(tr '\n' ' ' <"$folder/err.0") && go_on # the next step may have begun
report "a process is stopped"
echo "1..$number"
[ $failures -eq 0 ]
