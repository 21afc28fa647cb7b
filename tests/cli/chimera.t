# Chimera's concatenations: their orders, limits, and the choice among them.
$ pipesim program --compute --schedule chimera --pp 4 --micro-batches 8 --concat doubling
> 0F0,0F1,0F2,0F3,3F4,3F5,3B4,3F6,3F7,3B5,0B0,3B6,0B1,3B7,0B2,0B3
> 1F0,1F1,2F4,2F5,1F2,1F3,2F6,2F7,2B4,1B0,2B5,1B1,2B6,1B2,2B7,1B3
> 1F4,1F5,2F0,2F1,1F6,1F7,2F2,2F3,2B0,1B4,2B1,1B5,2B2,1B6,2B3,1B7
> 0F4,0F5,0F6,0F7,3F0,3F1,3B0,3F2,3F3,3B1,0B4,3B2,0B5,3B3,0B6,0B7
! pipesim: warning: PyTorch maps a stage to one rank and cannot load bidirectional programs
$ pipesim program --compute --schedule chimera --pp 4 --micro-batches 4 --concat halving
> 0F0-1,0F2-3,3F4-5,3B4,3F6-7,3B5,0B0,3B6,0B1,3B7,0B2,0B3
> 1F0-1,2F4-5,1F2-3,2F6-7,2B4,1B0,2B5,1B1,2B6,1B2,2B7,1B3
> 1F4-5,2F0-1,1F6-7,2F2-3,2B0,1B4,2B1,1B5,2B2,1B6,2B3,1B7
> 0F4-5,0F6-7,3F0-1,3B0,3F2-3,3B1,0B4,3B2,0B5,3B3,0B6,0B7
! pipesim: warning: PyTorch maps a stage to one rank and cannot load bidirectional programs
$ for c in direct doubling halving; do pipesim --schedule chimera --pp 4 --micro-batches 8 --unit F=1,B=2 --concat $c | grep -E "step|bubble  |peak"; done
>   step              30 units   first start to last end
>   bubble              20.0 %   idle, waiting for other stages
>   memory   peak chunk activations by rank: 3 4 4 3
>   step              27 units   first start to last end
>   bubble              11.1 %   idle, waiting for other stages
>   memory   peak chunk activations by rank: 7 8 8 7
>   step              26 units   first start to last end
>   bubble               7.7 %   idle, waiting for other stages
>   memory   peak chunk activations by rank: 3.5 4 4 3.5
$ pipesim --schedule chimera --pp 4 --micro-batches 4 --unit F=1,B=2 --concat halving --gantt
> P0 |F0 F2  . F4 B4 F6 B5 B0 B6 B1 B7 B2  . B3|
> P1 | . F0 F4 F2 F6 B4 B0 B5 B1 B6 B2 B7 B3  .|
> P2 | . F4 F0 F6 F2 B0 B4 B1 B5 B2 B6 B3 B7  .|
> P3 |F4 F6  . F0 B0 F2 B1 B4 B2 B5 B3 B6  . B7|
> one column = 1 unit, 14 columns in all
> F forward, B backward, small letter: same op, . idle
> numbers count 1/2 micro-batches; an op names its first
> pipeline 0, P0 to P3: numbers 0-3
> pipeline 1, P3 to P0: numbers 4-7
$ pipesim program --schedule chimera --pp 2 --micro-batches 2 --concat halving
> # format: pipesim-program/1
> # schedule: chimera
> # level: lowered
> # mode: train
> # ranks: 2
> # stages: 2
> # pipelines: 2
> # micro_batches: 2
> # granules: 2
> # splits: 1
> # versions: 1
> # placement: 0 1; 1 0
> # pipe_of: 0 0 1 1
> 1RECV_F2-3[0],0RECV_B0[0],0RECV_B1[1],0F0-1[0],0SEND_F0-1[0],(1RECV_F2-3)WAIT,1F2-3[1],1B2,1SEND_B2[0],(0RECV_B0)WAIT,(0SEND_F0-1)WAIT,0B0,1B3,1SEND_B3[1],(0RECV_B1)WAIT,(1SEND_B2)WAIT,0B1,1AR@1,0AR@0,(1SEND_B3)WAIT,(1AR@1)WAIT,1U@1,(0AR@0)WAIT,0U@0
> 1RECV_F0-1[0],0RECV_B2[0],0RECV_B3[1],0F2-3[0],0SEND_F2-3[0],(1RECV_F0-1)WAIT,1F0-1[1],1B0,1SEND_B0[0],(0RECV_B2)WAIT,(0SEND_F2-3)WAIT,0B2,1B1,1SEND_B1[1],(0RECV_B3)WAIT,(1SEND_B0)WAIT,0B3,1AR@0,0AR@1,(1SEND_B1)WAIT,(1AR@0)WAIT,1U@0,(0AR@1)WAIT,0U@1
$ f=$(mktemp --suffix .csv) && pipesim program --schedule chimera --pp 4 --micro-batches 8 --concat halving -o $f && pipesim verify $f | sed "s/.*: legal/legal/" && pipesim --schedule $f --unit F=1,B=2 | grep step; rm -f $f
> legal: 4 ranks, 4 stages, 8 micro-batches, 408 instructions
>   step              26 units   first start to last end
# Limits, with the nearest legal values.
$ pipesim --schedule chimera --pp 5 --micro-batches 8 --unit F=1 --concat auto
! pipesim: error: --pp 5: chimera needs an even number; nearest: 4 or 6
= 2
$ pipesim --schedule chimera --pp 4 --micro-batches 12 --unit F=1 --concat doubling
! pipesim: error: --micro-batches 12: --concat doubling takes whole units of 8; nearest: 8 or 16
= 2
$ pipesim --schedule chimera --pp 4 --micro-batches 6 --unit F=1 --concat halving
! pipesim: error: --micro-batches 6: --concat halving takes whole units of 4; nearest: 4 or 8
= 2
$ pipesim --schedule chimera --pp 8 --micro-batches 16 --unit F=1 --concat halving --pipelines 4
! pipesim: error: --pipelines 4: --concat halving has one pair of pipelines; nearest: 2
= 2
$ pipesim --schedule chimera --gpus 8 --pp 8 --model bert-large --micro-batches 8 --mbs 3 --concat halving
! pipesim: error: --mbs 3: backwards of 1/2 micro-batch need a multiple of 2; nearest: 2 or 4
= 2
$ pipesim --schedule chimera --gpus 8 --pp 8 --model bert-large --micro-batches 8 --mbs 1 --concat halving
! pipesim: error: --mbs 1: backwards of 1/2 micro-batch need a multiple of 2; nearest: 2
= 2
$ pipesim --schedule chimera --gpus 8 --concat double
! pipesim: error: --concat: "double" is not one of direct, doubling, halving and auto
= 2
$ pipesim --schedule 1f1b --gpus 8 --concat auto
! pipesim: error: --concat auto: 1f1b has no such option; schedules that have it: chimera
= 2
# A micro-batch of the tool's choosing has a sample for each granule.
$ pipesim --schedule chimera --gpus 8 --pp 8 --model bert-large --gbs 32 --concat halving | grep -A 9 -E "layout|costs" | head -7
>   layout   TP 1* x PP 8 x DP 1*, MBS 2*, GBS 32 -> 16* micro-batches; 3 layers a
>            stage, embedding in the first, head in the last
>   state    ZeRO 0*, recompute none*, gradient sync end
>   costs    analytic, fitted on published runs, not on yours; framework plain;
>            part of a micro-batch costs its share, though kernels on less work
>            are less efficient
>
# auto: the fastest that fits, and what was tried.
$ pipesim --schedule chimera --pp 4 --micro-batches 8 --unit F=1,B=2 --concat auto
> pipesim 0.1.0  chimera, 4 ranks, 8 micro-batches
>
>   units    F 1, B 2 (I 1 + W 1), C 0, F+B overlapped 3; messages buffered
>   schedule concat halving (auto: direct 30 units, doubling 27 units, halving 26
>            units)
>
>   step              26 units   first start to last end
>   bubble               7.7 %   idle, waiting for other stages
>   span idle            7.7 %   of the time from a rank's first op to its last
>
>   time     forward 30.8 %, backward 61.5 %, waiting 7.7 %
>   memory   peak chunk activations by rank: 3.5 4 4 3.5
>
>   next     --gantt (see it)  --trace t.json.gz (Perfetto)  --json  --explain
$ export COLUMNS=100; pipesim --schedule chimera --pp 4 --micro-batches 12 --unit F=1,B=2 --concat auto --explain | grep -A 1 auto:
>   concat halving (auto: direct 44 units, doubling refused: --micro-batches 12: --concat doubling
>       takes whole units of 8; nearest: 8 or 16, halving 38 units)
$ pipesim --schedule chimera --pp 8 --micro-batches 8 --unit F=1,B=2 --pipelines 4 --concat auto | grep -A 3 schedule
>   schedule concat direct (auto: direct 28 units, doubling refused: --pipelines
>            4: --concat doubling has one pair of pipelines; nearest: 2, halving
>            refused: --pipelines 4: --concat halving has one pair of pipelines;
>            nearest: 2)
$ pipesim --schedule chimera --pp 4 --micro-batches 8 --unit F=1,B=1 --concat auto | grep -A 1 schedule
>   schedule concat direct (auto: direct 18 units, doubling 18 units, halving 19
>            units)
$ pipesim program --compute --schedule chimera --pp 2 --micro-batches 4 --concat auto --unit F=1,B=1
> 0F0,1F1,1B1,0B0,0F2,1F3,1B3,0B2
> 0F1,1F0,1B0,0B1,0F3,1F2,1B2,0B3
! pipesim: warning: PyTorch maps a stage to one rank and cannot load bidirectional programs
$ pipesim --schedule chimera,gpipe --pp 4 --micro-batches 8 --unit F=1,B=2 --concat auto
> pipesim 0.1.0  2 schedules, 4 ranks, 8 micro-batches
>   units: F 1 B 2 C 0 for a micro-batch on a rank
>   peak activations: in micro-batches of a rank
>
>    #  schedule          VP          step     bubble  span idle  peak activ.
>    1  chimera            1      26 units     7.69 %     7.69 %            4
>    2  gpipe              1      33 units    27.27 %    27.27 %            8
>       chimera: concat halving (auto: direct 30 units, doubling 27 units, halving
>       26 units)
$ pipesim --schedule chimera --pp 4 --micro-batches 8 --unit F=1,B=2 --concat auto --json | grep -c '^  "concat'
> 0
= 1
$ pipesim --schedule chimera --pp 4 --micro-batches 8 --unit F=1,B=2 --concat auto --slow 0=0.5 | grep -E -A 1 "schedule|step"
>   schedule concat direct (auto: direct 48 units, doubling 48 units, halving 48
>            units)
> --
>   step              48 units   first start to last end
>   bubble              37.5 %   idle, waiting for other stages
# What does not fit is not taken; halving needs a sample for each half; recomputation may be chosen.
$ pipesim --schedule chimera --gpus 64 --pp 8 --tp 8 --model llama3-70b --seq 10240 --micro-batches 64 --recompute none --zero 0 --concat auto | grep -A 2 "^  schedule"
>   schedule concat direct (auto: direct 14.2 s, doubling 12.3 s does not fit,
>            halving refused: --mbs 1: backwards of 1/2 micro-batch need a
>            multiple of 2; nearest: 2)
$ pipesim --schedule chimera --gpus 64 --pp 8 --tp 8 --model llama3-70b --gbs 64 --mbs 2 --concat auto | grep -A 1 "^  schedule"
>   schedule concat halving (auto: direct 11.2 s, doubling 11.5 s with recompute
>            selective=layernorm+mlp, halving 9.77 s)
# Pipelines use a stage at different times, so gradients and parameters are cut over the replicas of each.
$ for z in 1 2 3; do pipesim --engine dag --schedule chimera --model gpt2 --pp 4 --dp 4 --micro-batches 8 --zero $z --json | grep -E '"shard"'; done
>     "shard": "p=1x1,g=1x1,os=4x2",
>     "shard": "p=1x1,g=4x1,os=4x1",
>     "shard": "p=4x1,g=4x1,os=4x1",
$ pipesim --schedule chimera --model gpt2 --pp 4 --micro-batches 8 --zero 2
! pipesim: error: chimera uses a stage at different times in its pipelines, so gradients are cut over replicas of one pipeline, which has 1; give --dp 2, or --zero 1
= 2
$ pipesim --schedule chimera --model gpt2 --pp 4 --dp 4 --micro-batches 8 --shard p=4x2,g=4x2,os=4x2
! pipesim: error: chimera uses a stage at different times in its pipelines, so gradients are cut over replicas of one pipeline, which has 4; give --dp 8, or --zero 1
= 2
$ pipesim --schedule gems --model gpt2 --pp 3 --dp 2 --micro-batches 8 --zero 3
! pipesim: error: gems holds stage 1 twice on a rank: only its optimizer state can be cut; nearest: --zero 1, or an even number of ranks
= 2
