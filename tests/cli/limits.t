# Limits: what is too large is refused before it is computed.
$ pipesim --schedule 1f1b --model tiny --mbs 2 --pp 65535
! pipesim: error: 8 layers cannot fill 65535 stages with at least one each: use at most 8 stages (lower --pp or --vp)
= 2
$ pipesim --schedule 1f1b --layers 65535 --hidden 64 --heads 4 --gpus 10000 --pp 10000
! pipesim: error: --pp 10000: a model with costs takes at most 8192 ranks; nearest: 8192, or --unit, which takes all
= 2
$ pipesim export --to goal --schedule 1f1b --layers 65535 --hidden 64 --heads 4 --gpus 65535 --pp 65535 -o x.goal
! pipesim: error: --pp 65535: a model with costs takes at most 8192 ranks; nearest: 8192, or --unit, which takes all
= 2
$ echo '{"schema":"pipesim.report/1","inputs":{"schedule":"1f1b","gpus":10000,"pp":10000,"layers":65535,"hidden":64,"heads":4}}' >r.json; pipesim --from r.json
! pipesim: error: r.json: inputs: 'gpus' is neither a text nor true
= 2
$ pipesim --schedule 1f1b --pp 65535 --micro-batches 2 --unit F=1,B=2 --engine dag --json | grep -o '"pp": [0-9][0-9]*'
> "pp": 65535
# Model flops count the keys of windows, and the tokens that experts keep; faster ranks have a higher peak.
$ for m in "mistral-7b --seq 131072" "llama4-scout --seq 262144" "mixtral-8x7b --capacity-factor 10%" "llama2-7b --slow 0=1000 --slow 1=1000 --slow 2=1000 --slow 3=1000"; do pipesim --schedule 1f1b --gpus 4 --pp 4 --mbs 1 --micro-batches 8 --engine dag --no-alternatives --json --model $m | grep -oE '"(mfu|hfu)": 0...' | paste -sd' '; done
> "mfu": 0.28 "hfu": 0.38
> "mfu": 0.32 "hfu": 0.42
> "mfu": 0.24 "hfu": 0.31
> "mfu": 0.16 "hfu": 0.16
