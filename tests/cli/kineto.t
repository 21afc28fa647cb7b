# A run of PyTorch, read from what its profiler has recorded. tests/kineto/make.py writes such files from a trace, so what is read is known.
$ run='pipesim --schedule 1f1b --model gpt2 --gpus 4 --tp 1 --pp 4 --micro-batches 4 --engine dag --no-alternatives'; $run --trace p.csv >log; $run --jitter 5% --steps 3 --trace m.csv >log; for v in plain skew_us=300 tp=2 rank=name steps=0 base=0 what=drawn what=host; do [ $v = plain ] && o=noise=1 || o=$v; python3 tests/kineto/make.py m.csv $v $o; done; ls plain
> rank0_trace.json.gz
> rank1_trace.json.gz
> rank2_trace.json.gz
> rank3_trace.json.gz
# Read back, durations and waits are those of the trace that it was made from.
$ pipesim compare m.csv plain | sed -n '1,/^  worst/p'
> pipesim 0.1.0  step: predicted 15.0 ms, measured 15.0 ms, error 0.0 %
>
>   predicted  m.csv: 4 ranks x 1 replica, median of 3 steps, 408 events,
>              program 17a88007d282f371
>   measured   plain/rank0_trace.json.gz and 3 more: 4 ranks x 1 replica, median
>              of 3 steps, 252 events
>   note       one of the two names no program: only common events are compared
>   note       6 events only predicted: (0;3)AR (rank 0, step 0), (0;3)AR (rank 3,
>              step 0), (0;3)AR (rank 0, step 1), (0;3)AR (rank 3, step 1),
>              (0;3)AR (rank 0, step 2), (0;3)AR (rank 3, step 2)
>
>                       predicted   measured      error
>   step                  15.0 ms    15.0 ms    -113 ps   0.0 %
>   bubble                 53.6 %     58.0 %   -4.4 pts   waiting for other stages
>   span idle              22.5 %     22.5 %   +0.0 pts
>
>   where the time is   predicted   measured      error   of the step's error
>   forward               1.93 ms    1.93 ms    -845 ps
>   backward              3.82 ms    3.82 ms    +436 ps
>   p2p in flight         30.4 us        0 s   +30.4 us
>   DP sync                658 us        0 s    +658 us
>   optimizer              559 us     559 us    -107 ps
>   waiting               8.04 ms    8.73 ms    -689 us
>
>   takes        count  predicted   measured        p50        p95    error  share
>     F             48     482 us     482 us     317 us    1.01 ms    0.0 %   34 %
>     B             48     961 us     961 us     719 us    1.79 ms    0.0 %   28 %
>     U             12     568 us     568 us     560 us     845 us    0.0 %    5 %
>     SEND_F        36    5.80 us    5.80 us    5.80 us    5.80 us    0.0 %    5 %
>     RECV_F        36    5.80 us    5.80 us    5.80 us    5.80 us    0.0 %   11 %
>     SEND_B        36    5.80 us    5.80 us    5.80 us    5.80 us    0.0 %    5 %
>     RECV_B        36    5.80 us    5.80 us    5.80 us    5.80 us    0.0 %   11 %
>
>   waits        count  predicted   measured        p50        p95    error
>     SEND_F        36        0 s        0 s        0 s        0 s    0.0 %
>     RECV_F        36    1.27 ms    1.27 ms     807 us    4.04 ms    0.0 %
>     SEND_B        36        0 s        0 s        0 s        0 s    0.0 %
>     RECV_B        36    5.22 ms    5.22 ms    4.82 ms    7.63 ms    0.0 %
>
>   by rank            busy   measured       idle   measured       span   measured
>     rank 0        5.33 ms    5.33 ms    9.71 ms    9.71 ms    15.0 ms    15.0 ms
>     rank 1        4.12 ms    4.12 ms    10.9 ms    10.9 ms    13.1 ms    13.1 ms
>     rank 2        4.15 ms    4.15 ms    10.9 ms    10.9 ms    12.1 ms    12.1 ms
>     rank 3        11.7 ms    11.7 ms    3.39 ms    3.39 ms    14.0 ms    14.0 ms
>
>   worst events     starts   measured      takes   measured      error  rank step
$ for v in skew_us=300 tp=2 rank=name steps=0; do echo "$v"; pipesim compare m.csv $v | grep -E '^pipesim|^  note|^  (measured  |   [FB] |  RECV)' | grep -A1 -vE 'names no program|only predicted'; done
> skew_us=300
> pipesim 0.1.0  step: predicted 15.0 ms, measured 15.0 ms, error 0.0 %
>   measured   skew_us=300/rank0_trace.json.gz and 3 more: 4 ranks x 1 replica,
>   note       clocks of 3 of 4 processes were moved, by up to 900 us, so that
>   note       one of the two names no program: only common events are compared
> --
>     RECV_F        36    5.80 us    5.80 us    5.80 us    5.80 us    0.0 %   11 %
>     RECV_B        36    5.80 us    5.80 us    5.80 us    5.80 us    0.0 %   11 %
>     RECV_F        36    1.27 ms    1.27 ms     807 us    4.04 ms    0.0 %
>     RECV_B        36    5.22 ms    5.22 ms    4.82 ms    7.63 ms    0.0 %
> tp=2
> pipesim 0.1.0  step: predicted 15.0 ms, measured 15.0 ms, error 0.0 %
>   measured   tp=2/rank0_trace.json.gz and 7 more: 4 ranks x 2 replicas, median
>   note       one of the two names no program: only common events are compared
>   note       the predicted replica stands for all 2 measured ones
>   note       12 events only predicted: (0;3)AR (rank 0, step 0), (0;3)AR
>     RECV_F        72    5.80 us    5.80 us    5.80 us    5.80 us    0.0 %   11 %
>     RECV_B        72    5.80 us    5.80 us    5.80 us    5.80 us    0.0 %   11 %
>     RECV_F        72    1.27 ms    1.27 ms     807 us    4.04 ms    0.0 %
>     RECV_B        72    5.22 ms    5.22 ms    4.82 ms    7.63 ms    0.0 %
> rank=name
> pipesim 0.1.0  step: predicted 15.0 ms, measured 15.0 ms, error 0.0 %
>   measured   rank=name/rank0_trace.json.gz and 3 more: 4 ranks x 1 replica,
>   note       4 of 4 files have no distributedInfo.rank: their ranks are those of
>   note       one of the two names no program: only common events are compared
> --
>     RECV_F        36    5.80 us    5.80 us    5.80 us    5.80 us    0.0 %   11 %
>     RECV_B        36    5.80 us    5.80 us    5.80 us    5.80 us    0.0 %   11 %
>     RECV_F        36    1.27 ms    1.27 ms     807 us    4.04 ms    0.0 %
>     RECV_B        36    5.22 ms    5.22 ms    4.82 ms    7.63 ms    0.0 %
> steps=0
> pipesim 0.1.0  step: predicted 15.0 ms, measured 15.0 ms, error 0.0 %
>   measured   steps=0/rank0_trace.json.gz and 3 more: 4 ranks x 1 replica, median
>   note       one of the two names no program: only common events are compared
> --
>     RECV_F        36    5.80 us    5.80 us    5.80 us    5.80 us    0.0 %   11 %
>     RECV_B        36    5.80 us    5.80 us    5.80 us    5.80 us    0.0 %   11 %
>     RECV_F        36    1.27 ms    1.27 ms     807 us    4.04 ms    0.0 %
>     RECV_B        36    5.22 ms    5.22 ms    4.82 ms    7.63 ms    0.0 %
# Stamps of a quarter of a microsecond, as PyTorch 2.2 wrote them; steps then seem to touch.
$ pipesim compare m.csv base=0 | grep -E '^ +(F|B|U|RECV_F|SEND_B) +[0-9]'
>     F             48     482 us     481 us     317 us    1.01 ms    0.0 %   38 %
>     B             48     961 us     961 us     719 us    1.79 ms    0.0 %   33 %
>     U             12     568 us     568 us     560 us     845 us    0.0 %    8 %
>     RECV_F        36    5.80 us    5.80 us    5.83 us    5.92 us    0.0 %   11 %
>     SEND_B        36    5.80 us    5.80 us    5.80 us    5.80 us    0.0 %    0 %
>     RECV_F        36    1.27 ms    1.27 ms     807 us    4.04 ms    0.0 %
>     SEND_B        36        0 s        0 s        0 s        0 s    0.0 %
# Without launches, what the profiler drew; without a device, the host.
$ for v in what=drawn what=host; do pipesim compare m.csv $v | sed -n '/^  note/,/^$/p; /^    [FBU] /p'; done
>   note       4 of 4 files have no launches: times are those that the profiler
>              drew on the device, which lack what autograd launched
>   note       one of the two names no program: only common events are compared
>   note       6 events only predicted: (0;3)AR (rank 0, step 0), (0;3)AR (rank 3,
>              step 0), (0;3)AR (rank 0, step 1), (0;3)AR (rank 3, step 1),
>              (0;3)AR (rank 0, step 2), (0;3)AR (rank 3, step 2)
>
>     F             48     482 us     482 us     317 us    1.01 ms    0.0 %   34 %
>     B             48     961 us     961 us     719 us    1.79 ms    0.0 %   25 %
>     U             12     568 us     568 us     560 us     845 us    0.0 %    5 %
>   note       4 of 4 files have no work of a device: times of compute are those
>              of the host, and messages are left out
>   note       one of the two names no program: only common events are compared
>   note       150 events only predicted: 0RECV_B0 (rank 0, step 0), 0RECV_B1
>              (rank 0, step 0), 0RECV_B2 (rank 0, step 0), 0RECV_B3 (rank 0,
>              step 0), 0SEND_F0 (rank 0, step 0), 0SEND_F1 (rank 0, step 0), ...
>
>     F             48     482 us     482 us     317 us    1.01 ms    0.0 %   54 %
>     B             48     961 us     961 us     719 us    1.79 ms    0.0 %   39 %
>     U             12     568 us     568 us     560 us     845 us    0.0 %    8 %
# One prediction of one step; files given one by one; the measured run in front.
$ pipesim compare p.csv plain/rank3_trace.json.gz plain/rank[012]_trace.json.gz | sed -n '1,12p'
> pipesim 0.1.0  step: predicted 14.9 ms, measured 15.0 ms, error -0.8 %
>
>   predicted  p.csv: 4 ranks x 1 replica, 1 step, 136 events,
>              program 17a88007d282f371
>   measured   plain/rank3_trace.json.gz and 3 more: 4 ranks x 1 replica, median
>              of 3 steps, 252 events
>   note       one of the two names no program: only common events are compared
>   note       each of the 3 measured steps is compared with predicted step 0
>   note       6 events only predicted: (0;3)AR (rank 0, step 0), (0;3)AR (rank 3,
>              step 0), (0;3)AR (rank 0, step 1), (0;3)AR (rank 3, step 1),
>              (0;3)AR (rank 0, step 2), (0;3)AR (rank 3, step 2)
>
$ pipesim compare plain tp=2 | sed -n '1,12p'
> pipesim 0.1.0  step: predicted 15.0 ms, measured 15.0 ms, error 0.0 %
>
>   predicted  plain/rank0_trace.json.gz and 3 more: 4 ranks x 1 replica, median
>              of 3 steps, 252 events
>   measured   tp=2/rank0_trace.json.gz and 7 more: 4 ranks x 2 replicas, median
>              of 3 steps, 504 events
>   note       one of the two names no program: only common events are compared
>   note       the predicted replica stands for all 2 measured ones
>
>                       predicted   measured      error
>   step                  15.0 ms    15.0 ms        0 s   0.0 %
>   bubble                 58.0 %     58.0 %   +0.0 pts   waiting for other stages
$ pipesim compare p.csv plain --json | grep -E '"(step_error_frac|program_hash|file|matched_events)"'
>   "step_error_frac": -0.0077149097096960162,
>     "file": "p.csv",
>     "program_hash": "17a88007d282f371",
>     "file": "plain/rank0_trace.json.gz and 3 more",
>     "program_hash": null,
>   "matched_events": 252,
$ pipesim compare p.csv plain --tolerance 0.1% >log
! pipesim: error: the predicted step is off by -0.7715 %, more than the tolerance of 0.1 %
= 5
# A recomputation is within a backward there.
$ run='pipesim --schedule 1f1b --model gpt2 --gpus 2 --tp 1 --pp 2 --micro-batches 3 --engine dag --no-alternatives --recompute full'; $run --trace r.csv >log; python3 tests/kineto/make.py r.csv recomputed; pipesim compare r.csv recomputed | grep -E '^pipesim|^  (step|forward|backward|recompute)|^    [FBR] |only predicted'
> pipesim 0.1.0  step: predicted 16.3 ms, measured 16.3 ms, error 0.0 %
>   note       2 events only predicted: (0;1)AR (rank 0, step 0), (0;1)AR (rank 1,
>   step                  16.3 ms    16.3 ms   -8.00 ps   0.0 %
>   forward               2.89 ms    2.89 ms   -24.5 ps
>   backward              7.57 ms    7.57 ms   +46.5 ps
>     F              6     962 us     962 us     962 us    1.28 ms    0.0 %   35 %
>     B              6    2.52 ms    2.52 ms    2.52 ms    2.99 ms    0.0 %   20 %
# Pictures of the run, alone and below the predicted one.
$ pipesim plot plain | head -7
> step 3 of 3
> the whole step
> P0 |FFFF.............BB......bBb.......BB.......BB.bBB|
> P1 |.FfF..........bB#f.....bB........Bb......bBBb.....|
> P2 |..FF........bB#f.....BBF......bBb......bBB........|
> P3 |...fFF#BBBBB#FF#BBBBBFFF#BBBBB#FF#BBBBB........bBb|
> one character = 301 us; F forward, B backward, # both,
$ pipesim plot m.csv plain -o two.gp && grep -c . two.gp >log; pipesim plot plain --kind memory
! pipesim: error: --kind memory is drawn from a sweep, but plain is a trace; from that: timeline, memory-time
= 2
# A log of steps has no events. It is held against a trace or a report.
$ for file in p.csv plain; do pipesim compare $file tests/data/logs/megatron.log | head -5; done
> pipesim 0.1.0  step: predicted 14.9 ms, measured 7.61 s, error -99.8 %
>
>   predicted  p.csv
>   measured   tests/data/logs/megatron.log: median of 28 lines 'elapsed time per
>              iteration (ms)'; 5 to 95 % of them 7.54 s .. 7.71 s
> pipesim 0.1.0  step: predicted 15.0 ms, measured 7.61 s, error -99.8 %
>
>   predicted  plain
>   measured   tests/data/logs/megatron.log: median of 28 lines 'elapsed time per
>              iteration (ms)'; 5 to 95 % of them 7.54 s .. 7.71 s
$ pipesim --schedule 1f1b --model llama2-13b --gpus 64 --tp 4 --pp 4 --gbs 512 --engine dag --json >report.json; pipesim compare report.json tests/data/logs/megatron.log --skip-steps 20 --json
> {
>   "schema": "pipesim.steps/1",
>   "predicted": "report.json",
>   "measured": "tests/data/logs/megatron.log",
>   "form": "elapsed time per iteration (ms)",
>   "lines": 30,
>   "skipped_lines": 20,
>   "predicted_step_s": 7.1801153579420003,
>   "measured_step_s": 7.6134500000000003,
>   "measured_p5_s": 7.5976699999999999,
>   "measured_p95_s": 7.7046300000000008,
>   "step_error_s": -0.43333464205799999,
>   "step_error_frac": -0.056916987969711452,
>   "predicted_flops_per_s_per_gpu": 397846358472486.69,
>   "measured_flops_per_s_per_gpu": 375350000000000.0,
>   "tolerance_frac": null,
>   "within_tolerance": null
> }
$ pipesim compare report.json tests/data/logs/megatron.log --tolerance 1% | head -1
> pipesim 0.1.0  step: predicted 7.18 s, measured 7.61 s, error -5.7 %, OUTSIDE
! pipesim: error: the predicted step is off by -5.667 %, more than the tolerance of 1 %
$ pipesim --schedule 1f1b --model llama2-13b --gpus 64 --tp 4 --pp 4 --gbs 256 --engine dag --json >other.json; pipesim compare other.json tests/data/logs/megatron.log
! pipesim: error: other.json is of global batches of 256 samples, tests/data/logs/megatron.log of 512: predict with --gbs 512
= 2
$ pipesim --schedule 1f1b,gpipe --model llama2-13b --gpus 64 --tp 4 --pp 4 --gbs 512 --engine dag --json >two.json; pipesim compare two.json tests/data/logs/megatron.log
! pipesim: error: two.json: its schema is 'pipesim.comparison/1'; a trace is expected, or what pipesim --json prints of one schedule (pipesim.report/1)
= 2
$ pipesim compare report.json tests/data/logs/megatron.log --skip-steps 30
! pipesim: error: tests/data/logs/megatron.log has 30 lines with the time of a step: --skip-steps 30 leaves none
= 2
$ pipesim compare report.json tests/data/logs/megatron.log --worst 3
! pipesim: error: --worst: tests/data/logs/megatron.log is a log of steps, without events
= 2
$ sed 's/(ms): 76/(ms): oops 76/' tests/data/logs/megatron.log >bad.log; pipesim compare report.json bad.log
! pipesim: error: bad.log:7: 'oops 7646.8 | throug' after 'elapsed time per iteration (ms)' is not the time of a step
= 2
$ pipesim compare report.json p.csv
! pipesim: error: report.json: the output of --json, which has no events; --trace FILE writes them
= 2
# Costs from such a run predict others: those of the simulator that it was made from.
$ run='pipesim --model gpt2 --mbs 2 --seq 512 --tp 1 --dp 1 --engine dag --no-alternatives --micro-batches 8'; $run --schedule interleaved-zb --vp 2 --pp 2 --trace c.csv >log; python3 tests/kineto/make.py c.csv profile; pipesim calibrate profile --model gpt2 --mbs 2 --seq 512 -o cost.json; for s in '1f1b --pp 2' 'gpipe --pp 4' 'zb-h1 --pp 4'; do $run --schedule $s | grep iteration; pipesim --cost cost.json --dp 1 --micro-batches 8 --no-alternatives --schedule $s | grep iteration; done
> pipesim 0.1.0  costs from 1 trace
>
>   machine  wall clock on NVIDIA H100 80GB HBM3, device (PyTorch), its own
>            messages
>   traces   profile/rank0_trace.json.gz and 1 more (PyTorch, 1 step)
>   layers   hidden 768, 12 heads, ffn 3072, vocab 50257; 2 samples of 512 tokens
>            at a time
>                     block  embedding       head      fixed  samples  worst fit
>            F       101 us    17.7 us     661 us        0 s       32      0.1 %
>            I       135 us    4.50 us     804 us        0 s       32      0.0 %
>            W      72.8 us     122 us     264 us        0 s       32      2.1 %
>   update   0.0137 ns a parameter + 12.6 us; 4 samples
>   channel  wire: 0 s + bytes / (271.2 GB/s); 48 samples, median error 0.0 %
>   left out nothing, so the error of these costs is unknown; traces of a second
>            schedule show it
>   note     3 kinds of stages cannot separate 4 parts, so the rest is divided by
>            flops; an interleaved schedule, or another --np, gives other stages
>   next     pipesim --cost cost.json --schedule 1f1b --pp 8 --micro-batches 8
>   iteration      32.0 ms +-2 %   256k tokens/s, 128k tokens/s/GPU; p90 10 %
>   iteration          32.1 ms   255k tokens/s, 128k tokens/s/GPU
>   iteration      25.3 ms +-2 %   324k tokens/s, 81.0k tokens/s/GPU; p90 10 %
>   iteration          25.3 ms   323k tokens/s, 80.9k tokens/s/GPU
>   iteration      23.3 ms +-2 %   352k tokens/s, 88.0k tokens/s/GPU; p90 10 %
>   iteration          23.3 ms   351k tokens/s, 87.9k tokens/s/GPU
# A host's profiles have no messages: which input is needed in addition, and that it is enough.
$ run='pipesim --schedule 1f1b --pp 4 --micro-batches 4 --no-alternatives --cost host.json'; for log in "" "--nccl-tests tests/data/topology/sendrecv_node.log"; do pipesim calibrate what=host --model gpt2 --mbs 1 -o host.json $log | sed -n '/^  next/,$p'; $run | grep iteration; done
>   next     the same with --nccl-tests LOG of sendrecv_perf, as no trace has
>            durations of messages; then pipesim --cost host.json --schedule 1f1b
>            --pp 8 --micro-batches 4
>   next     pipesim --cost host.json --schedule 1f1b --pp 8 --micro-batches 4
>   iteration          15.0 ms   273k tokens/s, 68.2k tokens/s/GPU
! pipesim: error: host.json has no durations of messages: calibrate on traces of pipeexec --pp 2, or --nccl-tests LOG with those
$ pipesim calibrate profile --model gpt2
! pipesim: error: traces of PyTorch do not name the model: give --mbs, and --model, --seq and --precision if they are not the defaults
= 2
$ pipesim calibrate profile --model gpt2 --mbs 2 --seq 512 --precision fp32 -o - | grep _bytes
>   "value_bytes": 4,
>   "gradient_bytes": 4,
$ pipesim calibrate profile --model gpt2 --layers 2 --mbs 2
! pipesim: error: profile/rank0_trace.json.gz and 1 more: 2 layers cannot fill 4 stages with at least one each: use at most 2 stages (lower --pp or --vp), or --head counted: embedding and head fill a stage each
= 2
$ pipesim calibrate tests/data/calibrate/1f1b.json.gz --mbs 2
! pipesim: error: --mbs describes a run of PyTorch; these traces describe themselves
= 2
$ pipesim calibrate profile tests/data/calibrate --model gpt2 --mbs 2 --seq 512 2>&1 | head -1
> pipesim: error: tests/data/calibrate/zb-h1.json.gz has values of 4 bytes, profile/rank0_trace.json.gz and 1 more of 2: costs are of one precision
# What is no run, or not in whole.
$ pipesim compare p.csv plain/rank[023]_trace.json.gz
! pipesim: error: stage 1 of 0 .. 3 is in none of the 3 files: give the trace of each pipeline rank (of one replica is enough)
= 2
$ pipesim compare p.csv plain/rank0_trace.json.gz
! pipesim: error: p.csv has 4 ranks, plain/rank0_trace.json.gz has 1; --allow-different compares what both have
= 2
$ pipesim compare p.csv plain plain/rank1_trace.json.gz
! pipesim: error: rank 1 is in plain/rank1_trace.json.gz and in plain/rank1_trace.json.gz
= 2
$ pipesim compare p.csv plain m.csv
! pipesim: error: plain/rank0_trace.json.gz is a trace of PyTorch's profiler, m.csv is not: they are of two runs
= 2
$ pipesim compare p.csv m.csv m.csv
! pipesim: error: m.csv and m.csv: one measured trace is compared; several files are those of PyTorch's profiler, one a process
= 2
$ mkdir empty; pipesim compare p.csv empty; pipesim plot empty
! pipesim: error: empty: no .json or .json.gz is in this folder
! pipesim: error: empty: no .json or .json.gz is in this folder
= 2
$ zcat plain/rank0_trace.json.gz | head -c 20000 >cut.json; pipesim compare p.csv cut.json
! pipesim: error: cut.json: byte 19885: ends within the value that begins here
= 2
$ head -c 2000 plain/rank0_trace.json.gz >cut.json.gz; pipesim compare p.csv cut.json.gz
! pipesim: error: cannot read cut.json.gz: <fd:3>: unexpected end of file
= 1
$ zcat plain/rank0_trace.json.gz | sed 's/PP:/XX:/g' >none.json; pipesim compare p.csv none.json
! pipesim: error: none.json: none of its 417 events is a range of the host that computes, such as PP:0F3; PyTorch's pipeline schedules draw them since 2.6 where the profiler records ProfilerActivity.CPU
= 2
$ zcat plain/rank0_trace.json.gz | sed 's/"dur":/"duration":/g' >no_dur.json; pipesim compare p.csv no_dur.json
! pipesim: error: no_dur.json: traceEvents[0]: "dur" is not a number of microseconds of 0 or more
= 2
# Another run than the predicted one.
$ pipesim --schedule 1f1b --model gpt2 --gpus 4 --tp 1 --pp 4 --micro-batches 5 --engine dag --no-alternatives --trace other.csv >log; pipesim compare other.csv plain
! pipesim: error: 24 ops are not in both, such as 0B4 of rank 0, which is only in other.csv; --allow-different compares what both have
= 2
$ pipesim compare other.csv plain --allow-different | head -1
> pipesim 0.1.0  step: predicted 17.6 ms, measured 15.0 ms, error +17.1 %
$ pipesim --schedule 1f1b --model gpt2 --gpus 2 --tp 1 --pp 2 --micro-batches 4 --engine dag --no-alternatives --trace two.csv >log; pipesim compare two.csv plain
! pipesim: error: two.csv has 2 ranks, plain/rank0_trace.json.gz and 3 more has 4; --allow-different compares what both have
= 2
