# Gradients on another memory tier: after every visit one part leaves.
$ pipesim program --schedule 1f1b --pp 1 --micro-batches 2 --offload g,os=host --cpu-optimizer | tail -1
> 0F0[0],0B0,0F1[0],0B1,0MOVE.part,(0MOVE.part)WAIT,0U,0MOVE.params,(0MOVE.params)WAIT
$ pipesim program --schedule gpipe --pp 2 --micro-batches 2 --offload g,os=host --cpu-optimizer | grep state
> # state: o
$ pipesim program --schedule interleaved --vp 2 --pp 1 --micro-batches 2 --offload g,os=host --cpu-optimizer --sum device | grep -v -e '# [^s]' -e '# s[^t]' -e '# sta[^t]'
> # state: s
> 0F0[0],1F0[1],1B0,1MOVE.part,0F1[1],0B0,(1MOVE.part)WAIT,0MOVE.part,1MOVE.sum,1F1[0],(0MOVE.part)WAIT,0MOVE.sum,(1MOVE.sum)WAIT,1B1,1MOVE.part,(0MOVE.sum)WAIT,0B1,(1MOVE.part)WAIT,0MOVE.part,(0MOVE.part)WAIT,1U,1MOVE.params,0U,(1MOVE.params)WAIT,0MOVE.params,(0MOVE.params)WAIT
# A file of such a program is read, and proved.
$ pipesim program --schedule interleaved --vp 2 --pp 2 --micro-batches 4 --offload p,g,os=host --sum device > g.csv; pipesim verify g.csv
> g.csv: legal: 2 ranks, 4 stages, 4 micro-batches, 236 instructions
$ sed 's/,2MOVE.part,/,/; s/,(2MOVE.part)WAIT,/,/' g.csv > lost.csv; pipesim verify lost.csv 2>&1 | head -1
> pipesim: error: lost.csv:13:41: rank 0: 2MOVE.sum brings up gradients that nothing has moved away
$ sed 's/# state: m s/# state: m/' g.csv > here.csv; pipesim verify here.csv 2>&1 | head -1
> pipesim: error: here.csv:13:37: rank 0: 2MOVE.part, but the program does not state that gradients live elsewhere ('# state: o', or s)
# ZeRO-Offload and ZeRO-Infinity: what fits, and what the host keeps.
$ for o in os g,os p,g,os; do pipesim --schedule 1f1b --gpus 1 --cluster a100-40 --model opt-30b --seq 1024 --mbs 20 --gbs 20 --recompute full --engine dag --no-alternatives --offload $o=host --cpu-optimizer | grep -e 'peak memory' -e tiers -e copied; done
>   peak memory  139.1 GiB +-4 %   of 39.6 GiB on rank 0: DOES NOT FIT
>   tiers    host 390.8 of 1024.0 GiB a device
>            copied a step, down | up, GiB: p 0 | 55.8, g 55.8 | 0; exposed 4.80 s
>   peak memory   85.6 GiB +-4 %   of 39.6 GiB on rank 0: DOES NOT FIT
>   tiers    host 390.8 of 1024.0 GiB a device
>            copied a step, down | up, GiB: p 0 | 55.8, g 55.8 | 0; exposed 2.48 s
>   peak memory   32.8 GiB +-4 %   of 39.6 GiB on rank 0: fits, 6.8 GiB free
>   tiers    host 446.7 of 1024.0 GiB a device
>            copied a step, down | up, GiB: p 0 | 111, g 55.8 | 0; exposed 159 ms
$ pipesim --schedule 1f1b --pp 4 --tp 1 --gpus 4 --cluster a100 --model gpt-7.5b --micro-batches 8 --engine dag --no-alternatives --offload g,os=host --sum device --explain | grep -A2 'gradients on'
>   gradients on host: stage 0 3.78 GiB a device, a visit's leave at once at 25.0
>       GB/s, added up by the device
>   optimizer state on host: stage 0 22.7 GiB a device, streamed up and down
# What is wrong, and what is legal.
$ pipesim --schedule 1f1b --gpus 8 --model gpt2 --offload g=nvme
! pipesim: error: --offload g=nvme: optimizer state on the device is updated there, which needs gradients there; nearest: --offload g=nvme,os=nvme
= 2
$ pipesim --schedule 1f1b --gpus 8 --model gpt2 --offload os=host --sum device
! pipesim: error: --sum device has no effect: gradients add up on the device anyway; nearest: --offload g=host,os=host --sum device
= 2
$ pipesim --schedule 1f1b --gpus 8 --model gpt2 --offload g=host,os=host --sum drives
! pipesim: error: --sum: "drives" is not one of host and device
= 2
$ pipesim --schedule pipedream --gpus 8 --model gpt2 --pp 4 --offload g,os=host
! pipesim: error: --offload g=host: pipedream updates its weights while others of its gradients add up; nearest: --offload os=host
= 2
$ pipesim program --schedule pipedream --pp 4 --micro-batches 8 --offload g,os=host
! pipesim: error: --offload g: pipedream updates its weights while others of its gradients add up; nearest: --offload os=host
= 2
$ pipesim program --schedule 1f1b --pp 2 --micro-batches 2 --sum device --compute
! pipesim: error: --sum device has no effect with --compute
= 2
$ pipeexec --schedule 1f1b --sum device
! pipeexec: error: --sum device has no effect: gradients add up on the device anyway; nearest: --offload g=host,os=host --sum device
= 2

