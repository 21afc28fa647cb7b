# Schedules whose programs come from a command or from a file for each shape.
$ pipesim --schedule 'gpipe,!python3 python/examples/ffbb.py {pp} {micro_batches}' --pp 4 --micro-batches 8 --unit F=1,B=2
> pipesim 0.1.0  2 schedules, 4 ranks, 8 micro-batches
>   units: F 1 B 2 C 0 for a micro-batch on a rank
>   peak activations: in micro-batches of a rank
>
>    #  schedule          VP          step     bubble  span idle  peak activ.
>    1  gpipe              1      33 units    27.27 %    27.27 %            8
>    1  !pytho...tches}    1      33 units    27.27 %    27.27 %            8
$ pipesim program --schedule '!python3 python/examples/ffbb.py {pp} {micro_batches}' --pp 2 --micro-batches 2 --compute
> 0F0,0F1,0B0,0B1
> 1F0,1F1,1B0,1B1
$ pipesim program --schedule zbv --pp 2 --micro-batches 4 --compute > mine-2-4.csv
$ pipesim program --schedule zbv --pp 2 --micro-batches 8 --compute > mine-2-8.csv
$ pipesim sweep --schedule 'mine-{pp}-{micro_batches}.csv,zbv' --pp 2 --micro-batches 4,8,16 --unit F=1,I=1,W=1 -o sweep.csv 2>/dev/null
$ cut -d, -f 2,13,18- sweep.csv | grep refused; pipesim plot sweep.csv -x micro_batches -y iteration_s --where status=ok -o sweep.svg && ls sweep.svg
> sweep.svg
! note: iteration_s over micro_batches by schedule (other columns: -x, -y, --by)
$ pipesim sweep --schedule '!echo >>runs; python3 python/examples/ffbb.py {pp} {micro_batches}' --model llama3-8b --gpus 16 --pp 2,4 --micro-batches 8,16 --tp 1,2 --jobs 2 -o - | wc -l
> 9
$ wc -l <runs
> 4
$ pipesim plan --schedule '!python3 python/examples/ffbb.py {pp} {micro_batches}' --model llama3-8b --gpus 16 --tp 2 --pp 4 --cp 1 --gbs 64 --mbs 1 --zero 1 --recompute none --json | grep '"schedule"\|"choose"'
>   "schedule": "!python3 python/examples/ffbb.py {pp} {micro_batches}",
>   "choose": "pipesim --schedule '!python3 python/examples/ffbb.py {pp} {micro_batches}' --gpus 16 --tp 2 --pp 4 --mbs 1 --gbs 64 --model llama3-8b --zero 1 --recompute none --sequence-parallel on",
>     "schedule": "!python3 python/examples/ffbb.py {pp} {micro_batches}",
>     "schedule": "!python3 python/examples/ffbb.py {pp} {micro_batches}",
>       "schedule": "1f1b",
>       "schedule": "!python3 python/examples/ffbb.py {pp} {micro_batches}",
$ pipeexec --schedule '!python3 python/examples/ffbb.py {pp} {micro_batches}' --np 2 --micro-batches 4 --steps 1 | grep -A1 check
>   check      gradients of the first step equal those of training on one rank to
>              the bit (1,660,160 elements)
$ pipesim verify '!python3 python/examples/ffbb.py 4 8' '!python3 python/examples/ffbb.py {pp} 8'
> !python3 python/examples/ffbb.py 4 8: legal: 4 ranks, 4 stages, 8 micro-batches, 64 instructions
! pipesim: error: verify !python3 python/examples/ffbb.py {pp} 8: a command to verify has no words in braces; write the numbers
= 2
$ pipesim --schedule '!awk -v p={pp} "BEGIN { x = \"{pp}\"; print \"0F0,0B0\" }"' --pp 1 --micro-batches 1 --unit F=1,B=2 | grep step
>   step               3 units   first start to last end
# a long name is shortened in tables of 80 columns; with --price they say what a step and 1 T tokens cost
$ pipesim --engine dag --schedule '!python3 python/examples/ffbb.py {pp} {micro_batches},gpipe' --model llama3-8b --gpus 16 --pp 4 --tp 1 --micro-batches 8 --price '$2.2/h' | tail -4 | sed -E 's/[0-9.]+k?/N/g'
>    N  !pythoNches}  N    N selective    N s  N %  N %   N  -
>    N  gpipe           N    N selective    N s  N %  N %   N  +N %
>       costs of a step and of N T tokens: !pythonN
>       pythonNmicro_batches} $N, $N; gpipe $N, $N
$ pipesim --engine dag --schedule '!python3 python/examples/ffbb.py {pp} {micro_batches}' --model llama3-8b --gpus 16 --pp 4 --tp 1 --micro-batches 8 | awk 'length > 80 || NR < 3'
> pipesim 0.1.0  !python3 python/exa...p} {micro_batches} on 16 GPUs
>                                              (* = chosen for you, see --explain)
$ pipesim plan --schedule '!python3 python/examples/ffbb.py {pp} {micro_batches}' --model llama3-8b --gpus 16 --tp 2 --pp 4 --cp 1 --gbs 64 --mbs 1 --zero 1 --recompute none --engine dag | grep -A1 'vs #1 %'
>   #  TP  PP CP   DP  EP VP MBS schedule       rec. Z    step MFU %   GiB vs #1 %
>   1   2   4  1    2   -  -   1 !pytho...ches} none 1  4.80 s  39.9  49.1       -
$ pipesim sweep --engine dag --schedule 1f1b --pp 7,4 --gpus 16 --tp 1 --model llama3-8b --price 2.2 | awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i ~ /^cost/) at[++n] = i; print $at[1], $at[2]; next } { print ($at[1] > 0), ($at[2] > 0), $(at[2] + 1) }'
> cost_per_step cost_per_trillion_tokens
> 0 0 refused
> 1 1 ok
# a comma ends a command that has it neither in quotes nor after a backslash
$ pipesim sweep --schedule '!python3 python/examples/ffbb.py {pp} {micro_batches} "a,b" c\,d,1f1b' --pp 4 --micro-batches 8 --unit F=1,B=2 | cut -c1-77
> point,schedule,engine,model,cluster,gpus,tp,pp,dp,cp,ep,vp,micro_batches,mbs,
> 0,"!python3 python/examples/ffbb.py {pp} {micro_batches} ""a,b"" c\,d",dag,,,
> 1,1f1b,dag,,,4,1,4,1,1,1,1,8,1,8,,"F=1,B=2",33,0.27272727272727271,0.27272727
$ pipesim --schedule '!gen 1,2,1f1b' --pp 4 --micro-batches 8 --unit F=1,B=2
! pipesim: error: the command 'gen 1' has ended with exit code 127
!   sh: ...
!   a comma ends a command, unless it is in quotes or after a \
= 2
# --- what is wrong, and with which command
$ pipesim sweep --schedule '!echo "this reason of the generator is long, as a traceback is, and goes on for more than two hundred and fifty-six characters, line by line, with the names of files and functions, until its last line says what is wrong in a few words of its own, namely in these: the end" >&2; exit 3 # {pp}' --pp 4,8 --micro-batches 8 --unit F=1,B=2 2>&1 >/dev/null | grep -o '^pipesim: warning: no point.*refused\|: the end$'
> pipesim: warning: no point has figures, 2 of 2 refused
> : the end
$ pipesim --schedule '! ' --pp 4 --micro-batches 8 --unit F=1,B=2
! pipesim: error: --schedule '! ': no command after '!'
= 2
$ pipesim --schedule '!python3 python/examples/ffbb.py {pp} {micro_batches}' --pp 4 --micro-batches 7 --unit F=1,B=2
! pipesim: error: the command 'python3 python/examples/ffbb.py 4 7' has ended with exit code 1
!   7 micro-batches are odd; nearest: 8
= 2
$ pipesim --schedule '!gen {pp} {n} ${micro}' --pp 4 --micro-batches 8 --unit F=1,B=2
! pipesim: error: --schedule '!gen {pp} {n} ${micro}': {n} is unknown; known words: {pp} {vp} {micro_batches} {splits} {pipelines} {shifted} {depth_first} {bfs_backward} {concat} {group} {extra_warmup} {warmup_style} {max_activations}
= 2
$ pipesim --schedule '!no-such-program {pp}' --pp 4 --micro-batches 8 --unit F=1,B=2
! pipesim: error: the command 'no-such-program 4' has ended with exit code 127
!   sh: ...
= 2
$ pipesim --schedule '!printf "0F0,0B0\n1F0,xx\n" # {pp}' --pp 2 --micro-batches 1 --unit F=1,B=2
! pipesim: error: !printf "0F0,0B0\n1F0,xx\n" # 2:2:2: 'xx': expected a number (stage), as 1 in 1F0
= 4
$ pipesim --schedule '!printf "0F0,0F1,0B0,0B1\n1B0,1F0,1F1,1B1\n" # {pp}' --pp 2 --micro-batches 2 --unit F=1,B=2
! pipesim: error: !printf "0F0,0F1,0B0,0B1\n1B0,1F0,1F1,1B1\n" # 2: DEADLOCK after 2 of 8 instructions
!   rank 1 line 2 col 1: 1B0 waits for 1F0 on itself: 1B0 is listed before 1F0
!   also stuck: rank 0
!   fix: move 1F0 before 1B0 on rank 1
! rank 0 | 0F0   0F1 0B0 0B1
! rank 1 | [1B0] 1F0 1F1 1B1
= 4
$ pipesim --schedule '!true {pp}' --pp 2 --micro-batches 2 --unit F=1,B=2
! pipesim: error: the command 'true 2' printed nothing; it prints one row of cells like 0F0,0B0 for each rank
= 2
$ pipesim --schedule '!python3 python/examples/ffbb.py {pp} 8' --pp 2 --micro-batches 4 --unit F=1,B=2
! pipesim: error: --micro-batches 4 contradicts the program of '!python3 python/examples/ffbb.py 2 8', which has 8; {micro_batches} in its text gives it the number
= 2
$ pipesim --schedule '!python3 python/examples/ffbb.py {pp} {micro_batches}' --pp 2 --vp 2 --micro-batches 4 --unit F=1,B=2
! pipesim: error: --vp 2 contradicts the program of '!python3 python/examples/ffbb.py 2 4', which has 1; {vp} in its text gives it the number
= 2
$ pipesim --schedule '!pipesim program --schedule 1f1b --pp {pp} --micro-batches {micro_batches}' --pp 2 --micro-batches 4 --unit F=1,B=2
! pipesim: error: !pipesim program --schedule 1f1b --pp 2 --micro-batches 4: the program has more than F, B, I and W; a text with words gives compute-only programs, and one without words may give any
= 4
$ pipesim --schedule '!pipesim program --schedule 1f1b --pp 2 --micro-batches 4' --gpus 2 --model gpt2 --no-alternatives | grep -c iteration
> 1
$ pipesim plan --schedule '!python3 python/examples/ffbb.py 4 8' --gpus 8
! pipesim: error: --schedule !python3 python/examples/ffbb.py 4 8: one program fixes its layout; plan chooses among schedules by name, and texts with words such as {pp} and {micro_batches}
= 2
$ pipesim --schedule 'mine-{pp}-{micro_batches}.csv' --pp 4 --micro-batches 8 --unit F=1,B=2
! pipesim: error: cannot open mine-4-8.csv: No such file or directory
= 1
# --- other text than that of the command line runs nothing
$ pipesim --schedule '!touch ran; pipesim program --schedule 1f1b --pp 2 --micro-batches 4 --compute # {pp}' --pp 2 --micro-batches 4 --unit F=1,B=2 --json > saved.json; rm ran
$ pipesim check saved.json
! pipesim: error: saved.json: inputs: its schedule is a command, and only a command line may name one; give --schedule
= 2
$ pipesim --from saved.json
! pipesim: error: saved.json: inputs: its schedule is a command, and only a command line may name one; give --schedule
= 2
$ ls ran 2>/dev/null
= 2
# Advice for less memory tries other flags of a run whose schedule is a command.
$ pipesim --schedule '!python3 python/examples/ffbb.py {pp} {micro_batches}' --model llama3-405b --cluster h100 --gpus 64 --pp 4 --tp 8 --gbs 64 --zero 0 --engine dag --recompute none --no-alternatives | grep -o 'offload os=host --recompute full in place'
> offload os=host --recompute full in place
# A complete program with another state: recomputation is added, with buffers; gathers are not.
$ pipesim program --schedule 1f1b --pp 2 --micro-batches 4 -o full.csv; for s in 1f1b full.csv; do pipesim --schedule $s --pp 2 --micro-batches 4 --gpus 2 --model gpt2 --recompute full --engine dag --no-alternatives --json | grep '"peak_mem'; done | sort | uniq -c | sed 's/ [0-9]*,$//'
>       2       "peak_mem_bytes":
>       2       "peak_mem_bytes":
>       2   "peak_mem_bytes":
$ pipesim --schedule full.csv --gpus 4 --dp 2 --model gpt2 --zero 3 --engine dag
! pipesim: error: full.csv is complete, with messages and updates, but gathers no parameters: for sharded ones give its F, B, I and W alone, as pipesim program --compute prints them, or a file with gathers
= 4
# No share is below 0, also where busy times add up to the whole.
$ for t in 2 3 4; do pipesim --mode infer --model gpt2 --cluster a100 --pp 2 --tp 1 --tokens $t --prompt 64 --batch 6 --groups 2 --json | grep -E '"[a-z_]*": -|"span_bubble_frac"'; done
>   "span_bubble_frac": 0.0,
>   "span_bubble_frac": 0.0,
>   "span_bubble_frac": 0.0,
# Costs of ops that no pass has are refused.
$ for u in F=1,B=2 I=1,W=1 F=2,P=3,R=1; do pipesim --mode infer --unit $u --pp 2 --tokens 3; done; pipesim program --mode infer --unit F=1,FB=2 --pp 2 --tokens 2
! pipesim: error: --unit F=1,B=2: a backward has no effect with --mode infer, whose passes go forward alone; nearest: --unit F=1,P=1,C=0
! pipesim: error: --unit I=1,W=1: a backward has no effect with --mode infer, whose passes go forward alone; nearest: --unit F=1,P=1,C=0
! pipesim: error: --unit F=2,P=3,R=1: R has no effect with --mode infer, whose passes go forward alone; nearest: --unit F=2,P=3,C=0
! pipesim: error: --unit F=1,FB=2: a backward has no effect with --mode infer, whose passes go forward alone; nearest: --unit F=1,P=1,C=0
= 2
# A sweep takes values that only generation has; each has its own point.
$ pipesim sweep --mode infer --unit F=1,P=2 --unit F=1,P=4 --pp 2 --groups 2,4 --tokens 4 | cut -d, -f18-22; pipesim sweep --mode infer --model gpt2 --cluster a100 --pp 2 --batch 4 --tokens 4 --offload kv=host --offload kv=host:50% | cut -d, -f20 | sort | uniq -c
> groups,tokens,unit,iteration_s,bubble_frac
> 2,4,"F=1,P=2",12
> 2,4,"F=1,P=4",18
> 4,4,"F=1,P=2",22
> 4,4,"F=1,P=4",32
>       1 kv=host
>       1 kv=host:50%
>       1 offload
$ pipesim sweep --mode infer --unit F=1,P=2 --unit P=2,F=1 --pp 2 --tokens 4
! pipesim: error: --unit: P=2,F=1 is there twice
= 2
# A framework that stores scores does so unless --attention or the cluster says how.
$ for a in 'a100' 'a100 --attention unfused' 'a100 --attention fused' a100,attention:fused; do pipesim --mode infer --model opt-30b --gpus 1 --batch 8 --tokens 2 --prompt 1024 --framework fastertransformer --cluster $a --json | awk '/"iteration_s"/ { printf "%.3f s\n", $2; exit }'; done
> 2.337 s
> 2.337 s
> 2.184 s
> 2.184 s
