# Gradient sums in buckets, posted while the last backward runs.
$ pipesim program --schedule 1f1b --pp 1 --micro-batches 1 --dp 2 --buckets 3 | tail -1
> 0F0[0],0B0,0AR#0/3,0AR#1/3,0AR#2/3,(0AR#0/3)WAIT,(0AR#1/3)WAIT,(0AR#2/3)WAIT,0U
$ pipesim program --schedule 1f1b --pp 1 --micro-batches 1 --dp 2 --buckets 2 --zero 1 | tail -1
> 0F0[0],0B0,0RS#0/2,0RS#1/2,(0RS#0/2)WAIT,(0RS#1/2)WAIT,0U,0AG#0/2,0AG#1/2,(0AG#0/2)WAIT,(0AG#1/2)WAIT
$ pipesim program --schedule 1f1b --pp 1 --micro-batches 1 --dp 2 --buckets 1 | diff - <(pipesim program --schedule 1f1b --pp 1 --micro-batches 1 --dp 2) && echo the same
> the same
$ for k in 1 4 16; do pipesim --schedule 1f1b --model gpt2-xl --gpus 32 --pp 2 --tp 1 --gbs 32 --mbs 1 --engine dag --grad-sync eager --buckets $k --json | grep -E '"(iteration_s|dp_sync|buckets)": [0-9]'; done
>   "iteration_s": 0.076233282540000002,
>     "dp_sync": 0.17261357949653361,
>     "buckets": 4
>   "iteration_s": 0.069831570895999992,
>     "dp_sync": 0.15871755071222193,
>     "buckets": 16
>   "iteration_s": 0.068231142984000001,
>     "dp_sync": 0.13898445150220851,
$ pipesim --schedule 1f1b --model gpt2-xl --gpus 32 --pp 2 --tp 1 --gbs 32 --mbs 1 --engine dag --bucket-size 100MB --no-alternatives | sed -n '/^  state/,/^  costs/p'
>   state    ZeRO 0*, recompute none*, gradient sync end in buckets of 100MB
>   costs    analytic, fitted on published runs, not on yours; framework plain
$ pipesim --schedule 1f1b --model gpt2-xl --gpus 32 --pp 2 --tp 1 --gbs 32 --mbs 1 --engine dag --bucket-size 100MB --explain | sed -n '/in buckets/,$p'
>   gradient sums in buckets; each pays the whole latency, and is posted as soon
>       as its share of the last backward has passed, where the sum follows it
>     stage 0: 17 buckets of 92.0 MiB, 619 us each: 10.5 ms together, 8.65 ms in
>         one piece
>     stage 1: 17 buckets of 91.8 MiB, 618 us each: 10.5 ms together, 8.64 ms in
>         one piece
$ pipesim --schedule 1f1b --model gpt2-xl --gpus 32 --pp 2 --tp 1 --gbs 32 --mbs 1 --engine dag --bucket-size 100MB --json | sed -n '/"state"/,/}/p'
>   "state": {
>     "zero": 0,
>     "shard": "p=1x1,g=1x1,os=1x1",
>     "elements_per_param": 2.0000000000000013,
>     "recompute": "none",
>     "grad_sync": "end",
>     "bucket_bytes": 100000000.0
>   },
$ pipesim --schedule 1f1b --model gpt2-xl --gpus 32 --pp 2 --tp 1 --engine dag --bucket-size 25KB --no-alternatives | sed -n '/^  state/,/^$/p'
>   state    ZeRO 0*, recompute none*, gradient sync end in 255 buckets of
>            6.43 MB, the most there can be
>   costs    analytic, fitted on published runs, not on yours; framework plain
>   what-if  --bucket-size 25KB
>
$ pipesim --schedule 1f1b --model gpt2-xl --gpus 32 --pp 2 --tp 1 --engine dag --bucket-size 25KB --json | grep -E 'bucket'
>     "bucket_bytes": 25000.0,
>     "buckets": 255,
>     "capped_bucket_bytes": 6430029.8 ...
>     "bucket-size": "25KB",
$ pipesim --schedule 1f1b --model gpt2-xl --gpus 32 --pp 2 --tp 1 --engine dag --bucket-size 25KB --explain | grep -A 1 'stage 0: 255'
>     stage 0: 255 buckets of 6.13 MiB (the most there can be), 150 us each:
>         38.4 ms together, 8.65 ms in one piece
$ pipesim --schedule 1f1b --gpus 64 --tp 4 --pp 8 --engine dag --bucket-size 25MB --no-alternatives | grep -E -A 1 '^  (layout|state)'
>   layout   TP 4 x PP 8 x DP 2*, MBS 1*, GBS 2,048* -> 1,024* micro-batches; 12
>            layers a stage, embedding in the first, head in the last
>   state    ZeRO 1*, recompute none*, gradient sync end in 255 buckets of
>            43.9 MB, the most there can be
$ pipesim --schedule 1f1b --model llama3-70b --gpus 16 --mbs 1 --gbs 16 --engine dag --buckets 4 --no-alternatives | grep -A 1 'note     --'
>   note     --buckets 4 has no effect in the layout chosen: there is one replica
>            of each stage, so no gradient is exchanged
$ pipesim --schedule 1f1b --model llama3-70b --gpus 16 --mbs 1 --gbs 16 --engine dag --buckets 4 --json | sed -n '/"notes"/,/]/p'
>   "notes": [
>     "--buckets 4 has no effect in the layout chosen: there is one replica of each stage, so no gradient is exchanged"
>   ],
$ pipesim --schedule 1f1b --model gpt2-xl --gpus 32 --pp 2 --tp 1 --bucket-size 25MB --buckets 4
! pipesim: error: --buckets 4 and --bucket-size 25MB exclude each other: one gives the number, the other the size
= 2
$ pipesim --schedule 1f1b --model gpt2-xl --gpus 32 --pp 2 --tp 1 --bucket-size 25s
! pipesim: error: --bucket-size 25s: "25s" is not bytes such as 80GiB, 80GB or 512
= 2
$ pipesim --schedule 1f1b --model gpt2-xl --gpus 32 --pp 2 --tp 1 --bucket-size 0
! pipesim: error: --bucket-size 0: expected 1 B to 1 PB, such as 25MB
= 2
$ pipesim --schedule 1f1b --model gpt2-xl --gpus 32 --pp 2 --tp 1 --buckets 256
! pipesim: error: --buckets: 256 is out of range: 1 to 255
= 2
$ pipesim --schedule 1f1b --model gpt2-xl --gpus 2 --pp 2 --tp 1 --buckets 4
! pipesim: error: --buckets 4 has no effect here: there is one replica of each stage, so no gradient is exchanged
= 2
$ pipesim --schedule 1f1b --pp 2 --micro-batches 2 --unit F=1 --buckets 4
! pipesim: error: --buckets 4 has no effect with --unit, where only compute and C cost time and messages are buffered without bound
= 2
$ pipesim --schedule 1f1b --pp 2 --micro-batches 2 --unit F=1 --bucket-size 4MB
! pipesim: error: --bucket-size 4MB has no effect with --unit, where only compute and C cost time and messages are buffered without bound
= 2
$ pipesim --schedule 1f1b --pp 2 --micro-batches 2 --unit F=1 --sync-share 10%
! pipesim: error: --sync-share 10% has no effect with --unit, where only compute and C cost time and messages are buffered without bound
= 2
$ pipesim --schedule 1f1b --model gpt2-xl --gpus 32 --pp 2 --tp 1 --engine dag --sync-share 10%
! pipesim: error: --sync-share 0.1: the dag engine does not slow compute down while a gradient sum runs; --engine simgrid does
= 2
$ pipesim --schedule 1f1b --model gpt2-xl --gpus 32 --pp 2 --tp 1 --sync-share 100%
! pipesim: error: --sync-share 100%: expected less than 1 (100 %): compute would stand still
= 2
# A share that is given replaces that of the framework, which costs would add to the update. One bucket
# comes after the backward, and slows nothing.
$ for o in "" "--buckets 1" "--sync-share 25%"; do pipesim --schedule 1f1b --model gpt2-xl --gpus 32 --pp 2 --tp 1 --gbs 64 --framework fsdp $o --no-alternatives --explain | grep -c 'sums slow'; done
> 2
> 0
> 0
= 1
$ pipesim --schedule 1f1b --model gpt2-xl --gpus 2 --pp 2 --tp 1 --sync-share 10%
! pipesim: error: --sync-share 10% has no effect here: there is one replica of each stage, so no gradient is exchanged
= 2
$ pipesim program --schedule 1f1b --pp 2 --micro-batches 2 --buckets 2
! pipesim: error: --buckets has no effect with one replica of each stage; give --dp
= 2
$ pipesim program --schedule 1f1b --pp 2 --micro-batches 2 --buckets 2 --compute
! pipesim: error: --buckets 2 has no effect with --compute
= 2
$ for o in "--buckets 2" "--grad-sync eager" "--post jit" "--recv-slots 3"; do pipesim --schedule <(pipesim program --schedule 1f1b --pp 2 --micro-batches 8 --dp 2) --model gpt2-xl --gpus 4 --tp 1 $o 2>&1 | sed 's|/dev/fd/[0-9]*|FILE|g'; done
> pipesim: error: --buckets 2 has no effect here: the program file brings its own gradient sums
> pipesim: error: --grad-sync eager has no effect here: the program file brings its own gradient sums
> pipesim: error: --post jit has no effect here: the program file brings its own messages
> pipesim: error: --recv-slots 3 has no effect here: the program file brings its own messages
$ pipesim verify <(printf '0F0,0B0,0AR#1/2,0AR#0/2\n') 2>&1 | sed 's|/dev/fd/[0-9]*|FILE|g'
> pipesim: error: FILE:1:3: 0AR#1/2: expected bucket 0 before it: buckets are posted in order
# Frameworks run sums during the last backward, in buckets of their own size; given options win.
$ for o in "" "--dp-overlap off" "--dp-overlap on" "--framework megatron" "--framework megatron --dp-overlap on" "--framework fsdp" "--dp-overlap on --buckets 4" "--framework fsdp --grad-sync end"; do pipesim --schedule 1f1b --model gpt2-xl --gpus 32 --pp 1 --tp 1 --gbs 128 --mbs 1 --engine dag --no-alternatives $o --json | sed -n '/"state": {/,/}/p' | grep -E 'grad_sync|bucket' | tr -d '\n'; echo; done
>     "grad_sync": "end"
>     "grad_sync": "end"
>     "grad_sync": "eager",    "buckets": 16,    "bucket_bytes": 26214400.0
>     "grad_sync": "end"
>     "grad_sync": "eager",    "buckets": 16,    "bucket_bytes": 160000000.0
>     "grad_sync": "eager",    "buckets": 16,    "bucket_bytes": 26214400.0
>     "grad_sync": "eager",    "buckets": 4
>     "grad_sync": "end"
$ pipesim --schedule 1f1b --model gpt2-xl --gpus 32 --pp 1 --tp 1 --dp-overlap off --buckets 3
! pipesim: error: --dp-overlap off and --buckets 3 exclude each other: leave one out
= 2
$ pipesim --schedule 1f1b --model gpt2-xl --gpus 32 --pp 1 --tp 1 --dp-overlap on --grad-sync end
! pipesim: error: --dp-overlap on and --grad-sync end exclude each other: leave one out
= 2
$ pipesim --schedule 1f1b --model gpt2-xl --gpus 32 --pp 1 --tp 1 --framework fsdp --dp-overlap off --engine dag --no-alternatives --json | grep '"grad_sync"'
>     "grad_sync": "end"