# pipeexec moves gradients of whole chunks. Their sums come up by default, which rounds as a run
# without does.
$ pipeexec --np 2 --offload g=host
! pipeexec: error: --offload g=host: optimizer state on the device is updated there, which needs gradients there; nearest: --offload g=host,os=host
= 2
$ pipeexec --np 2 --offload g=host:40%,os=host --cpu-optimizer
! pipeexec: error: --offload g=host:40%,os=host: a share of gradients on another tier is only simulated; nearest: --offload g,os=host
= 2
$ pipeexec --np 2 --offload g=host,os=host:40% --cpu-optimizer
! pipeexec: error: --offload g=host,os=host:40%: a share of gradients on another tier is only simulated; nearest: --offload g,os=host
= 2
$ pipeexec --np 2 --offload g,os=nvme --cpu-optimizer
! pipeexec: error: --offload g,os=nvme: the tier nvme needs a folder for its files; add --nvme DIR
= 2
$ pipeexec --np 2 --offload g,os=host --cpu-optimizer --weight-grad-stream on --backend fake
! pipeexec: error: --weight-grad-stream on: gradients leave the device in the order of one compute stream; leave it out, or keep g on the device
= 2
$ pipeexec --np 2 --dp 2 --zero 2 --offload g,os=host --cpu-optimizer
! pipeexec: error: --offload g,os=host: gradients that copies share, or parameters, on another tier are only simulated; nearest: --zero 1, or --offload os=host
= 2
$ pipeexec --np 2 --sum host
! pipeexec: error: --sum host has no effect: gradients add up on the device anyway; give --offload g,os=host
= 2
$ pipeexec --np 2 --offload g,os=host --cpu-optimizer --sum drives
! pipeexec: error: --sum: "drives" is not one of device and host
= 2
$ pipeexec --np 2 --precision bf16 --micro-batches 1 --grads-in-params
! pipeexec: error: --grads-in-params is only simulated: gradients here are summed in fp32, and in the place of bf16 parameters they would be rounded once more; nearest: --offload g,os=host
= 2
$ pipeexec --schedule chimera --np 2 --micro-batches 1 --offload g,os=host --cpu-optimizer
! pipeexec: error: --offload g,os=host: no micro-batch runs stage 0 of pipeline 1, so its gradients never leave the device; nearest: --micro-batches 2
= 2
# In fp32, shares of the host's update have no parameters to read.
$ pipeexec --np 2 --dp 2 --zero 1 --offload p,os=host --cpu-optimizer
! pipeexec: error: 1f1b: no MOVE loads parameters for 0U, and here they have no other copy; nearest: --precision bf16, or no --zero
= 2
