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
# Readers accept nothing absurd.
$ head -c 70000 /dev/zero | tr '\0' '\n' >blanks.xml; pipesim clusters blanks.xml
! pipesim: error: blanks.xml:1: 70000 blanks in a row: expected at most 65536
= 2
$ echo '{"model_type":"llama","num_hidden_layers":32,"n_layer":48,"hidden_size":64,"num_attention_heads":4,"vocab_size":100,"intermediate_size":64}' >two.json; pipesim models two.json
! pipesim: error: two.json: "num_hidden_layers" is 32, "n_layer" is 48: leave one of them out
= 2
$ mkdir -p m none; echo '{"model_type":"llama","num_hidden_layers":32,"hidden_size":64,"num_attention_heads":4,"vocab_size":100,"intermediate_size":64}' >m/config.json; pipesim models ./m/ | head -2; pipesim models ./none
> ./m/config.json (llama family)
>   parameters   934464 (934k)
! pipesim: error: cannot open ./none/config.json: No such file or directory
= 1
$ head -c 5000000 /dev/zero | tr '\0' ' ' | gzip >config.json; pipesim models config.json
! pipesim: error: cannot read config.json: it has more than 4194304 bytes (4 MiB)
= 1
$ printf ' iteration %d/ 10 | elapsed time per iteration (ms): 100.0 |\n' 1 2 3 1 2 3 >two.log; pipesim compare two.log two.log 2>&1 | tail -1
> pipesim: error: two.log:4: iteration 1 after iteration 3: a second run; give each its own log
$ echo ' iteration 1/ 10 | elapsed time per iteration (ms): 1e-300 |' >short.log; pipesim compare short.log short.log 2>&1 | tail -1
> pipesim: error: short.log:1: '1e-300 |' after 'elapsed time per iteration (ms)' is not the time of a step
$ printf '# all_reduce\n#  Rank  0 Group  0 Pid 1 on a device  0 [00] NVIDIA H100\n#  Rank  1 Group  0 Pid 2 on b device  0 [00] NVIDIA H100\n#  size  count  type  redop  root  time  algbw  busbw #wrong\n 1048576 262144 float sum -1 100 10.49 10.49 %d\n 64 16 float sum -1 20 0.00 0.00 0\n' 7 >wrong.log; pipesim clusters h100 --nccl-tests wrong.log
! pipesim: error: wrong.log:5: 7 wrong values: a network that changes data gives no times; repair it, or run nccl-tests with -c 0
= 2
$ sed 's/ 7$/ 0/' wrong.log >falling.log; pipesim clusters h100 --nccl-tests falling.log 2>&1 | grep -o "all_reduce of 1.00 MiB"
> all_reduce of 1.00 MiB
$ python3 -c 'import json; E=lambda n,t,d: {"ph":"X","cat":"user_annotation","name":n,"pid":1,"tid":1,"ts":t,"dur":d}; D=lambda e,**k: dict(k,schemaVersion=1,distributedInfo={"rank":0},traceEvents=e); json.dump(D([E("PP:0F0",1,0),E("PP:0B0",2,0)]),open("zero.json","w")); json.dump(D([E("PP:0F0",4e15,4e15),E("PP:0B0",4e15,4e15)],baseTimeNanoseconds=4000000000000000000),open("late.json","w"))'; for f in zero late; do pipesim calibrate $f.json --model tiny --mbs 1 -o none.json; done; ls none.json 2>/dev/null
! pipesim: error: the traces: all ops take 0 s: nothing was measured
! pipesim: error: late.json: an event ends after the year 2262: is "baseTimeNanoseconds" right?
= 2
# The page of --html is that of any terminal.
$ for c in 40 200; do COLUMNS=$c pipesim --schedule zbv --pp 4 --gpus 4 --model gpt2 --micro-batches 8 --engine dag --html p.html >/dev/null; cksum <p.html; done | uniq | wc -l
> 1
# Short samples do not become a million micro-batches.
$ pipesim --schedule 1f1b --gpus 8 --pp 4 --model llama2-7b --seq 1 --engine dag --no-alternatives --json | grep -E '"(gbs|micro_batches)"'
>     "micro_batches": 8192,
>     "gbs": 16384,
