# The network of a run: what it sends over which links, and what that costs.
$ pipesim --schedule 1f1b --model gpt2-64 --gpus 64 --tp 2 --pp 4 --cluster h100 --engine dag --no-alternatives | sed -n '/^  time/,/^  memory/p'
>   time     forward 17.6 %, backward 34.0 %, TP comm 41.0 %, p2p in flight 0.2 %,
>            waiting 7.1 %
>   network  exposed 41.2 % of the step; links are not shared (dag)
>
>   memory by rank, GiB     params  grads  optim  activ. buffers other  total
$ pipesim --schedule 1f1b --model gpt2-64 --gpus 64 --tp 2 --pp 4 --cluster h100 --engine dag --no-alternatives | awk 'length > 80'
# Demand above what a link carries in a step: the dag lets transfers pass each other, so it says so.
$ pipesim --schedule gpipe --model gpt2 --gpus 16 --pp 2 --tp 1 --mbs 1 --micro-batches 8 --post sender --cluster "node:8 gpu:2 device:h100 nic:1x1Gbps" --engine dag --no-alternatives | sed -n '/^  network/,/^  memory/p'
>   network  exposed 97.6 % of the step; links are not shared (dag)
>   links    node*.nic*.down: 8 links, 90.4 % mean, 90.6 % max (node0.nic0.down)
>            node*.nic*.up: 8 links, 90.4 % mean, 90.6 % max (node0.nic0.up)
>            the demand on node0.nic0.down is 91 % of its capacity; transfers do
>            not wait for each other in this engine, but in --engine simgrid
>
>   memory by rank, GiB     params  grads  optim  activ. buffers other  total
# For programs: up to eight classes of links, the most used first.
$ pipesim --schedule 1f1b --model gpt2-64 --gpus 16 --tp 2 --pp 4 --cluster h100 --engine dag --json | sed -n '/^  "network"/,/^  },/p' | grep -v _frac
>   "network": {
>     "fabric": "fat-tree",
>     "contended": false,
>     "replicas_simulated": 1,
>     "links": [
>       {
>         "name": "node*.nic*.down",
>         "count": 8,
>         "bytes": 21473034240,
>         "busiest": "node1.nic0.down"
>       },
>       {
>         "name": "node*.nic*.up",
>         "count": 8,
>         "bytes": 21473034240,
>         "busiest": "node0.nic0.up"
>       },
>       {
>         "name": "node*.gpu*.down",
>         "count": 16,
>         "bytes": 69976412160,
>         "busiest": "node0.gpu4.down"
>       },
>       {
>         "name": "node*.gpu*.up",
>         "count": 16,
>         "bytes": 69976412160,
>         "busiest": "node0.gpu4.up"
>       }
>     ]
>   },
$ pipesim --schedule 1f1b,gpipe --model gpt2-64 --gpus 16 --tp 2 --pp 4 --cluster h100 --engine dag --json | grep -c '"contended": false'
> 2
# Refused runs have no network.
$ pipesim --schedule 1f1b,chimera --model gpt2 --layers 12 --gpus 12 --tp 1 --pp 3 --cluster h100 --engine dag --json | grep -cE '"(network|refused)"'
> 2
# Where the figures come from.
$ pipesim --schedule 1f1b --model gpt2-64 --gpus 16 --tp 2 --pp 4 --cluster h100 --engine dag --explain | sed -n '/^network/,/^$/p'
> network
>   exposed communication 41.2027 % of an average rank: p2p in flight 0.0278085 s
>       + DP sync 0.000984955 s + TP comm 12.5901 s
>   simulated 4 pipeline ranks for 16 GPUs (data-parallel replicas are identical
>       and share no link in this engine)
>   fat-tree; use of a link = bytes of messages and gradient sums in a step /
>       (bandwidth * step), of all replicas
>     node*.nic*.down: 8 links, 2.1473e+10 bytes, mean 0.1905 %, max 0.1905 %
>         (node1.nic0.down)
>     node*.nic*.up: 8 links, 2.1473e+10 bytes, mean 0.1905 %, max 0.1905 %
>         (node0.nic0.up)
>     node*.gpu*.down: 16 links, 6.99764e+10 bytes, mean 0.0345 %, max 0.0448 %
>         (node0.gpu4.down)
>     node*.gpu*.up: 16 links, 6.99764e+10 bytes, mean 0.0345 %, max 0.0448 %
>         (node0.gpu4.up)
>
# Explanations are as wide as the terminal.
$ for width in 80 120; do for how in "--schedule chimera --gpus 2048" "--schedule zbv --model deepseek-v3 --gpus 256" "--schedule 1f1b --model llama3-8b --gpus 64 --tp 2 --pp 4 --zero 3 --offload os=host --bucket-size 25MB"; do COLUMNS=$width pipesim $how --engine dag --no-alternatives --explain | awk -v width=$width 'length > width { print } length > most { most = length } END { print (most > 70) }'; done; done
> 1
> 1
> 1
> 1
> 1
> 1
# Why replicas are simulated one by one.
$ pipesim --schedule 1f1b --model gpt2-64 --gpus 16 --tp 2 --pp 4 --cluster h100 --engine dag --no-fold --no-alternatives --explain | grep -A1 "simulated [0-9]"
>   simulated 8 pipeline ranks for 16 GPUs (not folded: --no-fold)
>   fat-tree; use of a link = bytes of messages and gradient sums in a step /
$ pipesim --schedule 1f1b --model gpt2 --gpus 32 --tp 1 --pp 2 --zero 0 --cluster h100 --engine dag --collectives flows --no-alternatives --explain | grep -A1 "simulated [0-9]"
>   simulated 32 pipeline ranks for 32 GPUs (not folded: hops of the ring of stage
>       0 take different times)
# Groups that are spread unevenly over nodes have as many rings as the smallest number of members on a node. So no link is asked for more than it carries.
$ for layout in '--gpus 12 --pp 1' '--gpus 24 --pp 2' '--gpus 36 --pp 3'; do pipesim --schedule 1f1b --model llama2-7b $layout --tp 1 --zero 3 --micro-batches 4 --recompute none --cluster a100 --no-alternatives | grep -e 'nic.*up' -e 'the demand on'; done
>            node*.nic*.up: 8 links, 46.2 % mean, 46.2 % max (node0.nic0.up)
>            node*.nic*.up: 24 links, 24.3 % mean, 36.6 % max (node0.nic0.up)
>   links    node*.nic*.up: 40 links, 18.4 % mean, 32.8 % max (node1.nic0.up)
