# Schedules in abstract units: closed forms and pictures.
$ pipesim --schedule chimera --pp 4 --micro-batches 4 --unit F=1,B=2
> pipesim 0.1.0  chimera, 4 ranks, 4 micro-batches
>
>   units    F 1, B 2 (I 1 + W 1), C 0, F+B overlapped 3; messages buffered
>
>   step              16 units   first start to last end
>   bubble              25.0 %   idle, waiting for other stages
>   span idle           25.0 %   of the time from a rank's first op to its last
>
>   time     forward 25.0 %, backward 50.0 %, waiting 25.0 %
>   memory   peak chunk activations by rank: 3 4 4 3
>
>   next     --gantt (see it)  --trace t.json.gz (Perfetto)  --json  --explain
$ pipesim --schedule chimera --pp 4 --micro-batches 4 --unit F=1,B=2 --gantt
> P0 |F0 F1  . F2 B2 b2 F3 B3 b3  . B0 b0  .  . B1 b1|
> P1 | . F0 F2 F1 F3  . B2 b2 B0 b0 B3 b3 B1 b1  .  .|
> P2 | . F2 F0 F3 F1  . B0 b0 B2 b2 B1 b1 B3 b3  .  .|
> P3 |F2 F3  . F0 B0 b0 F1 B1 b1  . B2 b2  .  . B3 b3|
> one column = 1 unit, 16 columns in all
> F forward, B backward, small letter: same op, . idle
> pipeline 0, P0 to P3: micro-batches 0-1
> pipeline 1, P3 to P0: micro-batches 2-3
$ pipesim --schedule 1f1b --pp 4 --micro-batches 8 --unit F=1,B=2 --gantt
> P0 |F0F1F2F3 . . . . . .B0b0F4B1b1F5B2b2F6B3b3F7B4b4 .B5b5 .B6b6 .B7b7|
> P1 | .F0F1F2 . . . .B0b0F3B1b1F4B2b2F5B3b3F6B4b4F7B5b5 .B6b6 .B7b7 . .|
> P2 | . .F0F1 . .B0b0F2B1b1F3B2b2F4B3b3F5B4b4F6B5b5F7B6b6 .B7b7 . . . .|
> P3 | . . .F0B0b0F1B1b1F2B2b2F3B3b3F4B4b4F5B5b5F6B6b6F7B7b7 . . . . . .|
> one column = 1 unit, 33 columns in all
> F forward, B backward, small letter: same op, . idle
$ pipesim --schedule interleaved --pp 4 --micro-batches 4 --unit F=1,B=2 --gantt
> the whole step
> P0 |FFFFFFFF......BB.BB.BB.BBBBBBBBBB|
> P1 |.FFFFFFFF...BB.BB.BB.BBBBBBBBBB..|
> P2 |..FFFFFFF.BBFBB.BB.BBBBBBBBBB....|
> P3 |...FFFFFBBFBBFBBFBBBBBBBBBB......|
> one character = 1 unit; F forward, B backward, # both,
> f b + with idle parts, . more than half idle
>
> the beginning, op by op
> P0 |F0  F1  F2  F3  F0' F1' F2' F3'  .   .   .   .   .   .  B0' b0'  .  B1' ...
> P1 | .  F0  F1  F2  F3  F0' F1' F2' F3'  .   .   .  B0' b0'  .  B1' b1'  .  ...
> P2 | .   .  F0  F1  F2  F3  F0' F1' F2'  .  B0' b0' F3' B1' b1'  .  B2' b2' ...
> P3 | .   .   .  F0  F1  F2  F3  F0' B0' b0' F1' B1' b1' F2' B2' b2' F3' B3' ...
> ... 15 more columns
> one column = 1 unit, 33 columns in all
> F forward, B backward, small letter: same op, . idle
> F3 is in a rank's first chunk, F3' in its second
$ pipesim --schedule gpipe,1f1b,interleaved,bfs,chimera --pp 8 --micro-batches 16 --unit F=1,B=2
> pipesim 0.1.0  5 schedules, 8 ranks, 16 micro-batches
>   units: F 1 B 2 C 0 for a micro-batch on a rank, which its VP chunks share
>   peak activations: in micro-batches of a rank
>
>    #  schedule          VP          step     bubble  span idle  peak activ.
>    1  interleaved        2    58.5 units    17.95 %    17.95 %         11.5
>    1  bfs                2    58.5 units    17.95 %    17.95 %           16
>    3  chimera            1      66 units    27.27 %    27.27 %            8
>    4  gpipe              1      69 units    30.43 %    30.43 %           16
>    4  1f1b               1      69 units    30.43 %    30.43 %            8
$ pipesim --schedule gpipe,1f1b,interleaved,bfs,chimera --pp 3 --micro-batches 4 --unit F=1
> pipesim 0.1.0  5 schedules, 3 ranks, 4 micro-batches
>   units: F 1 B 2 C 0 for a micro-batch on a rank, which its VP chunks share
>   peak activations: in micro-batches of a rank
>
>    #  schedule          VP          step     bubble  span idle  peak activ.
>    1  interleaved        2      15 units    20.00 %    20.00 %            4
>    1  bfs                2      15 units    20.00 %    20.00 %            4
>    3  gpipe              1      18 units    33.33 %    33.33 %            4
>    3  1f1b               1      18 units    33.33 %    33.33 %            3
>       chimera        refused: --pp 3: chimera needs an even number; nearest: 2
>         or 4
$ pipesim --schedule 1f1b --pp 8 --micro-batches 24 --unit F=18.522,I=18.086,W=9.337,C=0.601 --json | grep -E '"(bubble_frac|iteration_s|mfu|fits|seq)"'
>     "seq": null
>   "iteration_s": 1456.749,
>   "bubble_frac": 0.24305422553919728,
>   "mfu": null,
>   "fits": null,
$ pipesim --schedule 1f1b --pp 4 --micro-batches 8 --unit F=1,B=2 --json | sed '/"meta"/,$d'
> {
>   "schema": "pipesim.report/1",
>   "schedule": "1f1b",
>   "engine": "dag",
>   "mode": "train",
>   "layout": {
>     "gpus": 4,
>     "tp": 1,
>     "pp": 4,
>     "dp": 1,
>     "cp": 1,
>     "ep": 1,
>     "vp": 1,
>     "micro_batches": 8,
>     "mbs": 1,
>     "gbs": 8,
>     "seq": null
>   },
>   "steps": {
>     "count": 1,
>     "barrier": true
>   },
>   "iteration_s": 33.0,
>   "iteration_rank_s": 33.0,
>   "peak_micro_batches": 4.0,
>   "bubble_frac": 0.27272727272727271,
>   "span_bubble_frac": 0.27272727272727271,
>   "mfu": null,
>   "hfu": null,
>   "model_flops_per_s_per_gpu": null,
>   "tokens_per_s": null,
>   "tokens_per_s_per_gpu": null,
>   "peak_mem_bytes": null,
>   "device_mem_bytes": null,
>   "fits": null,
>   "tight": null,
>   "inference": null,
>   "error": {
>     "step_median_frac": null,
>     "step_p90_frac": null,
>     "rows": null,
>     "like": null,
>     "mem_median_frac": null,
>     "mem_p90_frac": null,
>     "mem_rows": null,
>     "mem_like": null
>   },
>   "published_mfu": null,
>   "exposed_comm_frac": 0.0,
>   "time_frac": {
>     "forward": 0.24242424242424243,
>     "backward": 0.48484848484848486,
>     "recompute": 0.0,
>     "tp_comm": 0.0,
>     "cp_comm": 0.0,
>     "ep_comm": 0.0,
>     "p2p": 0.0,
>     "dp_sync": 0.0,
>     "optimizer": 0.0,
>     "moves": 0.0,
>     "bubble": 0.27272727272727271
>   },
>   "memory": {
>     "params_bytes": null,
>     "grads_bytes": null,
>     "optimizer_bytes": null,
>     "activations_bytes": null,
>     "kv_bytes": null,
>     "buffers_bytes": null,
>     "other_bytes": null
>   },
>   "ranks": [
>     {
>       "rank": 0,
>       "busy_s": 24.0,
>       "idle_s": 9.0,
>       "span_s": 33.0,
>       "peak_mem_bytes": null,
>       "peak_activations": 4.0,
>       "memory": null
>     },
>     {
>       "rank": 1,
>       "busy_s": 24.0,
>       "idle_s": 9.0,
>       "span_s": 30.0,
>       "peak_mem_bytes": null,
>       "peak_activations": 3.0,
>       "memory": null
>     },
>     {
>       "rank": 2,
>       "busy_s": 24.0,
>       "idle_s": 9.0,
>       "span_s": 27.0,
>       "peak_mem_bytes": null,
>       "peak_activations": 2.0,
>       "memory": null
>     },
>     {
>       "rank": 3,
>       "busy_s": 24.0,
>       "idle_s": 9.0,
>       "span_s": 24.0,
>       "peak_mem_bytes": null,
>       "peak_activations": 1.0,
>       "memory": null
>     }
>   ],
>   "network": null,
>   "costs": {
>     "origin": "unit",
>     "calibrated": false,
>     "source": "--unit"
>   },
>   "inputs": {
>     "schedule": "1f1b",
>     "micro-batches": "8",
>     "pp": "4",
>     "unit": "F=1,B=2"
>   },
# JSON has a step of chunks, and that of a whole rank, as tables show it; with C there is none.
$ for c in 0 0.5; do pipesim --schedule interleaved --pp 4 --micro-batches 8 --unit F=1,B=2,C=$c --json | grep -E '"(iteration_s|iteration_rank_s|peak_micro_batches)"'; done; pipesim --schedule interleaved --pp 4 --micro-batches 8 --unit F=1,B=2 | grep -E '^  step'; pipesim --schedule interleaved,1f1b --pp 4 --micro-batches 8 --unit F=1,B=2 | grep ' interleaved'
>   "iteration_s": 57.0,
>   "iteration_rank_s": 28.5,
>   "peak_micro_batches": 5.5,
>   "iteration_s": 64.0,
>   "iteration_rank_s": null,
>   "peak_micro_batches": 5.5,
>   step              57 units   with costs of a chunk; 28.5 with those of a rank
>    1  interleaved        2    28.5 units    15.79 %    15.79 %          5.5
# Merak's shifted order: the last rank but one runs its third forward before its first backward.
$ pipesim --schedule 1f1b --shifted 1 --pp 4 --micro-batches 5 --unit F=1,B=2 --gantt
> P0 |F0 F1 F2 F3  .  .  .  .  .  . B0 b0 F4 B1 b1  . B2 b2  . B3 b3  . B4 b4|
> P1 | . F0 F1 F2  .  .  .  . B0 b0 F3 B1 b1 F4 B2 b2  . B3 b3  . B4 b4  .  .|
> P2 | .  . F0 F1 F2  . B0 b0  . B1 b1 F3 B2 b2 F4 B3 b3  . B4 b4  .  .  .  .|
> P3 | .  .  . F0 B0 b0 F1 B1 b1 F2 B2 b2 F3 B3 b3 F4 B4 b4  .  .  .  .  .  .|
> one column = 1 unit, 24 columns in all
> F forward, B backward, small letter: same op, . idle
$ pipesim --schedule 1f1b --shifted 1 --pp 4 --micro-batches 2 --unit F=1,B=2
! pipesim: error: --shifted 1 needs three micro-batches, to shift the third forward; nearest: --micro-batches 3, or --shifted 0
= 2
$ pipesim --schedule 1f1b --shifted 1 --pp 1 --micro-batches 4 --unit F=1,B=2
! pipesim: error: --shifted 1 needs two ranks, to shift the last but one; nearest: --pp 2, or --shifted 0
= 2
$ pipesim --schedule gpipe --shifted 1 --pp 4 --micro-batches 4 --unit F=1,B=2
! pipesim: error: --shifted 1: gpipe has no such option; schedules that have it: 1f1b
= 2
# Recomputation has a price, R; words after a comma say when it runs.
$ for how in full,late full full,late,skip full,skip 'full,skip --shifted 1' stage-aware=0.75,late 'stage-aware=0.75,skip --shifted 1'; do for e in dag simgrid; do pipesim --engine $e --schedule 1f1b --pp 4 --micro-batches 8 --unit F=1,B=2,R=1,C=0.25 --recompute $how | grep step; done; done
>   step              48 units   first start to last end
>   step              48 units   first start to last end
>   step            42.5 units   first start to last end
>   step            42.5 units   first start to last end
>   step              46 units   first start to last end
>   step              46 units   first start to last end
>   step            40.5 units   first start to last end
>   step            40.5 units   first start to last end
>   step              40 units   first start to last end
>   step              40 units   first start to last end
>   step          41.875 units   first start to last end
>   step          41.875 units   first start to last end
>   step           38.25 units   first start to last end
>   step           38.25 units   first start to last end
$ pipesim --schedule 1f1b --pp 4 --micro-batches 4 --unit F=1,B=2,R=1 --recompute stage-aware=0.75,late,skip
> pipesim 0.1.0  1f1b, 4 ranks, 4 micro-batches
>
>   units    F 1, B 2 (I 1 + W 1), R 1, C 0, F+B overlapped 3; messages buffered;
>            recompute stage-aware=0.75, late, skip
>
>   step            23.5 units   first start to last end
>   bubble              42.0 %   idle, waiting for other stages
>   span idle           36.2 %   of the time from a rank's first op to its last
>
>   time     forward 17.0 %, backward 34.0 %, recompute 6.9 %, waiting 42.0 %
>   memory   peak chunk activations by rank: 4 3 2 1
>
>   next     --gantt (see it)  --trace t.json.gz (Perfetto)  --json  --explain
$ pipesim --schedule 1f1b --pp 2 --micro-batches 2 --unit F=1,B=2,R=1 --recompute full,late,skip --json | grep -A2 '"state"'
>   "state": {
>     "recompute": "full,late,skip"
>   },
$ pipesim program --schedule 1f1b --pp 2 --micro-batches 2 --recompute full,late,skip | grep -v '^#'
> 0RECV_B0[0],0RECV_B1[1],0F0[0],0SEND_F0[0],0F1[1],0SEND_F1[1],(0RECV_B0)WAIT,(0SEND_F0)WAIT,0R0[0],0B0,(0RECV_B1)WAIT,(0SEND_F1)WAIT,0R1[0],0B1,0U
> 1RECV_F0[0],1RECV_F1[1],(1RECV_F0)WAIT,1F0[0],1B0,1SEND_B0[0],(1RECV_F1)WAIT,1F1[0],1B1,1SEND_B1[1],(1SEND_B0)WAIT,(1SEND_B1)WAIT,1U
$ pipesim sweep --schedule 1f1b --pp 4 --micro-batches 8 --unit F=1,B=2,R=1 --recompute full --recompute full,late | cut -d, -f2,8-26
> schedule,pp,dp,cp,ep,vp,micro_batches,mbs,gbs,seq,recompute_option,unit,iteration_s,bubble_frac,span_bubble_frac,mfu,hfu,model_flops_per_s_per_gpu,tokens_per_s,tokens_per_s_per_gpu
> 1f1b,4,1,1,1,1,8,1,8,,full,"F=1,B=2,R=1",41,0.21951219512195122,0.21951219512195119,,,
> 1f1b,4,1,1,1,1,8,1,8,,"full,late","F=1,B=2,R=1",44,0.27272727272727271,0.27272727272727271,,
# An order that follows the run counts no R where it leaves one out.
$ for how in full full,skip full,late,skip; do for order in strict dynamic; do pipesim --schedule 1f1b --pp 4 --micro-batches 8 --unit F=1,B=2,R=1 --recompute $how --order $order --jitter 20% --seed 3 | grep step; done; done
>   step         40.8943 units   first start to last end
>   step         40.8943 units   first start to last end
>   step          36.985 units   first start to last end
>   step         36.6934 units   first start to last end
>   step         41.7674 units   first start to last end
>   step         38.9984 units   first start to last end
