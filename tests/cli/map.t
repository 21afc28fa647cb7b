# --map says which devices are neighbours.
$ pipesim --schedule 1f1b --gpus 64 --map dx
! pipesim: error: --map dx: unknown axis 'dx': expected tp, cp, dp and pp from inside out, such as tp,cp,dp,pp
= 2
$ pipesim --schedule 1f1b --gpus 64 --map dp,tp,DP
! pipesim: error: --map dp,tp,DP: dp is given twice: expected tp, cp, dp and pp from inside out, each at most once
= 2
$ pipesim --schedule 1f1b --unit F=1 --pp 2 --micro-batches 4 --map dp,tp
! pipesim: error: --map dp,tp has no effect with --unit, which has no model, devices or memory, but the costs of ops alone
= 2
$ pipesim --schedule gpipe --model gpt2 --tp 1 --pp 4 --dp 1 --map pp
! pipesim: error: --map pp has no effect here: one degree alone is above 1, so the devices have only one order
= 2
$ pipesim --schedule 1f1b --gpus 64 --model gpt2 --tp 2 --pp 4 --map DP-pp --no-alternatives | grep -o 'map [a-z].*'
> map dp,pp,tp,cp
$ pipesim --schedule 1f1b --gpus 64 --model gpt2 --tp 2 --pp 4 --map dp,pp --json | grep '^  "map"'
>   "map": "dp,pp,tp,cp",
$ pipesim --schedule 1f1b --gpus 64 --model gpt2 --tp 2 --pp 4 --map tp,cp,dp,pp --json | grep -c '^  "map"'
> 0
= 1
# The innermost degree has the fast links: dp inside the node makes sums cheap, pp messages.
$ export COLUMNS=100; pipesim --schedule 1f1b --gpus 64 --model gpt2-64 --tp 1 --pp 8 --engine dag --explain | grep -E 'message over|gradient sum of 300'
>   message over the network: 8.00 us + bytes / 46.0 GB/s
>     gradient sum of 300 MiB: 1.58 ms = node 1.53 ms + network 0 s + latency 53.0 us
$ export COLUMNS=100; pipesim --schedule 1f1b --gpus 64 --model gpt2-64 --tp 1 --pp 8 --engine dag --map pp --explain | grep -E 'message over|gradient sum of 300'
>   message over the node: 2.00 us + bytes / 414 GB/s
>     gradient sum of 300 MiB: 12.1 ms = node 0 s + network 12.0 ms + latency 132 us
