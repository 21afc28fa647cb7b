# pipeexec: slow devices and wires, and durations that are given.
# Executed and simulated steps are equal to the last digit.
$ for s in 1f1b gpipe zb-h1 zbv chimera dualpipev "interleaved --vp 2"; do for w in "" "--slow 1=0.5" "--slow 0=0.8 --slow 3=1.25"; do pipesim --schedule $s --pp 4 --micro-batches 8 --unit F=1,B=2,C=0.1 $w --json | sed -n 's/.*"iteration_s": //p' > simulated; pipeexec --schedule $s --np 4 --micro-batches 8 --unit F=1,B=2,C=0.1 $w --layers 4 --hidden 32 --heads 2 --seq 16 --mbs 2 --steps 4 --no-check --json > executed; sed -n 's/.*"step_s": //p' executed | head -1 | cmp - simulated && grep -E '"(structural_error_s|model_error_frac|slowdown_error_frac)"' executed; done; done | sort | uniq -c
>      21   "model_error_frac": 0.0,
>      14   "slowdown_error_frac": 0.0,
>       7   "slowdown_error_frac": null,
>      21   "structural_error_s": 0.0,
# All schedules that are executed: messages that take long, and orders that are searched with them.
$ for s in $(pipesim schedules --markdown | sed -n 's/^## //p') 'hanayo --vp 4' 'seq1f1b --splits 4' 'interleaved --order eager'; do for u in F=1,B=2,C=0.5 F=3,I=1,W=2,C=4; do pipeexec --schedule $s --np 4 --micro-batches 8 --unit $u --layers 4 --hidden 32 --heads 2 --seq 16 --mbs 2 --steps 3 --no-check --json > executed 2> refused || { grep -o 'only simulated' refused; continue; }; pipesim --schedule $s --pp 4 --micro-batches 8 --unit $u --json | sed -n 's/.*"iteration_s": //p' > simulated; sed -n 's/.*"step_s": //p' executed | head -1 | cmp - simulated && echo equal; done; done | sort | uniq -c
>      46 equal
>       4 only simulated
$ pipeexec --unit F=1,B=2 --slow 0=0.5 --layers 4 --hidden 32 --heads 2 --seq 16 --mbs 2 --steps 4 --no-check | grep -E '^  (clock|what-if|step|slowdown)'
>   clock      virtual: ops and messages take the seconds of --unit
>   what-if    --slow 0=0.5 --unit F=1,B=2
>   step             51.0 s      51.0 s    +0.0 %   1 step
>   slowdown        x 1.545     x 1.545    +0.0 %   by what-if
$ for s in 1f1b "chimera --dp 2" "zbv --backend fake"; do pipeexec --schedule $s --slow 1=0.25 --link-bw '0-*=0.01' --link-bw '2-2=0.5' --layers 4 --hidden 32 --heads 2 --seq 16 --mbs 2 --steps 3 --exact-grad --check --json | grep -E '"(bit_equal|structural_error_s|what_if)"'; done | sort | uniq -c
>       6     "bit_equal": true,
>       3   "structural_error_s": 0.0,
>       3   "what_if": "--slow 1=0.25 --link-bw 0-*=0.01 --link-bw 2-2=0.5",
$ pipeexec --clock wall --slow 1=0.01 --layers 4 --hidden 32 --heads 2 --seq 16 --mbs 2 --steps 3 --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["slowdown"] > 2)'
> True
$ pipeexec --slow 4=0.5
! pipeexec: error: --slow 4=0.5: pipeline ranks are 0 to 3
= 2
$ pipeexec --slow 1.1=0.5
! pipeexec: error: --slow 1.1=0.5: replicas are 0 to 0
= 2
$ pipeexec --slow 1=1e-9
! pipeexec: error: --slow 1=1e-9: the factor is out of range: 0.001 to 1000
= 2
$ pipeexec --slow fast
! pipeexec: error: --slow fast: expected RANK=FACTOR or RANK.REPLICA=FACTOR with a factor above 0, such as 3=0.8
= 2
$ pipeexec --clock wall --slow 1=2
! pipeexec: error: --slow 1=2: on the wall clock a rank can be made slower, not faster; give a factor of at most 1, or --clock virtual
= 2
$ pipeexec --clock wall --link-bw 0-1=0.5
! pipeexec: error: --link-bw 0-1=0.5 has no effect with --clock wall: messages take real time
= 2
$ pipeexec --link-bw 0-1
! pipeexec: error: --link-bw 0-1: expected RANK-RANK=FACTOR with a factor of 0.001 to 1000, such as 0-1=0.5 for what rank 0 sends to rank 1; * stands for any characters
= 2
$ pipeexec --link-bw 0-4=0.5
! pipeexec: error: --link-bw 0-4=0.5: no wire has this name; they go from rank to rank, 0-0 to 3-3 (2-2: between replicas of rank 2); * stands for any characters
= 2
$ pipeexec --unit F=1 --link-bw 0-1=0.5
! pipeexec: error: --link-bw 0-1=0.5 has no effect with --unit, where a message takes C units
= 2
$ pipeexec --unit F=1 --calibrate-on gpipe
! pipeexec: error: --unit and --calibrate-on both say how long ops take; give one of them
= 2
$ pipeexec --unit F=1e6
! pipeexec: error: --unit: a unit is a second, and 20 steps would take more than 4e+06 of them; give smaller numbers, as F=1e-3
= 2
$ pipeexec --unit X=1
! pipeexec: error: --unit: unknown key 'X', known are F, B, I, W, C, FB, R and P (F=1,B=2 or F=1,I=1,W=1,C=0.1)
= 2
$ pipeexec --unit F=1,B=2 --inject slow:0=0.5 --slow 1=0.8 --layers 4 --hidden 32 --heads 2 --seq 16 --mbs 2 --steps 4 --no-check | grep -E '^  (what-if|step|slowdown)'
>   what-if    --slow 1=0.8 --slow 0=0.5 --unit F=1,B=2
>   step             51.8 s      51.8 s    +0.0 %   1 step
>   slowdown        x 1.568     x 1.568    +0.0 %   by what-if
# At most 254 speeds are allowed in addition to that of --link; 16 * 16 wires can have more.
$ for n in 254 255; do pipeexec --np 16 --layers 16 --hidden 8 --heads 2 --seq 8 --mbs 1 --micro-batches 2 --steps 1 --no-check $(for ((k = 0; k < 256; k++)); do echo --link-bw $((k / 16))-$((k % 16))=0.$((k < n ? 1000 + k : 1000)); done) --json | grep structural_error_s; done
>   "structural_error_s": 0.0,
! pipeexec: error: --link-bw: wires of 256 different speeds with that of --link, at most 255
= 1
$ pipeexec --inject link-bw:0-9=0.5
! pipeexec: error: --link-bw 0-9=0.5: no wire has this name; they go from rank to rank, 0-0 to 3-3 (2-2: between replicas of rank 2); * stands for any characters
= 2
$ pipeexec --inject 'hang rank:1' --inject 'kill rank:1'
! pipeexec: error: --inject "kill rank:1": "hang rank:1" is one fault already
= 2
# What would change nothing has not been tried.
$ pipeexec --inject 'drop rank:1' --transport shm
! pipeexec: error: --inject "drop rank:1": with --transport shm ranks have neither connections nor clocks of their own; use --transport tcp
= 2
$ pipeexec --inject 'jump rank:1' --transport tcp
! pipeexec: error: --inject "jump rank:1": the virtual clock looks at no watch; use --clock wall
= 2
$ pipeexec --inject slow=1
! pipeexec: error: --inject "slow=1": "slow=1" is none of drop (its connections to other ranks are closed), eio (the next read of its tier nvme fails), flip (a bit flips in what it next reads from its tier nvme), freeze (its thread never returns from an op), full (its next write to its tier nvme finds no room), hang (the rank goes no further), jump (the clock of its process jumps ahead by 1 s), kill (its process is killed), short (its next read from its tier nvme is short), spoil (a number in its cache changes its sign), stop (its process is stopped)
= 2
# Words of --recompute, and the price R.
$ pipeexec --np 2 --layers 2 --unit F=1e-3,R=1e-3
! pipeexec: error: --unit F=1e-3,R=1e-3: R has no effect without --recompute; give --recompute full, or leave R out
= 2
$ pipeexec --np 2 --dp 2 --layers 4 --zero 3 --gather layer --recompute full,skip
! pipeexec: error: --recompute full,skip: parameters are gathered layer by layer, so no backward of a whole stage follows its forward; nearest: --gather chunk, or no skip
= 2
$ pipeexec --np 2 --layers 2 --recompute none,late
! pipeexec: error: --recompute none,late: a contradiction, as nothing is recomputed; nearest: none, or full,late
= 2
