# The predicted trace of a run has the program, the ranks and all ops of the measured one. A line shows ops and their number.
$ cd $TMPDIR; run='pipeexec --schedule 1f1b --pp 2 --layers 4 --hidden 32 --heads 4 --seq 16 --mbs 2 --micro-batches 4 --steps 2 --no-check --trace m.csv --predicted-trace p.csv'; for how in '--tp 2' '--tp 2 --sequence-parallel on' '--recompute selective' '--recompute selective=layernorm+act' '--zero 2 --dp 2' '--zero 3 --dp 2' '--experts 4' '--experts 4 --dp 2' '--experts 4 --dp 2 --ep 2'; do $run $how >log; echo "$how: $(pipesim compare p.csv m.csv --json | sed -n 's/^  "same_program": /same program /p; s/^  "notes": /notes /p' | tr '\n' ' ')$(pipesim compare p.csv m.csv | awk '/^  (predicted|measured) / { sub(/,/, "", $7); printf "%s ranks x %s %s,", $3, $6, $7 } /^  takes/ { on = 1; next } /^$/ { on = 0 } on { printf " %s %s", $1, $2 }')"; done
> --tp 2: same program true, notes [], 2 ranks x 1 replica,2 ranks x 1 replica, F 8 B 8 U 2 SEND_F 4 RECV_F 4 SEND_B 4 RECV_B 4
> --tp 2 --sequence-parallel on: same program true, notes [], 2 ranks x 1 replica,2 ranks x 1 replica, F 8 B 8 U 2 SEND_F 4 RECV_F 4 SEND_B 4 RECV_B 4
> --recompute selective: same program true, notes [], 2 ranks x 1 replica,2 ranks x 1 replica, F 8 B 8 R 8 U 2 SEND_F 4 RECV_F 4 SEND_B 4 RECV_B 4
> --recompute selective=layernorm+act: same program true, notes [], 2 ranks x 1 replica,2 ranks x 1 replica, F 8 B 8 R 8 U 2 SEND_F 4 RECV_F 4 SEND_B 4 RECV_B 4
> --zero 2 --dp 2: same program true, notes [], 2 ranks x 2 replicas,2 ranks x 2 replicas, F 16 B 16 U 4 AG 4 RS 16 SEND_F 8 RECV_F 8 SEND_B 8 RECV_B 8
> --zero 3 --dp 2: same program true, notes [], 2 ranks x 2 replicas,2 ranks x 2 replicas, F 16 B 16 U 4 AG 4 RS 4 SEND_F 8 RECV_F 8 SEND_B 8 RECV_B 8
> --experts 4: same program true, notes [], 2 ranks x 1 replica,2 ranks x 1 replica, F 8 B 8 U 2 SEND_F 4 RECV_F 4 SEND_B 4 RECV_B 4
> --experts 4 --dp 2: same program true, notes [], 2 ranks x 2 replicas,2 ranks x 2 replicas, F 16 B 16 U 4 AR 4 SEND_F 8 RECV_F 8 SEND_B 8 RECV_B 8
> --experts 4 --dp 2 --ep 2: same program true, notes [], 2 ranks x 2 replicas,2 ranks x 2 replicas, F 16 B 16 U 4 AR 4 SEND_F 8 RECV_F 8 SEND_B 8 RECV_B 8
# A prediction of another program is refused.
$ cd $TMPDIR; run='pipeexec --schedule 1f1b --pp 2 --layers 4 --hidden 32 --heads 4 --seq 16 --mbs 2 --micro-batches 4 --steps 2 --no-check'; $run --dp 2 --zero 2 --predicted-trace p.csv >log; $run --dp 2 --zero 3 --trace m.csv >log; pipesim compare p.csv m.csv
! pipesim: error: p.csv is of program 5fc2e9df75444ae0, m.csv of program a811fe0a7dac53ba: 28 ops are not in both, such as 0AG of rank 0, which is only in p.csv; see --zero, --shard, --gather and --gather-buffers; --allow-different compares what both have
= 2
$ cd $TMPDIR; run='pipeexec --schedule 1f1b --pp 2 --layers 4 --hidden 32 --heads 4 --seq 16 --mbs 2 --micro-batches 4 --steps 2 --no-check'; $run --recompute selective --predicted-trace p.csv >log; $run --trace m.csv >log; pipesim compare p.csv m.csv
! pipesim: error: p.csv is of program 2a34ee00e6b9ad9d, m.csv of program 62ac9020e2bbf493: 8 ops are not in both, such as 0R0 of rank 0, which is only in p.csv; see --recompute; --allow-different compares what both have
= 2
