# Memory tiers: what moves, what it costs, and what is refused.
$ pipesim program --schedule gpipe --pp 2 --micro-batches 3 --offload a=host,os=host --cpu-optimizer --act-bits 8 | grep '^0'
> 0RECV_B0[0],0RECV_B1[1],0F0[0],0SEND_F0[0],0COPY.down0,0F1[1],0SEND_F1[1],0COPY.down1,(0COPY.down0)WAIT,0COPY.up0[0],0F2[2],0SEND_F2[2],0COPY.down2,(0COPY.up0)WAIT,(0COPY.down1)WAIT,0COPY.up1[1],(0RECV_B0)WAIT,(0SEND_F0)WAIT,(0SEND_F1)WAIT,(0SEND_F2)WAIT,0B0,0RECV_B2[0],(0COPY.up1)WAIT,(0COPY.down2)WAIT,0COPY.up2[0],(0RECV_B1)WAIT,0B1,(0COPY.up2)WAIT,(0RECV_B2)WAIT,0B2,0MOVE.grads,(0MOVE.grads)WAIT,0U,0MOVE.params,(0MOVE.params)WAIT
$ pipesim program --schedule 1f1b --pp 2 --micro-batches 2 --dp 2 --zero 1 --offload os=nvme | grep '^0'
> 0RECV_B0[0],0RECV_B1[1],0F0[0],0SEND_F0[0],0F1[1],0SEND_F1[1],(0RECV_B0)WAIT,(0SEND_F0)WAIT,0B0,(0RECV_B1)WAIT,(0SEND_F1)WAIT,0B1,0MOVE.fetch,0RS,(0RS)WAIT,(0MOVE.fetch)WAIT,0U,0MOVE.store,0AG,(0AG)WAIT,(0MOVE.store)WAIT
$ pipesim program --schedule zbv --pp 4 --micro-batches 8 --offload a=host,os=host -o offload.csv && pipesim verify offload.csv | sed 's/, [0-9]* instructions//'; o="--np 4 --layers 8 --hidden 32 --heads 2 --seq 16 --steps 2"; pipeexec --schedule offload.csv $o | grep '^  state'; for s in offload.csv "zbv --micro-batches 8"; do pipeexec --schedule $s $o --json >run.json; sed -n '/"losses"/,/]/p; /"grad_norms"/,/]/p' run.json | md5sum; done | uniq | wc -l
> offload.csv: legal: 4 ranks, 8 stages, 8 micro-batches
>   state      os, a on host
> 1
$ for z in 0 1 2 3; do pipesim program --schedule 1f1b --pp 2 --micro-batches 2 --dp 2 --zero $z --offload p=host,os=host --cpu-optimizer -o kept.csv && pipesim verify kept.csv; done | sed 's/.*: legal/legal/'
> legal: 2 ranks, 2 stages, 2 micro-batches, 40 instructions
> legal: 2 ranks, 2 stages, 2 micro-batches, 52 instructions
> legal: 2 ranks, 2 stages, 2 micro-batches, 56 instructions
> legal: 2 ranks, 2 stages, 2 micro-batches, 44 instructions
# Bits: ops quantise what they save. In a program with Q and DQ of its own these instructions do.
$ pipesim program --schedule gpipe --pp 2 --micro-batches 3 | sed -E 's/(^|,)([01])F([0-9])(\[[0-9]\])?/&,\2Q\3/g; s/(^|,)([01])B([0-9])/\1\2DQ\3,\2B\3/g' > bits.csv; grep '^0' bits.csv; pipesim verify bits.csv
> 0RECV_B0[0],0RECV_B1[1],0F0[0],0Q0,0SEND_F0[0],0F1[1],0Q1,0SEND_F1[1],0F2[2],0Q2,0SEND_F2[2],(0RECV_B0)WAIT,(0SEND_F0)WAIT,(0SEND_F1)WAIT,(0SEND_F2)WAIT,0DQ0,0B0,0RECV_B2[0],(0RECV_B1)WAIT,0DQ1,0B1,(0RECV_B2)WAIT,0DQ2,0B2,0U
> bits.csv: legal: 2 ranks, 2 stages, 3 micro-batches, 50 instructions
$ for wrong in 's/0DQ1,//' 's/0Q1,/&0Q1,/' 's/0Q2,//' 's/0DQ0,0B0/0B0,0DQ0/'; do sed "$wrong" bits.csv > wrong.csv; pipesim verify wrong.csv 2>&1 | head -1; done
> pipesim: error: wrong.csv:12:20: rank 0: 0B1 uses what 0Q1 has quantised, but no DQ restores it
> pipesim: error: wrong.csv:12:8: rank 0: 0Q1 uses what 0Q1 has quantised, but no DQ restores it
> pipesim: error: wrong.csv:12:22: rank 0: 0DQ2 restores what no Q has quantised
> pipesim: error: wrong.csv:12:16: rank 0: 0B0 uses what 0Q0 has quantised, but no DQ restores it
$ for s in gpipe bits.csv; do for b in "" "--act-bits 8"; do pipesim --schedule $s --gpus 2 --pp 2 --tp 1 --mbs 2 --micro-batches 3 --model gpt2 --zero 0 --recompute none --engine dag --cluster a100 --no-alternatives --json $b | sed -n '/"iteration_s"/p; /"peak_mem_bytes"/p' | head -2 | tr -d '\n'; echo; done; done
>   "iteration_s": 0.041354584372999999,  "peak_mem_bytes": 6944825344,
>   "iteration_s": 0.045493523293,  "peak_mem_bytes": 5888776320,
>   "iteration_s": 0.041354584372999999,  "peak_mem_bytes": 7474688000,
>   "iteration_s": 0.045699133401,  "peak_mem_bytes": 6110028992,
$ export COLUMNS=100; pipesim --schedule gpipe --gpus 2 --pp 2 --tp 1 --mbs 2 --micro-batches 3 --model gpt2 --zero 0 --recompute none --engine dag --cluster a100 --no-alternatives --explain --act-bits 8 | grep -A4 'saved values in'
>   saved values in 8 bits, a scale and a minimum for 128: 1.031 bytes each, masks and token numbers
>       as they are; of stage 0 without recomputation 0.5464 of 308 MiB
>   the two widest saved tensors of a block are in full while it runs; quantised: 15.7 % of forward,
>       7.8 % of backward of stage 0
>   stage 0: 6 blocks, F 1.83 ms, B 3.67 ms, saves 168 MiB a micro-batch
# Layer by layer: one micro-batch frees all blocks but two; a pass lasts as long as its copies.
$ export COLUMNS=100; for u in op layer; do pipesim --schedule 1f1b --gpus 2 --pp 2 --tp 1 --mbs 8 --micro-batches 1 --model gpt2-xl --zero 0 --recompute none --engine dag --cluster a100 --no-alternatives --offload a=host --offload-unit $u | grep -A2 'iteration  \|peak memory\|^  tiers\|^  state' | grep -v '^--\|^$'; done
>   state    ZeRO 0, recompute none, gradient sync end; a on host
>   costs    analytic, fitted on published runs, not on yours; framework plain
>   note     --offload a frees nothing at the peak and costs its time: all saved activations of the
>   iteration       494 ms +-3 %   16.6k tokens/s, 8.29k tokens/s/GPU; p90 5 %
>   MFU             27.3 % +-0.9   85.14 of 312 dense TFLOP/s/GPU (megatron FLOPs)
>   bubble          33.2 %         idle, waiting for other stages
>   peak memory   27.5 GiB +-2 %   of 79.3 GiB on rank 1: fits, 51.8 GiB free
>   1 T tokens    698 days +-3 %   33.5k GPU-hours
>   state    ZeRO 0, recompute none, gradient sync end; a on host; saved activations layer by layer
>   costs    analytic, fitted on published runs, not on yours; framework plain
>   iteration       1.81 s +-3 %   4.53k tokens/s, 2.26k tokens/s/GPU; p90 5 %
>   MFU              7.5 % +-0.2   23.26 of 312 dense TFLOP/s/GPU (megatron FLOPs)
>   bubble          38.0 %         idle, waiting for other stages
>   peak memory   16.9 GiB +-2 %   of 79.3 GiB on rank 1: fits, 62.4 GiB free
>   1 T tokens  2,556 days +-3 %   123k GPU-hours
>   tiers    host 11.1 of 1024.0 GiB a device
>            copied a step, down | up, GiB: a 11.1 | 11.1; exposed 658 ms (36.3 %)
$ export COLUMNS=100; for u in op layer; do pipesim --schedule 1f1b --gpus 2 --pp 2 --tp 1 --mbs 8 --micro-batches 1 --model gpt2-xl --zero 0 --recompute none --engine dag --cluster a100 --offload a=host --offload-unit $u --explain | grep -A2 'activations on host'; done
>   saved activations on host: stage 0 9.97 GiB a micro-batch, each way 428 ms at 25.0 GB/s
>   stage 0: 24 blocks, F 68.4 ms, B 148 ms, saves 9.97 GiB a micro-batch
>     820M parameters a device
>   saved activations on host: stage 0 426 MiB a micro-batch, each way 17.8 ms at 25.0 GB/s
>   that is one block; 9.56 GiB of the other 23 move inside of F, in 410 ms: F max(68.4 ms, 1/24 of it
>       + copies) = 413 ms
$ pipesim --schedule 1f1b --gpus 2 --pp 2 --model gpt2 --offload os=host --offload-unit layer
! pipesim: error: --offload-unit layer has no effect: saved activations stay on the device; nearest: --offload a=host --offload-unit layer
= 2
$ pipeexec --offload-unit layer
! pipeexec: error: --offload-unit layer is only simulated: what a forward saves moves once it has ended; nearest: --offload-unit op
= 2
# Bytes on the tiers, of the device with most there.
$ pipesim --schedule 1f1b --gpus 8 --pp 4 --tp 2 --micro-batches 8 --model gpt-7.5b --recompute none --engine dag --cluster a100 --offload os=nvme,a=host:50% --json | sed -n '/"tiers"/,/\]/p'
>   "tiers": {
>     "host_bytes": 2575319040,
>     "host_room_bytes": 274877906944,
>     "nvme_bytes": 12183134208,
>     "nvme_room_bytes": 3840000000000,
>     "peer_bytes": 0,
>     "peer_room_bytes": 0,
>     "copies": [
>       {
>         "class": "os",
>         "tier": "nvme",
>         "down_bytes": 12183134208,
>         "up_bytes": 12183134208,
>         "exposed_s": 3.6233508114305004
>       },
>       {
>         "class": "a",
>         "tier": "host",
>         "down_bytes": 5150638080,
>         "up_bytes": 5150638080,
>         "exposed_s": 0.047518947091000012
>       }
>     ]
$ pipesim --schedule 1f1b --gpus 8 --pp 4 --tp 2 --micro-batches 8 --model gpt-7.5b --recompute none --engine dag --cluster a100 --json | grep -c '"tiers"'
> 0
= 1
$ export COLUMNS=100; pipesim --schedule 1f1b --gpus 8 --pp 4 --tp 2 --micro-batches 8 --model gpt-7.5b --recompute none --engine dag --cluster a100 --offload os=host --cpu-optimizer --explain | grep -A2 'memory tiers\|state on'
> memory tiers
>   host 13.2 of 256.0 GiB a device
>   copied a step by a device, down | up, GiB, rank by rank: 1.891 | 1.891, 1.688 | 1.688, 1.688 |
> --
>   optimizer state on host: stage 0 11.3 GiB a device, updated there in 1.43 s; gradients down
>       1.89 GiB, parameters up 1.89 GiB at 16.2 GB/s
>   stage 0: 9 blocks, F 22.3 ms, B 42.8 ms, saves 1.20 GiB a micro-batch
$ pipesim --schedule 1f1b --gpus 8 --pp 4 --tp 2 --micro-batches 8 --model gpt-7.5b --engine dag --offload os=host --cluster "a100 ram:10GB" --require-fit 2>&1 > /dev/null
> pipesim: error: 1f1b does not fit in host memory: 11.3 GiB a device, its share of the node's is 1.2 GiB
= 3
# Parameters: loaded, gathered where they are cut, used, dropped, and home once they are updated.
$ pipesim program --schedule interleaved --vp 2 --pp 2 --micro-batches 2 --dp 2 --zero 3 --offload p=host | grep -A1 state
> # state: p m; 1 1 1 1; 2
> 2RECV_F0[0],2RECV_F1[1],2RECV_B0[0],2RECV_B1[1],0MOVE.load,(0MOVE.load)WAIT,0AG.forward,(0AG.forward)WAIT,2MOVE.load,0MOVE.reload,0F0[0],0SEND_F0[0],0F1[1],0SEND_F1[1],0DROP,(2MOVE.load)WAIT,2AG.forward,(2AG.forward)WAIT,(0MOVE.reload)WAIT,0AG.backward,(2RECV_F0)WAIT,(0SEND_F0)WAIT,2F0[2],2SEND_F0[0],(2RECV_F1)WAIT,(0SEND_F1)WAIT,2F1[3],2SEND_F1[1],(2RECV_B0)WAIT,(2SEND_F0)WAIT,2B0,2SEND_B0[0],0RECV_B0[0],(2RECV_B1)WAIT,(2SEND_F1)WAIT,2B1,2SEND_B1[1],0RECV_B1[1],2DROP,2RS.visit,(0AG.backward)WAIT,(0RECV_B0)WAIT,(2SEND_B0)WAIT,0B0,(0RECV_B1)WAIT,(2SEND_B1)WAIT,0B1,0DROP,(2RS.visit)WAIT,0RS.visit,(0RS.visit)WAIT,2U,2MOVE.home,0U,0MOVE.home,(2MOVE.home)WAIT,(0MOVE.home)WAIT
$ pipesim program --schedule chimera --pp 2 --micro-batches 2 --offload p=host,os=host --cpu-optimizer | grep -A1 state
> # state: m; 1 1; 2
> 1RECV_F1[0],0RECV_B0[0],0MOVE.load@0,(0MOVE.load@0)WAIT,1MOVE.load@1,0F0[0],0SEND_F0[0],0DROP@0,(1MOVE.load@1)WAIT,0MOVE.reload@0,(1RECV_F1)WAIT,1F1[1],1B1,1SEND_B1[0],1DROP@1,(0MOVE.reload@0)WAIT,(0RECV_B0)WAIT,(0SEND_F0)WAIT,0B0,1AR@1,0AR@0,0DROP@0,(1SEND_B1)WAIT,(1AR@1)WAIT,1MOVE.grads@1,(1MOVE.grads@1)WAIT,1U@1,(0AR@0)WAIT,0MOVE.grads@0,(0MOVE.grads@0)WAIT,0U@0
$ pipesim program --schedule zbv --pp 4 --micro-batches 8 --dp 2 --zero 3 --gather-buffers 3 --offload p=nvme -o offload.csv && pipesim verify offload.csv | sed 's/, [0-9]* instructions//'; sed 's/p m;/p;/' offload.csv > offload2.csv; pipesim verify offload2.csv 2>&1 | head -1 | sed 's/.*rank/rank/'
> offload.csv: legal: 4 ranks, 8 stages, 8 micro-batches
> rank 0: 0MOVE.load, but the program does not state that parameters live elsewhere ('# state: m; UNITS', or p m)
# A program with moves of its own gets the sum of a tied embedding before the update, or the move of
# gradients, that needs it. So it takes as long as the schedule.
$ for o in p=host p=host,os=host p,g,os=host; do c=; test $o = p=host || c=--cpu-optimizer; for s in 1f1b zb-h1; do pipesim program --schedule $s --pp 2 --micro-batches 4 --dp 2 --zero 3 --offload $o $c --recompute none -o own.csv && for file in own.csv $s; do pipesim --schedule $file --gpus 4 --pp 2 --dp 2 --zero 3 --micro-batches 4 --offload $o $c --recompute none --gather chunk --model gpt2 --seq 512 --cluster h100 --engine dag --json | grep -m1 iteration_s; done | uniq -d | wc -l; done; done | tr -d '\n'; echo
> 111111
$ export COLUMNS=100; pipesim --schedule 1f1b --gpus 8 --pp 2 --tp 1 --micro-batches 8 --model llama2-7b --recompute none --engine dag --cluster a100 --zero 3 --offload p=host,os=host --cpu-optimizer --explain | grep -A2 'memory tiers\|state on\|parameters on\|loads of\|gathers of'
> memory tiers
>   host 12.6 of 256.0 GiB a device
>   copied a step by a device, down | up, GiB, rank by rank: 1.569 | 23.511, 1.569 | 23.201
> --
>   gathers of parameters a step (visits): rank 0 243, rank 1 241 of a layer at a time, 2 in memory at
>       once
>
> --
>   parameters on host: stage 0 1.57 GiB a device, loaded a layer at a time at 16.2 GB/s, updated
>       there by the host
>   optimizer state on host: stage 0 9.41 GiB a device, updated there in 1.18 s; gradients down
>       1.57 GiB at 16.2 GB/s
>   stage 0: 16 blocks, F 136 ms, B 276 ms, saves 8.03 GiB a micro-batch
$ pipesim --schedule 1f1b --gpus 2 --pp 2 --micro-batches 8 --model llama2-7b --engine dag --offload p=host --cluster "a100 ram:10GB" --require-fit 2>&1 > /dev/null
> pipesim: error: 1f1b does not fit in host memory: 6.3 GiB a device, its share of the node's is 4.7 GiB
= 3
# What is wrong, and what is legal.
$ pipesim --schedule 1f1b --gpus 8 --model gpt2 --offload g=host
! pipesim: error: --offload g=host: optimizer state on the device is updated there, which needs gradients there; nearest: --offload g=host,os=host
= 2
$ pipesim --schedule pipedream --gpus 8 --model gpt2 --pp 4 --offload p=host
! pipesim: error: --offload p=host: pipedream updates its weights while it uses several versions of them; nearest: --offload os=host
= 2
$ pipesim --schedule 1f1b --gpus 8 --model gpt2 --pp 1 --tp 1 --offload p=host --secondary 4 --zero 3
! pipesim: error: --secondary keeps on the device what --offload p=host takes from it; leave out one of them
= 2
$ pipesim program --schedule 1f1b --pp 2 --micro-batches 2 --gather-buffers 3 --compute
! pipesim: error: --gather-buffers 3 has no effect with --compute
= 2
$ pipesim --schedule 1f1b --gpus 8 --model gpt2 --offload os=disk
! pipesim: error: --offload os=disk: unknown tier; expected p=host or p=nvme or p=peer (parameters), g=host or g=nvme or g=peer (gradients), os=host or os=nvme or os=peer (optimizer state), a=host or a=nvme or a=peer (saved activations), or several with commas; os=host:40% moves a share; nearest: --offload os=nvme
= 2
# Words of other tools, a tier alone, a class alone: the message names what is meant, if it is legal.
$ for what in host cpu ram nvme all os p,os os:host OS=HOST optimizer=cpu params,grads=disk:40% os=tape os=host:140%; do pipesim --schedule 1f1b --gpus 8 --model gpt2 --offload $what 2>&1 | sed 's/expected.*; nearest/.. nearest/; s/expected.*/../'; done
> pipesim: error: --offload host: unknown class; .. nearest: --offload os=host
> pipesim: error: --offload cpu: unknown class; .. nearest: --offload os=host
> pipesim: error: --offload ram: unknown class; .. nearest: --offload os=host
> pipesim: error: --offload nvme: unknown class; .. nearest: --offload os=nvme
> pipesim: error: --offload all: unknown class; .. nearest: --offload p,g,os=host
> pipesim: error: --offload os: the last class names no tier; .. nearest: --offload os=host
> pipesim: error: --offload p,os: the last class names no tier; .. nearest: --offload p,os=host
> pipesim: error: --offload os:host: unknown class; .. nearest: --offload os=host
> pipesim: error: --offload OS=HOST: unknown class; .. nearest: --offload os=host
> pipesim: error: --offload optimizer=cpu: unknown class; .. nearest: --offload os=host
> pipesim: error: --offload params,grads=disk:40%: unknown class; .. nearest: --offload p,g=nvme:40%
> pipesim: error: --offload os=tape: unknown tier; ..
> pipesim: error: --offload os=host:140%: a share lies above 0 and up to 1, or is auto; ..
$ pipesim --schedule 1f1b --gpus 8 --model gpt2 --offload a=host,a=nvme
! pipesim: error: --offload a=host,a=nvme: a class is given twice; expected p=host or p=nvme or p=peer (parameters), g=host or g=nvme or g=peer (gradients), os=host or os=nvme or os=peer (optimizer state), a=host or a=nvme or a=peer (saved activations), or several with commas; os=host:40% moves a share
= 2
$ pipesim --schedule 1f1b --gpus 8 --model gpt2 --offload a=host:150%
! pipesim: error: --offload a=host:150%: a share lies above 0 and up to 1, or is auto; expected p=host or p=nvme or p=peer (parameters), g=host or g=nvme or g=peer (gradients), os=host or os=nvme or os=peer (optimizer state), a=host or a=nvme or a=peer (saved activations), or several with commas; os=host:40% moves a share
= 2
$ pipesim --schedule 1f1b --gpus 8 --model gpt2 --cpu-optimizer
! pipesim: error: --cpu-optimizer needs optimizer state off the device: --offload os=host or --offload os=nvme
= 2
$ pipesim --schedule 1f1b --gpus 8 --model gpt2 --act-bits 3
! pipesim: error: --act-bits: "3" is not one of 2, 4 and 8
= 2
$ pipesim --schedule 1f1b --gpus 8 --model gpt2 --offload os=nvme --cluster p100-daint
! pipesim: error: --offload os=nvme: the nodes of cluster p100-daint have no drives: nvme:8TB@25GBps in its text gives them some
= 2
$ pipesim --schedule 1f1b --gpus 8 --model gpt2 --offload os=host --cluster "node:2 gpu:8 ram:0"
! pipesim: error: --cluster: ram:0: 0 is out of range: expected more than 0, at most 1e18 (as in ram:1TB@200GBps)
= 2
# a tier that is too small is said where the memory is
$ pipesim --schedule 1f1b --model llama3-8b --gpus 8 --pp 8 --micro-batches 8 --cluster "a100 ram:10GiB" --offload os=host --no-alternatives | grep -e 'peak memory' -e FIT
>   peak memory   43.1 GiB +-2 %   of 79.3 GiB on rank 0; host: DOES NOT FIT
>   tiers    host 15.6 of 1.2 GiB a device: DOES NOT FIT
# activations that are never away at the peak are said to be; where some are, nothing is said
$ for degrees in '--tp 2 --pp 4' '--tp 2 --pp 8'; do pipesim --schedule 1f1b --gpus 64 --model llama2-7b --cluster a100 $degrees --offload a=host --no-alternatives --engine dag --json | grep 'a frees nothing' | wc -l; done
> 1
> 0

# A sweep has what is on the tiers, and the work of the host.
$ pipesim sweep --schedule 1f1b,bfs --pp 2 --vp 2 --model llama3-8b --gpus 2 --gbs 4 --mbs 1 --offload os=host --update end,jit --cpu-optimizer --cluster "a100 ram:4TB" --engine dag | awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i ~ /^(schedule|update|status)$|^(host|nvme)_/) column[++count] = i } { line = ""; for (i = 1; i <= count; i++) line = line " " $column[i]; print line }'
>  schedule update host_bytes nvme_bytes host_update_s host_update_exposed_s status
>  1f1b end 56211857408 0 1.4115700799999999 1.4115700799999999 ok
>  1f1b jit 56211857408 0 1.4115700799999999 1.4115700799999997 ok
>  bfs end 56211857408 0 1.4115700799999999 1.4115700799999999 ok
>  bfs jit 56211857408 0 1.4115700799999999 0.61344000000000065 ok
# An update that takes the host long has its own letter in the picture of the whole step.
$ pipesim --schedule 1f1b --model llama3-70b --gpus 8 --cluster a100-40 --tp 2 --pp 4 --mbs 1 --gbs 16 --offload p,g,os=host --cpu-optimizer --gantt --no-alternatives | sed -n '/whole step/,/half idle/p' | grep -v '^ [du] '
> the whole step
> P0 |fFFF#.....B##b##bBFbB##b##bBFbB##b##bBFbB##b#FbBFbBB.bB..Bb.BbUUUUUUUUUUUUU|
> P1 |.fFF#...bBFbBF+B##bBFbBF+B##bBFbBF+B##bBFbBF+B##bBFbBb.BB.bBUUUUUUUUUUUUu..|
> P2 |..fF#..B##b##bBFbB##b##bBFbB##b##bBFbB##b#FbBFbB##b#FbBb.BBUUUUUUUUUUUU....|
> P3 |....#BBFBB##B##BBFBB##B##BBFBB##B##BBFBB##B##BBFBB##B##BBUUUUUUUUUUUUU.....|
> one character = 947 ms; F forward, B backward, # both, U optimizer,
> f b + u with idle parts, . more than half idle
