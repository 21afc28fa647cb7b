# Several steps, with and without a barrier between them; orders found by running.
$ pipesim --schedule 1f1b --pp 3 --micro-batches 3 --unit F=1,B=2 --steps 3
> pipesim 0.1.0  1f1b, 3 ranks, 3 micro-batches
>
>   units    F 1, B 2 (I 1 + W 1), C 0, F+B overlapped 3; messages buffered
>
>   step              15 units   steady step of 3 steps, barrier after each
>   bubble              40.0 %   idle, waiting for other stages
>   span idle           40.0 %   of the time from a rank's first op to its last
>
>   time     forward 20.0 %, backward 40.0 %, waiting 40.0 %
>   memory   peak chunk activations by rank: 3 2 1
>
>   next     --gantt (see it)  --trace t.json.gz (Perfetto)  --json  --explain
$ pipesim --schedule 1f1b --pp 3 --micro-batches 3 --unit F=1,B=2 --step-barrier off --json | sed -n '/"steps"/,/span_bubble/p'
>   "steps": {
>     "count": 4,
>     "barrier": false
>   },
>   "iteration_s": 15.0,
>   "iteration_rank_s": 15.0,
>   "peak_micro_batches": 3.0,
>   "bubble_frac": 0.40000000000000002,
>   "span_bubble_frac": 0.40000000000000002,
$ pipesim --schedule 1f1b --pp 2 --micro-batches 2 --unit F=1,B=2 --steps 2 --gantt
> P0 |F0 F1  .  . B0 b0  . B1 b1 F0 F1  .  . B0 b0  . B1 b1|
> P1 | . F0 B0 b0 F1 B1 b1  .  .  . F0 B0 b0 F1 B1 b1  .  .|
>                              ^                          ^
>     ^ a step ends
> one column = 1 unit, 18 columns in all
> F forward, B backward, small letter: same op, . idle
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
>   iteration       2.26 s +-2 %   58.1k tokens/s, 7.26k tokens/s/GPU; p90 10 %
>   MFU             42.5 % +-0.9   420.5 of 989 dense TFLOP/s/GPU (megatron FLOPs)
$ pipesim --schedule chimera --pp 4 --micro-batches 8 --unit F=1,B=2 --order eager --gantt
> P0 |F0F1F4F2B2b2F3B3b3F5B0b0 . .B1b1F6B6b6F7B7b7 .B4b4 . .B5b5|
> P1 | .F0F2F1F3F4B2b2B0b0B3b3B1b1F6F5F7 . .B6b6B4b4B7b7B5b5 . .|
> P2 | .F2F0F3F1F6B0b0B2b2B1b1B3b3F4F7F5 . .B4b4B6b6B5b5B7b7 . .|
> P3 |F2F3F6F0B0b0F1B1b1F7B2b2 . .B3b3F4B4b4F5B5b5 .B6b6 . .B7b7|
> one column = 1 unit, 29 columns in all
> F forward, B backward, small letter: same op, . idle
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
$ pipesim --schedule 1f1b --pp 4 --micro-batches 8 --unit F=1,B=2 --order eager:4 --json | sed -n '/^  "order"/,/}/p'
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
! pipesim: error: --order eager:0: expected strict, eager, dynamic or arrival; all but strict may have a limit of 1 or more, such as eager:4, or a multiple of what the strict order holds, such as dynamic:2x; nearest: eager:1
= 2
$ pipesim --schedule 1f1b --pp 4 --micro-batches 8 --unit F=1,B=2 --order lazy
! pipesim: error: --order lazy: expected strict, eager, dynamic or arrival; all but strict may have a limit of 1 or more, such as eager:4, or a multiple of what the strict order holds, such as dynamic:2x
= 2
$ for order in dynamic:0x eager:x arrival:0 strict:2; do pipesim --schedule 1f1b --pp 4 --micro-batches 8 --unit F=1,B=2 --order $order 2>&1 | grep -o 'nearest.*'; done
> nearest: dynamic:1x
> nearest: eager:1x
> nearest: arrival:1
> nearest: strict
$ for n in '4 --micro-batches 8' '4 --micro-batches 16' '8 --micro-batches 16' '8 --micro-batches 32' '8 --micro-batches 64' '16 --micro-batches 64'; do for order in strict arrival dynamic:2x; do pipesim --schedule 1f1b --unit F=1,B=2 --pp $n --order $order --json | sed -n 's/.*"iteration_s": //p'; done | paste -s; done
> 33.0,	33.0,	33.0,
> 57.0,	57.0,	57.0,
> 69.0,	75.0,	69.0,
> 117.0,	126.0,	117.0,
> 213.0,	222.0,	213.0,
> 237.0,	264.0,	237.0,
$ pipesim --schedule 1f1b --pp 8 --micro-batches 32 --unit F=1,B=2 --order arrival --json | sed -n '/^  "order"/,/}/p'
>   "order": {
>     "rule": "arrival",
>     "limit": 8
>   },
$ pipesim --schedule interleaved --pp 4 --micro-batches 8 --unit F=1,B=2 --order dynamic:2x --json | sed -n '/^  "order"/,/}/p'
>   "order": {
>     "rule": "dynamic",
>     "times_strict": 2
>   },
$ pipesim --schedule dualpipev --pp 4 --micro-batches 8 --unit F=1,B=2 --order arrival
! pipesim: error: --order arrival deadlocks: pipeline 0 holds 4 micro-batches, so 0F4 may not begin, and no backward of the rank is ready
!   without a limit a pipeline holds at most 8; try --order arrival:8
= 4
$ for order in strict eager; do pipesim --schedule chimera --model llama3-8b --gpus 8 --pp 4 --tp 2 --micro-batches 16 --order $order --no-alternatives | grep -E 'GPUs|iteration'; done
> pipesim 0.1.0  chimera on 8 GPUs             (* = chosen for you, see --explain)
>   iteration       2.29 s +-2 %   57.2k tokens/s, 7.15k tokens/s/GPU; p90 10 %
> pipesim 0.1.0  chimera, eager on 8 GPUs      (* = chosen for you, see --explain)
>   iteration       2.12 s +-2 %   62.0k tokens/s, 7.74k tokens/s/GPU; p90 10 %
# Copies of a program file share state out as its collectives say.
$ for z in 0 1 2 3; do pipesim program --schedule 1f1b --pp 2 --dp 2 --micro-batches 4 --zero $z >zero.csv; pipesim --schedule zero.csv --dp 2 --tp 1 --model gpt2 --mbs 1 --engine dag --no-alternatives | grep '^  state'; done
>   state    ZeRO 0*, recompute none*, gradient sync end
>   state    ZeRO 1, recompute none*, gradient sync end
>   state    ZeRO 2, recompute none*, gradient sync end
>   state    ZeRO 3, recompute none*, gradient sync end
$ pipesim --schedule zero.csv --dp 2 --tp 1 --model gpt2 --mbs 1 --engine dag --zero 1
! pipesim: error: --zero 1: zero.csv shares state out among its copies as ZeRO 3 does; leave it out, or 'pipesim program --compute' prints programs without
= 2
$ pipesim program --schedule 1f1b --pp 2 --micro-batches 4 >lowered.csv; pipesim --schedule lowered.csv --unit F=1 --order eager
! pipesim: error: --order eager: 1f1b is a lowered program; its order is fixed
= 2
$ pipesim --schedule pipedream --pp 3 --micro-batches 3 --unit F=1,B=2 --steps 3 --step-barrier off --gantt
> P0 |F0F1F2 . . . .B0b0F3B1b1F4B2b2F5B3b3F6B4b4F7B5b5F8B6b6 .B7b7 .B8b8|
> P1 | .F0F1 . .B0b0F2B1b1F3B2b2F4B3b3F5B4b4F6B5b5F7B6b6F8B7b7 .B8b8 . .|
> P2 | . .F0B0b0F1B1b1F2B2b2F3B3b3F4B4b4F5B5b5F6B6b6F7B7b7F8B8b8 . . . .|
>                                  ^                 ^                 ^
>     ^ a step ends
> one column = 1 unit, 33 columns in all
> F forward, B backward, small letter: same op, . idle
$ for s in pipedream pipedream-2bw; do pipesim --schedule $s --pp 4 --micro-batches 8 --unit F=1,B=2 --json | grep iteration_s; pipesim --schedule $s --pp 4 --micro-batches 8 --unit F=1,B=2 --step-barrier off --json | grep iteration_s; done
>   "iteration_s": 33.0,
>   "iteration_s": 24.0,
>   "iteration_s": 33.0,
>   "iteration_s": 24.0,
$ pipesim --schedule pipedream-2bw --pp 4 --micro-batches 3 --unit F=1
! pipesim: error: --micro-batches 3: with fewer than --pp 4, two weight versions are not enough; nearest: 4
= 2
$ pipesim program --schedule pipedream --pp 2 --micro-batches 3
> # format: pipesim-program/1
> # schedule: pipedream
> # level: lowered
> # mode: train
> # ranks: 2
> # stages: 2
> # pipelines: 1
> # micro_batches: 3
> # granules: 1
> # splits: 1
> # versions: 2
> 0RECV_B0[0],0RECV_B1[1],0F0[0],0SEND_F0[0],0F1[1],0SEND_F1[1],(0RECV_B0)WAIT,(0SEND_F0)WAIT,0B0,0U,0RECV_B2[0],0F2v1[0],0SEND_F2[0],(0RECV_B1)WAIT,(0SEND_F1)WAIT,0B1,0U,(0RECV_B2)WAIT,(0SEND_F2)WAIT,0B2v1,0U
> 1RECV_F0[0],1RECV_F1[1],(1RECV_F0)WAIT,1F0[0],1RECV_F2[0],1B0,1SEND_B0[0],1U,(1RECV_F1)WAIT,1F1[0],1B1,1SEND_B1[1],1U,(1RECV_F2)WAIT,(1SEND_B0)WAIT,1F2[0],1B2,1SEND_B2[0],1U,(1SEND_B1)WAIT,(1SEND_B2)WAIT
! pipesim: warning: a file holds one step; run by name, pipedream updates without a flush
$ pipesim --schedule pipedream,pipedream-2bw,1f1b --model llama3-8b --gpus 8 --pp 4 --tp 2 --micro-batches 16 | tail -4
>    #  schedule       VP ZeRO recompute iteration     MFU  bubble    GiB  vs 1
>    1  pipedream-2bw   1    0 none         2.24 s  42.8 %  17.7 %   40.5  -
>    2  pipedream       1    0 none         2.48 s  38.7 %  17.1 %   44.8  +10.4 %
>    3  1f1b            1    0 none         2.58 s  37.2 %  26.3 %   38.4  +14.8 %
$ pipesim --schedule pipedream-2bw --model llama3-8b --gpus 8 --pp 4 --tp 2 --micro-batches 16 --no-alternatives --engine dag
> pipesim 0.1.0  pipedream-2bw on 8 GPUs       (* = chosen for you, see --explain)
>
>   model    llama3-8b  8.03B parameters, 32 layers, hidden 4096, seq 8192*, bf16
>   cluster  h100*  1 node x 8 H100-SXM 80GB, DGX H100: 8x400 Gb/s rails, fat tree
>   layout   TP 2 x PP 4 x DP 1*, MBS 1*, GBS 16* -> 16 micro-batches; 8 layers a
>            stage, embedding in the first, head in the last
>   state    ZeRO 0*, recompute none*, gradient sync end; steady step of 4* steps,
>            no barrier
>   costs    analytic, fitted on published runs, not on yours; framework plain
>
>   iteration       2.24 s +-2 %   58.4k tokens/s, 7.30k tokens/s/GPU; p90 10 %
>   MFU             42.8 % +-0.9   422.8 of 989 dense TFLOP/s/GPU (megatron FLOPs)
>   bubble          17.7 %         idle, waiting for other stages
>   peak memory   40.5 GiB +-3 %   of 79.6 GiB on rank 0: fits, 39.1 GiB free
>   1 T tokens    198 days +-2 %   38.0k GPU-hours
>
>   error    median of 42 published runs like this (h100, 16 bits, one node, no
>            experts); p90 10 %, memory's 7 %
>   time     forward 24.0 %, backward 52.3 %, TP comm 5.4 %, optimizer 0.6 %,
>            waiting 17.6 %
>   network  exposed 5.4 % of the step; links are not shared (dag)
>
>   memory by rank, GiB     params  grads  optim  activ. buffers other  total
>     rank 0 (stage 0)         4.2    2.1   12.7    17.0     0.5   4.0   40.5 peak
>     rank 1 (stage 1)         3.3    1.6    9.8    12.8     0.6   4.0   32.0
>     rank 2 (stage 2)         3.3    1.6    9.8     8.5     0.6   4.0   27.8
>     rank 3 (stage 3)         4.2    2.1   12.7     6.3     1.1   4.0   30.4
>
>   note     rank 3 computes 17 % longer than the average (embedding and head
>            count): uneven stages, not the schedule, make most of the bubble;
>            --head balanced takes 11.1 % less time here, and as much memory:
>            pipesim --schedule pipedream-2bw --micro-batches 16 --gpus 8 --tp 2 \
>            --pp 4 --model llama3-8b --head balanced --engine dag
>   next     --gantt (see it)  --trace t.json.gz (Perfetto)  --json  --explain
# Post-validation: without a barrier N (F + I + W) a chunk, no bubble between steps.
$ for s in zb-h2 zbv; do for b in on off; do pipesim --schedule $s --pp 4 --micro-batches 8 --unit F=1,I=1,W=1 --steps 4 --step-barrier $b --json | grep iteration_s; done; done
>   "iteration_s": 27.0,
>   "iteration_s": 24.0,
>   "iteration_s": 51.0,
>   "iteration_s": 48.0,
$ pipesim --schedule zb-h2 --model llama3-8b --gpus 8 --pp 4 --tp 2 --micro-batches 16 --no-alternatives | grep -A1 state
>   state    ZeRO 0*, recompute none*, gradient sync end; steady step of 4* steps,
>            no barrier
