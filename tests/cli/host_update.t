# The host as a stream: it updates a stage while others go backward, or a share.
$ pipesim program --schedule bfs --vp 2 --pp 1 --micro-batches 2 --offload os=host --cpu-optimizer --update jit | grep '^0'
> 0F0[0],0F1[1],1F0[2],1F1[3],1B0,1B1,1MOVE.grads,1MOVE.update,1MOVE.params,0B0,0B1,0MOVE.grads,0MOVE.update,0MOVE.params,1U,0U,(1MOVE.grads)WAIT,(1MOVE.update)WAIT,(1MOVE.params)WAIT,(0MOVE.grads)WAIT,(0MOVE.update)WAIT,(0MOVE.params)WAIT
$ pipesim program --schedule bfs --vp 2 --pp 1 --micro-batches 2 --offload os=host --cpu-optimizer --update end | grep '^0'
> 0F0[0],0F1[1],1F0[2],1F1[3],1B0,1B1,1MOVE.grads,0B0,0B1,(1MOVE.grads)WAIT,0MOVE.grads,1U,1MOVE.params,(0MOVE.grads)WAIT,0U,(1MOVE.params)WAIT,0MOVE.params,(0MOVE.params)WAIT
$ pipesim program --schedule bfs --vp 2 --pp 1 --micro-batches 2 --offload p=host,os=host:40% --cpu-optimizer | grep '^0'
> 0MOVE.load,(0MOVE.load)WAIT,1MOVE.load,0F0[0],0F1[1],0DROP,(1MOVE.load)WAIT,0MOVE.reload,1F0[2],1F1[3],1B0,1B1,1MOVE.grads,1DROP,(0MOVE.reload)WAIT,0B0,0B1,0MOVE.grads,0DROP,1MOVE.update,1U,1MOVE.home,0MOVE.update,0U,(1MOVE.grads)WAIT,(1MOVE.update)WAIT,(0MOVE.grads)WAIT,(0MOVE.update)WAIT,0MOVE.home,(1MOVE.home)WAIT,(0MOVE.home)WAIT
$ for z in 0 1 2 3; do pipesim program --schedule interleaved --vp 2 --pp 2 --micro-batches 4 --dp 2 --zero $z --offload p=host:50%,os=host:40% --cpu-optimizer --update jit -o host.csv && pipesim verify host.csv; done | sed 's/.*: legal/legal/'
> legal: 2 ranks, 4 stages, 4 micro-batches, 212 instructions
> legal: 2 ranks, 4 stages, 4 micro-batches, 228 instructions
> legal: 2 ranks, 4 stages, 4 micro-batches, 252 instructions
> legal: 2 ranks, 4 stages, 4 micro-batches, 256 instructions
$ pipesim program --schedule 1f1b --pp 2 --micro-batches 2 --dp 2 --zero 1 --offload os=host --cpu-optimizer --update jit | grep '^0'
> 0RECV_B0[0],0RECV_B1[1],0F0[0],0SEND_F0[0],0F1[1],0SEND_F1[1],(0RECV_B0)WAIT,(0SEND_F0)WAIT,0B0,(0RECV_B1)WAIT,(0SEND_F1)WAIT,0B1,0RS,(0RS)WAIT,0MOVE.grads,0MOVE.update,0MOVE.params,0U,(0MOVE.grads)WAIT,(0MOVE.update)WAIT,(0MOVE.params)WAIT,0AG,(0AG)WAIT
$ pipesim program --schedule bfs --vp 2 --pp 2 --micro-batches 2 --offload os=host --cpu-optimizer --update jit -o host.csv && sed 's/2MOVE.update,//;s/(2MOVE.update)WAIT,//' host.csv > none.csv; pipesim verify none.csv
! pipesim: error: none.csv:12:27: rank 0: 2MOVE.params moves what no MOVE.update has updated
! rank 0 | ... (2RECV_B1)WAIT 2B1          2SEND_B1     2MOVE.grads    [2MOVE.params] 0RECV_B1 (0RECV_B0)WAIT (2SEND_B0)WAIT 0B0            ...
! rank 1 | ... 3MOVE.grads    3MOVE.update 3MOVE.params (1RECV_B0)WAIT (3SEND_B0)WAIT 1B0      1SEND_B0       (1RECV_B1)WAIT (3SEND_B1)WAIT ...
= 4
$ sed 's/(2MOVE.grads)WAIT,//' host.csv > none.csv; pipesim verify none.csv
! pipesim: error: none.csv:12:26: rank 0: nothing waits for 2MOVE.grads
! rank 0 | ... 0RECV_B0 (2RECV_B1)WAIT 2B1          2SEND_B1     [2MOVE.grads]  2MOVE.update   2MOVE.params 0RECV_B1 (0RECV_B0)WAIT ...
! rank 1 | ... 3SEND_B1 3MOVE.grads    3MOVE.update 3MOVE.params (1RECV_B0)WAIT (3SEND_B0)WAIT 1B0          1SEND_B0 (1RECV_B1)WAIT ...
= 4
# The file is executed, with the bits of the order without moves.
$ pipeexec --schedule host.csv --np 2 --steps 2 | grep '^  state'; for s in "host.csv" "bfs --vp 2 --micro-batches 2"; do pipeexec --schedule $s --np 2 --steps 2 --json >run.json; sed -n '/"losses"/,/]/p; /"grad_norms"/,/]/p' run.json | md5sum; done | uniq | wc -l
>   state      os on host, updated by the host just in time
> 1
$ export COLUMNS=100; for o in 'os=host' 'os=host --update jit' 'os=host:50%'; do pipesim --schedule bfs --vp 4 --gpus 2 --pp 1 --dp 1 --micro-batches 4 --mbs 1 --tp 2 --model gpt-7.5b --recompute full --engine dag --cluster a100 --no-alternatives --offload $o --cpu-optimizer --explain | grep 'optimizer state\|  optimizer:\|^ *step [0-9]'; done
>   step 2.8092808498120001 s: latest end over ranks and replicas, exact (engine dag)
>   optimizer: (blocks + 1) launches + bytes moved a parameter x parameters / memory rate
>   optimizer state on host: stage 0 11.3 GiB a device, updated there in 357 ms; gradients down
>     optimizer: 357 ms on the host
>     optimizer: 319 ms on the host
>     optimizer: 319 ms on the host
>   step 2.1076058489919998 s: latest end over ranks and replicas, exact (engine dag)
>   optimizer: (blocks + 1) launches + bytes moved a parameter x parameters / memory rate
>   optimizer state on host: stage 0 11.3 GiB a device, updated there in 357 ms while others go
>     optimizer: 0 s, next to 357 ms of the host
>     optimizer: 0 s, next to 319 ms of the host
>     optimizer: 0 s, next to 319 ms of the host
>   step 2.1123220024519997 s: latest end over ranks and replicas, exact (engine dag)
>   optimizer: (blocks + 1) launches + bytes moved a parameter x parameters / memory rate
>   optimizer state on host: stage 0 5.67 GiB a device, updated there in 178 ms while the device
>     optimizer: 10.7 ms = 10 x 3.20 us + 36 B x 508M / 1.71 TB/s, next to 178 ms of the host
>     optimizer: 9.56 ms = 10 x 3.20 us + 36 B x 453M / 1.71 TB/s, next to 159 ms of the host
>     optimizer: 9.56 ms = 10 x 3.20 us + 36 B x 453M / 1.71 TB/s, next to 159 ms of the host
# What is wrong.
$ pipesim --schedule 1f1b --gpus 8 --model gpt2 --pp 4 --offload os=host --update jit
! pipesim: error: --update jit has no effect: the device updates when its step ends; nearest: --offload os=host --cpu-optimizer --update jit
= 2
$ pipesim --schedule 1f1b --gpus 8 --model gpt2 --pp 4 --offload os=host --cpu-optimizer --update later
! pipesim: error: --update: "later" is not one of end and jit
= 2
$ pipesim --schedule 1f1b --gpus 8 --model gpt2 --pp 4 --offload os=host --cpu-optimizer --update jit --update-barrier on
! pipesim: error: --update jit: all ranks meet before their first update (clipping), as the norm of all gradients is known at the end only; nearest: --update end, or --update-barrier off
= 2
$ pipesim program --schedule 1f1b --pp 2 --micro-batches 2 --update-barrier on -o clip.csv; pipesim --schedule clip.csv --gpus 2 --model gpt2 --engine dag --offload os=host --cpu-optimizer --update jit
! pipesim: error: --update jit: all ranks meet before their first update (clipping), as the norm of all gradients is known at the end only; nearest: --update end, or --update-barrier off
= 2
$ pipesim program --schedule 1f1b --pp 2 --micro-batches 2 --update jit --compute
! pipesim: error: --update jit has no effect with --compute
= 2
$ for share in 0% 140% maybe; do pipesim --schedule 1f1b --gpus 8 --model gpt2 --offload os=host:$share 2>&1 | sed 's/; expected.*//'; done
> pipesim: error: --offload os=host:0%: a share lies above 0 and up to 1, or is auto
> pipesim: error: --offload os=host:140%: a share lies above 0 and up to 1, or is auto
> pipesim: error: --offload os=host:maybe: a share lies above 0 and up to 1, or is auto
$ pipeexec --schedule 1f1b --np 2 --update jit
! pipeexec: error: --update jit has no effect: the device updates when its step ends; nearest: --offload os=host --cpu-optimizer --update jit
= 2
# The stream has a lane in traces; the report as JSON says how long the host works, and how much of that a rank waits.
$ pipesim --schedule bfs --vp 4 --gpus 1 --pp 1 --dp 1 --tp 1 --micro-batches 4 --mbs 1 --model gpt2 --engine dag --cluster a100 --no-alternatives --offload os=host --cpu-optimizer --update jit --trace host.json --json | grep host_update; grep -c '"cat":"host"' host.json
>     "host_update_s": 0.021874184999999997,
>     "host_update_exposed_s": 0.011469685831999997
> 4
$ pipesim --schedule bfs --vp 4 --gpus 1 --pp 1 --dp 1 --tp 1 --micro-batches 4 --mbs 1 --model gpt2 --engine dag --cluster a100 --no-alternatives --offload os=host --cpu-optimizer --json | grep host_update
>     "host_update_s": 0.021874184999999997,
>     "host_update_exposed_s": 0.021874184999999997
# Buckets of an update of the device: with fewer of them less overlaps, and less is on the device.
$ for b in 16e6x1 16e6x2 16e6x3 32Mx3; do pipesim --schedule 1f1b --gpus 1 --pp 1 --dp 1 --tp 1 --micro-batches 1 --mbs 1 --params 250M --engine dag --cluster a100 --no-alternatives --offload os=host --update-bucket $b --json | grep '"iteration_s"'; done
>   "iteration_s": 0.26852188922999998,
>   "iteration_s": 0.26323841256800001,
>   "iteration_s": 0.15091841256800001,
>   "iteration_s": 0.158598412568,
$ for o in '' '--offload os=host' '--offload os=host --update-bucket 32e6x1'; do pipesim --schedule 1f1b --gpus 1 --pp 1 --dp 1 --tp 1 --micro-batches 1 --mbs 1 --params 250M --framework axonn --engine dag --cluster a100 --no-alternatives $o --explain | tr -s ' \n' ' ' | grep -o 'in buckets of [^/]*/s'; done
> in buckets of 244 MiB at 25.0 GB/s
> in buckets of 488 MiB at 25.0 GB/s
$ for b in 16e6 0x3 16e6x0 16e6x65 x3 many; do pipesim --schedule 1f1b --gpus 1 --model gpt2 --offload os=host --update-bucket $b; done
! pipesim: error: --update-bucket 16e6: expected PARAMSxK, at least 1 parameter and 1 to 64 buckets; nearest: 16e6x1, 16e6x3
! pipesim: error: --update-bucket 0x3: expected PARAMSxK, at least 1 parameter and 1 to 64 buckets; nearest: 16e6x1, 16e6x3
! pipesim: error: --update-bucket 16e6x0: expected PARAMSxK, at least 1 parameter and 1 to 64 buckets; nearest: 16e6x1, 16e6x3
! pipesim: error: --update-bucket 16e6x65: expected PARAMSxK, at least 1 parameter and 1 to 64 buckets; nearest: 16e6x1, 16e6x3
! pipesim: error: --update-bucket x3: expected PARAMSxK, at least 1 parameter and 1 to 64 buckets; nearest: 16e6x1, 16e6x3
! pipesim: error: --update-bucket many: expected PARAMSxK, at least 1 parameter and 1 to 64 buckets; nearest: 16e6x1, 16e6x3
= 2
$ pipesim --schedule 1f1b --gpus 1 --model gpt2 --offload os=host --cpu-optimizer --update-bucket 16e6x1
! pipesim: error: --update-bucket 16e6x1 has no effect: nothing streams through an update of the device; nearest: --offload os=host, without --cpu-optimizer
= 2
$ pipesim --schedule 1f1b --gpus 1 --model gpt2 --update-bucket 16e6x1
! pipesim: error: --update-bucket 16e6x1 has no effect: nothing streams through an update of the device; nearest: --offload os=host, without --cpu-optimizer
= 2
$ pipeexec --schedule 1f1b --np 2 --update-bucket 16e6x1
! pipeexec: error: --update-bucket 16e6x1 has no effect: nothing streams through an update of the device; nearest: --offload os=host, without --cpu-optimizer
= 2
# Gradients in the place of parameters: 14 bytes a parameter, no other instructions.
$ for o in '' --grads-in-params; do pipesim --schedule gpipe --gpus 1 --pp 1 --tp 1 --dp 1 --micro-batches 1 --mbs 1 --params 1000M --recompute full --engine dag --no-alternatives --cluster h200 $o --json | sed -n '/^  "memory"/,/}/p' | awk '/params|grads|optimizer/ { sum += $2 } END { print sum / 1e9 " GB" }'; done
> 16 GB
> 14 GB
$ pipesim --schedule 1f1b --gpus 1 --pp 1 --micro-batches 8 --model gpt2 --engine dag --grads-in-params
! pipesim: error: --grads-in-params: a unit goes backward in 8 visits a step, and its parameters stay until the last; nearest: --schedule bfs, --micro-batches 1
= 2
$ pipesim --schedule bfs --vp 2 --gpus 2 --pp 2 --micro-batches 8 --model gpt2 --engine dag --offload p=host --grads-in-params
! pipesim: error: --grads-in-params: a unit goes backward in 8 visits a step, and its parameters stay until the last; nearest: --schedule bfs --gather chunk, --micro-batches 1
= 2
$ pipesim --schedule gpipe --gpus 1 --pp 1 --micro-batches 1 --model gpt2 --engine dag --precision fp32 --grads-in-params
! pipesim: error: --grads-in-params: parameters are fp32, so there is no fp32 copy to restore them from; nearest: --precision bf16 with --framework plain
= 2
$ pipesim --schedule gpipe --gpus 1 --pp 1 --micro-batches 1 --model gpt2 --engine dag --framework megatron --grads-in-params
! pipesim: error: --grads-in-params: gradients of framework megatron have 4 bytes, and parameters 2; nearest: --framework plain
= 2
$ pipesim program --schedule gpipe --pp 2 --micro-batches 1 --grads-in-params
! pipesim: error: --grads-in-params is not an option of "pipesim program" but of "run", "sweep", "plan", "export"; a program is the same for every model, cluster, --tp and --dp
! try: pipesim program --help
= 2
$ pipeexec --schedule 1f1b --np 2 --grads-in-params
! pipeexec: error: --grads-in-params is only simulated: gradients here are summed in fp32, and in the place of bf16 parameters they would be rounded once more; nearest: --offload g,os=host
= 2
