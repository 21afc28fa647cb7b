# Several steps, with and without a barrier between them; orders found by running.
$ pipesim --schedule 1f1b --pp 3 --micro-batches 3 --unit F=1,B=2 --steps 3
> pipesim 0.1.0  1f1b, 3 ranks, 3 micro-batches
>
>   units    F 1, B 2 (I 1 + W 1), C 0, F+B overlapped 3; messages buffered
>
>   step              15 units   steady step of 3 steps, barrier after each
>   bubble              40.0 %   idle, waiting for other stages; span form 40.0 %
>
>   time     forward 20.0 % | backward 40.0 % | bubble 40.0 %
>   memory   peak chunk activations by rank: 3 2 1
>
>   next     --gantt (see it)  --trace t.json.gz (Perfetto)  --json  --explain
$ pipesim --schedule 1f1b --pp 3 --micro-batches 3 --unit F=1,B=2 --step-barrier off --json | sed -n '/"steps"/,/span_bubble/p'
>   "steps": {
>     "count": 4,
>     "barrier": false
>   },
>   "iteration_s": 15.0,
>   "bubble_frac": 0.40000000000000002,
>   "span_bubble_frac": 0.40000000000000002,
$ pipesim --schedule 1f1b --pp 2 --micro-batches 2 --unit F=1,B=2 --steps 2 --gantt
> P0 |F0 F1  .  . B0 b0  . B1 b1 F0 F1  .  . B0 b0  . B1 b1|
> P1 | . F0 B0 b0 F1 B1 b1  .  .  . F0 B0 b0 F1 B1 b1  .  .|
>                              ^                          ^
>     ^ a step ends
> one column = 1 unit, 18 columns in all
> F forward, B backward, small letter: goes on, . idle
$ for barrier in on off; do pipesim --schedule <(printf '0F0,0F1,0F2,0I0,0W0,0I1,0W1,0I2,0W2\n1F0,1I0,1F1,1I1,1F2,1I2,1W0,1W1,1W2\n') --unit F=1,I=1,W=1 --steps 4 --step-barrier $barrier --json | grep -E 'iteration_s|"bubble_frac'; done
>   "iteration_s": 10.0,
>   "bubble_frac": 0.10000000000000001,
>   "iteration_s": 9.0,
>   "bubble_frac": 0.018518518518518517,
$ pipesim --schedule 1f1b --pp 2 --micro-batches 2 --unit F=1 --steps 1 --step-barrier off
! pipesim: error: --step-barrier off has no effect with --steps 1; give --steps 4
= 2
$ pipesim --schedule 1f1b --pp 2 --micro-batches 2 --unit F=1 --steps 0
! pipesim: error: --steps: 0 is out of range: 1 to 1048576
= 2
$ pipesim --schedule 1f1b --pp 2 --micro-batches 2 --unit F=1 --step-barrier maybe
! pipesim: error: --step-barrier: "maybe" is not one of on and off
= 2
$ pipesim --schedule 1f1b --model llama3-8b --gpus 8 --pp 2 --tp 2 --dp 2 --micro-batches 8 --steps 3 --step-barrier off --no-alternatives | grep -A1 -E 'state|iteration'
>   state    ZeRO 0*, recompute none*, gradient sync end; steady step of 3 steps,
>            no barrier
> --
>   iteration           1.96 s   67.0k tokens/s, 8.37k tokens/s/GPU
>   MFU                 49.0 %   485 of 989 dense TFLOP/s/GPU (megatron FLOPs)
$ pipesim --schedule chimera --pp 4 --micro-batches 8 --unit F=1,B=2 --order eager --gantt
> P0 |F0F1F4F2B2b2F3B3b3F5B0b0 . .B1b1F6B6b6F7B7b7 .B4b4 . .B5b5|
> P1 | .F0F2F1F3F4B2b2B0b0B3b3B1b1F6F5F7 . .B6b6B4b4B7b7B5b5 . .|
> P2 | .F2F0F3F1F6B0b0B2b2B1b1B3b3F4F7F5 . .B4b4B6b6B5b5B7b7 . .|
> P3 |F2F3F6F0B0b0F1B1b1F7B2b2 . .B3b3F4B4b4F5B5b5 .B6b6 . .B7b7|
> one column = 1 unit, 29 columns in all
> F forward, B backward, small letter: goes on, . idle
> pipeline 0, P0 to P3: micro-batches 0-1,4-5
> pipeline 1, P3 to P0: micro-batches 2-3,6-7
$ for n in '4 --micro-batches 8' '8 --micro-batches 32' '4 --micro-batches 64'; do pipesim --schedule chimera --unit F=1,B=2 --order eager --json --pp $n | grep iteration_s; done
>   "iteration_s": 29.0,
>   "iteration_s": 106.0,
>   "iteration_s": 196.0,
$ pipesim --schedule 1f1b --pp 4 --micro-batches 8 --unit F=1,B=2 --order eager:4 | head -5
> pipesim 0.1.0  1f1b, eager:4, 4 ranks, 8 micro-batches
>
>   units    F 1, B 2 (I 1 + W 1), C 0, F+B overlapped 3; messages buffered
>
>   step              33 units   first start to last end
$ pipesim --schedule 1f1b --pp 4 --micro-batches 8 --unit F=1,B=2 --order eager:4 --json | sed -n '/"order"/,/}/p'
>   "order": {
>     "rule": "eager",
>     "limit": 4
>   },
$ pipesim --schedule interleaved --pp 4 --micro-batches 8 --unit F=1,B=2 --order eager:4
! pipesim: error: --order eager:4 deadlocks: rank 0 holds 4 chunk activations, so 4F0 may not begin, and no backward of the rank is ready
!   without a limit a rank holds at most 12; try --order eager:12
= 4
$ pipesim program --schedule chimera --pp 4 --micro-batches 4 --order eager --compute
> 0F0,0F1,3F2,3B2,3F3,3B3,0B0,0B1
> 1F0,2F2,1F1,2F3,2B2,1B0,2B3,1B1
> 1F2,2F0,1F3,2F1,2B0,1B2,2B1,1B3
> 0F2,0F3,3F0,3B0,3F1,3B1,0B2,0B3
! pipesim: warning: PyTorch maps a stage to one rank and cannot load bidirectional programs
$ pipesim program --schedule chimera --pp 4 --micro-batches 4 --order eager --unit F=1,B=1 --compute | head -1
> 0F0,0F1,3F2,3B2,3F3,3B3,0B0,0B1
! pipesim: warning: PyTorch maps a stage to one rank and cannot load bidirectional programs
$ pipesim program --schedule gpipe --pp 2 --micro-batches 2 --unit F=1,B=1 --compute
! pipesim: error: --unit F=1,B=1 has no effect: gpipe does not search
= 2
$ pipesim --schedule 1f1b --pp 4 --micro-batches 8 --unit F=1,B=2 --order eager:0
! pipesim: error: --order eager:0: expected strict, eager, or eager:LIMIT with a limit of 1 or more chunk activations, such as eager:4
= 2
$ pipesim --schedule 1f1b --pp 4 --micro-batches 8 --unit F=1,B=2 --order lazy
! pipesim: error: --order lazy: expected strict, eager, or eager:LIMIT with a limit of 1 or more chunk activations, such as eager:4
= 2
$ for order in strict eager; do pipesim --schedule chimera --model llama3-8b --gpus 8 --pp 4 --tp 2 --micro-batches 16 --order $order --no-alternatives | grep -E 'GPUs|iteration'; done
> pipesim 0.1.0  chimera on 8 GPUs             (* = chosen for you, see --explain)
>   iteration           1.97 s   66.4k tokens/s, 8.30k tokens/s/GPU
>   folding  simulated 4 pipeline ranks for 8 GPUs (one data-parallel replica)
> pipesim 0.1.0  chimera, eager on 8 GPUs      (* = chosen for you, see --explain)
>   iteration           1.83 s   71.6k tokens/s, 8.95k tokens/s/GPU
>   folding  simulated 4 pipeline ranks for 8 GPUs (one data-parallel replica)
$ pipesim program --schedule 1f1b --pp 2 --micro-batches 4 >lowered.csv; pipesim --schedule lowered.csv --unit F=1 --order eager; rm lowered.csv
! pipesim: error: --order eager: 1f1b is a lowered program; its order is fixed
