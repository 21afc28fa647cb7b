# Copies in a program: each pass brings what earlier ones have made, and takes its own part away. One
# group alone has to wait for it.
$ pipesim program --mode infer --pp 1 --groups 2 --prompt-groups 4 --tokens 2 --offload kv=host | tail -1
> 0F0,0COPY.kv-down0,0F1,(0COPY.kv-down0)WAIT,0COPY.kv-down1,0F2,(0COPY.kv-down1)WAIT,0COPY.kv-down2,1COPY.kv-up0-1,0F3,(0COPY.kv-down2)WAIT,0COPY.kv-down3,(1COPY.kv-up0-1)WAIT,1COPY.kv-up2-3,1F0-1,(0COPY.kv-down3)WAIT,1COPY.kv-down0-1,(1COPY.kv-up2-3)WAIT,1F2-3,(1COPY.kv-down0-1)WAIT,1COPY.kv-down2-3,(1COPY.kv-down2-3)WAIT
$ pipesim program --mode infer --pp 1 --groups 1 --tokens 3 --offload kv=host | tail -1
> 0F0,0COPY.kv-down0,1COPY.kv-up0,(1COPY.kv-up0)WAIT,1F0,(0COPY.kv-down0)WAIT,1COPY.kv-down0,2COPY.kv-up0,(2COPY.kv-up0)WAIT,2F0,(1COPY.kv-down0)WAIT,2COPY.kv-down0,(2COPY.kv-down0)WAIT
$ pipesim program --mode infer --pp 1 --groups 2 --tokens 2 --offload kv=host --gather-buffers 1 | tail -1
> 0F0,0COPY.kv-down0,(0COPY.kv-down0)WAIT,0F1,0COPY.kv-down1,(0COPY.kv-down1)WAIT,1COPY.kv-up0,(1COPY.kv-up0)WAIT,1F0,1COPY.kv-down0,(1COPY.kv-down0)WAIT,1COPY.kv-up1,(1COPY.kv-up1)WAIT,1F1,1COPY.kv-down1,(1COPY.kv-down1)WAIT
# A file is the same run, in all engines. Without its option the cache stays, and copies nothing.
$ pipesim program --mode infer --pp 2 --groups 3 --prompt-groups 6 --tokens 4 --offload kv=host -o kv.csv; for o in "--groups 3 --prompt-groups 6 --pp 2 --offload kv=host" "--schedule kv.csv --offload kv=host" "--schedule kv.csv --offload kv=host --engine simgrid" "--schedule kv.csv"; do pipesim --mode infer --model gpt2 --cluster a100 --batch 12 --prompt 500 --tokens 4 $o --json | grep -E '"iteration_s"'; done
>   "iteration_s": 0.019631487260999999,
>   "iteration_s": 0.019631487260999999,
>   "iteration_s": 0.019631487260999999,
>   "iteration_s": 0.0096755787569999998,
# Copies are in pictures: next to the forwards of other groups.
$ pipesim --mode infer --model gpt2 --cluster a100 --pp 2 --batch 12 --groups 3 --prompt 500 --tokens 3 --offload kv=host --gantt | grep -A6 '^P0'
> P0 |F0a F1a F2a F0b f0b F1b F2b F0c F1c F2c  . |
>  d |    --- --- --- --- --- ---     --- --- ---
>  u |        --- --- --- --- --- --- ---
> P1 | .  F0a F1a F2a f2a F0b F1b F2b F0c F1c F2c|
>  d |        --- --- --- --- ---     --- --- ---
>  u |            --- --- --- --- --- --- ---
> one column = 1.28 ms, 11 columns in all
# What is left out is named, and nothing executes such a file.
$ pipesim program --mode infer --pp 1 --groups 2 --tokens 2 --offload kv=host | sed 's/1COPY.kv-up1,//; s/(1COPY.kv-up1)WAIT,//' >bad.csv; pipesim verify bad.csv 2>&1 | head -1
> pipesim: error: bad.csv:13:11: rank 0: 1F1 reads keys and values of earlier passes, and no COPY.kv-up brings them
$ pipeexec generate --schedule kv.csv --prompt a
! pipeexec: error: --schedule kv.csv: nothing here executes its COPY.kv-down; nearest: pipesim --mode infer --schedule kv.csv
= 2
# The cache on the host: a pass takes as long as its copies. 48 blocks, 8 sequences of 512 tokens.
$ for o in "" "--offload kv=host" "--offload kv=host:50%" "--offload kv=host --kv-bits 8"; do pipesim --mode infer --model opt-30b --cluster a100 --gpus 1 --batch 8 --prompt 512 --tokens 9 $o --json | grep -E '"token_s"|^    "kv_bytes"|"host_bytes"' | awk -v o="$o" '{ s = s " " $1 " " $2 } END { print o s }'; done
>  "token_s": 0.047309980918750001, "kv_bytes": 5725224960, "kv_bytes": 5725224960,
> --offload kv=host "token_s": 0.22860804508249999, "kv_bytes": 5725224960, "kv_bytes": 0, "host_bytes": 5725224960,
> --offload kv=host:50% "token_s": 0.1147968348425, "kv_bytes": 5725224960, "kv_bytes": 2862612480, "host_bytes": 2862612480,
> --offload kv=host --kv-bits 8 "token_s": 0.114762249523, "kv_bytes": 2862612480, "kv_bytes": 0, "host_bytes": 2862612480,
# All bytes that move, at the rate of the link: a lower bound of the time, and nearly all of it.
$ pipesim --mode infer --model opt-30b --cluster a100 --gpus 1 --batch 8 --prompt 512 --tokens 9 --offload kv=host --json >run.json; python3 -c 'import json; r = json.load(open("run.json")); c = r["tiers"]["copies"][0]; token = 8 * 2 * 7168 * 48 * 2; print(c["class"], c["down_bytes"] / token, c["up_bytes"] / token - sum(range(512, 520)), r["iteration_s"] > c["up_bytes"] / 25e9)'
> kv 520.0 0.0 True
# In the report.
$ pipesim --mode infer --model opt-30b --cluster a100 --gpus 1 --batch 64 --prompt 512 --tokens 9 --offload p,kv=host | grep -E -A3 '^  (peak|tiers)'
>   peak memory       11.1 GiB   of 79.3: fits; KV 1.31 MiB a token, 42.7 GiB on
>                                host
>   room     1,062 sequences of 521 tokens, or 266 of 2,050; = (79.35 - 6.69 GiB)
>            / 70 MiB a sequence of 521 tokens
> --
>   tiers    host 98.5 of 2048.0 GiB a device
>            copied in all, down | up, GiB: p 0 | 502, kv 42.7 | 338; exposed 33.2
>            s (78.7 %)
>   faster   batch 256: 20.8 tokens/s at 9.67 s a token, but first token 33.5 s;
# Copies bound a pass: the tier and its rate, in the report and in JSON. Those of parameters, too.
$ for o in kv=host kv=nvme p=host kv=host:1%; do pipesim --mode infer --model opt-30b --cluster a100 --gpus 1 --batch 8 --groups 2 --prompt 512 --tokens 9 --offload $o --json >run.json; python3 -c 'import json; b = json.load(open("run.json"))["inference"]["bound"]; print(b["prompt"], b["token"], b["tier"], b["tier_bytes_per_s"])'; done
> compute copies host 25000000000.0
> compute copies nvme 25000000000.0
> copies copies host 25000000000.0
> compute memory None None
$ pipesim --mode infer --model opt-30b --cluster a100 --gpus 1 --batch 8 --groups 2 --prompt 512 --tokens 9 --offload kv=host | grep -A1 'each token'
>   each token          255 ms   3.92 tokens/s a sequence; bound by copies (host,
>                                25.0 GB/s), 24 % of 2.04 TB/s; weights are 95 %
# --explain has the copies of a pass in the middle: 4 sequences of 513 earlier tokens here, 48 blocks.
$ pipesim --mode infer --model opt-30b --cluster a100 --gpus 1 --batch 8 --groups 2 --prompt 512 --tokens 5 --offload kv=host --explain | grep -A1 '^  copies'; python3 -c 'print(4 * 513 * 2 * 7168 * 2 * 48 / 25e9)'
>   copies 0.112963092 s of a group in pass 2, at 2.5e+10 bytes/s with host; a
>       pass takes the longest of compute and copies each way
> 0.11296309248
# Keys and values go through buffers of blocks; parameters that stay have no units.
$ for o in "--gather-buffers 1" "--gather-buffers 3" "--cache 2"; do pipesim --mode infer --model opt-30b --cluster a100 --gpus 1 --batch 8 --groups 2 --prompt 512 --tokens 9 --offload kv=host $o --json 2>&1 | grep -E '"iteration_s"|error:'; done
>   "iteration_s": 3.8972413420500001,
>   "iteration_s": 2.9408338496150002,
> pipesim: error: --cache 2 has no effect: parameters stay on the device, and keys and values move block by block; nearest: --offload p,kv=host
# A cluster without drives, and a host with too little memory.
$ pipesim --mode infer --model gpt2 --cluster p100-daint --gpus 1 --offload kv=nvme
! pipesim: error: --offload kv=nvme: the nodes of cluster p100-daint have no drives: nvme:8TB@25GBps in its text gives them some
= 2
$ pipesim --mode infer --model opt-30b --cluster a100,ram:16GB --gpus 1 --batch 64 --prompt 512 --tokens 9 --offload kv=host | grep -E -A1 '^  (peak|tiers)'
>   peak memory       63.2 GiB   of 79.3: DOES NOT FIT host; KV 1.31 MiB a token,
>                                42.7 GiB on host
> --
>   tiers    host 42.7 of 14.9 GiB a device: DOES NOT FIT
>            copied in all, down | up, GiB: kv 42.7 | 338; exposed 14.0 s (61.0 %)
# The closed form of the room is that of the tier that is full first. A share has both places.
$ for o in kv=host kv=host:40%; do pipesim --mode infer --model llama3-8b --gpus 1 --cluster "node:1 gpu:8 device:a100 ram:64GiB" --batch 64 --offload $o | grep -A3 '^  peak'; done
>   peak memory       18.6 GiB   of 79.3: fits; KV 128 KiB a token, 2.0 GiB on
>                                host
>   room     2,056 sequences of 256 tokens, or 524 of 1,000; = (64.00 - 0.00 GiB)
>            / 31.88 MiB a sequence of 256 tokens on host
>   peak memory       19.7 GiB   of 79.3: fits; KV 128 KiB a token, 1.20 GiB here,
>                                0.8 GiB on host
>   room     2,203 sequences of 256 tokens, or 452 of 1,000; = (79.35 - 17.96 GiB)
>            / 28.53 MiB a sequence of 256 tokens
# An encoder reads its prompt once, and keeps no keys and values.
$ pipesim --mode infer --model bert-large --gpus 1 | grep -A2 '^  peak'; pipesim --mode infer --model bert-large --gpus 1 --json | grep -E '"(kv_.*|max_batch)"'
>   peak memory        4.6 GiB   of 79.6: fits
>   room     51,215 sequences of 129 tokens, or 12,829 of 512; = (79.65 - 4.62
>            GiB) / 1.5 MiB a sequence of 129 tokens
>     "kv_bytes_per_token": 0,
>     "kv_bytes": 0,
>     "max_batch": 51215,
>     "kv_bytes": 0,
>         "kv_bytes": 0,
# Training has no cache, and nothing executes one on the host.
$ pipesim --schedule 1f1b --model gpt2 --gpus 4 --offload kv=host
! pipesim: error: --offload kv=host: kv, the cache of keys and values, is of --mode infer; nearest: --offload a=host
= 2
$ pipeexec --offload kv=host
! pipeexec: error: --offload kv=host: kv, the cache of keys and values, is only simulated; nearest: pipesim --mode infer --offload kv=host
= 2
