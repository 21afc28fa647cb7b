# The cache on the host: a pass takes as long as its copies. 48 blocks, 8 sequences of 512 tokens.
$ for o in "" "--offload kv=host" "--offload kv=host:50%" "--offload kv=host --kv-bits 8"; do pipesim --mode infer --model opt-30b --cluster a100 --gpus 1 --batch 8 --prompt 512 --tokens 9 $o --json | grep -E '"token_s"|^    "kv_bytes"|"host_bytes"' | awk -v o="$o" '{ s = s " " $1 " " $2 } END { print o s }'; done
>  "token_s": 0.047309980918750001, "kv_bytes": 5725224960, "kv_bytes": 5725224960,
> --offload kv=host "token_s": 0.22846239132249999, "kv_bytes": 5725224960, "kv_bytes": 0, "host_bytes": 5725224960,
> --offload kv=host:50% "token_s": 0.1147240079625, "kv_bytes": 5725224960, "kv_bytes": 2862612480, "host_bytes": 2862612480,
> --offload kv=host --kv-bits 8 "token_s": 0.114689422643, "kv_bytes": 2862612480, "kv_bytes": 0, "host_bytes": 2862612480,
# All bytes that move, at the rate of the link: a lower bound of the time, and nearly all of it.
$ pipesim --mode infer --model opt-30b --cluster a100 --gpus 1 --batch 8 --prompt 512 --tokens 9 --offload kv=host --json >run.json; python3 -c 'import json; r = json.load(open("run.json")); c = r["tiers"]["copies"][0]; token = 8 * 2 * 7168 * 48 * 2; print(c["class"], c["down_bytes"] / token, c["up_bytes"] / token - sum(range(513, 521)), r["iteration_s"] > c["up_bytes"] / 25e9)'
> kv 520.0 0.0 True
# In the report.
$ pipesim --mode infer --model opt-30b --cluster a100 --gpus 1 --batch 64 --prompt 512 --tokens 9 --offload p,kv=host | grep -E -A2 '^  (peak|tiers)'
>   peak memory       11.1 GiB   of 79.3: fits; KV 1.31 MiB a token, 0.00 GiB here
>   room     1,062 sequences of 521 tokens, or 266 of 2,050; = (79.35 - 6.69 GiB)
>            / 70 MiB a sequence of 521 tokens
> --
>   tiers    host 98.5 of 2048.0 GiB a device
>            copied a step, down | up, GiB: p 0 | 502, kv 42.7 | 339; exposed 33.2
>            s (78.7 %)
# A host with too little memory.
$ pipesim --mode infer --model opt-30b --cluster a100,ram:16GB --gpus 1 --batch 64 --prompt 512 --tokens 9 --offload kv=host | grep -E -A1 '^  (peak|tiers)'
>   peak memory       63.2 GiB   of 79.3: DOES NOT FIT host; KV 1.31 MiB a token,
>                                0.00 GiB here
> --
>   tiers    host 42.7 of 14.9 GiB a device: DOES NOT FIT
>            copied a step, down | up, GiB: kv 42.7 | 339; exposed 14.0 s (61.0 %)
# Training has no cache, and nothing executes one on the host.
$ pipesim --schedule 1f1b --model gpt2 --gpus 4 --offload kv=host
! pipesim: error: --offload kv=host: kv, the cache of keys and values, is of --mode infer; nearest: --offload a=host
= 2
$ pipeexec --offload kv=host
! pipeexec: error: --offload kv=host: kv, the cache of keys and values, is only simulated; nearest: pipesim --mode infer --offload kv=host
= 2
