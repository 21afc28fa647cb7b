# Durations of an executed run price simulated ones with the same recomputation. The two traces are of one program.
$ cd $TMPDIR; run='--schedule zb-h1 --pp 2 --layers 4 --hidden 32 --heads 4 --seq 16 --mbs 2 --micro-batches 4'; for how in selective selective=layernorm+act+mlp stage-aware=0.5 full; do pipeexec $run --recompute $how --steps 2 --no-check --trace m.json >log; pipesim calibrate m.json -o cost.json | grep -o 'R of .*'; pipesim --cost cost.json ${run% --layers*} --micro-batches 4 --recompute $how --no-alternatives --trace p.json >log; pipesim compare p.json m.json --json | grep -cE '"same_program": true'; pipesim --cost cost.json --schedule interleaved --pp 4 --layers 16 --micro-batches 8 --recompute $how --no-alternatives | grep -c iteration; done
> R of core_attn
> 1
> 1
> R of layernorm+act+mlp
> 1
> 1
> 1
> 1
> 1
> 1
# What was not measured is refused with what was.
$ cd $TMPDIR; pipesim --cost cost.json --schedule 1f1b --pp 2 --recompute selective
! pipesim: error: cost.json has no durations of --recompute selective=core_attn: --recompute none, full or stage-aware=R, as was measured
= 2
$ cd $TMPDIR; pipeexec --pp 2 --layers 4 --hidden 32 --heads 4 --seq 16 --mbs 2 --micro-batches 4 --recompute selective=mlp --steps 2 --no-check --trace m.json >log; pipesim calibrate m.json -o cost.json >log; pipesim --cost cost.json --schedule 1f1b --pp 2 --recompute none; pipesim --cost cost.json --schedule 1f1b --pp 2 --no-alternatives | grep -o "recompute selective=mlp"
> recompute selective=mlp
! pipesim: error: cost.json has no durations of --recompute none, full or stage-aware=R: --recompute selective=mlp, as was measured
