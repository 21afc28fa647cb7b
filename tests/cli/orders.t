# Orders that follow the run, and steps with many seeds.
$ pipesim --schedule 1f1b --pp 8 --micro-batches 32 --unit F=1,B=2 --order dynamic:2x --jitter 20% --seeds 3 --seed 5 --json | sed -n '/steps_by_seed/,/^  },/p'
>   "steps_by_seed": [
>     117.251520235538,
>     118.372316461081,
>     119.627006196693
>   ],
>   "seeds": {
>     "first": 5,
>     "count": 3,
>     "step_s": {
>       "mean": 118.41694763110399,
>       "least": 117.251520235538,
>       "greatest": 119.627006196693
>     },
>     "strict_steps_by_seed": [
>       125.75714441002199,
>       126.60598288761099,
>       125.972819686215
>     ],
>     "strict_step_s": {
>       "mean": 126.11198232794933,
>       "least": 125.75714441002199,
>       "greatest": 126.60598288761099
>     },
>     "strict_over_step": {
>       "mean": 1.0650485748045855,
>       "least": 1.0530466630510513,
>       "greatest": 1.072541696324258
>     },
>     "slower_seeds": 0
>   },
$ for s in 5 6 7; do pipesim --schedule 1f1b --pp 8 --micro-batches 32 --unit F=1,B=2 --order dynamic:2x --jitter 20% --seed $s --json | grep iteration_s; done
>   "iteration_s": 117.251520235538,
>   "iteration_s": 118.372316461081,
>   "iteration_s": 119.627006196693,
# The strict order is compared with itself no more.
$ pipesim --schedule gpipe --pp 4 --micro-batches 8 --unit F=1,B=2 --jitter 20% --seeds 20 | grep -A1 seeds
>   seeds    20 from 0 on: the step takes 34.6148 units on average, 33.595 units
>            to 36.0605 units
$ pipesim --schedule 1f1b --pp 4 --micro-batches 8 --unit F=1,B=2 --jitter 20% --seeds 1 --json | sed -n '/"seeds"/,/}/p' | head -3
>   "seeds": {
>     "first": 0,
>     "count": 1,
$ pipesim sweep --schedule 1f1b,gpipe --pp 4 --micro-batches 8 --unit F=1,B=2 --jitter 20% --seeds 10,20 --order eager:2x | python3 -c 'import csv, sys; [print(*[r[k][:9] for k in r if k in ("schedule", "seeds") or "step_" in k or "slower" in k]) for r in csv.DictReader(sys.stdin)]'
> 1f1b 10 33.121810 31.565406 34.737063 1.0340968 1.0105057 1.0678005 0
> 1f1b 20 33.038368 31.565406 34.737063 1.0353746 1.0029072 1.0678005 0
> gpipe 10 34.700852 34.088843 35.406884 0.9999999 1 1 0
> gpipe 20 34.614788 33.595023 36.060548 1.0000000 1 1 0
# A model, with replicas that differ. The jitter of eager is that of its own places.
$ for order in strict eager:2x dynamic:2x; do pipesim --schedule 1f1b --model llama2-7b --gpus 16 --tp 1 --pp 8 --dp 2 --micro-batches 32 --head ignored --engine dag --jitter 20% --seeds 4 --no-alternatives --order $order | grep -A2 "^  seeds"; done
>   seeds    4 from 0 on: the step takes 1.82 s on average, 1.81 s to 1.82 s
>   time     forward 24.7 %, backward 50.0 %, p2p in flight 0.3 %, DP sync 0.6 %,
>            optimizer 0.7 %, waiting 23.7 %
>   seeds    4 from 0 on: the step takes 1.71 s on average, 1.69 s to 1.73 s; the
>            strict order takes 1.066 times as long (1.056 to 1.082), and is
>            faster with 0 of them
>   seeds    4 from 0 on: the step takes 1.71 s on average, 1.68 s to 1.73 s; the
>            strict order takes 1.066 times as long (1.055 to 1.074), and is
>            faster with 0 of them
$ pipesim --schedule 1f1b --pp 4 --micro-batches 8 --unit F=1 --seeds 10
! pipesim: error: --seeds 10 has no effect without --jitter
= 2
$ pipesim --schedule 1f1b --pp 4 --micro-batches 8 --unit F=1 --jitter 5% --seeds 0
! pipesim: error: --seeds: 0 is out of range: 1 to 100000
= 2
$ pipesim --schedule 1f1b,gpipe --pp 4 --micro-batches 8 --unit F=1 --jitter 5% --seeds 4
! pipesim: error: --seeds shows one schedule, --schedule lists 2
= 2
$ pipeexec --schedule 1f1b --np 2 --seeds 4
! pipeexec: error: unknown option --seeds; only pipesim has it: pipesim help --seeds
! try: pipeexec run --help
= 2
$ for order in dynamic arrival:2x; do pipesim --schedule 1f1b --pp 8 --micro-batches 32 --unit F=1,B=2 --jitter 99% --slow 0=1e-9 --order $order; done
! pipesim: error: with --slow and --jitter the ops take up to 1.53e+12 s in all; times above 4.61e+06 s overflow
! pipesim: error: with --slow and --jitter the ops take up to 1.53e+12 s in all; times above 4.61e+06 s overflow
= 1
# Orders that follow a run are no lists made before it.
$ for order in dynamic:2x dynamic arrival:4; do pipeexec --schedule 1f1b --np 2 --micro-batches 4 --order $order; done
! pipeexec: error: --order dynamic:2x: pipeexec runs lists that are made before the run; nearest: eager:2x
! pipeexec: error: --order dynamic: pipeexec runs lists that are made before the run; nearest: eager
! pipeexec: error: --order arrival:4: pipeexec runs lists that are made before the run; nearest: eager
= 2
$ pipeexec --schedule 1f1b --np 2 --micro-batches 4 --mbs 2 --layers 2 --hidden 32 --heads 2 --seq 16 --steps 2 --order eager:2x --json | grep -c '"losses"'
> 1
