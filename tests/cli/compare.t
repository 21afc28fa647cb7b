# A prediction held against a measurement: both are runs of the simulator here.
$ d=$(mktemp -d); trap 'rm -r $d' EXIT; cd $d; run='pipesim --schedule 1f1b --model gpt2 --gpus 8 --tp 1 --pp 4 --dp 2 --micro-batches 8 --engine dag --no-alternatives'; $run --trace p.csv >log; $run --slow 2=0.8 --jitter 5% --seed 3 --steps 3 --trace m.csv >log; pipesim compare p.csv m.csv
> pipesim 0.1.0  step: predicted 23.4 ms, measured 23.6 ms, error -0.9 %
>
>   predicted  p.csv: 4 ranks x 1 replica, 1 step, 272 events,
>              program db5b7c950d15ce5f
>   measured   m.csv: 4 ranks x 2 replicas, median of 3 steps, 1,632 events,
>              program db5b7c950d15ce5f
>   note       the predicted replica stands for all 2 measured ones
>   note       each of the 3 measured steps is compared with predicted step 0
>
>                       predicted   measured      error
>   step                  23.4 ms    23.6 ms    -220 us   -0.9 %
>   bubble                 52.7 %     51.2 %   +1.5 pts   waiting for other stages
>   bubble, span form      13.3 %     14.1 %   -0.8 pts
>
>   where the time is   predicted   measured      error   of the step's error
>   forward               3.22 ms    3.31 ms   -98.0 us      45 %
>   backward              6.61 ms    6.87 ms    -260 us     118 %
>   p2p in flight         52.5 us    50.7 us   +1.89 us      -1 %
>   DP sync                807 us     886 us   -78.9 us      36 %
>   optimizer              434 us     455 us   -20.7 us       9 %
>   bubble                12.3 ms    12.0 ms    +236 us    -107 %
>
>   takes        count  predicted   measured        p50        p95    error  share
>     F            192     402 us     416 us     276 us     901 us   -3.4 %   32 %
>     B            192     826 us     858 us     663 us    1.62 ms   -3.7 %   64 %
>     U             24     434 us     454 us     453 us     664 us   -4.4 %    4 %
>     AR            36     251 us     251 us     243 us     366 us    0.0 %    0 %
>     SEND_F       144    6.37 us    6.37 us    6.37 us    6.37 us    0.0 %    0 %
>     RECV_F       144    6.37 us    6.37 us    6.37 us    6.37 us    0.0 %    0 %
>     SEND_B       144    6.37 us    6.37 us    6.37 us    6.37 us    0.0 %    0 %
>     RECV_B       144    6.37 us    6.37 us    6.37 us    6.37 us    0.0 %    0 %
>
>   waits        count  predicted   measured        p50        p95    error
>     AR            36     661 us     745 us     207 us    2.20 ms  -11.2 %
>     SEND_F       144        0 s        0 s        0 s        0 s    0.0 %
>     RECV_F       144    1.99 ms    2.04 ms    2.54 ms    3.62 ms   -2.4 %
>     SEND_B       144        0 s        0 s        0 s        0 s    0.0 %
>     RECV_B       144    4.49 ms    4.48 ms    4.28 ms    6.38 ms   +0.3 %
>
>   by rank            busy   measured       idle   measured       span   measured
>     rank 0        7.94 ms    7.94 ms    15.5 ms    15.7 ms    23.4 ms    23.6 ms
>     rank 1        6.40 ms    6.40 ms    17.0 ms    17.2 ms    21.6 ms    21.8 ms
>     rank 2        6.40 ms    8.07 ms    17.0 ms    15.5 ms    20.8 ms    21.1 ms
>     rank 3        20.3 ms    20.2 ms    3.11 ms    3.38 ms    22.6 ms    22.8 ms
>
>   worst events     starts   measured      takes   measured      error  rank step
>     2B1           5.67 ms    5.65 ms     531 us     696 us    -166 us  P2.0 0
>     2B5           15.5 ms    15.5 ms     531 us     694 us    -164 us  P2.0 2
>     2B3           10.6 ms    10.6 ms     531 us     693 us    -163 us  P2.1 1
>     2B5           15.5 ms    15.7 ms     531 us     693 us    -162 us  P2.1 1
>     2B6           18.0 ms    18.1 ms     531 us     691 us    -160 us  P2.1 1
# The same from JSON, packed and not, to the bit.
$ d=$(mktemp -d); trap 'rm -r $d' EXIT; cd $d; run='pipesim --schedule chimera --model gpt2 --gpus 4 --tp 1 --pp 4 --micro-batches 4 --engine dag --no-alternatives'; for f in p.csv p.json; do $run --trace $f >log; done; for f in m.csv m.json.gz; do $run --jitter 10% --steps 2 --trace $f >log; done; for pair in 'p.csv m.csv' 'p.json m.json.gz' 'p.csv m.json.gz'; do pipesim compare $pair --json | grep -vE '"(file|events)"' >report; cmp report first 2>difference || mv report first; cat difference; done | wc -l
> 1
# A trace and itself: nothing differs.
$ d=$(mktemp -d); trap 'rm -r $d' EXIT; cd $d; pipesim --schedule 1f1b --pp 2 --micro-batches 2 --unit F=1,B=2 --steps 3 --trace p.csv >log; pipesim compare p.csv p.csv --tolerance 0 | head -16
> pipesim 0.1.0  step: predicted 9.00 s, measured 9.00 s, error 0.0 %, within the
>   tolerance of 0 %
>
>   predicted  p.csv: 2 ranks x 1 replica, median of 3 steps, 72 events,
>              program 57ec84a269ed5967
>   measured   p.csv: 2 ranks x 1 replica, median of 3 steps, 72 events,
>              program 57ec84a269ed5967
>
>                       predicted   measured      error
>   step                   9.00 s     9.00 s        0 s   0.0 %
>   bubble                 33.3 %     33.3 %   +0.0 pts   waiting for other stages
>   bubble, span form      33.3 %     33.3 %   +0.0 pts
>
>   where the time is   predicted   measured      error   of the step's error
>   forward                2.00 s     2.00 s        0 s
>   backward               4.00 s     4.00 s        0 s
$ d=$(mktemp -d); trap 'rm -r $d' EXIT; cd $d; pipesim --schedule 1f1b --pp 2 --micro-batches 2 --unit F=1,B=2 --trace p.csv >log; pipesim compare p.csv p.csv --worst 0 --json
> {
>   "schema": "pipesim.compare/1",
>   "predicted_step_s": 9.0,
>   "measured_step_s": 9.0,
>   "step_error_s": 0.0,
>   "step_error_frac": 0.0,
>   "tolerance_frac": null,
>   "within_tolerance": null,
>   "same_program": true,
>   "pairwise_steps": true,
>   "folded_prediction": false,
>   "notes": [],
>   "predicted": {
>     "file": "p.csv",
>     "program_hash": "57ec84a269ed5967",
>     "ranks": 2,
>     "replicas": 1,
>     "events": 24,
>     "steps": 1,
>     "steps_overlap": false,
>     "step_s": 9.0,
>     "bubble_frac": 0.33333333333333331,
>     "span_bubble_frac": 0.33333333333333337,
>     "before_any_rank_s": 0.0,
>     "time_s": {
>       "forward": 2.0,
>       "backward": 4.0,
>       "recompute": 0.0,
>       "tp_comm": 0.0,
>       "cp_comm": 0.0,
>       "ep_comm": 0.0,
>       "p2p": 0.0,
>       "dp_sync": 0.0,
>       "optimizer": 0.0,
>       "moves": 0.0,
>       "bubble": 3.0
>     }
>   },
>   "measured": {
>     "file": "p.csv",
>     "program_hash": "57ec84a269ed5967",
>     "ranks": 2,
>     "replicas": 1,
>     "events": 24,
>     "steps": 1,
>     "steps_overlap": false,
>     "step_s": 9.0,
>     "bubble_frac": 0.33333333333333331,
>     "span_bubble_frac": 0.33333333333333337,
>     "before_any_rank_s": 0.0,
>     "time_s": {
>       "forward": 2.0,
>       "backward": 4.0,
>       "recompute": 0.0,
>       "tp_comm": 0.0,
>       "cp_comm": 0.0,
>       "ep_comm": 0.0,
>       "p2p": 0.0,
>       "dp_sync": 0.0,
>       "optimizer": 0.0,
>       "moves": 0.0,
>       "bubble": 3.0
>     }
>   },
>   "steps": [
>     {
>       "predicted_step": 0,
>       "measured_step": 0,
>       "predicted_s": 9.0,
>       "measured_s": 9.0,
>       "error_frac": 0.0
>     }
>   ],
>   "ranks": [
>     {
>       "rank": 0,
>       "predicted": {
>         "busy_s": 6.0,
>         "idle_s": 3.0,
>         "span_s": 9.0
>       },
>       "measured": {
>         "busy_s": 6.0,
>         "idle_s": 3.0,
>         "span_s": 9.0
>       }
>     },
>     {
>       "rank": 1,
>       "predicted": {
>         "busy_s": 6.0,
>         "idle_s": 3.0,
>         "span_s": 6.0
>       },
>       "measured": {
>         "busy_s": 6.0,
>         "idle_s": 3.0,
>         "span_s": 6.0
>       }
>     }
>   ],
>   "durations": [
>     {
>       "kind": "F",
>       "count": 4,
>       "predicted_mean_s": 1.0,
>       "measured_mean_s": 1.0,
>       "measured_p50_s": 1.0,
>       "measured_p95_s": 1.0,
>       "error_frac": 0.0,
>       "share_frac": 0.0
>     },
>     {
>       "kind": "B",
>       "count": 4,
>       "predicted_mean_s": 2.0,
>       "measured_mean_s": 2.0,
>       "measured_p50_s": 2.0,
>       "measured_p95_s": 2.0,
>       "error_frac": 0.0,
>       "share_frac": 0.0
>     },
>     {
>       "kind": "SEND_F",
>       "count": 2,
>       "predicted_mean_s": 0.0,
>       "measured_mean_s": 0.0,
>       "measured_p50_s": 0.0,
>       "measured_p95_s": 0.0,
>       "error_frac": 0.0,
>       "share_frac": 0.0
>     },
>     {
>       "kind": "RECV_F",
>       "count": 2,
>       "predicted_mean_s": 0.0,
>       "measured_mean_s": 0.0,
>       "measured_p50_s": 0.0,
>       "measured_p95_s": 0.0,
>       "error_frac": 0.0,
>       "share_frac": 0.0
>     },
>     {
>       "kind": "SEND_B",
>       "count": 2,
>       "predicted_mean_s": 0.0,
>       "measured_mean_s": 0.0,
>       "measured_p50_s": 0.0,
>       "measured_p95_s": 0.0,
>       "error_frac": 0.0,
>       "share_frac": 0.0
>     },
>     {
>       "kind": "RECV_B",
>       "count": 2,
>       "predicted_mean_s": 0.0,
>       "measured_mean_s": 0.0,
>       "measured_p50_s": 0.0,
>       "measured_p95_s": 0.0,
>       "error_frac": 0.0,
>       "share_frac": 0.0
>     }
>   ],
>   "waits": [
>     {
>       "kind": "SEND_F",
>       "count": 2,
>       "predicted_mean_s": 0.0,
>       "measured_mean_s": 0.0,
>       "measured_p50_s": 0.0,
>       "measured_p95_s": 0.0,
>       "error_frac": 0.0
>     },
>     {
>       "kind": "RECV_F",
>       "count": 2,
>       "predicted_mean_s": 1.5,
>       "measured_mean_s": 1.5,
>       "measured_p50_s": 1.5,
>       "measured_p95_s": 2.0,
>       "error_frac": 0.0
>     },
>     {
>       "kind": "SEND_B",
>       "count": 2,
>       "predicted_mean_s": 0.0,
>       "measured_mean_s": 0.0,
>       "measured_p50_s": 0.0,
>       "measured_p95_s": 0.0,
>       "error_frac": 0.0
>     },
>     {
>       "kind": "RECV_B",
>       "count": 2,
>       "predicted_mean_s": 5.5,
>       "measured_mean_s": 5.5,
>       "measured_p50_s": 5.5,
>       "measured_p95_s": 7.0,
>       "error_frac": 0.0
>     }
>   ],
>   "worst": [],
>   "matched_events": 16,
>   "only_predicted": {
>     "count": 0,
>     "first": []
>   },
>   "only_measured": {
>     "count": 0,
>     "first": []
>   }
> }
# Without a barrier the step is that of the steady state.
$ d=$(mktemp -d); trap 'rm -r $d' EXIT; cd $d; run='pipesim --schedule 1f1b --pp 3 --micro-batches 3 --unit F=1,B=2 --step-barrier off'; $run --steps 4 --trace p.csv | grep -E 'step '; $run --steps 6 --slow 1=0.5 --trace m.csv | grep -E 'step '; pipesim compare p.csv m.csv | head -12
>   step              15 units   steady step of 4 steps, no barrier
>   step              22 units   steady step of 6 steps, no barrier
> pipesim 0.1.0  step: predicted 15.0 s, measured 22.0 s, error -31.8 %
>
>   predicted  p.csv: 3 ranks x 1 replica, 2 steps that run into each other,
>              264 events, program 9c3053445b15bed1
>   measured   m.csv: 3 ranks x 1 replica, 6 steps that run into each other,
>              396 events, program 9c3053445b15bed1
>   note       each of the 6 measured steps is compared with predicted step 3
>
>                       predicted   measured      error
>   step                   15.0 s     22.0 s    -7.00 s   -31.8 %
>   bubble                 40.0 %     45.5 %   -5.5 pts   waiting for other stages
>   bubble, span form      40.0 %     18.2 %  +21.8 pts
# Of many ranks those that differ most; nothing is wider than 80 columns.
$ d=$(mktemp -d); trap 'rm -r $d' EXIT; cd $d; run='pipesim --schedule 1f1b --model gpt2 --layers 16 --gpus 128 --tp 1 --pp 16 --micro-batches 16 --engine dag --no-alternatives'; $run --trace p.csv >log; $run --slow 13.7=0.5 --steps 4 --trace m.csv >log; pipesim compare p.csv m.csv --worst 12 --skip-steps 2 --tolerance 100% >report; awk 'length > 80' report; grep -A10 'by rank' report; tail -3 report
>   by rank            busy   measured       idle   measured       span   measured
>     rank 0        6.87 ms    6.87 ms    32.6 ms    32.8 ms    39.5 ms    39.7 ms
>     rank 1        4.19 ms    4.19 ms    35.3 ms    35.5 ms    36.2 ms    36.5 ms
>     rank 2        4.19 ms    4.19 ms    35.3 ms    35.5 ms    35.9 ms    36.1 ms
>     rank 3        4.19 ms    4.19 ms    35.3 ms    35.5 ms    35.5 ms    35.8 ms
>     rank 4        4.19 ms    4.19 ms    35.3 ms    35.5 ms    35.2 ms    35.4 ms
>     rank 5        4.19 ms    4.19 ms    35.3 ms    35.5 ms    34.8 ms    35.1 ms
>     rank 13       4.19 ms    8.38 ms    35.3 ms    31.3 ms    32.0 ms    32.3 ms
>     rank 14       4.19 ms    4.19 ms    35.3 ms    35.5 ms    31.6 ms    31.7 ms
>     ... 8 more, whose busy times differ less
>
>     13B9          21.6 ms    21.7 ms     177 us     354 us    -177 us  P13.7 2
>     13B10         23.6 ms    23.6 ms     177 us     354 us    -177 us  P13.7 2
>     13B11         25.5 ms    25.6 ms     177 us     354 us    -177 us  P13.7 2
# Cells may be long; fused pairs are a kind of their own.
$ d=$(mktemp -d); trap 'rm -r $d' EXIT; cd $d; run='pipesim --schedule dualpipev --pp 2 --micro-batches 4 --model gpt2 --gpus 2 --engine dag --no-alternatives'; $run --trace p.csv >log; $run --jitter 20% --trace m.csv >log; pipesim compare p.csv m.csv --worst 2 | grep -A3 -E 'in flight|takes|worst'
>   p2p in flight         19.1 us    15.9 us   +3.18 us      -1 %
>   optimizer              666 us     729 us   -62.5 us      29 %
>   bubble                3.88 ms    3.99 ms    -112 us      52 %
>
>   takes        count  predicted   measured        p50        p95    error  share
>     F+B            6    1.20 ms    1.15 ms    1.07 ms    1.73 ms   +4.8 %   40 %
>     F             10     371 us     393 us     279 us    1.04 ms   -5.5 %   16 %
>     B              5     952 us    1.00 ms     535 us    1.86 ms   -5.3 %   17 %
> --
>   worst events     starts   measured      takes   measured      error  rank step
>     (3F3;0B1)OVERLAP_F_B
>                   9.04 ms    9.42 ms    1.53 ms    1.25 ms    +285 us  P0 0
>     3B2           7.46 ms    7.56 ms    1.58 ms    1.86 ms    -276 us  P0 0
# Time between two steps is in the later one, and outside of the program.
$ d=$(mktemp -d); trap 'rm -r $d' EXIT; cd $d; pipesim --schedule 1f1b --pp 2 --micro-batches 2 --unit F=1,B=2 --steps 2 --trace p.csv >log; awk -F, -v OFS=, 'NR > 1 && $1 == 1 { for (i = 6; i <= 9; i++) if ($i != "") $i += 3 } 1' p.csv >m.csv; pipesim compare p.csv m.csv --skip-steps 1 | sed -n '/^  step/p;/where/,/^$/p'; pipesim compare p.csv m.csv --json | grep -A15 '"steps": .$'
>   step                   9.00 s     12.0 s    -3.00 s   -25.0 %
>   where the time is   predicted   measured      error   of the step's error
>   forward                2.00 s     2.00 s        0 s       0 %
>   backward               4.00 s     4.00 s        0 s       0 %
>   bubble                 3.00 s     6.00 s    -3.00 s     100 %
>   before any rank           0 s     3.00 s    -3.00 s   part of the bubble
>
>   "steps": [
>     {
>       "predicted_step": 0,
>       "measured_step": 0,
>       "predicted_s": 9.0,
>       "measured_s": 9.0,
>       "error_frac": 0.0
>     },
>     {
>       "predicted_step": 1,
>       "measured_step": 1,
>       "predicted_s": 9.0,
>       "measured_s": 12.0,
>       "error_frac": -0.25
>     }
>   ],
# Exit code 5, the report all the same.
$ d=$(mktemp -d); trap 'rm -r $d' EXIT; cd $d; run='pipesim --schedule 1f1b --pp 2 --micro-batches 2 --unit F=1,B=2'; $run --trace p.csv >log; $run --slow 1=0.5 --trace m.csv >log; pipesim compare p.csv m.csv --tolerance 60% | head -2; pipesim compare p.csv m.csv --tolerance 5% --worst 1
> pipesim 0.1.0  step: predicted 9.00 s, measured 15.0 s, error -40.0 %, within
>   the tolerance of 60 %
> pipesim 0.1.0  step: predicted 9.00 s, measured 15.0 s, error -40.0 %, OUTSIDE
>   the tolerance of 5 %
>
>   predicted  p.csv: 2 ranks x 1 replica, 1 step, 24 events,
>              program 57ec84a269ed5967
>   measured   m.csv: 2 ranks x 1 replica, 1 step, 24 events,
>              program 57ec84a269ed5967
>
>                       predicted   measured      error
>   step                   9.00 s     15.0 s    -6.00 s   -40.0 %
>   bubble                 33.3 %     40.0 %   -6.7 pts   waiting for other stages
>   bubble, span form      33.3 %     20.0 %  +13.3 pts
>
>   where the time is   predicted   measured      error   of the step's error
>   forward                2.00 s     3.00 s    -1.00 s      17 %
>   backward               4.00 s     6.00 s    -2.00 s      33 %
>   bubble                 3.00 s     6.00 s    -3.00 s      50 %
>
>   takes        count  predicted   measured        p50        p95    error  share
>     F              4     1.00 s     1.50 s     1.50 s     2.00 s  -33.3 %   33 %
>     B              4     2.00 s     3.00 s     3.00 s     4.00 s  -33.3 %   67 %
>     SEND_F         2        0 s        0 s        0 s        0 s    0.0 %    0 %
>     RECV_F         2        0 s        0 s        0 s        0 s    0.0 %    0 %
>     SEND_B         2        0 s        0 s        0 s        0 s    0.0 %    0 %
>     RECV_B         2        0 s        0 s        0 s        0 s    0.0 %    0 %
>
>   waits        count  predicted   measured        p50        p95    error
>     SEND_F         2        0 s        0 s        0 s        0 s    0.0 %
>     RECV_F         2     1.50 s     1.50 s     1.50 s     2.00 s    0.0 %
>     SEND_B         2        0 s        0 s        0 s        0 s    0.0 %
>     RECV_B         2     5.50 s     10.0 s     10.0 s     13.0 s  -45.0 %
>
>   by rank            busy   measured       idle   measured       span   measured
>     rank 0         6.00 s     6.00 s     3.00 s     9.00 s     9.00 s     15.0 s
>     rank 1         6.00 s     12.0 s     3.00 s     3.00 s     6.00 s     12.0 s
>
>   worst events     starts   measured      takes   measured      error  rank step
>     1B0            2.00 s     3.00 s     2.00 s     4.00 s    -2.00 s  P1 0
! pipesim: error: the predicted step is off by -40 %, more than the tolerance of 5 %
= 5
$ d=$(mktemp -d); trap 'rm -r $d' EXIT; cd $d; run='pipesim --schedule 1f1b --pp 2 --micro-batches 2 --unit F=1,B=2'; $run --trace p.csv >log; $run --slow 1=0.5 --trace m.csv >log; pipesim compare p.csv m.csv --tolerance 5% --json | grep -E 'tolerance|step_error'
>   "step_error_s": -6.0,
>   "step_error_frac": -0.40000000000000002,
>   "tolerance_frac": 0.050000000000000003,
>   "within_tolerance": false,
! pipesim: error: the predicted step is off by -40 %, more than the tolerance of 5 %
# Other programs are refused, or compared as far as they go.
$ d=$(mktemp -d); trap 'rm -r $d' EXIT; cd $d; run='pipesim --pp 2 --unit F=1,B=2'; $run --schedule 1f1b --micro-batches 2 --trace p.csv >log; $run --schedule gpipe --micro-batches 3 --trace m.csv >log; pipesim compare p.csv m.csv --allow-different | head -12; pipesim compare p.csv m.csv
> pipesim 0.1.0  step: predicted 9.00 s, measured 12.0 s, error -25.0 %
>
>   predicted  p.csv: 2 ranks x 1 replica, 1 step, 24 events,
>              program 57ec84a269ed5967
>   measured   m.csv: 2 ranks x 1 replica, 1 step, 36 events,
>              program 57ecd5a705b08402
>   note       the programs differ: only what both have is compared
>   note       8 events only measured: 0B2 (rank 0, step 0), 0F2 (rank 0, step 0),
>              0RECV_B2 (rank 0, step 0), 0SEND_F2 (rank 0, step 0), 1B2 (rank 1,
>              step 0), 1F2 (rank 1, step 0), ...
>
>                       predicted   measured      error
! pipesim: error: p.csv is of program 57ec84a269ed5967, m.csv of program 57ecd5a705b08402; --allow-different compares what both have
= 2
# Bad files and bad options.
$ pipesim compare
! pipesim: error: pipesim compare needs 2 operands, not 0
! usage: pipesim compare PREDICTED MEASURED [options]
= 2
$ pipesim compare a.csv
! pipesim: error: pipesim compare needs 2 operands, not 1
! usage: pipesim compare PREDICTED MEASURED [options]
= 2
$ pipesim compare nowhere.csv nowhere.csv
! pipesim: error: cannot open nowhere.csv: No such file or directory
= 1
$ pipesim compare - -
! pipesim: error: compare: only one of the two traces can be stdin
= 2
$ d=$(mktemp -d); trap 'rm -r $d' EXIT; cd $d; echo a,b >a; pipesim compare a a
! pipesim: error: a:1: column 1 is 'a', expected 'step'
= 2
$ d=$(mktemp -d); trap 'rm -r $d' EXIT; cd $d; echo '{"traceEvents": [' >a; pipesim compare a a
! pipesim: error: a:2:0: ']' expected near end of file
= 2
$ pipesim compare - /dev/stdin <<<'{"traceEvents": [{"ph": "X", "name": "python"}]}'
! pipesim: error: <stdin>: "otherData" and "traceEvents" are expected, as this program writes them; other Chrome traces are not read
= 2
$ d=$(mktemp -d); trap 'rm -r $d' EXIT; cd $d; pipesim --schedule 1f1b --pp 2 --micro-batches 2 --unit F=1,B=2 --trace p.csv >log; sed '5s/channel/compute/' p.csv >q.csv; pipesim compare p.csv q.csv
! pipesim: error: q.csv:5: stream 'compute' of 0SEND_F0, expected 'channel'
= 2
$ d=$(mktemp -d); trap 'rm -r $d' EXIT; cd $d; pipesim --schedule 1f1b --pp 2 --micro-batches 2 --unit F=1,B=2 --trace p.csv >log; grep -v ',1,0,' p.csv >q.csv; pipesim compare p.csv q.csv
! pipesim: error: q.csv: rank 0 of replica 0: (0SEND_F0)WAIT waits for what was not posted before it
= 2
$ d=$(mktemp -d); trap 'rm -r $d' EXIT; cd $d; pipesim --schedule 1f1b --pp 2 --micro-batches 2 --unit F=1,B=2 --trace p.csv >log; pipesim compare p.csv p.csv --skip-steps 1
! pipesim: error: p.csv has 1 step: --skip-steps 1 leaves too few; at most 0
= 2
$ pipesim compare a b --tolerance big
! pipesim: error: --tolerance: "big" is not a fraction such as 5% or 0.05
= 2
$ pipesim compare a b --gpus 4
! pipesim: error: --gpus is not an option of "pipesim compare" but of "run", "clusters", "sweep"
! try: pipesim compare --help
= 2
$ pipesim compare --help
> usage: pipesim compare PREDICTED MEASURED [options]
>
> hold a predicted trace against a measured one: where does the error come from?
>
> Comparison:
>   --skip-steps K          Leave out the first K measured steps, and as many
>                           predicted ones where there are equally many. (0 to
>                           1048576; default 0)
>   --tolerance FRAC        Exit 5 when predicted / measured - 1 of the step is
>                           larger in size, e.g. 5%. (a fraction: 5% or 0.05)
>   --worst N               How many of the events whose durations differ most to
>                           print. (0 to 1000; default 5)
>   --allow-different       Compare traces of different programs, as far as they
>                           have the same events.
>
> Output:
>   --json                  One JSON object on stdout.
>
> Help:
>   -h                      one screen of help
>   --help                  this text
>   --version               the version
>
> Examples:
>   # how wrong is a prediction, and where? Two files of --trace
>   pipesim compare predicted.csv measured.json.gz --tolerance 5%
