# A prediction held against a measurement: both are runs of the simulator here.
$ d=$(mktemp -d); trap 'rm -r $d' EXIT; cd $d; run='pipesim --schedule 1f1b --model gpt2 --gpus 8 --tp 1 --pp 4 --dp 2 --micro-batches 8 --engine dag --no-alternatives'; $run --trace p.csv >log; $run --slow 2=0.8 --jitter 5% --seed 3 --steps 3 --trace m.csv >log; pipesim compare p.csv m.csv
> pipesim 0.1.0  step: predicted 26.1 ms, measured 26.3 ms, error -1.1 %
>
>   predicted  p.csv: 4 ranks x 1 replica, 1 step, 272 events,
>              program db5b7c950d15ce5f
>   measured   m.csv: 4 ranks x 2 replicas, median of 3 steps, 1,632 events,
>              program db5b7c950d15ce5f
>   note       the predicted replica stands for all 2 measured ones
>   note       each of the 3 measured steps is compared with predicted step 0
>
>                       predicted   measured      error
>   step                  26.1 ms    26.3 ms    -279 us   -1.1 %
>   bubble                 50.4 %     48.8 %   +1.6 pts   waiting for other stages
>   span idle              14.2 %     15.1 %   -0.9 pts
>
>   where the time is   predicted   measured      error   of the step's error
>   forward               3.85 ms    3.98 ms    -129 us      46 %
>   backward              7.61 ms    7.92 ms    -318 us     114 %
>   p2p in flight         47.8 us    46.4 us   +1.45 us      -1 %
>   DP sync                898 us     993 us   -95.4 us      34 %
>   optimizer              572 us     600 us   -27.4 us      10 %
>   waiting               13.1 ms    12.8 ms    +289 us    -104 %
>
>   takes        count  predicted   measured        p50        p95    error  share
>     F            192     481 us     499 us     358 us    1.00 ms   -3.7 %   32 %
>     B            192     951 us     990 us     802 us    1.76 ms   -4.0 %   63 %
>     U             24     572 us     599 us     598 us     875 us   -4.4 %    4 %
>     AR            36     251 us     251 us     243 us     366 us    0.0 %    0 %
>     SEND_F       144    5.80 us    5.80 us    5.80 us    5.80 us    0.0 %    0 %
>     RECV_F       144    5.80 us    5.80 us    5.80 us    5.80 us    0.0 %    0 %
>     SEND_B       144    5.80 us    5.80 us    5.80 us    5.80 us    0.0 %    0 %
>     RECV_B       144    5.80 us    5.80 us    5.80 us    5.80 us    0.0 %    0 %
>
>   waits        count  predicted   measured        p50        p95    error
>     AR            36     781 us     879 us     212 us    2.61 ms  -11.1 %
>     SEND_F       144        0 s        0 s        0 s        0 s    0.0 %
>     RECV_F       144    2.28 ms    2.34 ms    2.91 ms    4.10 ms   -2.6 %
>     SEND_B       144        0 s        0 s        0 s        0 s    0.0 %
>     RECV_B       144    4.93 ms    4.91 ms    4.62 ms    7.23 ms   +0.3 %
>
>   by rank            busy   measured       idle   measured       span   measured
>     rank 0        9.77 ms    9.77 ms    16.3 ms    16.6 ms    26.1 ms    26.3 ms
>     rank 1        7.98 ms    7.98 ms    18.1 ms    18.4 ms    23.9 ms    24.2 ms
>     rank 2        7.98 ms    10.1 ms    18.1 ms    16.3 ms    23.0 ms    23.3 ms
>     rank 3        22.4 ms    22.3 ms    3.69 ms    4.03 ms    25.1 ms    25.3 ms
>
>   worst events     starts   measured      takes   measured      error  rank step
>     2B1           6.36 ms    6.35 ms     649 us     851 us    -202 us  P2.0 0
>     2B5           17.1 ms    17.1 ms     649 us     849 us    -200 us  P2.0 2
>     2B3           11.7 ms    11.8 ms     649 us     848 us    -199 us  P2.1 1
>     2B5           17.1 ms    17.3 ms     649 us     847 us    -198 us  P2.1 1
>     2B6           19.8 ms    20.0 ms     649 us     845 us    -196 us  P2.1 1
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
>   span idle              33.3 %     33.3 %   +0.0 pts
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
>   span idle              40.0 %     18.2 %  +21.8 pts
# Of many ranks those that differ most; nothing is wider than 80 columns.
$ d=$(mktemp -d); trap 'rm -r $d' EXIT; cd $d; run='pipesim --schedule 1f1b --model gpt2 --layers 16 --gpus 128 --tp 1 --pp 16 --micro-batches 16 --engine dag --no-alternatives'; $run --trace p.csv >log; $run --slow 13.7=0.5 --steps 4 --trace m.csv >log; pipesim compare p.csv m.csv --worst 12 --skip-steps 2 --tolerance 100% >report; awk 'length > 80' report; grep -A10 'by rank' report; tail -3 report
>   by rank            busy   measured       idle   measured       span   measured
>     rank 0        8.25 ms    8.25 ms    33.7 ms    34.0 ms    41.9 ms    42.2 ms
>     rank 1        5.22 ms    5.22 ms    36.7 ms    37.0 ms    38.7 ms    39.0 ms
>     rank 2        5.22 ms    5.22 ms    36.7 ms    37.0 ms    38.3 ms    38.6 ms
>     rank 4        5.22 ms    5.22 ms    36.7 ms    37.0 ms    37.5 ms    37.8 ms
>     rank 7        5.22 ms    5.22 ms    36.7 ms    37.0 ms    36.3 ms    36.6 ms
>     rank 9        5.22 ms    5.22 ms    36.7 ms    37.0 ms    35.5 ms    35.8 ms
>     rank 12       5.22 ms    5.22 ms    36.7 ms    37.0 ms    34.3 ms    34.6 ms
>     rank 13       5.22 ms    10.4 ms    36.7 ms    31.8 ms    33.9 ms    34.3 ms
>     ... 8 more, whose busy times differ less
>
>     13B9          23.0 ms    23.1 ms     216 us     433 us    -216 us  P13.7 2
>     13B10         25.1 ms    25.2 ms     216 us     433 us    -216 us  P13.7 2
>     13B11         27.1 ms    27.2 ms     216 us     433 us    -216 us  P13.7 2
# Cells may be long; fused pairs are a kind of their own.
$ d=$(mktemp -d); trap 'rm -r $d' EXIT; cd $d; run='pipesim --schedule dualpipev --pp 2 --micro-batches 4 --model gpt2 --gpus 2 --engine dag --no-alternatives'; $run --trace p.csv >log; $run --jitter 20% --trace m.csv >log; pipesim compare p.csv m.csv --worst 2 | grep -A3 -E 'in flight|takes|worst'
>   p2p in flight         17.4 us    14.5 us   +2.90 us      -2 %
>   optimizer              880 us     962 us   -82.3 us      43 %
>   waiting               4.12 ms    4.20 ms   -73.9 us      39 %
>
>   takes        count  predicted   measured        p50        p95    error  share
>     F+B            6    1.41 ms    1.35 ms    1.27 ms    1.99 ms   +4.5 %   40 %
>     F             10     449 us     474 us     362 us    1.16 ms   -5.3 %   17 %
>     B              5    1.08 ms    1.13 ms     654 us    2.02 ms   -4.9 %   17 %
> --
>   worst events     starts   measured      takes   measured      error  rank step
>     (3F3;0B1)OVERLAP_F_B
>                   10.2 ms    10.6 ms    1.76 ms    1.43 ms    +327 us  P0 0
>     (0F3;3B1)OVERLAP_F_B
# Time between two steps is in the later one, and outside of the program.
$ d=$(mktemp -d); trap 'rm -r $d' EXIT; cd $d; pipesim --schedule 1f1b --pp 2 --micro-batches 2 --unit F=1,B=2 --steps 2 --trace p.csv >log; awk -F, -v OFS=, 'NR > 1 && $1 == 1 { for (i = 6; i <= 9; i++) if ($i != "") $i += 3 } 1' p.csv >m.csv; pipesim compare p.csv m.csv --skip-steps 1 | sed -n '/^  step/p;/where/,/^$/p'; pipesim compare p.csv m.csv --json | grep -A15 '"steps": .$'
>   step                   9.00 s     12.0 s    -3.00 s   -25.0 %
>   where the time is   predicted   measured      error   of the step's error
>   forward                2.00 s     2.00 s        0 s       0 %
>   backward               4.00 s     4.00 s        0 s       0 %
>   waiting                3.00 s     6.00 s    -3.00 s     100 %
>   before any rank           0 s     3.00 s    -3.00 s   part of waiting
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
>   span idle              33.3 %     20.0 %  +13.3 pts
>
>   where the time is   predicted   measured      error   of the step's error
>   forward                2.00 s     3.00 s    -1.00 s      17 %
>   backward               4.00 s     6.00 s    -2.00 s      33 %
>   waiting                3.00 s     6.00 s    -3.00 s      50 %
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
>   note       the programs differ: only common events are compared
>   note       8 events only measured: 0B2 (rank 0, step 0), 0F2 (rank 0, step 0),
>              0RECV_B2 (rank 0, step 0), 0SEND_F2 (rank 0, step 0), 1B2 (rank 1,
>              step 0), 1F2 (rank 1, step 0), ...
>
>                       predicted   measured      error
! pipesim: error: p.csv is of program 57ec84a269ed5967, m.csv of program 57ecd5a705b08402: 8 ops are not in both, such as 0B2 of rank 0, which is only in m.csv; see --vp, --micro-batches and --gather; --allow-different compares what both have
= 2
# Bad files and bad options.
$ pipesim compare
! pipesim: error: pipesim compare needs 2 operands, not 0
! usage: pipesim compare PREDICTED MEASURED... [options]
= 2
$ pipesim compare a.csv
! pipesim: error: pipesim compare needs 2 operands, not 1
! usage: pipesim compare PREDICTED MEASURED... [options]
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
! pipesim: error: --gpus is not an option of "pipesim compare" but of "run", "clusters", "sweep", "plan", "export"
! try: pipesim compare --help
= 2
$ pipesim compare --help
> usage: pipesim compare PREDICTED MEASURED... [options]
>
> compare a predicted trace with measured ones: where does the error come from?
>
> Comparison:
>   --skip-steps K          Leave out the first K measured steps, and K predicted
>                           ones if both traces have the same number of steps. Of
>                           a training log, leave out K lines. (0 to 1048576;
>                           default 0; the warm-up of a log)
>   --tolerance FRAC        Exit 5 when the error of the step, predicted /
>                           measured - 1, is larger in size, e.g. 5%. (a fraction:
>                           5% or 0.05)
>   --worst N               Number of events to print, those whose durations
>                           differ most. (0 to 1000; default 5)
>   --allow-different       Compare traces of different programs by the events
>                           that both have.
>
> Output:
>   --json                  One JSON object on stdout.
>   --html FILE             Write the report as one self-contained page with a
>                           zoomable timeline. - writes the page to stdout in
>                           place of the text report.
>
> Help:
>   -h                      one screen of help
>   --help                  this text
>   --version               the version
>
> Examples:
>   # how wrong is a prediction, and where? Two files of --trace
>   pipesim compare predicted.csv measured.json.gz --tolerance 5%
>   # the same for a PyTorch run, from the traces of its profiler
>   pipesim compare predicted.csv profile/
# One measured step is compared with the last of several predicted ones.
$ run='pipesim --schedule 1f1b --pp 2 --micro-batches 2 --unit F=1,B=2'; $run --steps 3 --trace three.csv >log; $run --trace one.csv >log; pipesim compare three.csv one.csv | grep 'measured step'
>   note       the measured step is compared with predicted step 2
# A measured and a predicted trace in the wrong order say so themselves, and are put right.
$ cd "$TMPDIR"; run='pipesim --schedule 1f1b --model gpt2 --gpus 2 --tp 1 --pp 2 --micro-batches 2 --engine dag --no-alternatives'; $run --trace p.json >log; $run --slow 1=0.5 --trace s.json >log; sed 's/"engine": *"dag"/"engine":"cpu"/' s.json >m.json; pipesim compare p.json m.json >right; pipesim compare m.json p.json >turned; cmp right turned && head -1 turned | sed 's/.*error/error/'
> error -43.9 %
! pipesim: note: m.json was measured (engine cpu) and p.json predicted (engine dag): they are taken in the order PREDICTED MEASURED
$ cd "$TMPDIR"; run='pipesim --schedule 1f1b --model gpt2 --gpus 2 --tp 1 --pp 2 --micro-batches 2 --engine dag --no-alternatives'; $run --trace p.json >log; sed 's/"engine": *"dag"/"engine":"cpu"/' p.json >m.json; for order in "m.json p.json" "p.json m.json"; do pipesim plot $order --kind error -o out.gp; grep -v "^#" out.gp | cksum; done | uniq | wc -l
> 1
! pipesim: note: m.json was measured (engine cpu) and p.json predicted (engine dag): they are taken in the order PREDICTED MEASURED
# A report has no events.
$ pipesim --schedule 1f1b --pp 2 --micro-batches 2 --unit F=1,B=2 --json >"$TMPDIR/r.json"; cd "$TMPDIR"; pipesim compare r.json r.json
! pipesim: error: r.json: the output of --json, which has no events; --trace FILE writes them
= 2
