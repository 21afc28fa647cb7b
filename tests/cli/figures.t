# Tables with one published figure a row: metric, value and unit.
$ pipesim validate tests/cli/figures.csv
> 1 row: 0 predicted; of 0 that state every setting, 0
> 8 more publish one figure each, which count apart; 4 predicted
> An error is predicted / published - 1. median, p90, mean: of its size; bias: the
> median with its sign; guess: of a step at the median MFU of the other families.
>
> no row has both a published step time and a prediction
>
> one figure a row           published                      median     bias
> colossal-like              samples_per_s                   6.8 %   +6.8 %
>                            17.13 1/s, predicted 18.2889
> colossal-like              peak                            7.7 %   -7.7 %
>                            119040 MiB, predicted 109831
> zero-like                  tflops_per_gpu                103.1 % +103.1 %
>                            40 TFLOP/s, predicted 81.2534; its source says little
> zero-infinity-max          largest_model                  40.7 %  +40.7 %
>                            1.4 B, predicted 1.97048
>
> skipped
>      1  a model of 11.5 B parameters: no sizes are known (size,
>         tests/cli/figures.csv:9)
>      1  its layout is not stated (3d, tests/cli/figures.csv:6)
>      1  metric "colour" is not known (colour, tests/cli/figures.csv:7)
>      1  the line has 2 fields, the header 19 (short, tests/cli/figures.csv:10)
>      1  value "-20" is no positive number (negative, tests/cli/figures.csv:8)
$ for row in rate peak open largest; do pipesim validate tests/cli/figures.csv --row $row; done
> rate (tests/cli/figures.csv:2)
> command   pipesim run --layers 32 --hidden 4096 --heads 32 --vocab 32000 \
>           --seq 4096 --gpus 8 --mbs 36 --cluster h200 --model llama2-7b \
>           --zero 2 --schedule 1f1b --pp 1 --tp 1 --recompute full \
>           --micro-batches 1 --engine dag
> figure    published 17.13 1/s, predicted 18.2889 1/s, error +6.8 %
> peak (tests/cli/figures.csv:3)
> command   pipesim run --layers 32 --hidden 4096 --heads 32 --vocab 32000 \
>           --seq 4096 --gpus 8 --mbs 36 --cluster h200 --model llama2-7b \
>           --zero 2 --schedule 1f1b --pp 1 --tp 1 --recompute full \
>           --micro-batches 1 --engine dag
> figure    published 119040 MiB, predicted 109831 MiB, error -7.7 %
> open (tests/cli/figures.csv:4)
> command   pipesim run --layers 50 --hidden 4096 --gpus 16 --mbs 16 \
>           --cluster v100-dgx2 --vocab 50304 --heads 16 --seq 1024 --zero 3 \
>           --framework deepspeed --schedule 1f1b --pp 1 --tp 1 --recompute full \
>           --micro-batches 1 --engine dag
> found     mbs 16, the best of those that fit
> figure    published 40 TFLOP/s, predicted 81.2534 TFLOP/s, error +103.1 %
> largest (tests/cli/figures.csv:5)
> command   pipesim run --layers 37 --gpus 16 --cluster v100-dgx2 --vocab 50304 \
>           --seq 1024 --mbs 1 --hidden 2048 --heads 16 --framework plain \
>           --zero 0 --schedule 1f1b --pp 1 --tp 1 --recompute full \
>           --micro-batches 1 --engine dag
> found     37 layers
> figure    published 1.4 B, predicted 1.97048 B, error +40.7 %
$ pipesim validate tests/cli/figures.csv --row colour
> colour (tests/cli/figures.csv:7)
> skipped   metric "colour" is not known
! pipesim: error: --row colour: the row is skipped, nothing is predicted
= 2
$ pipesim validate tests/cli/figures.csv --row negative
> negative (tests/cli/figures.csv:8)
> skipped   value "-20" is no positive number
! pipesim: error: --row negative: the row is skipped, nothing is predicted
= 2
$ pipesim validate tests/cli/figures.csv --json | sed -n '/"figure"/,/}/p' | head -7
>       "figure": {
>         "metric": "samples_per_s",
>         "unit": "1/s",
>         "published": 17.129999999999999,
>         "predicted": 18.288880237543967,
>         "error_frac": 0.067652086254755828
>       },
# They count in no other error, and no constant is fitted on them. A table of your own may have a column "value".
$ pipesim validate tests/cli/figures.csv --tolerance 50% >/dev/null
! pipesim: error: --tolerance 50%: no row has a published step time, stated settings and a prediction
= 5
$ pipesim validate tests/cli/figures.csv --refit
! pipesim: error: --refit: no row has a published step time, stated settings and a prediction
= 2
$ printf 'model,cluster,gpus,tp,pp,mbs,gbs,seq,value,step_time_s\nllama3-8b,h100,16,2,1,1,64,8192,7,4.75\n' >"$TMPDIR/own.csv"; pipesim validate "$TMPDIR/own.csv" 2>&1 | sed "s|$TMPDIR/||" | head -2
> pipesim: warning: own.csv:1: column "value" is not known and ignored
> 1 row: 1 predicted; of 1 that states every setting, 1
