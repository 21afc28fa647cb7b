# What stages hold and compute again.
$ export COLUMNS=100; pipesim --schedule 1f1b --pp 4 --gpus 4 --model bert-large --recompute stage-aware=0.75 --micro-batches 8 --engine dag --explain | grep -A1 "recomputed share"
>   recomputed share of the blocks of stage s = 1 to P, 1 - (1 - R) (P - 1) / (P - s):
>     0.75 0.625 0.25 0
$ pipesim --schedule 1f1b --pp 4 --gpus 4 --model bert-large --recompute stage-aware=0.75 --micro-batches 8 --engine dag --json | tr -d ' \n' | grep -o '"stages":{[^}]*}'
> "stages":{"layers":[6,6,6,6],"recompute_frac":[0.75,0.625,0.25,0.0]}
$ pipesim --schedule 1f1b --pp 4 --gpus 4 --model bert-large --decoder-first-pipeline-num-layers 5 --decoder-last-pipeline-num-layers 3 --engine dag | grep -o "layers by stage.*"
> layers by stage 5, 8 x 2, 3
