# One vocabulary of columns: the names of published tables, of a sweep, and what people type.
$ pipesim validate --template | grep -v '^# '
> id,model,cluster,framework,gpus,tp,pp,vp,schedule,mbs,gbs,seq,zero,recompute,precision,step_time_s
> #example-1,llama3-8b,h100,megatron,16,2,2,1,1f1b,1,64,8192,1,none,bf16,4.75
> #example-2,llama3-8b,h100,megatron,16,1,4,2,interleaved,1,64,8192,1,none,bf16,5.12
# The table that --template prints is predicted when it is fed back.
$ pipesim validate --template | sed 's/^#ex/ex/' >"$TMPDIR/mine.csv"; pipesim validate "$TMPDIR/mine.csv" --json | grep -E '"(id|family|skipped)"'
>     "skipped": [],
>       "id": "example-1",
>       "family": "mine",
>       "skipped": null,
>       "id": "example-2",
>       "family": "mine",
>       "skipped": null,
$ pipesim validate --template | sed 's/^#ex/ex/; s/,llama3-8b,h100,megatron,/,Llama-3-8B,"h100 nic:4x400Gbps",Megatron-LM,/; s/,gbs,/,micro_batches,/; s/,64,8192/,8,8192/' >"$TMPDIR/mine.csv"; pipesim validate "$TMPDIR/mine.csv" --row example-1 | grep -oE -- '--(gbs|mbs|cluster|framework) (.h100 nic:[^ ]*|[a-z0-9]+)'
> --mbs 1
> --gbs 32
> --cluster 'h100 nic:4x400Gbps'
> --framework megatron
# What a person types: gpu, microbatch, step_time.
$ printf 'model,gpu,gpus,tp,pp,microbatch,global_batch,seq_len,schedule,step_time\nllama3-8b,H100,16,2,2,1,64,8192,1f1b,4.4\n' >"$TMPDIR/own.csv"; cd "$TMPDIR"; pipesim validate own.csv --json | grep -E '"(id|family|published_step_s|skipped)"'
>     "skipped": [],
>       "id": "own.csv:2",
>       "family": "own",
>       "published_step_s": 4.4000000000000004,
>       "skipped": null,
# An option of a run as a column.
$ printf 'model,gpu,gpus,tp,pp,mbs,gbs,seq,schedule,step_time_s,tp_overlap,attention,cpu_optimizer\nllama3-8b,H100,16,2,2,1,64,8192,1f1b,4.4,50%%,flash1,\n' >"$TMPDIR/own.csv"; cd "$TMPDIR"; pipesim validate own.csv --row own.csv:2 | grep -oE -- '--(tp-overlap|attention|cpu-optimizer) [a-z0-9%]+'
> --tp-overlap 50%
> --attention flash1
# Two columns for one thing; a column twice; columns that are not known.
$ printf 'model,gpu,gpus,tp,pp,mbs,gbs,seq,step_time_s,metric_step_time_s\n' >"$TMPDIR/own.csv"; cd "$TMPDIR"; pipesim validate own.csv
! pipesim: error: own.csv:1: columns step_time_s and metric_step_time_s are two names of one thing, metric_step_time_s; keep one
= 2
$ printf 'model,gpu,cluster,gpus,tp,pp,mbs,gbs,seq,step_time_s\n' >"$TMPDIR/own.csv"; cd "$TMPDIR"; pipesim validate own.csv
! pipesim: error: own.csv:1: columns gpu and cluster both say which devices ran; keep one
= 2
$ printf 'model,gpu,gpus,tp,TP,pp,mbs,gbs,seq,step_time_s\n' >"$TMPDIR/own.csv"; cd "$TMPDIR"; pipesim validate own.csv
! pipesim: error: own.csv:1: column TP stands there twice
= 2
$ printf 'model,gpu,gpus,tp,pp,mbs,gbs,seq,stage,step_tme\nllama3-8b,H100,8,8,1,1,64,8192,3,4.4\n' >"$TMPDIR/own.csv"; cd "$TMPDIR"; pipesim validate own.csv 2>&1 >/dev/null
> pipesim: warning: own.csv:1: column "stage" is not known and ignored
> pipesim: warning: own.csv:1: column "step_tme" is not known and ignored; did you mean step_time?
> pipesim: error: nothing is compared: no predicted row has a measurement, and columns are ignored: see the warnings above
= 1
# Without the measurement the same table is for its predictions. A row that states all that a table needs is complete.
$ cd "$TMPDIR"; printf 'model,gpu,gpus,tp,pp,mbs,gbs,seq\nllama3-8b,H100,8,8,1,1,64,8192\nllama9,H100,8,8,1,1,64,8192\n' >own.csv; pipesim validate own.csv | grep -v '^An\|^med\|^$'
> 2 rows: 1 predicted; of 2 that state every setting, 1
> no row has both a published step time and a prediction
> skipped
>      1  model "llama9" is unknown: did you mean llama-7b? ('pipesim models'
>         lists names); else missing: layers, hidden, heads, vocab (own.csv:3)
# The result of a sweep, with a measured column.
$ cd "$TMPDIR"; pipesim sweep --schedule 1f1b,zbv --gpus 16 --model llama2-7b --tp 2 --pp 4 --gbs 64 --framework nemo --zero 1 --recompute full --engine dag -o sweep.csv 2>/dev/null; pipesim validate sweep.csv
! pipesim: error: sweep.csv:1: the result of a sweep, whose iteration_s is predicted; add a column step_time_s with the seconds that were measured
= 2
$ cd "$TMPDIR"; pipesim sweep --schedule 1f1b,zbv --gpus 16 --model llama2-7b --tp 2 --pp 4 --gbs 64 --framework nemo --zero 1 --recompute full --engine dag -o sweep.csv 2>/dev/null; awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "iteration_s") at = i; print $0 ",step_time_s"; next } { print $0 "," $at * 1.25 }' sweep.csv >measured.csv; pipesim validate measured.csv -o - | awk -F, 'NR > 1 { printf "%s %s %s %.3f\n", $1, $2, $4, $9 }' | tail -2
> measured.csv:2 measured 1f1b -0.200
> measured.csv:3 measured zbv -0.200
$ cd "$TMPDIR"; printf 'point,schedule,model,gpus,iteration_s,status,points,key,step_s\n0,/etc/passwd,llama2-7b,8,1,ok,2,0,1\n1,1f1b,llama2-7b,8,,refused,2,1,1\n' >odd.csv; pipesim validate odd.csv | sed -n '/^skipped/,$p'
> skipped
>      1  a point that the sweep could not predict (odd.csv:3)
>      1  schedule "/etc/passwd" is no built-in name, and a cell opens no file
>         (odd.csv:2)
! pipesim: error: nothing is predicted: all 2 rows are skipped, for the reasons above
# Cells open no file, and nothing predicted is no success.
$ cd "$TMPDIR"; printf 'model,cluster,gpus,tp,pp,mbs,gbs,seq,schedule,step_s,framework\n/etc/passwd,h100,8,8,1,1,8,512,,1,\nllama3-8b,./x.xml,8,8,1,1,8,512,,1,\nllama3-8b,h100x,8,8,1,1,8,512,,1,\nllama3-8b,h100,8,8,1,1,8,512,,1,megatorn\nllama3-8b,h100,8,4,2,,8,512,x.csv,1,\n' >odd.csv; pipesim validate odd.csv | sed -n '/^skipped/,$p'; exit ${PIPESTATUS[0]}
> skipped
>      1  --cluster: unknown cluster 'h100x': did you mean 'h100'? (`pipesim
>         clusters` lists them) (odd.csv:4)
>      1  --framework: unknown 'megatorn': did you mean 'megatron'? (odd.csv:5)
>      1  cluster "./x.xml": a cell opens no file (odd.csv:3)
>      1  model "/etc/passwd" is unknown ('pipesim models' lists names); else
>         missing: layers, hidden, heads, vocab (odd.csv:2)
>      1  schedule "x.csv" is not known (odd.csv:6)
! pipesim: error: nothing is predicted: all 5 rows are skipped, for the reasons above
= 1
$ cd "$TMPDIR"; printf 'model,cluster,gpus,tp,pp,mbs,gbs,seq,step_s\n' >empty.csv; pipesim validate empty.csv >/dev/null
! pipesim: error: the table has no rows, so nothing is predicted
= 1
$ cd "$TMPDIR"; printf 'model,gpu,gpus,tp,pp,mbs,gbs,micro_batches,seq,step_s\nllama3-8b,h100,8,8,1,,64,7,512,1\nllama3-8b,h100,8,8,1,2,64,7,512,1\nllama3-8b,h100,8,8,1,,,7,512,1\n' >odd.csv; pipesim validate odd.csv | sed -n '/^skipped/,$p'
> skipped
>      1  contradiction: gbs 64 is not micro_batches 7 * dp 1 * a whole
>         micro-batch size (odd.csv:2)
>      1  contradiction: gbs 64 is not micro_batches 7 * dp 1 * a whole
>         micro-batch size, here 2 (odd.csv:3)
>      1  missing: mbs, gbs (odd.csv:4)
! pipesim: error: nothing is predicted: all 3 rows are skipped, for the reasons above
# A micro-batch that no cell states is one sample; such rows count apart.
$ cd "$TMPDIR"; printf 'id,model,gpu,gpus,tp,pp,mbs,gbs,seq,schedule,step_s\nstated,llama3-8b,H100,16,2,2,1,64,8192,1f1b,4.4\nguess,llama3-8b,H100,16,2,2,,64,8192,1f1b,4.4\n' >guess.csv; pipesim validate guess.csv | grep -E '^2 rows|^1 more|^inferred' | sed -E 's/ *[-+0-9.]+ %/ N %/g'; pipesim validate guess.csv --json >guess.json; grep -E '"(id|inferred|skipped)": [^{[]' guess.json | tr -d ' ' | paste -sd ' '; grep -c '"error_frac": [0-9]' guess.json
> 2 rows: 1 predicted; of 1 that states every setting, 1
> 1 more with inferred settings, which count apart
> inferred settings             1 N % N % N % N %        -
> "id":"stated", "inferred":null, "skipped":null, "id":"guess", "inferred":"mbs1", "skipped":null,
> 2
$ cd "$TMPDIR"; grep -v stated, guess.csv >alone.csv; pipesim validate alone.csv --tolerance 50% >/dev/null
! pipesim: error: --tolerance 50%: no row has a published step time, stated settings and a prediction
= 5
$ cd "$TMPDIR"; pipesim validate alone.csv --refit >/dev/null
! pipesim: error: --refit: no row has a published step time, stated settings and a prediction
= 2
$ cd "$TMPDIR"; pipesim validate guess.csv --row guess | grep mbs
> concluded mbs 1: not stated; the errors of this row count apart
> command   pipesim run --gpus 16 --tp 2 --pp 2 --dp 4 --seq 8192 --mbs 1 \
# A table is no file of constants.
$ cd "$TMPDIR"; pipesim validate --template >t.csv; pipesim --constants t.csv --schedule 1f1b --gpus 8
! pipesim: error: t.csv: no file of constants, which is JSON; 'pipesim validate TABLE --refit -o FILE.json' writes one from a table of measured steps
= 2
# Missing columns have the names of the template; what does not divide is said without a dp that no cell states.
$ printf 'model,gpus,tp,pp,schedule,step_s\nllama3-8b,8,2,3,1f1b,1\n' >"$TMPDIR/few.csv"; cd "$TMPDIR"; pipesim validate few.csv | sed 1,6d; printf 'model,cluster,gpus,tp,pp,schedule,mbs,gbs,seq\nllama3-8b,h100,8,2,3,1f1b,1,8,512\nllama3-8b,h100,8,2,4,1f1b,2,7,512\n' >few.csv; pipesim validate few.csv | sed 1,6d
> skipped
>      1  missing: seq, cluster, gbs (few.csv:2)
> skipped
>      1  contradiction: gbs 7 is not a multiple of mbs 2 * dp 1 = 2 (few.csv:3)
>      1  contradiction: gpus 8 is not a multiple of tp 2 * pp 3 * cp 1 = 6
>         (few.csv:2)
! pipesim: error: nothing is predicted: the row is skipped, for the reason above
! pipesim: error: nothing is predicted: all 2 rows are skipped, for the reasons above
