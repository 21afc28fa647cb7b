# A run for other engines: what is refused, and where it goes.
$ pipesim export
! pipesim: error: --to FORMAT is needed: goal, chakra, pytorch, pytorch-comms or pytorch-waits
= 2
$ pipesim export --to goal
! pipesim: error: --schedule is needed: 1f1b, bfs, bitpipe, chimera, dualpipe, dualpipev, eager-1f1b, gems, gpipe, hanayo, interleaved, interleaved-zb, pipedream, pipedream-2bw, seq1f1b, v-1f1b, v-half, v-min, zb-auto, zb-h1, zb-h2, zbv, all, or a program file
!   try: pipesim export --schedule 1f1b --gpus 8 --to goal
= 2
$ pipesim export --to pytorch --wires fixed --schedule 1f1b --pp 2 --micro-batches 2 --unit F=1
! pipesim: error: --wires has no effect with --to pytorch, which has no durations of messages
= 2
$ pipesim export --to pytorch --schedule chimera --pp 2 --micro-batches 2 --unit F=1,B=2 -o $TMPDIR/c.csv; cat $TMPDIR/c.csv
> 0F0,1F1,1B1,0B0
> 0F1,1F0,1B0,0B1
! pipesim: warning: PyTorch maps a stage to one rank and cannot load bidirectional programs
$ pipesim export --to pytorch --schedule seq1f1b --splits 2 --pp 2 --micro-batches 1 --unit F=1,B=2
> 0F0s0,0F0s1,0B0s1,0B0s0
> 1F0s0,1F0s1,1B0s1,1B0s0
! pipesim: warning: PyTorch does not split sequences and cannot load their parts (0F3s1)
$ pipesim export --to pytorch-waits --schedule zbv --pp 2 --micro-batches 4 --unit F=1,I=1,W=1 -o $TMPDIR/w.csv; pipesim --schedule $TMPDIR/w.csv --unit F=1,I=1,W=1 --json | grep -c '"schedule"'
> 2
# The alias is the order of PyTorch's class, unless the option says otherwise.
$ for s in bfs 'bfs --bfs-backward descending' LoopedBFS ScheduleLoopedBFS 'LoopedBFS --bfs-backward ascending'; do pipesim export --to pytorch --schedule $s --pp 2 --micro-batches 2 --unit F=1,B=2 | tail -1; done
> 1F0,1F1,3F0,3F1,3B0,3B1,1B0,1B1
> 1F0,1F1,3F0,3F1,3B1,3B0,1B1,1B0
> 1F0,1F1,3F0,3F1,3B1,3B0,1B1,1B0
> 1F0,1F1,3F0,3F1,3B1,3B0,1B1,1B0
> 1F0,1F1,3F0,3F1,3B0,3B1,1B0,1B1
$ pipesim export --to dot --schedule 1f1b --pp 2 --micro-batches 2 --unit F=1
! pipesim: error: --to: "dot" is not one of goal, chakra, pytorch, pytorch-comms and pytorch-waits
= 2
$ pipesim export --to goal --schedule 1f1b,gpipe --pp 2 --micro-batches 2 --unit F=1
! pipesim: error: pipesim export writes one schedule, --schedule lists 2
= 2
$ pipesim export --to goal --schedule 1f1b --pp 2 --micro-batches 2 --unit F=1 --steps 2
! pipesim: error: --steps is not an option of "pipesim export" but of "run", "sweep", "plan"
! try: pipesim export --help
= 2
$ pipesim export --to goal --schedule 1f1b --pp 2 --micro-batches 2 --unit F=1 -o nowhere/a.goal
! pipesim: error: cannot write 'nowhere/a.goal': No such file or directory
= 1
$ pipesim export --to goal --schedule pipedream --pp 2 --micro-batches 2 --unit F=1 | head -2
> // pipesim 0.1.0: 2 pipeline ranks, 1 of 1 replicas, engine dag
> // predicted step: 9000000000.000 ns
! pipesim: warning: pipedream updates without a flush; exported is one step with one
# LogGOPSim's latency is an int: units become fewer nanoseconds.
$ pipesim export --to goal --schedule 1f1b --pp 2 --micro-batches 1 --unit F=1,B=2,C=30 | sed -n '2,4p;9p'
> // predicted step: 660000000.000 ns
> // 1 unit = 10000000 ns
> // LogGOPSim -L 300000000 -o 0 -g 0 -O 0 -G 0 -S 4294967295
> l1: calc 10000000
$ pipesim export --to chakra --schedule 1f1b --pp 2 --micro-batches 2 --unit F=1
! pipesim: error: --to chakra writes a folder: -o FOLDER is needed
= 2
$ cd $TMPDIR; pipesim export --to chakra --schedule 1f1b --pp 2 --micro-batches 2 --unit F=1 -o et; ls et; pipesim export --to chakra --schedule 1f1b --pp 2 --micro-batches 2 --unit F=1 -o et
> groups.json
> step.0.et
> step.1.et
! pipesim: error: 'et' exists; name a new folder
= 1
$ pipesim export --to chakra --schedule 1f1b --pp 2 --micro-batches 2 --unit F=1 -o nowhere/et
! pipesim: error: cannot make the folder 'nowhere/et.part': No such file or directory
= 1
# A file, packed or not; what --json saved; a program file.
$ cd $TMPDIR; pipesim export --to goal --schedule zbv --pp 2 --micro-batches 4 --unit F=1,I=1,W=1 -o a.goal.gz; zcat a.goal.gz | grep -c calc
> 48
$ cd $TMPDIR; pipesim --schedule zbv --pp 2 --micro-batches 4 --unit F=1,I=1,W=1 --json >r.json; pipesim export --from r.json --to goal | cmp - <(zcat a.goal.gz) && echo same
> same
$ cd $TMPDIR; pipesim program --schedule gpipe --pp 2 --micro-batches 2 --compute -o g.csv; pipesim export --to goal --schedule g.csv --unit F=1,B=2 | sed 1d | cmp - <(pipesim export --to goal --schedule gpipe --pp 2 --micro-batches 2 --unit F=1,B=2 | sed 1d) && echo same
> same
# Replicas: all of them for the reader's network, one where one stood for all.
$ run='--schedule 1f1b --model gpt2 --gpus 8 --tp 1 --pp 2 --micro-batches 4 --engine dag'; for wires in network fixed; do pipesim export --to goal --wires $wires $run | grep -E 'ranks,|^num'; done
> // pipesim 0.1.0: 2 pipeline ranks, 4 of 4 replicas, engine dag
> num_ranks 8
> // pipesim 0.1.0: 2 pipeline ranks, 1 of 4 replicas, engine dag
> num_ranks 6
