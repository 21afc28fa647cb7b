# The tier peer: memory of idle GPUs of the node.
# A quarter of the weights of EnergonAI's model: four prompts hide its loads, one does not.
$ for b in 1 4; do for o in "" "--offload p=peer:25% --peers 1 --gather-buffers 4" "--offload p=host:25% --gather-buffers 4"; do pipesim --mode infer --hidden 12288 --heads 96 --layers 40 --cluster a100 --gpus 1 --batch $b --prompt 64 --tokens 1 $o | awk '/first token/ {print $3, $4}'; done; done | paste - - -
> 94.8 ms	136 ms	1.47 s
> 184 ms	189 ms	1.47 s
$ pipesim --mode infer --hidden 12288 --heads 96 --layers 40 --cluster a100 --gpus 1 --batch 4 --prompt 64 --tokens 1 --offload p=peer:25% --peers 1 --json | grep -E '"(peer_bytes|peer_room_bytes|peers)"|"tier": "peer"'
>     "peer_bytes": 36569149440,
>     "peer_room_bytes": 81976623104,
>         "tier": "peer",
>     "peers": "1"
# Its room is the free memory of K devices, which all devices of the node share.
$ run() { pipesim --mode infer --model llama3-70b --tp 2 --gpus 2 --cluster "a100 memory:60GB" --batch 1 --offload p=peer "$@"; }; for k in 2 3; do run --peers $k | grep -e 'peak mem' -e '  tiers'; done; run --peers 2 --require-fit --quiet
>   peak memory        6.6 GiB   of 55.9: DOES NOT FIT peer; KV 320 KiB a token,
>   tiers    peer 65.7 of 52.9 GiB a device: DOES NOT FIT
>   peak memory        6.6 GiB   of 55.9: fits; KV 320 KiB a token, 0.04 GiB here
>   tiers    peer 65.7 of 79.3 GiB a device
! pipesim: error: generate does not fit in peer memory: 65.7 GiB a device, its share of the node's is 52.9 GiB
= 3
$ pipesim --mode infer --model llama3-70b --tp 2 --gpus 2 --cluster "a100 memory:60GB" --batch 1 --offload p=peer:auto --peers 2 | grep '^  tiers'
>   tiers    peer 16.4 of 52.9 GiB a device; p 25 %*
# The tool takes no device that shall be idle, and both engines agree.
$ for k in 1 5; do pipesim --mode infer --model gpt3-175b --cluster a100 --offload p=peer --peers $k --json | grep -E '^    "gpus"|"fits"' | tr -d '\n '; echo; done
> "gpus":4,"fits":false,
> "gpus":1,"fits":true,
$ for e in dag simgrid; do pipesim --mode infer --model llama3-8b --pp 2 --batch 8 --tokens 8 --cluster a100 --offload p=peer --peers 2 --engine $e --json | grep -m1 iteration_s; done | uniq | wc -l
> 1
$ pipesim sweep --mode infer --model llama3-8b --gpus 2 --tp 2 --batch 1 --tokens 4 --cluster a100 --offload p=peer --peers 1,2,6 2>/dev/null | python3 -c 'import csv, sys; [print(r["peers"], r["peer_bytes"], "%.3g" % float(r["token_s"])) for r in csv.DictReader(sys.stdin)]'
> 1 8030261248 0.0566
> 2 8030261248 0.0284
> 6 8030261248 0.0284
# Training moves what a device uses itself; the host does not work there.
$ for o in p=peer a=peer p,os=peer "g,os=peer --sum device"; do pipesim --schedule 1f1b --model gpt2-xl --gpus 2 --pp 2 --micro-batches 4 --recompute none --cluster a100 --no-alternatives --peers 2 --offload $o | grep '^  tiers'; done
>   tiers    peer 1.5 of 76.3 GiB a device
>   tiers    peer 2.5 of 76.3 GiB a device
>   tiers    peer 10.7 of 76.3 GiB a device
>   tiers    peer 10.7 of 76.3 GiB a device
$ for o in "g,os=peer" "os=peer --cpu-optimizer" "p=peer,os=host --cpu-optimizer"; do pipesim --schedule 1f1b --model gpt2-xl --gpus 2 --pp 2 --micro-batches 4 --peers 2 --offload $o; done
! pipesim: error: --offload g,os=peer: the processors of the host add up gradients, and do not reach g=peer; nearest: --sum device, or g=host
! pipesim: error: --offload os=peer: the processors of the host update, and do not reach os=peer; nearest: without --cpu-optimizer, or os=host
! pipesim: error: --offload p=peer,os=host: the processors of the host update, and do not reach p=peer; nearest: without --cpu-optimizer, or p=host
= 2
$ for t in deepspeed torchtitan megatron; do pipesim --schedule 1f1b --model gpt2-xl --gpus 2 --pp 1 --tp 1 --zero 3 --micro-batches 4 --cluster a100 --peers 2 --offload p=peer --emit $t 2>/dev/null | grep -o '[A-Za-z-]* [a-z ]* p on peer[^"]*'; done
> DeepSpeed does not keep p on peer (--offload); nearest: on the device.
>  torchtitan does not keep p on peer (--offload); nearest: on the
> Megatron-LM does not keep p on peer (--offload); nearest: on the
# What is wrong, and what is legal.
$ for o in "--offload p=peer" "--offload p=peer --peers 7" "--peers 2" "--offload p=peer --peers 0"; do pipesim --mode infer --model gpt2 --cluster a100 --gpus 2 --tp 2 $o; done
! pipesim: error: --offload p=peer: --peers says how many idle GPUs of a node lend their memory; nearest: --peers 1 to --peers 6
! pipesim: error: --peers 7: 6 of the 8 GPUs of a node of a100 are idle; nearest: --peers 6
! pipesim: error: --peers 2 has no effect: nothing is in the memory of idle GPUs; nearest: --offload p=peer
! pipesim: error: --peers: 0 is out of range: 1 to 1048576
= 2
$ for o in "--gpus 8 --tp 8" "--gpus 8 --tp 8 --peers 1" "--gpus 16 --tp 8 --peers 1" "--gpus 1 --peers 1 --cluster p100-daint" "--cluster gh200 --gpus 4 --tp 4"; do pipesim --mode infer --model gpt2 --heads 16 --hidden 1024 --offload p=peer $o; done
! pipesim: error: --offload p=peer: the run uses all GPUs of a node, 8 of h100, so none is idle; nearest: --gpus 4 --peers 4, or --offload p=host
! pipesim: error: --peers 1: the run uses all GPUs of a node, 8 of h100, so none is idle; nearest: --gpus 4 --peers 4, or --offload p=host
! pipesim: error: --peers 1: the run uses all GPUs of a node, 8 of h100, so none is idle; nearest: --gpus 4 --peers 4, or --offload p=host
! pipesim: error: --peers 1: the run uses all GPUs of a node, 1 of p100-daint, so none is idle; nearest: --offload p=host
! pipesim: error: --offload p=peer: the run uses all GPUs of a node, 4 of gh200, so none is idle; nearest: --gpus 2 --peers 2, or --offload p=host
= 2
$ pipesim --mode infer --unit F=1 --pp 2 --peers 2
! pipesim: error: --peers 2 has no effect with --unit, which has no model, devices or memory, but the costs of ops alone
= 2
$ for o in peer p=peers peer:25% p=gpu; do pipesim --mode infer --model gpt2 --gpus 1 --offload $o 2>&1 | sed 's/; expected.*; nearest/; nearest/'; done
> pipesim: error: --offload peer: unknown class; nearest: --offload p=peer
> pipesim: error: --offload p=peers: unknown tier; nearest: --offload p=peer
> pipesim: error: --offload peer:25%: unknown class; expected p=host or p=nvme or p=peer (parameters), kv=host or kv=nvme or kv=peer (keys and values), or several with commas; p=host:40% moves a share
> pipesim: error: --offload p=gpu: unknown tier; expected p=host or p=nvme or p=peer (parameters), kv=host or kv=nvme or kv=peer (keys and values), or several with commas; p=host:40% moves a share
$ pipesim plan --mode infer --model llama3-8b --gpus 8 --tp 8 --offload p=peer --peers 1
! pipesim: error: --peers 1: the run uses all GPUs of a node, 8 of h100, so none is idle; nearest: --gpus 4 --peers 4, or --offload p=host
= 2
# pipeexec runs nothing there.
$ for o in p=peer a=peer; do pipeexec --offload $o; done; pipeexec generate --offload p=peer; pipeexec --peers 2; pipeexec --offload a=host --tier peer:1GBps
! pipeexec: error: --offload p=peer: memory of idle devices is only simulated; nearest: the tier host in place of peer
! pipeexec: error: --offload a=peer: memory of idle devices is only simulated; nearest: the tier host in place of peer
! pipeexec: error: --offload p=peer: weights on another tier are only simulated; nearest: pipesim --mode infer --offload p=peer --peers 1
! pipeexec: error: unknown option --peers; only pipesim has it: pipesim help --peers
! try: pipeexec run --help
! pipeexec: error: --tier "peer:1GBps": "peer:1GBps" is neither host: nor nvme:; expected words like host:10GBps nvme:2GBps
= 2
