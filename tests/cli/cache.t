# Units of parameters and those that stay: programs, numbers, and what is refused.
$ pipesim program --schedule interleaved --vp 3 --pp 1 --micro-batches 1 --offload p=host --cache 2 | grep -A1 state
> # state: m; 1 1 1; 2; 2
> 0MOVE.load,(0MOVE.load)WAIT,1MOVE.load,0F0[0],0DROP,(1MOVE.load)WAIT,2MOVE.load,1F0[1],(2MOVE.load)WAIT,0MOVE.reload,2F0[2],2B0,2DROP,1B0,1DROP,(0MOVE.reload)WAIT,0B0,0DROP,2U,2MOVE.home,1U,1MOVE.home,0U,0MOVE.home,(2MOVE.home)WAIT,(1MOVE.home)WAIT,(0MOVE.home)WAIT
$ pipesim program --schedule interleaved --vp 2 --pp 2 --micro-batches 4 --dp 2 --zero 3 --cache 2 --evict lru -o cache.csv && pipesim verify cache.csv; sed -n '/state/p' cache.csv; grep -o 'AG.forward' cache.csv | wc -l
> cache.csv: legal: 2 ranks, 4 stages, 4 micro-batches, 164 instructions
> # state: p; 1 1 1 1; 2; 2
> 8
$ sed '0,/0DROP,/s///; s/2F0\[/0DROP,2F0[/' cache.csv >late.csv; pipesim verify late.csv 2>&1 | head -1
> pipesim: error: late.csv:13:24: rank 0: 0F2[4] uses parameters of stage 0 that are not gathered again after 0DROP
$ pipesim program --schedule interleaved --vp 2 --pp 2 --micro-batches 4 --dp 2 --zero 3 | sed 's/; 2$/; 2; 0/' >none.csv; pipesim verify none.csv
! pipesim: error: none.csv:12: state: 'p; 1 1 1 1; 2; 0'; expected 'g', 'p; UNITS', 'p g; UNITS' (or m, p m) with 4 numbers from 1 to 65535, and '; BUFFERS[; CACHED]' or nothing; o or s after any
= 4
$ for e in belady lru fifo; do pipesim --schedule interleaved --vp 8 --pp 4 --gpus 4 --tp 1 --model gpt2-64 --layers 32 --seq 512 --mbs 1 --gbs 8 --cluster a100 --engine dag --offload p=host --gather chunk --cache 3 --evict $e --json | grep -E '"(loads|hits|cached_units)"'; done
>     "loads": 23,
>     "hits": 48,
>     "cached_units": 3
>     "loads": 27,
>     "hits": 44,
>     "cached_units": 3
>     "loads": 28,
>     "hits": 43,
>     "cached_units": 3
$ pipesim --schedule 1f1b --pp 1 --gpus 1 --model llama3-8b --layers 8 --micro-batches 4 --mbs 1 --cluster a100 --engine dag --offload p=host --gather 64MiB --cache 12 --explain | grep -A3 'loads of parameters\|parameters on host'
>   loads of parameters a step (visits): rank 0 588 of a piece of 64.0 MiB at a
>       time, 13 in memory at once, 12 in the cache (belady, 77 hits)
>   rank 0 loads 2 m (V - R) + R = 588 times: V = 84 units, R = 12 of them stay, m
>       = 4 micro-batches; --cache 24 would load 504 (+0.74 GiB)
> --
>   parameters on host: stage 0 5.21 GiB a device, loaded a piece of 64.0 MiB at a
>       time at 25.0 GB/s, down again once updated
>   stage 0: 8 blocks, F 240 ms, B 413 ms, saves 12.5 GiB a micro-batch
>     2.80B parameters a device
$ pipesim --schedule 1f1b --pp 1 --gpus 1 --model llama3-8b --layers 8 --micro-batches 4 --mbs 1 --cluster a100 --engine dag --offload p=host --gather 64MiB --cache 24 --json | grep '"loads"'
>     "loads": 504,
$ pipesim --schedule 1f1b --pp 1 --gpus 1 --model opt-13b --micro-batches 4 --mbs 1 --cluster "a100-40 ram:1TB@200GBps" --engine dag --recompute full --offload p,os=host --cpu-optimizer --cache auto --json | grep -E '"(loads|cached_units|fits)"'
>   "fits": true,
>     "loads": 222,
>     "cached_units": 14
$ pipesim --schedule 1f1b --pp 1 --gpus 1 --model opt-13b --micro-batches 4 --mbs 1 --seq 1024 --cluster "a100-40 ram:1TB@200GBps" --engine dag --recompute full --offload p=host,os=host:auto --cpu-optimizer --cache auto --explain | grep -A4 'room for a parameter'
>   room for a parameter on 1 device of a node saves a step (Elixir's rule):
>     with its rates of A100: 0.1905 ns for its value, 0.0907 ns for its optimizer
>         state: the cache first
>     with those of this cluster: 0.1600 ns for its value, 0.0783 ns for its
>         optimizer state: the cache first
$ pipesim sweep --schedule 1f1b --pp 1 --gpus 1 --model llama3-8b --layers 8 --micro-batches 4 --mbs 1 --cluster a100 --engine dag --offload p=host --cache 1,4,auto --gather layer,256MiB -o caches.csv >/dev/null 2>&1; python3 -c "import csv; [print(*(r[k] for k in ('gather', 'cache', 'loads', 'hits', 'cached_units'))) for r in csv.DictReader(open('caches.csv'))]"
> layer 1 57 0 1
> layer 4 36 21 4
> layer auto 8 49 8
> 256MiB 1 161 0 1
> 256MiB 4 140 21 4
> 256MiB auto 21 140 21
$ pipesim plan --free offload,cache --schedule 1f1b --pp 1 --tp 1 --gpus 1 --model llama3-8b --layers 12 --mbs 1 --micro-batches 4 --seq 1024 --cluster "a100 ram:1TB@200GBps" | grep -A4 '^  room'
>   room       for a parameter on 1 of a node's devices saves a step, by Elixir's
>              rule and this cluster's rates, 0.1600 ns for its value, 0.0793 ns
>              for its optimizer state: the cache first; with its rates of A100
>              0.1905 ns for its value, 0.0907 ns for its optimizer state: the
>              cache first
$ for w in "--gather chunk --cache 2 --vp 4" "--gather chunk --cache 4 --vp 4" "--cache 4 --vp 2"; do pipesim --schedule interleaved --pp 4 --gpus 4 --tp 1 --model gpt2-64 --layers 32 --seq 512 --mbs 1 --gbs 8 --cluster a100 --engine dag --no-alternatives --offload p=host --evict lru $w | grep -A1 'changes nothing'; done
>   note     --evict lru changes nothing: --cache 4 keeps the units at the end of
>            one chunk, or all units of a device
>   note     --evict lru changes nothing: --cache 4 keeps the units at the end of
>            one chunk, or all units of a device
$ pipesim --schedule 1f1b --pp 1 --gpus 1 --model llama3-8b --layers 8 --micro-batches 4 --mbs 1 --cluster a100 --engine dag --no-alternatives --offload p=host --gather 64MiB --cache auto | grep -A2 '^  state'
>   state    ZeRO 0*, recompute none*, gradient sync end; p on host; 64 MiB units,
>            84* cached (belady)
>   costs    analytic, fitted on published runs, not on yours; framework plain
# Refused.
$ for w in "--cache 0" "--cache 9" "--cache 100MB" "--cache much" "--evict mru" "--gather 3B" "--gather 0" "--gather some"; do pipesim --schedule 1f1b --pp 1 --gpus 1 --model llama3-8b --layers 8 --micro-batches 4 --mbs 1 --cluster a100 --engine dag --offload p=host $w 2>&1 | head -1; done
> pipesim: error: --cache 0: expected 1 to V, where a rank has V units, bytes such as 4GiB, or auto
> pipesim: error: --cache 9: a rank has 8 units; nearest: --cache 8
> pipesim: error: --cache 95.4 MiB: a unit takes 1.38 GiB; nearest: --cache 1
> pipesim: error: --cache much: expected 1 to V, where a rank has V units, bytes such as 4GiB, or auto
> pipesim: error: --evict: "mru" is not one of belady, lru and fifo; did you mean "lru"?
> pipesim: error: --gather 3B: expected layer, chunk, or at least 1MiB, such as 64MiB
> pipesim: error: --gather 0: expected layer, chunk, or at least 1MiB, such as 64MiB
> pipesim: error: --gather some: expected layer, chunk, or at least 1MiB, such as 64MiB
$ for w in "--cache 2" "--evict lru" "--gather 64MiB"; do pipesim --schedule 1f1b --pp 1 --gpus 1 --model gpt2-64 --micro-batches 4 --mbs 1 --cluster a100 --engine dag $w 2>&1 | head -1; done
> pipesim: error: --cache 2 has no effect here: parameters are whole on every device, so none are gathered; --zero 3 or --shard p=AxB cuts them, --offload p=host moves them
> pipesim: error: --evict lru has no effect here: parameters are whole on every device, so none are gathered; --zero 3 or --shard p=AxB cuts them, --offload p=host moves them
> pipesim: error: --gather 64MiB has no effect here: parameters are whole on every device, so none are gathered; --zero 3 or --shard p=AxB cuts them, --offload p=host moves them
$ for w in "--cache 2" "--offload p=host --cache 4" "--offload p=host --cache auto" "--evict lru" "--compute --cache 2"; do pipesim program --schedule bfs --vp 3 --pp 2 --micro-batches 2 $w 2>&1 | head -1; done
> pipesim: error: --cache 2 has no effect: parameters are neither gathered nor loaded; nearest: --zero 3, --offload p=host
> pipesim: error: --cache 4: a rank has 3 units; nearest: --cache 3
> pipesim: error: --cache auto needs the sizes of a model; without one each chunk is a unit: --cache 2
> pipesim: error: --evict lru has no effect: parameters are neither gathered nor loaded; nearest: --zero 3, --offload p=host
> pipesim: error: --cache 2 has no effect with --compute
$ pipeexec --schedule 1f1b --np 2 --cache 2 2>&1 | head -1; pipeexec --schedule 1f1b --np 2 --evict lru 2>&1 | head -1; pipeexec --schedule 1f1b --np 2 --gather 64MiB 2>&1 | head -1
> pipeexec: error: --cache 2 has no effect: nothing is loaded or gathered; give --offload p=host
> pipeexec: error: --evict lru has no effect: nothing leaves a cache; give --offload p=host --cache 2
> pipeexec: error: --gather: "64MiB" is not one of layer and chunk
