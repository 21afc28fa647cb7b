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
# So are those with the same experts or the same tensor parallelism, whose exchanges are within the ops.
$ cd $TMPDIR; run='--schedule 1f1b --pp 2 --layers 4 --hidden 32 --heads 4 --seq 16 --mbs 2 --micro-batches 4'; for how in '--tp 2' '--tp 2 --sequence-parallel on' '--tp 2 --dp 2' '--experts 4' '--experts 4 --dp 2 --recompute full'; do pipeexec $run $how --steps 2 --no-check --trace m.json >log; pipesim calibrate m.json -o cost.json >log; pipesim --cost cost.json --schedule 1f1b --pp 2 --micro-batches 4 $(grep -oE -e '--(dp 2|recompute full)' <<<"$how") --no-alternatives --trace p.json >log; pipesim compare p.json m.json --json | grep -c '"same_program": true'; pipesim --cost cost.json --schedule zbv --pp 4 --layers 16 --micro-batches 8 --no-alternatives | grep -oE 'TP . x PP . x DP .|error.*'; done
> 1
> TP 2 x PP 4 x DP 1
> 1
> TP 2 x PP 4 x DP 1
> 1
> TP 2 x PP 4 x DP 1
> 1
> TP 1 x PP 4 x DP 1
> 1
> TP 1 x PP 4 x DP 1
# One run prices every ZeRO stage, and the program is that of a run with it. Experts in parts must be measured.
$ cd $TMPDIR; run='--schedule 1f1b --pp 2 --layers 4 --hidden 32 --heads 4 --seq 16 --mbs 2 --micro-batches 4'; pipeexec $run --steps 2 --no-check --trace m.json >log; pipesim calibrate m.json -o whole.json >log; for zero in 1 2 3; do for schedule in 1f1b interleaved zb-h1; do pipeexec ${run/1f1b/$schedule} --dp 2 --zero $zero --steps 2 --no-check --trace m.json >log; pipesim calibrate m.json -o cut.json >log; for file in whole cut; do pipesim --cost $file.json --schedule $schedule --pp 2 --dp 2 --layers 4 --micro-batches 4 --zero $zero --no-alternatives --trace p.json >log; pipesim compare p.json m.json --json | grep '"same_program"'; done; done; done | uniq -c
>      18   "same_program": true,
$ cd $TMPDIR; pipeexec --schedule 1f1b --pp 2 --layers 4 --hidden 32 --heads 4 --seq 16 --mbs 2 --micro-batches 4 --experts 4 --dp 2 --ep 2 --steps 2 --no-check --trace m.json >log; pipesim calibrate m.json -o parts.json >log; pipesim --cost parts.json --schedule 1f1b --pp 2 --dp 2 --micro-batches 4 --no-alternatives --trace p.json >log; pipesim compare p.json m.json --json | grep '"same_program"'; pipesim --cost parts.json --schedule zbv --pp 4 --dp 4 --layers 16 --micro-batches 8 --no-alternatives | grep -oE 'EP .|error.*'; pipesim --cost parts.json --schedule 1f1b --pp 2 --dp 2 --ep 1
>   "same_program": true,
> EP 2
! pipesim: error: parts.json has no durations of --ep 1: --ep 2, as was measured
= 2
$ cd $TMPDIR; pipesim --cost cost.json --schedule 1f1b --pp 2 --tp 2; pipesim --cost cost.json --schedule 1f1b --pp 2 --dp 2 --ep 2; pipesim --cost cost.json --schedule 1f1b --pp 2 --top-k 1; pipesim --cost cost.json --schedule 1f1b --pp 2 --capacity-factor 2
! pipesim: error: cost.json has no durations of tensor parallelism: --tp 1
! pipesim: error: cost.json has no durations of --ep 2: --ep 1, as was measured
! pipesim: error: cost.json: no durations for hidden 32, 4 heads (4 of keys), ffn 128, vocab 256; 2 samples of 16 tokens at a time, 1 of 4 experts of ffn 128, shared 0
!   measured: hidden 32, 4 heads (4 of keys), ffn 128, vocab 256; 2 samples of 16 tokens at a time, 2 of 4 experts of ffn 128, shared 0
! pipesim: error: cost.json has no durations of experts with a capacity: --capacity-factor 1
= 2
$ cd $TMPDIR; run='pipeexec --pp 2 --layers 4 --hidden 32 --heads 4 --seq 16 --mbs 2 --micro-batches 4 --steps 2 --no-check --trace m.json'; $run --dp 2 --zero 3 --gather layer >log; pipesim calibrate m.json; $run --tp 2 >log; pipesim calibrate m.json -o cost.json >log; pipesim --cost cost.json --schedule 1f1b --pp 2 --tp 4; pipesim --cost cost.json --schedule 1f1b --pp 2 --sequence-parallel on
! pipesim: error: m.json: layers are not told apart with gathers of single layers: --gather chunk
! pipesim: error: cost.json has no durations of --tp 4: --tp 2, as was measured
! pipesim: error: cost.json: no durations for hidden 32, 4 heads (4 of keys), ffn 128, vocab 256; 2 samples of 16 tokens at a time, --tp 2 --sequence-parallel on
!   measured: hidden 32, 4 heads (4 of keys), ffn 128, vocab 256; 2 samples of 16 tokens at a time, --tp 2 --sequence-parallel off
= 2
# What was not measured is refused with what was.
$ cd $TMPDIR; pipeexec --pp 2 --layers 4 --hidden 32 --heads 4 --seq 16 --mbs 2 --micro-batches 4 --recompute full --steps 2 --no-check --trace m.json >log; pipesim calibrate m.json -o cost.json >log; pipesim --cost cost.json --schedule 1f1b --pp 2 --recompute selective
! pipesim: error: cost.json has no durations of --recompute selective=core_attn: --recompute none, full or stage-aware=R, as was measured
= 2
$ cd $TMPDIR; pipeexec --pp 2 --layers 4 --hidden 32 --heads 4 --seq 16 --mbs 2 --micro-batches 4 --recompute selective=mlp --steps 2 --no-check --trace m.json >log; pipesim calibrate m.json -o cost.json >log; pipesim --cost cost.json --schedule 1f1b --pp 2 --recompute none; pipesim --cost cost.json --schedule 1f1b --pp 2 --no-alternatives | grep -o "recompute selective=mlp"
> recompute selective=mlp
! pipesim: error: cost.json has no durations of --recompute none, full or stage-aware=R: --recompute selective=mlp, as was measured
