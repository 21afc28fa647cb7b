# Transfers that share links: needs an engine that does so.
$ pipesim --schedule 1f1b --model gpt2-64 --gpus 64 --tp 2 --pp 4 --cluster "h100 leaf:2" --engine simgrid --explain | grep -E -A1 'shared a link|simulated [0-9]'
>   4974 transfers; 0 shared a link with others, on 0 links
>   simulated 4 pipeline ranks for 64 GPUs (data-parallel replicas are identical,
>       and no link that they share can be full)
$ pipesim --schedule 1f1b --model gpt2-64 --gpus 64 --tp 2 --pp 4 --cluster "h100 leaf:2 oversub:2" --engine simgrid --explain | grep -E -A1 'shared a link|simulated [0-9]'
>   39792 transfers; 39792 shared a link with others, on 32 links
>   simulated 32 pipeline ranks for 64 GPUs (not folded: replicas 0 and 4 meet on
>       leaf0.rail0.up, which can be asked for 2 times its bandwidth)
$ pipesim --schedule 1f1b --model gpt2-64 --gpus 64 --tp 2 --pp 4 --cluster "h100 leaf:2 oversub:2" --engine simgrid --json | grep -E '"(engine|contended|replicas_simulated)"'
>   "engine": "simgrid",
>     "contended": true,
>     "replicas_simulated": 8,
>     "engine": "simgrid"
# One replica stands for all to the last bit.
$ diff <(pipesim --schedule 1f1b --model gpt2-64 --gpus 64 --tp 2 --pp 4 --cluster h100 --engine simgrid --json | grep iteration_s) <(pipesim --schedule 1f1b --model gpt2-64 --gpus 64 --tp 2 --pp 4 --cluster h100 --engine simgrid --no-fold --json | grep iteration_s)
# Late steps are like early ones: the hundredth is over after 46 days.
$ for steps in 2 100; do pipesim --schedule 1f1b --model gpt3-175b --gpus 8 --tp 1 --pp 4 --micro-batches 16 --zero 0 --cluster "gpu:4 peak:0.5TF nic:1x1Gbps" --engine simgrid --steps $steps --grad-sync eager --collectives flows --json --no-alternatives | grep -o '"iteration_s": [0-9]*.[0-9]\{6\}'; done
> "iteration_s": 43243.270367
> "iteration_s": 8975.565711
> "iteration_s": 43252.383573
> "iteration_s": 43242.091859
> "iteration_s": 43243.270367
> "iteration_s": 8975.565711
> "iteration_s": 43252.383573
> "iteration_s": 43242.091859
# Gradient sums meet on the links of the topology, priced or sent hop by hop.
$ for c in "h100 leaf:2 oversub:16" "h100 torus:8x4x1"; do for f in analytic flows; do pipesim --schedule 1f1b --gpus 256 --tp 8 --pp 4 --model llama3-70b --cluster "$c" --engine simgrid --collectives $f --explain | tr -s ' \n' ' ' | grep -o 'DP sync [0-9.]* s'; done; done
> DP sync 1.3378 s
> DP sync 1.33997 s
> DP sync 1.33999 s
> DP sync 1.33997 s
$ for c in "h100 leaf:2 oversub:16" "h100 torus:8x4x1" "gpu:4 pcie:16GBps nic:4x100Gbps"; do pipesim --schedule 1f1b --gpus 256 --tp 4 --pp 4 --model llama3-8b --cluster "$c" --engine dag --explain | grep -m2 limited; done
>     network at 5.75 GB/s, limited by leaf0.rail0.up
>     network at 5.75 GB/s, limited by leaf4.rail0.up
>     network at 5.75 GB/s, limited by node0.x.up, 8 sums share it
>     network at 5.75 GB/s, limited by node8.x.up, 8 sums share it
>     network at 3.68 GB/s, limited by node0.host, 8 sums share it
>     network at 3.68 GB/s, limited by node16.host, 8 sums share it
# A cluster and its own platform file are one.
$ for c in "gpu:2 nic:1x100Gbps" "gpu:4 nic:2x100Gbps" "gpu:4 pcie:16GBps nic:4x100Gbps" "gpu:4 nic:1x100Gbps torus:2x2x1" "gpu:2 leaf:2 oversub:4"; do pipesim clusters "$c" --xml --gpus 16 >platform.xml; diff <(pipesim --schedule 1f1b --model gpt2 --gpus 16 --pp 2 --gbs 64 --cluster "$c" --json | grep -o '"iteration_s": [0-9.]\{12\}') <(pipesim --schedule 1f1b --model gpt2 --gpus 16 --pp 2 --gbs 64 --cluster platform.xml --json | grep -o '"iteration_s": [0-9.]\{12\}'); done
# A tied embedding is summed between the two ends of every replica.
$ pipesim --schedule 1f1b --pp 2 --gpus 4 --gbs 64 --mbs 1 --model gpt2 --cluster "gpu:1 fabric:star nic:1x1Gbps" --engine simgrid --no-alternatives | sed -n '/^  links/,/^  memory/p'
>   links    node*.nic*.down: 4 links, 95.7 % mean, 96.0 % max (node0.nic0.down)
>            node*.nic*.up: 4 links, 95.7 % mean, 96.0 % max (node0.nic0.up)
>
>   memory by rank, GiB     params  grads  optim  activ. buffers other  total
# SimGrid itself finds the same step, where transfers meet.
$ for c in "h100 torus:2x2x1" p100-daint "h100 leaf:2" "h100 leaf:2 oversub:4"; do for s in 1f1b chimera; do for e in simgrid simgrid-lmm; do pipesim --schedule $s --model gpt2 --gpus 32 --tp 2 --pp 4 --micro-batches 8 --cluster "$c" --collectives flows --map tp,pp,cp,dp --engine $e --json --no-alternatives | grep -m1 iteration_s; done | awk -v c="$c $s" '{ t[NR] = $2 } END { d = t[1] - t[2]; if (NR != 2 || !(d * d <= 1e-18 * t[1] * t[1])) print c, t[1], t[2] }'; done; done
$ for s in 1f1b interleaved; do for c in "gpu:1 torus:8x8x2 hop:5GBps" "h100 torus:4x4x1" "h100 leaf:4 oversub:4"; do [[ $PIPESIM_LONG ]] || break; for e in simgrid simgrid-lmm; do pipesim --schedule $s --model gpt3-175b --gpus 128 --tp 2 --pp 16 --micro-batches 32 --mbs 1 --cluster "$c" --collectives flows --map tp,cp,dp,pp --engine $e --json --no-alternatives | grep -m1 iteration_s; done | awk -v c="$c $s" '{ t[NR] = $2 } END { d = t[1] - t[2]; if (NR != 2 || !(d * d <= 1e-18 * t[1] * t[1])) print c, t[1], t[2] }'; done; done
