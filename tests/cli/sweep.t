# Sweeps: lists and ranges, rows, files, parts, and what is refused.
$ pipesim sweep --schedule 1f1b,zbv --pp 4,8 --micro-batches 8:32:x2 --unit F=1 | cut -d, -f1,2,8,13,18
> point,schedule,pp,micro_batches,iteration_s
> 0,1f1b,4,8,33
> 1,1f1b,8,8,45
> 2,1f1b,4,16,57
> 3,1f1b,8,16,69
> 4,1f1b,4,32,105
> 5,1f1b,8,32,117
> 6,zbv,4,8,51
> 7,zbv,8,8,62
> 8,zbv,4,16,99
> 9,zbv,8,16,103
> 10,zbv,4,32,195
> 11,zbv,8,32,199
$ pipesim sweep --np 2 --schedule 1f1b --micro-batches 2 --unit F=1 --jitter 0:30%:+10% | cut -d, -f17,19,20
> jitter,iteration_s,bubble_frac
> 0,9,0.33333333333333331
> 0.10000000000000001,8.7069260362239991,0.32631563501562344
> 0.20000000000000001,8.413852072449,0.31880905131111209
> 0.29999999999999999,8.120778108671999,0.31076065148715037
$ pipesim sweep --schedule gpipe --pp 2 --micro-batches 2 --unit F=1,B=2 --unit F=1,B=1,C=0.5 --slow 1=0.5 --slow '0=0.5 1=2' | cut -d, -f17-22
> slow,unit,iteration_s,bubble_frac,span_bubble_frac,mfu
> 1=0.5,"F=1,B=2",15,0.40000000000000002,0.19999999999999996
> 1=0.5,"F=1,B=1,C=0.5",11,0.45454545454545459
> 0=0.5 1=2,"F=1,B=2",13.5,0.44444444444444442,0.11111111111111116
> 0=0.5 1=2,"F=1,B=1,C=0.5",10,0.5
# The columns, and a whole row.
$ pipesim sweep --schedule 1f1b --pp 2 --micro-batches 2 --unit F=1,B=2
> point,schedule,engine,model,cluster,gpus,tp,pp,dp,cp,ep,vp,micro_batches,mbs,gbs,seq,unit,iteration_s,bubble_frac,span_bubble_frac,mfu,hfu,model_flops_per_s_per_gpu,tokens_per_s,tokens_per_s_per_gpu,peak_mem_bytes,device_mem_bytes,fits,exposed_comm_frac,forward,backward,recompute,tp_comm,cp_comm,ep_comm,p2p,dp_sync,optimizer,moves,bubble,params_bytes,grads_bytes,optimizer_bytes,activations_bytes,kv_bytes,buffers_bytes,other_bytes,peak_activations,closed_form_bubble_frac,tight,status,reason,points,key
> 0,1f1b,dag,,,2,1,2,1,1,1,1,2,1,2,,"F=1,B=2",9,0.33333333333333331,0.33333333333333337,,,,,,,,,0,0.22222222222222221,0.44444444444444442,0,0,0,0,0,0,0,0,0.33333333333333331,,,,,,,,2,0.33333333333333331,,ok,,1,76081fce6dc3fd1c
$ pipesim sweep --schedule 1f1b --gpus 7 --pp 2 --engine dag --recompute full --p2p buffered:2 | awk -F, 'NR == 1 { split($0, name) } { for (i = 1; i <= 18; i++) print name[i] "=" $i }' | tail -18
> point=0
> schedule=1f1b
> engine=dag
> model=
> cluster=
> gpus=7
> tp=
> pp=2
> dp=
> cp=
> ep=
> vp=
> micro_batches=
> mbs=
> gbs=
> seq=
> recompute_option=full
> p2p_option=buffered:2
! pipesim: warning: no point has figures, 1 of 1 refused; 7 GPUs are not a multiple of tp * cp * pp * dp = 2; nearest: --gpus 6 or 8
# A row is what a run says.
$ pipesim --preset bfs-52b --engine dag --gbs 32 --json | grep -E '^  "(iteration_s|mfu|peak_mem_bytes)"' && pipesim sweep --preset bfs-52b --engine dag --gbs 16:32:x2 | awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i } $1 == 1 { print $at["iteration_s"], $at["mfu"], $at["peak_mem_bytes"] }'
>   "iteration_s": 3.567212159426,
>   "mfu": 0.36466006893085351,
>   "peak_mem_bytes": 16913051252,
> 3.567212159426 0.36466006893085351 16913051252
# Several schedules: options go to those that have them; one alone refuses what it has not.
$ pipesim sweep --schedule all --pp 4 --micro-batches 8 --vp 2 --unit F=1,B=2 | awk -F, '{ print $2, $12, $(NF - 3) }'
> schedule vp status
> 1f1b 1 ok
> bfs 2 ok
> bitpipe 2 ok
> chimera 1 ok
> dualpipe 1 ok
> dualpipev 2 ok
> eager-1f1b 1 ok
> gems 1 ok
> gpipe 1 ok
> hanayo 2 ok
> interleaved 2 ok
> interleaved-zb 2 ok
> pipedream 1 ok
> pipedream-2bw 1 ok
> seq1f1b 1 ok
> v-1f1b 2 ok
> v-half 2 ok
> v-min 2 ok
> zb-auto 1 ok
> zb-h1 1 ok
> zb-h2 1 ok
> zbv 2 ok
$ pipesim sweep --schedule 1f1b --pp 4 --micro-batches 8 --vp 2 --unit F=1,B=2 | awk -F, '{ print $(NF - 6) }'
> peak_activations
> refused
! pipesim: warning: no point has figures, 1 of 1 refused; --vp 2: 1f1b has no such option; schedules that have it: bfs, hanayo, interleaved, interleaved-zb
# Two presets, and a file.
$ pipesim sweep --preset bfs-52b --preset chimera-bert48 --engine dag | cut -d, -f2,3,4,17
> schedule,engine,model,preset
> bfs,dag,bert-52b,bfs-52b
> chimera,dag,bert-48,chimera-bert48
$ pipesim program --schedule zbv --pp 2 --micro-batches 4 --compute -o $TMPDIR/p.csv && pipesim sweep --schedule $TMPDIR/p.csv,1f1b --unit F=1 --pp 2,4 --micro-batches 4 | sed "s|$TMPDIR/||g" | cut -d, -f2,8,13,18,52,53
> schedule,pp,micro_batches,iteration_s,reason,points
> p.csv,2,4,25,,4
> p.csv,4,4,,"--pp 4 contradicts p.csv, which has 2"
> 1f1b,2,4,15,,4
> 1f1b,4,4,21,,4
# A file on stderr and nothing on stdout; the same command again has nothing to do, a longer one goes on.
$ pipesim sweep --schedule 1f1b,chimera --pp 4 --micro-batches 8,9 --unit F=1,B=2 -o $TMPDIR/s.csv 2>&1 | sed "s|$TMPDIR/||; s|[0-9.,]* points/s|# points/s|"
> pipesim: 4 points in s.csv, 1 without figures (--micro-batches 9: chimera fills pipelines of 2 each; nearest: 8 or 10), # points/s
>   next  pipesim plot s.csv
$ pipesim sweep --schedule 1f1b,chimera --pp 4 --micro-batches 8,9 --unit F=1,B=2 -o $TMPDIR/s.csv 2>&1 | sed "s|$TMPDIR/||; s|[0-9.,]* points/s|# points/s|"
> pipesim: 4 points in s.csv, 4 from before, 1 without figures (--micro-batches 9: chimera fills pipelines of 2 each; nearest: 8 or 10)
>   next  pipesim plot s.csv
$ pipesim sweep --schedule 1f1b,chimera --pp 4,8 --micro-batches 8,9 --unit F=1,B=2 -o $TMPDIR/s.csv 2>&1 | sed "s|$TMPDIR/||; s|[0-9.,]* points/s|# points/s|"
> pipesim: 8 points in s.csv, 4 from before, 2 without figures (first: --micro-batches 9: chimera fills pipelines of 2 each; nearest: 8 or 10), # points/s
>   next  pipesim plot s.csv
$ pipesim sweep --schedule 1f1b,chimera --pp 4,8 --micro-batches 8,9 --unit F=1,B=2 -j 3 | cmp - $TMPDIR/s.csv
$ pipesim sweep --schedule 1f1b,chimera --pp 4,8 --micro-batches 8,9 --unit F=1,B=2 -o $TMPDIR/s.csv --fresh 2>&1 | sed "s|$TMPDIR/||; s|[0-9.,]* points/s|# points/s|"
> pipesim: 8 points in s.csv, 2 without figures (first: --micro-batches 9: chimera fills pipelines of 2 each; nearest: 8 or 10), # points/s
>   next  pipesim plot s.csv
$ pipesim sweep --schedule 1f1b --pp 4 --micro-batches 8 --unit F=1,B=3 --zero 0 -o $TMPDIR/s.csv 2>&1 | sed "s|$TMPDIR/||"
> pipesim: error: s.csv:1: the result of another sweep: column 17 is "unit", here "zero"
>   choose another -o, or start again with --fresh
# Nothing has figures: said, and still no failure.
$ pipesim sweep --schedule chimera --pp 5,7 --micro-batches 8 --unit F=1,B=2 -o $TMPDIR/none.csv
! pipesim: warning: no point has figures, 2 of 2 refused; the first: --pp 5: chimera needs an even number; nearest: 4 or 6
$ pipesim sweep --schedule chimera --pp 5 --micro-batches 8 --unit F=1,B=2 | awk -F, '{ print $(NF - 3) }'
> status
> refused
! pipesim: warning: no point has figures, 1 of 1 refused; --pp 5: chimera needs an even number; nearest: 4 or 6
# What does not fit has a row with its figures.
$ pipesim sweep --schedule gpipe --gpus 8 --pp 8 --tp 1 --micro-batches 8 --model gpt3-175b --engine dag -o $TMPDIR/fit.csv 2>&1 | sed "s|$TMPDIR/||; s|[0-9.,]* points/s|# points/s|"
> pipesim: 1 point in fit.csv, 1 does not fit, # points/s
>   next  pipesim plot fit.csv
# Parts, by hand and by a launcher, and together again.
$ for i in 1 2 3; do pipesim sweep --schedule 1f1b,zbv --pp 4,8 --micro-batches 8,16 --unit F=1,B=2 --part $i/3 -o $TMPDIR/p$i.csv 2>&1 | sed "s|$TMPDIR/||; s|[0-9.,]* points/s|# points/s|"; done; (cd $TMPDIR; pipesim sweep --merge p?.csv -o merged.csv); pipesim sweep --schedule 1f1b,zbv --pp 4,8 --micro-batches 8,16 --unit F=1,B=2 | cmp - $TMPDIR/merged.csv
> pipesim: 3 points in p1.csv (part 1 of 3), # points/s
>   next  pipesim sweep --merge FILE... -o FILE, when all 3 parts are there
> pipesim: 3 points in p2.csv (part 2 of 3), # points/s
>   next  pipesim sweep --merge FILE... -o FILE, when all 3 parts are there
> pipesim: 2 points in p3.csv (part 3 of 3), # points/s
>   next  pipesim sweep --merge FILE... -o FILE, when all 3 parts are there
! pipesim: 8 points in merged.csv
$ export OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=4; pipesim sweep --schedule 1f1b --pp 4,8 --micro-batches 8,16 --unit F=1,B=2 -o $TMPDIR/l.csv 2>&1 | sed "s|$TMPDIR/||; s|[0-9.,]* points/s|# points/s|"; pipesim sweep --schedule 1f1b --pp 4 --micro-batches 8 --unit F=1; pipesim sweep --schedule 1f1b --pp 4 --micro-batches 8 --unit F=1 --part all | wc -l
> pipesim: part 2 of 4 (OMPI_COMM_WORLD_RANK) goes to l.part-2-of-4.csv
> pipesim: 1 point in l.part-2-of-4.csv (part 2 of 4), # points/s
>   next  pipesim sweep --merge FILE... -o l.csv, when all 4 parts are there
> 2
! pipesim: error: -o FILE is needed: this is part 2 of 4 (OMPI_COMM_WORLD_RANK), and each part has a file of its own; --part all computes every point here
# Interrupted: what is done stays, and the same command ends it.
$ cd $TMPDIR; pipesim sweep --schedule 1f1b --pp 64 --micro-batches 64:2048:+64 --seed 1:30:+1 --jitter 1% --unit F=1 -o i.csv 2>i.txt & until [ "$(cat $TMPDIR/i.csv 2>/dev/null | wc -l)" -gt 3 ]; do sleep 0.1; done; kill -TERM $!; wait $!; echo $?; cd $TMPDIR; sed 's/has [0-9]* of/has # of/' i.txt; tail -c1 i.csv | od -An -c
> 130
> pipesim: error: interrupted: i.csv has # of 960 points; the same command continues
>   \n
# Lists and ranges that cannot be read.
$ pipesim sweep --schedule 1f1b --pp 8:4:x2
! pipesim: error: --pp 8:4:x2: the range is empty: 4 is less than 8
= 2
$ pipesim sweep --schedule 1f1b --pp 4:8
! pipesim: error: --pp 4:8: the range has no step; a range is lo:hi:xK (times K above 1) or lo:hi:+K (plus K above 0), such as 4:8:x2 or 4:8:+4
= 2
$ pipesim sweep --schedule 1f1b --pp 4:8:x1
! pipesim: error: --pp 4:8:x1: step x1: 1 is out of range: the least is 2; a range is lo:hi:xK (times K above 1) or lo:hi:+K (plus K above 0), such as 4:8:x2 or 4:8:+4
= 2
$ pipesim sweep --schedule 1f1b --jitter 0:10%:x2
! pipesim: error: --jitter 0:10%:x2: products of 0 never grow; a range is lo:hi:xK (times K above 1) or lo:hi:+K (plus K above 0), such as 1%:10%:x2 or 0:10%:+1%
= 2
$ pipesim sweep --schedule 1f1b --seed 1:1000000000:+1
! pipesim: error: --seed 1:1000000000:+1: the range has 1,000,000,000 values, a list at most 1,048,576
= 2
$ pipesim sweep --schedule 1f1b --seed 1:1000000:+1 --micro-batches 1:1000000:+1
! pipesim: error: the sweep has more than 2,147,483,648 points: 1,000,000 of --micro-batches * 1,000,000 of --seed
= 2
$ pipesim sweep --schedule 1f1b --pp 4,,8
! pipesim: error: --pp 4,,8: an item of the list is empty
= 2
$ pipesim sweep --schedule 1f1b --pp 4,8,04
! pipesim: error: --pp: 4 is there twice
= 2
$ pipesim sweep --schedule 1f1b,zvb --pp 4
! pipesim: error: --schedule zvb: unknown schedule; did you mean zbv?
!   pipesim schedules describes them; a program file ends in .csv or has a / in its name
= 2
$ pipesim sweep --schedule 1f1b --post early,lately
! pipesim: error: --post early,lately: "lately" is not one of early, jit, batched and sender
= 2
$ pipesim sweep --schedule 1f1b --model llama3-8b,llama3-70b
! pipesim: error: unknown model 'llama3-8b,llama3-70b': `pipesim models` lists the presets, such as tiny, gpt2, gpt3-175b or llama3-8b; a file is given by its path, as in ./config.json
!   several values are given by --model again for each
= 2
$ pipesim sweep --schedule 1f1b --engine dag --p2p fast
! pipesim: error: --p2p fast: expected rendezvous, or buffered:K with K messages a channel, such as buffered:2
= 2
$ pipesim sweep --schedule nowhere.csv
! pipesim: error: cannot open nowhere.csv: No such file or directory
= 1
$ pipesim sweep --pp 4 2>&1 | head -1 | cut -c1-46; pipesim sweep --recompute none --recompute full --pp 2,4 --gbs 8:32:x2 -o x.csv 2>&1 | tail -n +2
> pipesim: error: --schedule is needed: 1f1b, bf
>   try: pipesim sweep --schedule all --pp 2,4 --gbs 8:32:x2 --recompute none \
>        --recompute full --output x.csv
$ pipesim sweep --unit F=1,B=2 2>&1 | sed -n 's/ *try: //p' >try; cat try; . ./try | wc -l
> pipesim sweep --schedule all --micro-batches 8 --pp 4 --unit F=1,B=2
> 23
# Options that a sweep does not have, or not so.
$ pipesim sweep --schedule 1f1b --json -o a.csv
! pipesim: error: --json prints lines to stdout, and -o a.csv is a table that the next sweep continues: give one of them
= 2
$ pipesim sweep --schedule 1f1b --require-fit
! pipesim: error: --require-fit is not an option of "pipesim sweep" but of "run", "plan"
! try: pipesim sweep --help
= 2
$ pipesim sweep sweep.csv
! pipesim: error: "sweep.csv" belongs to no option: only --merge takes files by themselves
= 2
$ pipesim sweep --schedule 1f1b --pp 4 --jobs 2,4
! pipesim: error: --jobs: "2,4" is not a whole number
= 2
$ pipesim sweep --schedule 1f1b --pp 4 -o a.csv -o b.csv
! pipesim: error: -o b.csv contradicts a.csv before it: the sweep has one --output
= 2
$ pipesim sweep --schedule 1f1b --pp 4 --fresh
! pipesim: error: --fresh has no effect without -o FILE
= 2
$ pipesim sweep --schedule 1f1b --pp 4 --part 3/2
! pipesim: error: --part 3/2: parts are 1/2 to 2/2
= 2
$ pipesim sweep --merge
! pipesim: error: --merge needs files: pipesim sweep --merge part-*.csv -o sweep.csv
= 2
$ pipesim sweep --merge a.csv --pp 4
! pipesim: error: --pp has no effect with --merge, which computes nothing: give the files of the parts and -o FILE
= 2
$ pipesim sweep --schedule 1f1b --pp 4 --micro-batches 4 --unit F=1 -o /nowhere/s.csv
! pipesim: error: cannot write '/nowhere/s.csv': No such file or directory
= 1
$ pipesim run --schedule 1f1b --pp 4 --jobs 4
! pipesim: error: --jobs is not an option of "pipesim run" but of "sweep", "plan"
! try: pipesim run --help
= 2
# Ranges in other notations; what is not a range stays as it is.
$ pipesim sweep --schedule 1f1b --pp 4..8 --micro-batches 8 --unit F=1
! pipesim: error: --pp 4..8: "4..8" is not a whole number; a range is lo:hi:xK (times K above 1) or lo:hi:+K (plus K above 0), such as 4:8:x2 or 4:8:+4
= 2
$ pipesim sweep --schedule 1f1b --pp 4 --micro-batches 8-64 --unit F=1
! pipesim: error: --micro-batches 8-64: "8-64" is not a whole number; a range is lo:hi:xK (times K above 1) or lo:hi:+K (plus K above 0), such as 8:64:x2 or 8:64:+8
= 2
$ pipesim sweep --schedule 1f1b --pp 4-x --micro-batches 8 --unit F=1
! pipesim: error: --pp 4-x: "4-x" is not a whole number
= 2
$ pipesim sweep --schedule 1f1b --pp -4 --micro-batches 8 --unit F=1
! pipesim: error: --pp -4: -4 is out of range: 1 to 65535
= 2
# --fresh replaces sweeps and nothing else.
$ echo notes > $TMPDIR/notes.txt; cd $TMPDIR; pipesim sweep --schedule 1f1b --pp 4 --micro-batches 8 --unit F=1 --fresh -o notes.txt; cat notes.txt
> notes
! pipesim: error: notes.txt is there already, and not the result of a sweep
!   choose another -o
$ cd $TMPDIR; pipesim sweep --schedule 1f1b --pp 4 --micro-batches 8 --unit F=1 -o notes.txt
! pipesim: error: notes.txt is there already, and not the result of a sweep
!   choose another -o
= 2
# Rows as JSON objects say what the table says.
$ run='pipesim sweep --schedule 1f1b,dualpipe --model gpt2 --gpus 8 --pp 2,4 --micro-batches 6 --engine dag'; $run >rows.csv; $run --json >rows.json; python3 -c 'import csv, json; table = list(csv.DictReader(open("rows.csv"))); lines = [json.loads(line) for line in open("rows.json")]; same = lambda cell, value: value is None if cell == "" else value is (cell == "true") if cell in ("true", "false") else float(cell) == value if not isinstance(value, str) else cell == value; print(len(table), all(list(r) == list(o) and all(same(r[k], o[k]) for k in r) for r, o in zip(table, lines)), [o["status"] for o in lines], isinstance(lines[0]["key"], str))'
> 4 True ['ok', 'ok', 'ok', 'refused'] True
