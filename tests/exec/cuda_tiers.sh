#!/usr/bin/env bash
# cuda_tiers.sh PIPEEXEC: --backend cuda with classes on the host or in a file has losses and norms of a run
# without, to the bit. So has every mode of the device, with and without exact gradients.
set -u
pipeexec=$1
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
. "$(dirname "$0")/tap.sh"

# Losses and norms of a run.
train() {
    "$pipeexec" --backend cuda --np 2 --layers 4 --hidden 32 --heads 2 --seq 32 --mbs 1 --micro-batches 4 --steps 2 --json \
        "$@" >"$folder/json" 2>"$folder/err" || { cat "$folder/err"; return 1; }
    sed -n '/^  "losses"/,/\]/p; /^  "grad_norms"/,/\]/p' "$folder/json"
}
same() { # OPTIONS...
    diff "$folder/without" <(train "$@") && [ "$(wc -l <"$folder/without")" -ge 8 ] && [ -z "$(ls -A "$folder/nvme")" ]
}

mkdir "$folder/nvme"
while read -r name options; do
    # shellcheck disable=SC2086
    train $options >"$folder/without"
    for offload in a=host "a=nvme --nvme $folder/nvme" "p=nvme,a=host --nvme $folder/nvme" "p,g,os=host --cpu-optimizer" \
        "p,g,os=nvme --nvme $folder/nvme --cpu-optimizer"; do
        # shellcheck disable=SC2086
        same $options --offload $offload
        report "$name, ${offload%% *}"
    done
done <<'END'
gpipe --schedule gpipe --device-mode streams
1f1b --schedule 1f1b --exact-grad
zbv,bf16 --schedule zbv --precision bf16 --device-mode partition --exact-grad
interleaved --schedule interleaved --device-mode streams --clock virtual
graphs --schedule 1f1b --device-mode streams --cuda-graphs on
END
echo "1..$number"
exit $((failures > 0))
