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
