# Transfers that share links: needs an engine that does so.
$ pipesim --schedule 1f1b --model gpt2-64 --gpus 64 --tp 2 --pp 4 --cluster "h100 leaf:2" --engine simgrid --no-alternatives | grep -E -A1 '^  (network|folding)'
>   network  fat-tree of 8 nodes; engine simgrid: 4,974 transfers, each alone on
>            its links
> --
>   folding  simulated 4 pipeline ranks for 64 GPUs (data-parallel replicas are
>            wired alike and cannot fill a link together)
$ pipesim --schedule 1f1b --model gpt2-64 --gpus 64 --tp 2 --pp 4 --cluster "h100 leaf:2 oversub:2" --engine simgrid --no-alternatives | grep -E -A1 '^  (network|folding)'
>   network  fat-tree of 8 nodes; engine simgrid: 39,792 transfers,
>            39,792 met others on 32 links
> --
>   folding  simulated 32 pipeline ranks for 64 GPUs (not folded: replicas 0 and 4
>            meet on leaf0.rail0.up, which can be asked for 2 times its bandwidth)
$ pipesim --schedule 1f1b --model gpt2-64 --gpus 64 --tp 2 --pp 4 --cluster "h100 leaf:2 oversub:2" --engine simgrid --json | grep -E '"(engine|contended|replicas_simulated)"'
>   "engine": "simgrid",
>     "contended": true,
>     "replicas_simulated": 8,
>     "engine": "simgrid"
# One replica stands for all to the last bit.
$ diff <(pipesim --schedule 1f1b --model gpt2-64 --gpus 64 --tp 2 --pp 4 --cluster h100 --engine simgrid --json | grep iteration_s) <(pipesim --schedule 1f1b --model gpt2-64 --gpus 64 --tp 2 --pp 4 --cluster h100 --engine simgrid --no-fold --json | grep iteration_s)
# Late steps are like early ones: the hundredth is over after 46 days.
$ for steps in 2 100; do pipesim --schedule 1f1b --model gpt3-175b --gpus 8 --tp 1 --pp 4 --micro-batches 16 --zero 0 --cluster "gpu:4 peak:0.5TF nic:1x1Gbps" --engine simgrid --steps $steps --grad-sync eager --collectives flows --json | grep -o '"iteration_s": [0-9]*.[0-9]\{6\}'; done
> "iteration_s": 39584.639691
> "iteration_s": 39584.639691
