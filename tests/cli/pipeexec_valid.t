# The loss of other data: the same bits as on one rank, under any schedule and transport.
$ for o in '--schedule 1f1b' '--schedule zbv' '--schedule dualpipev' '--schedule chimera' '--schedule interleaved --np 2 --vp 4' '--np 2 --dp 2 --zero 1 --micro-batches 4' '--recompute full' '--transport shm' '--transport tcp' '--backend fake' '--schedule zb-h1 --backend fake --weight-grad-stream on' '--clock wall'; do pipeexec $o --layers 8 --hidden 32 --heads 2 --seq 16 --steps 4 --exact-grad --check --valid-data tests/data/tokens/more --valid-every 2 --valid-steps 2 --json | tr -d ' \n' | grep -oE '"(valid_losses":[^]]*|loss_equal":[a-z]*|bit_equal":[a-z]*)' | tr '\n' ' '; echo; done | uniq -c | sed -E 's/ $//; s/[0-9]\.[0-9]+/N/g'
>      12 "valid_losses":[null,N,null,N "bit_equal":true "loss_equal":true "bit_equal":true
# Training is as without it, to the last bit and the last unit of the clock.
$ T() { pipeexec --layers 8 --hidden 32 --heads 2 --seq 16 --steps 5 --exact-grad --no-check --unit F=1,B=2 --json "$@" | tr -d ' \n' | grep -oE '"(losses|grad_norms|steps_s)":[^]]*'; }; diff <(T) <(T --valid-data tests/data/bpe/more.txt --valid-every 1) && echo same
> same
$ pipeexec --seq 16 --steps 5 --no-check --valid-data tests/data/bpe/more.txt --valid-every 3 --log v.csv | grep -A1 '^  validation' | sed -E 's/[0-9]\.[0-9]{4}/N/g'; cut -d, -f 1,3 v.csv | sed 's/\..*/.N/'
>   validation N -> N on 64 samples of tests/data/bpe/more.txt
>   check      none (--no-check)
> step,valid_loss
> 1,
> 2,
> 3,5.N
> 4,
> 5,5.N
# A resumed training goes on with it.
$ pipeexec --seq 16 --steps 4 --no-check --valid-data tests/data/tokens/shards --valid-every 2 --quiet --exact-grad --checkpoint ck --checkpoint-every 2 --log a.csv; cp a.csv b.csv; pipeexec --resume ck/step-000000002 --np 2 --no-check --quiet --log b.csv; cut -d, -f 1-4 a.csv | diff - <(cut -d, -f 1-4 b.csv) && sed -n '/^valid/p' ck/step-000000002/manifest
> valid-data tests/data/tokens/shards
> valid-every 2
$ pipeexec --valid-every 3
! pipeexec: error: --valid-every 3 has no effect without --valid-data FILE
= 2
$ pipeexec --valid-steps 3
! pipeexec: error: --valid-steps 3 has no effect without --valid-data FILE
= 2
$ pipeexec --seq 16 --valid-data tests/data/tokens/more --valid-steps 3
! pipeexec: error: --valid-steps 3: tests/data/tokens/more has 69 samples of 16 tokens, and a step takes 32; nearest: --valid-steps 2
= 2
$ pipeexec --valid-data none
! pipeexec: error: --valid-data: cannot open none: No such file or directory
= 1
$ yes A | head -c 400 > a.txt; pipeexec --valid-data tests/data/tokens/more --vocab 100 --seq 16 --data a.txt --steps 3 --transport tcp --np 2
! pipeexec: error: validation after step 3: tests/data/tokens/more.bin has token 108 at offset 1, but the model has a vocabulary of 100
= 2
$ pipeexec --seq 2000 --valid-data tests/data/tokens/more
! pipeexec: error: a sequence of 2000 tokens: model 'tiny' has 256 positions, so at most 256 tokens
= 2
