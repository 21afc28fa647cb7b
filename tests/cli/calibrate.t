# Costs from traces of two ranks predict four and eight. Here the simulator made the traces, so that what is predicted is known: every part has a duration of its own that measurements tell apart.
$ cd $TMPDIR; run='pipesim --model tiny --seq 64 --mbs 4 --tp 1 --dp 1 --engine dag --precision fp32 --no-alternatives --micro-batches 8'; $run --schedule 1f1b --pp 2 --trace a.csv >log; $run --schedule interleaved-zb --vp 2 --pp 2 --trace b.csv.gz >log; $run --schedule zb-h1 --pp 2 --trace c.csv >log; $run --schedule interleaved --pp 2 --trace d.csv >log; pipesim calibrate a.csv b.csv.gz c.csv d.csv -o cost.json | head -14
> pipesim 0.1.0  costs from 4 traces
>
>   machine  a machine that CSV does not name
>   traces   a.csv (CSV, 1 step), b.csv.gz (CSV, 1 step), c.csv (CSV, 1 step),
>            d.csv (CSV, 1 step)
>   layers   hidden 128, 4 heads, ffn 512, vocab 256; 4 samples of 64 tokens at a
>            time
>                     block  embedding       head      fixed  samples  worst fit
>            F      62.8 us    12.6 us    39.7 us    83.3 ns       96      0.4 %
>            B       104 us    15.9 us    34.2 us     102 ns       48      0.2 %
>            I      71.2 us    2.95 us    29.9 us    74.6 ns       48      0.2 %
>            W      32.7 us    12.9 us    4.14 us    25.3 ns       48      0.2 %
>   update   0.032 ns a parameter + 3.10 us; 12 samples
>   channel  wire: 0 s + bytes / (56.58 GB/s); 128 samples, median error 0.0 %
$ cd $TMPDIR; run='pipesim --seq 64 --mbs 4 --tp 1 --dp 1 --engine dag --precision fp32 --no-alternatives --micro-batches 16'; for what in 'gpipe --pp 4' 'zb-h1 --pp 4' 'zbv --pp 4' 'chimera --pp 8' '1f1b --pp 8 --layers 24' 'hanayo --pp 4 --layers 16'; do echo $what; $run --model tiny --schedule $what | awk '/iteration/ { print $2, $3 }'; pipesim --cost cost.json --dp 1 --micro-batches 16 --no-alternatives --schedule $what | awk '/iteration/ { print $2, $3 }'; done
> gpipe --pp 4
> 7.59 ms
> 7.58 ms
> zb-h1 --pp 4
> 7.18 ms
> 7.17 ms
> zbv --pp 4
> 7.07 ms
> 7.04 ms
> chimera --pp 8
> 4.07 ms
> 4.04 ms
> 1f1b --pp 8 --layers 24
> 12.8 ms
> 12.8 ms
> hanayo --pp 4 --layers 16
> 13.4 ms
> 13.4 ms
# A run of CSV traces knows its costs are measured, and says from what.
$ cd $TMPDIR; pipesim --cost cost.json --schedule 1f1b --pp 4 --no-alternatives --json | grep -A4 '"costs"'
>   "costs": {
>     "origin": "measured",
>     "calibrated": true,
>     "source": "cost.json: 4 traces, a machine that CSV does not name"
>   },
$ cd $TMPDIR; pipesim sweep --cost cost.json --schedule 1f1b,gpipe --pp 2:8:x2 --dp 1 --micro-batches 16 | cut -d, -f1-3 | head -3
> point,schedule,engine
> 0,1f1b,dag
> 1,1f1b,dag
# Pooled runs have more samples.
$ cd $TMPDIR; pipesim calibrate a.csv a.csv d.csv | grep -E '^ +F '
>            F      62.8 us    12.6 us    39.7 us    83.3 ns       64      0.4 %
# What does not go together is refused.
$ cd $TMPDIR; pipesim --schedule 1f1b --unit F=1,B=2 --pp 2 --micro-batches 4 --trace u.csv >log; pipesim calibrate u.csv
! pipesim: error: u.csv: no message has bytes, so the number of samples of an op is unknown (a trace of --unit has none)
= 2
$ cd $TMPDIR; pipesim --schedule 1f1b --model tiny --gbs 8 --tp 1 --pp 2 --engine dag --no-alternatives --trace s.json >log; pipesim calibrate s.json
! pipesim: error: s.json: this trace is not a measured one (engine dag), or an old version wrote it; 'pipeexec --trace FILE.json' writes one
= 2
$ cd $TMPDIR; pipesim calibrate a.csv --model gpt2
! pipesim: error: a.csv: messages of 131072 bytes are no whole number of samples of gpt2, 1024 tokens each: give --model and --seq as they ran, or a trace as .json, which says so
= 2
$ cd $TMPDIR; pipesim calibrate a.csv d.csv --hold-out 1f1b
! pipesim: error: --hold-out 1f1b: no trace is of it; the traces are of an unknown one (CSV), an unknown one (CSV)
= 2
$ cd $TMPDIR; head -4 a.csv | cut -c-60 >cut.csv; pipesim calibrate cut.csv
! pipesim: error: cut.csv:1: column 9 is 'end', expected 'end_s'
= 2
$ pipesim calibrate
! pipesim: error: pipesim calibrate needs 1 operand, not 0
! usage: pipesim calibrate TRACE... [options] [-o cost.json]
= 2
$ pipesim calibrate /nowhere.json
! pipesim: error: cannot open /nowhere.json: No such file or directory
= 1
$ zcat tests/data/calibrate/zb-h1.json.gz | sed 's/"cores":[0-9]*/"cores":64/' >$TMPDIR/other.json; cd tests/data/calibrate; pipesim calibrate 1f1b.json.gz $TMPDIR/other.json 2>&1 | sed "s:$TMPDIR/::"
> pipesim: error: 1f1b.json.gz and other.json were measured on different machines:
>   virtual clock on Intel(R) Xeon(R) Processor @ 2.50GHz, 2 cores, cpu (avx512), local, wires of 10.0 us + bytes / (10 GB/s), values of 4 bytes, gradients of 4
>   virtual clock on Intel(R) Xeon(R) Processor @ 2.50GHz, 64 cores, cpu (avx512), local, wires of 10.0 us + bytes / (10 GB/s), values of 4 bytes, gradients of 4
>   --mixed-machines takes them together all the same
$ cd tests/data/calibrate; pipesim calibrate 1f1b.json.gz $TMPDIR/other.json --mixed-machines --hold-out none | grep -c channel
> 1
$ cd tests/data/calibrate; pipesim calibrate 1f1b.json.gz $TMPDIR/other.json --mixed-machines --hold-out none | grep -o '1 of 2 traces.*'
> 1 of 2 traces are of others (--mixed-machines)
$ zcat tests/data/calibrate/zb-h1.json.gz | sed 's/"value_bytes":4/"value_bytes":2/' >$TMPDIR/half.json; cd tests/data/calibrate; pipesim calibrate 1f1b.json.gz $TMPDIR/half.json --mixed-machines 2>&1 | sed "s:$TMPDIR/::"
> pipesim: error: 1f1b.json.gz has values of 4 bytes, half.json of 2: costs are of one precision
$ cd $TMPDIR; zcat $OLDPWD/tests/data/calibrate/1f1b.json.gz | sed 's/"what_if":""/"what_if":"--slow 1=0.5"/' >slow.json; pipesim calibrate slow.json
! pipesim: error: slow.json: ran with --slow 1=0.5: its durations are not those of the machine
= 2
$ cd tests/data/calibrate; pipesim calibrate 1f1b.json.gz zb-h1.json.gz --hold-out gpipe
! pipesim: error: --hold-out gpipe: no trace is of it; the traces are of 1f1b, zb-h1
= 2
$ cd tests/data/calibrate; pipesim calibrate 1f1b.json.gz --hold-out 1f1b
! pipesim: error: --hold-out 1f1b: nothing would be left to calibrate from; the traces are of 1f1b
= 2
# Names of schedules are those of --schedule.
$ cd tests/data/calibrate; pipesim calibrate 1f1b.json.gz zb-h1.json.gz --hold-out ZBH1 | grep -o 'tested   zb-h1'
> tested   zb-h1
# The same seed draws the same band.
$ cd tests/data/calibrate; for seed in 1 1 2; do pipesim calibrate 1f1b.json.gz zb-h1.json.gz --seed $seed -o - | grep band_low | md5sum; done | uniq | wc -l
> 2
# Costs are for what was measured.
$ cd $TMPDIR; pipesim --cost cost.json --schedule 1f1b --pp 4 --mbs 8
! pipesim: error: cost.json: no durations for hidden 128, 4 heads (4 of keys), ffn 512, vocab 256; 8 samples of 64 tokens at a time
!   measured: hidden 128, 4 heads (4 of keys), ffn 512, vocab 256; 4 samples of 64 tokens at a time
= 2
$ cd $TMPDIR; pipesim --cost cost.json --schedule 1f1b --pp 4 --tp 2
! pipesim: error: cost.json has no durations of tensor parallelism: --tp 1
= 2
$ cd $TMPDIR; pipesim --cost cost.json --schedule 1f1b --pp 4 --dp 2 --zero 3 --gather layer
! pipesim: error: cost.json has no durations of gathers of single layers: --gather chunk
= 2
$ cd $TMPDIR; pipesim --cost cost.json --schedule 1f1b --pp 4 --dp 2 --zero 1 --offload os=host
! pipesim: error: cost.json has no durations of state on another tier: no --offload
= 2
$ cd $TMPDIR; pipesim --cost cost.json --schedule 1f1b --pp 4 --engine simgrid
! pipesim: error: --engine simgrid shares links among transfers, of which cost.json says nothing; use --engine dag
= 2
$ cd $TMPDIR; pipesim --cost cost.json --preset chimera-sc21
! pipesim: error: --cost cost.json brings the model that was measured, --preset chimera-sc21 another; give one of them
= 2
$ cd $TMPDIR; pipesim --cost cost.json --schedule 1f1b --unit F=1 --pp 2
! pipesim: error: --cost and --unit both say how long ops take; give one of them
= 2
$ cd $TMPDIR; pipesim --cost a.csv --schedule 1f1b --pp 2
! pipesim: error: a.csv holds no costs: pipesim calibrate makes them from traces; try: pipesim calibrate a.csv -o cost.json
= 2
$ pipesim --cost tests/data/calibrate/1f1b.json.gz --schedule 1f1b --pp 2
! pipesim: error: tests/data/calibrate/1f1b.json.gz holds no costs: pipesim calibrate makes them from traces; try: pipesim calibrate tests/data/calibrate/1f1b.json.gz -o cost.json
= 2
$ cd $TMPDIR; echo '{"schema": "pipeexec.report/1"}' >report.json; pipesim --cost report.json --schedule 1f1b --pp 2
! pipesim: error: report.json holds no costs: pipesim calibrate makes them from traces; try: pipeexec ... --trace t.json, then pipesim calibrate t.json -o cost.json
= 2
$ cd $TMPDIR; sed 's,pipesim.cost/1,pipesim.cost/2,' cost.json >next.json; pipesim --cost next.json --schedule 1f1b --pp 2
! pipesim: error: next.json: "schema" is 'pipesim.cost/2', expected 'pipesim.cost/1' as 'pipesim calibrate' writes it
= 2
$ cd $TMPDIR; sed 's/"block_s"/"blocks_s"/' cost.json >bad.json; pipesim --cost bad.json --schedule 1f1b --pp 2
! pipesim: error: bad.json: unknown key "blocks_s"; did you mean "block_s"? (in "layers"[0])
= 2
# A log of nccl-tests that lies, one that ends early, one that is none.
$ cd $TMPDIR; sed 's/34.39/44.39/' $OLDPWD/tests/data/calibrate/all_reduce_perf.log >lie.log; pipesim calibrate a.csv --nccl-tests lie.log
! pipesim: error: lie.log:12: 1.04858e+06 bytes in 30.49 us are 34.39 GB/s, but algbw is 44.39
= 2
$ cd $TMPDIR; head -12 $OLDPWD/tests/data/calibrate/all_reduce_perf.log >short.log; pipesim calibrate a.csv --nccl-tests short.log
! pipesim: error: short.log: neither the log nor its name gives the collective: --collective all_reduce, all_gather, reduce_scatter, sendrecv or alltoall
= 2
$ pipesim calibrate tests/data/calibrate/1f1b.json.gz --nccl-tests LICENSE
! pipesim: error: LICENSE:202: ends without a table of nccl-tests (a line '# size count type redop root time algbw busbw')
= 2
# --collective says it; what NCCL_DEBUG prints between the rows, and mpirun in front of each, is no row.
$ cd $TMPDIR; sed 's/^/[1,0]<stdout>:/; /^.....stdout.:  *4194304/i node0:4711:4722 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via P2P/IPC' $OLDPWD/tests/data/calibrate/all_reduce_perf.log >run.log; grep -c . run.log; pipesim calibrate a.csv --nccl-tests run.log --collective all_reduce | grep channel
> 18
>   channel  wire: 0 s + bytes / (56.58 GB/s); 16 samples, median error 0.0 %
>   channel  all_reduce: 20.0 us + bytes / (100 GB/s); 4 samples, median error 0.0
$ pipesim calibrate tests/data/calibrate/1f1b.json.gz --collective all_reduce
! pipesim: error: --collective names the collective of --nccl-tests LOG
= 2
$ cd $TMPDIR; cat run.log run.log >twice.log; pipesim calibrate a.csv --nccl-tests twice.log --collective all_reduce
! pipesim: error: twice.log:28: a second table: give each run its own log (several that print rank 0 are a build without MPI=1)
= 2
# What a run with measured costs explains are these, not a roofline.
$ cd $TMPDIR; pipesim --cost cost.json --schedule 1f1b --pp 4 --dp 1 --micro-batches 8 --no-alternatives --explain | sed -n '/^costs/,$p'
> costs: measured
>   source   cost.json: 4 traces, a machine that CSV does not name
>   rule     an op on a stage of n blocks takes n block + embedding + head +
>            fixed, the second and third on the stages that have them; memory is
>            that of the formulas
>   layers   hidden 128, 4 heads, ffn 512, vocab 256; 4 samples of 64 tokens at a
>            time
>                     block  embedding       head      fixed  samples  worst fit
>            F      62.8 us    12.6 us    39.7 us    83.3 ns       96      0.4 %
>            B       104 us    15.9 us    34.2 us     102 ns       48      0.2 %
>            I      71.2 us    2.95 us    29.9 us    74.6 ns       48      0.2 %
>            W      32.7 us    12.9 us    4.14 us    25.3 ns       48      0.2 %
>   update   0.032 ns a parameter + 3.10 us; 12 samples
>   channel  wire: 0 s + bytes / (56.58 GB/s); 128 samples, median error 0.0 %
# Nor are there links of a cluster.
$ cd $TMPDIR; pipesim --cost cost.json --schedule 1f1b --pp 4 --dp 2 --micro-batches 8 --no-alternatives | sed -n '/^  network/,/^$/p'; pipesim --cost cost.json --schedule 1f1b --pp 4 --dp 2 --micro-batches 8 --no-alternatives --explain | sed -n '/^network/,/^$/p'; pipesim --cost cost.json --schedule 1f1b --pp 4 --dp 2 --micro-batches 8 --no-alternatives --json | sed -n '/"network"/,/}/p'
>   network  exposed 1.1 % of the step; times of cost.json (dag)
>
> network
>   exposed communication 1.0835 % of an average rank: p2p in flight 1.91119e-05 s
>       + DP sync 2.8039e-05 s
>   channels of cost.json, listed below: each pair of ranks has one of its own; no
>       link of --cluster carries anything
>   simulated 4 pipeline ranks for 8 GPUs (data-parallel replicas are identical
>       and share no link in this engine)
>
>   "network": {
>     "fabric": null,
>     "contended": false,
>     "replicas_simulated": 1,
>     "links": []
>   },
$ cd $TMPDIR; pipesim --cost cost.json --schedule 1f1b --pp 4 --micro-batches 8 --no-alternatives --plot links.gp --plot-kind links >log
! pipesim: error: there are no links with --cost: messages take the times of the channels of cost.json
= 2
$ cd $TMPDIR; pipesim --cost cost.json --schedule 1f1b --pp 4 --link-bw network=0.5
! pipesim: error: --link-bw network=0.5 has no effect with --cost: messages and gradient sums take the times of the channels of cost.json
= 2
$ cd $TMPDIR; pipesim --cost cost.json --schedule 1f1b --pp 4 --tp-split 2
! pipesim: error: --tp-split 2 has no effect with --cost: cost.json has the times of whole layers with their exchanges
= 2
$ cd $TMPDIR; pipesim --cost cost.json --schedule 1f1b --pp 4 --nic fifo
! pipesim: error: --nic fifo has no effect with --cost: messages and gradient sums take the times of the channels of cost.json
= 2
# Messages need a channel. One rank has sent none; a log of nccl-tests does instead.
$ cd $TMPDIR; sed 's/"name": "wire"/"name": "all_gather"/' cost.json >none.json; pipesim --cost none.json --schedule 1f1b --pp 4
! pipesim: error: none.json has no durations of messages: calibrate on traces of pipeexec --pp 2, or --nccl-tests LOG with those
= 2
$ cd $TMPDIR; sed 's/"name": "wire"/"name": "sendrecv"/' cost.json >sendrecv.json; for file in cost sendrecv; do pipesim --cost $file.json --schedule 1f1b --pp 4 --dp 2 --micro-batches 8 --no-alternatives | grep iteration; done | uniq | wc -l
> 1
# Values of another size take other times.
$ cd $TMPDIR; pipesim --cost cost.json --schedule 1f1b --pp 4 --precision bf16
! pipesim: error: cost.json has no durations of bf16: --precision fp32, as was measured
= 2
$ cd $TMPDIR; zcat $OLDPWD/tests/data/calibrate/1f1b.json.gz | sed 's/"value_bytes":4/"value_bytes":8/' >double.json; pipesim calibrate double.json
! pipesim: error: double.json: its values have 8 bytes; costs are of fp32 (4 bytes) or bf16 (2)
= 2
# Wires that were given otherwise, ones that cannot be, options of another run, a processor's name that is none.
$ zcat tests/data/calibrate/zb-h1.json.gz | sed 's/"bytes_per_s":10000000000.0/"bytes_per_s":1e9/' >$TMPDIR/link.json; cd tests/data/calibrate; pipesim calibrate 1f1b.json.gz $TMPDIR/link.json 2>&1 | sed "s:$TMPDIR/::"
> pipesim: error: 1f1b.json.gz and link.json were measured on different machines:
>   virtual clock on Intel(R) Xeon(R) Processor @ 2.50GHz, 2 cores, cpu (avx512), local, wires of 10.0 us + bytes / (10 GB/s), values of 4 bytes, gradients of 4
>   virtual clock on Intel(R) Xeon(R) Processor @ 2.50GHz, 2 cores, cpu (avx512), local, wires of 10.0 us + bytes / (1 GB/s), values of 4 bytes, gradients of 4
>   --mixed-machines takes them together all the same
$ cd $TMPDIR; zcat $OLDPWD/tests/data/calibrate/1f1b.json.gz | sed 's/"bytes_per_s":10000000000.0/"bytes_per_s":1e-310/' >denormal.json; pipesim calibrate denormal.json
! pipesim: error: denormal.json: run: "bytes_per_s" is 1e-310, must be between 1 and 1e+18, or 0 on the wall clock
= 2
$ cd $TMPDIR; zcat $OLDPWD/tests/data/calibrate/1f1b.json.gz | sed 's/"--pp","2"/"--pp","4"/' >pp.json; pipesim calibrate pp.json
! pipesim: error: pp.json: its ops are of 2 stages, but "options" of "run" of 4
= 2
$ cd $TMPDIR; zcat $OLDPWD/tests/data/calibrate/1f1b.json.gz | sed 's/"cpu":"Intel/"cpu":"\\u001b[31mIntel/' >red.json; pipesim calibrate red.json | grep -A1 machine
>   machine  virtual clock on \x1b[31mIntel(R) Xeon(R) Processor @ 2.50GHz, 2
>            cores, cpu (avx512), local
# Who took part in a sum is a part of what it took.
$ cd $TMPDIR; grep -v Rank $OLDPWD/tests/data/calibrate/all_reduce_perf.log >all_reduce.log; pipesim calibrate a.csv --nccl-tests all_reduce.log
! pipesim: error: all_reduce.log: no '#  Rank' lines say how many took part
= 2
$ cd $TMPDIR; grep -v 'Rank  [123]' $OLDPWD/tests/data/calibrate/all_reduce_perf.log >all_reduce_1.log; pipesim calibrate a.csv --nccl-tests all_reduce_1.log
! pipesim: error: all_reduce_1.log: one rank took part, which sends nothing over a network: run nccl-tests with 2 or more (-g 2)
= 2
# A plan with measured layers: layouts that were not measured are left out, counted, with a reason.
$ cp tests/data/calibrate/*.json.gz .; pipesim calibrate *.json.gz --hold-out none -o cost.json >/dev/null; pipesim plan --cost cost.json --gpus 4 --gbs 32 --schedule 1f1b,zb-h1 --top 1 | grep -A2 'not measured'
>   illegal    88 not measured, such as 1f1b on TP 1 x PP 1 x DP 4: cost.json: no
>              durations for hidden 128, 4 heads (4 of keys), ffn 512, vocab 256;
>              1 sample of 64 tokens at a time
$ cp tests/data/calibrate/*.json.gz .; pipesim calibrate *.json.gz --hold-out none -o cost.json >/dev/null; plan='pipesim plan --cost cost.json --gpus 4 --gbs 32 --schedule 1f1b,zb-h1 --json'; eval "$($plan | sed -n 's/^  "choose": "\(.*\)".*/\1/p') --json" | sed -n 's/^  "iteration_s": //p' | tr -d , >one; $plan | sed -n '/^  "best"/,/^  }/s/.*"iteration_s": //p' | tr -d , >two; cmp one two && wc -l <one
> 1
