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
